# A model in jq: two tables at which Ann and Bob roll dice.
#
# manyworlds run --program 'jq -nrc --unbuffered -f examples/program/dice.jq' --worlds 1000

# Two generators of L'Ecuyer (1988), whose difference is random: jq has no random numbers, and doubles hold these.
def start: {one: (1 + . % 2147483562), two: (1 + (. / 4194304 | floor) % 2147483398)};
def next: .one = 40014 * .one % 2147483563 | .two = 40692 * .two % 2147483399;
def pips: 1 + (.one - .two + 2147483562) % 6;

# The sum of some dice and the generators after them.
def roll(dice): reduce range(dice) as $die (.sum = 0; next | .sum += pips);

{
    name: "dice-jq", version: "1",
    kinds: {table: {ann: "number", bob: "number", ann_wins: "flag"}},
    entities: ["table-1", "table-2"],
    parameters: {rolls: {default: 10, min: 1, max: 1000}}
},
(
    inputs as $request
    | (
        range($request.worlds) as $world
        | foreach $request.entities[] as $entity (
            $request.seeds[$world] | start;
            roll($request.parameters.rolls) | .ann = .sum | roll($request.parameters.rolls);
            {world: ($request.first + $world), entity: $entity, ann, bob: .sum, ann_wins: (.ann > .sum)}
        )
    ),
    "" # an empty line ends the answer
)
