//! Every form and type of the same values gives the same content, to the bit.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, Int64Array, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int32Type};
use import::{Form, Input, Options};
use proptest::prelude::*;

use crate::support::{batches, bits, import, import_fresh, input, integers, reals, texts, values};

const WORLDS: usize = 7;
const ENTITIES: [&str; 3] = ["team-2", "team-10", "team-1"];

/// Margins, shares of full precision, and costs in cents, for a world and an entity.
fn outcomes(world: usize, entity: usize) -> [(&'static str, f64); 3] {
    let n = (world * 3 + entity) as f64;
    [("margin", n * 2.0 - 20.0), ("share", (n + 0.1).sqrt()), ("cost", (1999.0 + n) / 100.0)]
}

/// Rows of worlds and entities, in an order.
fn wide(order: &[(usize, usize)], rows: usize) -> Input {
    let of = |outcome: usize| reals(order.iter().map(|(w, e)| outcomes(*w, *e)[outcome].1));
    let entities = texts(order.iter().map(|(_, e)| ENTITIES[*e]));
    let worlds = integers(order.iter().map(|(w, _)| *w as i64));
    batches(
        "wide",
        vec![("margin", of(0)), ("entity", entities), ("cost", of(2)), ("world", worlds), ("share", of(1))],
        rows,
    )
}

/// Rows of single values, in an order.
fn long(order: &[(usize, usize, usize)], rows: usize) -> Input {
    let columns = vec![
        ("world", integers(order.iter().map(|(w, _, _)| *w as i64))),
        ("entity", texts(order.iter().map(|(_, e, _)| ENTITIES[*e]))),
        ("outcome", texts(order.iter().map(|(w, e, o)| outcomes(*w, *e)[*o].0))),
        ("value", reals(order.iter().map(|(w, e, o)| outcomes(*w, *e)[*o].1))),
    ];
    batches("long", columns, rows)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_form_and_order_has_the_same_hash() {
    let by_world: Vec<(usize, usize)> = (0..WORLDS).flat_map(|w| (0..3).map(move |e| (w, e))).collect();
    let by_entity: Vec<(usize, usize)> = (0..3).flat_map(|e| (0..WORLDS).map(move |w| (w, e))).collect();
    let mut mixed = by_world.clone();
    mixed.sort_by_key(|(w, e)| (w * 31 + e * 17) % 23);
    let mut single: Vec<_> = by_entity.iter().flat_map(|(w, e)| (0..3).map(move |o| (*w, *e, o))).collect();
    let (report, columns, _folder) = import_fresh(vec![wide(&by_world, 4)], &Options::default()).await;
    assert_eq!((report.form, report.worlds, report.values), (Form::Wide, WORLDS, 63));
    assert_eq!(report.entities, ["team-1", "team-2", "team-10"]);
    let kinds: Vec<_> = report.outcomes.iter().map(|o| (o.name.as_str(), o.kind.as_str())).collect();
    assert_eq!(kinds, [("cost", "number in steps of 1/100"), ("margin", "number"), ("share", "real")]);
    for (place, entity) in ENTITIES.into_iter().enumerate() {
        for outcome in 0..3 {
            let expected: Vec<f64> = (0..WORLDS).map(|w| outcomes(w, place)[outcome].1).collect();
            let found = values(&columns, entity, outcomes(0, 0)[outcome].0);
            assert_eq!(bits(&found), bits(&expected), "{entity} {outcome}");
        }
    }
    let mut inputs = vec![vec![wide(&by_entity, 5)], vec![wide(&mixed, 1)], vec![long(&single, 10)]];
    single.sort_by_key(|(w, e, o)| (w * 13 + e * 5 + o * 29) % 37);
    inputs.push(vec![long(&single, 7)]);
    inputs.push(vec![wide(&mixed[..9], 100), wide(&mixed[9..], 2)]);
    for inputs in inputs {
        let (other, _, _folder) = import_fresh(inputs, &Options::default()).await;
        assert_eq!((other.hash, other.outcomes), (report.hash.clone(), report.outcomes.clone()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_without_worlds_are_worlds_in_order() {
    let numbers = || reals((0..5).map(f64::from));
    let named = input(vec![("world", integers([4, 2, 0, 1, 3])), ("x", reals([4.0, 2.0, 0.0, 1.0, 3.0]))]);
    let (report, ..) = import_fresh(vec![named], &Options::default()).await;
    for inputs in [
        vec![input(vec![("x", numbers())])],
        vec![batches("a", vec![("x", numbers())], 2)],
        vec![input(vec![("outcome", texts(["x"; 5])), ("value", numbers())])],
        vec![input(vec![("entity", texts(["all"; 5])), ("x", numbers())])],
        vec![input(vec![("x", reals([0.0, 1.0]))]), input(vec![("x", integers([2, 3, 4]))])],
    ] {
        assert_eq!(import_fresh(inputs, &Options::default()).await.0.hash, report.hash);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_and_booleans_are_codes_and_flags() {
    let words = ["rain", "sun", "rain", "fog 2", "fog 10"];
    let dictionary: DictionaryArray<Int32Type> = words.into_iter().collect();
    let flags = || Arc::new(BooleanArray::from(vec![true, false, false, true, true])) as ArrayRef;
    let (report, columns, _folder) =
        import_fresh(vec![input(vec![("sky", texts(words)), ("late", flags())])], &Options::default()).await;
    assert_eq!(values(&columns, "all", "sky"), [2.0, 3.0, 2.0, 0.0, 1.0]);
    assert_eq!(values(&columns, "all", "late"), [1.0, 0.0, 0.0, 1.0, 1.0]);
    let kinds: Vec<_> = report.outcomes.iter().map(|o| (o.name.as_str(), o.kind.as_str())).collect();
    assert_eq!(kinds, [("late", "flag"), ("sky", "code")]);
    assert_eq!(report.outcomes[1].labels, ["fog 2", "fog 10", "rain", "sun"]);
    let plan = &columns.ensemble().plan;
    assert_eq!(plan.catalogue.kinds[0].outcomes[1].labels, ["fog 2", "fog 10", "rain", "sun"]);
    let declared = Options { kinds: [("late".to_owned(), "flag".parse().unwrap())].into(), ..Options::default() };
    let numbers = input(vec![("late", integers([1, 0, 0, 1, 1])), ("sky", Arc::new(dictionary))]);
    assert_eq!(import_fresh(vec![numbers], &declared).await.0.hash, report.hash);
}

#[tokio::test(flavor = "multi_thread")]
async fn zeros_and_ones_stay_numbers() {
    let expected = [1.0, 0.0, 0.0, 1.0, 1.0];
    let columns = vec![("a", integers([1, 0, 0, 1, 1])), ("b", reals(expected))];
    let (report, columns, _folder) = import_fresh(vec![input(columns)], &Options::default()).await;
    let kinds: Vec<_> = report.outcomes.iter().map(|o| (o.name.as_str(), o.kind.as_str())).collect();
    assert_eq!(kinds, [("a", "number"), ("b", "number")]);
    for outcome in ["a", "b"] {
        assert_eq!(values(&columns, "all", outcome), expected);
    }
}

/// Columns of every type, with the numbers that they hold.
fn typed() -> impl Strategy<Value = (ArrayRef, Vec<f64>)> {
    fn of<T: std::fmt::Debug + Copy>(
        values: impl Strategy<Value = T>,
        to: DataType,
        number: fn(T) -> f64,
        column: fn(Vec<T>) -> ArrayRef,
    ) -> impl Strategy<Value = (ArrayRef, Vec<f64>)> {
        let rows = prop::collection::vec(values, 1..20);
        rows.prop_map(move |rows| {
            let numbers = rows.iter().map(|value| number(*value)).collect();
            (cast(&column(rows), &to).unwrap(), numbers)
        })
    }
    const EXACT: i64 = 1 << 53;
    let whole = |range: std::ops::RangeInclusive<i64>, to| of(range, to, |n| n as f64, |rows| integers(rows));
    prop_oneof![
        whole(-128..=127, DataType::Int8),
        whole(0..=255, DataType::UInt8),
        whole(-32768..=32767, DataType::Int16),
        whole(0..=65535, DataType::UInt16),
        whole(-(1 << 31)..=(1 << 31) - 1, DataType::Int32),
        whole(0..=(1 << 32) - 1, DataType::UInt32),
        whole(-EXACT..=EXACT, DataType::Int64),
        whole(0..=EXACT, DataType::UInt64),
        of(any::<f32>(), DataType::Float32, f64::from, |rows| Arc::new(arrow::array::Float32Array::from(rows))),
        of(-2000i16..2000, DataType::Float16, f64::from, |rows| integers(rows.into_iter().map(i64::from))),
        of(
            prop_oneof![any::<f64>(), Just(-0.0), Just(f64::NAN), Just(5e-324), Just(f64::NEG_INFINITY)],
            DataType::Float64,
            |n| n,
            |rows| reals(rows)
        ),
        of(
            any::<bool>(),
            DataType::Boolean,
            |flag| f64::from(u8::from(flag)),
            |rows| Arc::new(BooleanArray::from(rows))
        ),
        of(
            -(10i64.pow(15) - 1)..10i64.pow(15),
            DataType::Decimal128(20, 4),
            |n| n as f64 / 1e4,
            |rows| {
                let rows = Decimal128Array::from_iter_values(rows.into_iter().map(i128::from));
                Arc::new(rows.with_precision_and_scale(20, 4).unwrap())
            }
        ),
        of(
            -5i64..5,
            DataType::Dictionary(DataType::Int8.into(), DataType::Float64.into()),
            |n| n as f64 / 4.0,
            |rows| { reals(rows.into_iter().map(|n| n as f64 / 4.0)) }
        ),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_type_is_read_back_to_the_bit((column, expected) in typed()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let of = column.data_type().clone();
        let (_, columns, _folder) = runtime.block_on(import_fresh(vec![input(vec![("x", column)])], &Options::default()));
        prop_assert_eq!(bits(&values(&columns, "all", "x")), bits(&expected), "{}", of);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_largest_exact_integers_are_read_back() {
    let largest = [1i64 << 53, -(1 << 53), 0];
    let (_, columns, _folder) = import_fresh(vec![input(vec![("x", integers(largest))])], &Options::default()).await;
    assert_eq!(values(&columns, "all", "x"), largest.map(|x| x as f64));
}

#[tokio::test(flavor = "multi_thread")]
async fn text_columns_of_every_type_name_entities() {
    let names = ["b", "a", "b", "a"];
    let columns = vec![("entity", texts(names)), ("x", integers([1, 2, 3, 4]))];
    let expected = import_fresh(vec![input(columns)], &Options::default()).await.0;
    let plain = StringArray::from_iter_values(names);
    for of in
        [DataType::LargeUtf8, DataType::Utf8View, DataType::Dictionary(DataType::UInt16.into(), DataType::Utf8.into())]
    {
        let columns = vec![("entity", cast(&plain, &of).unwrap()), ("x", integers([1, 2, 3, 4]))];
        let (report, ..) = import_fresh(vec![input(columns)], &Options::default()).await;
        assert_eq!((report.hash, report.entities), (expected.hash.clone(), expected.entities.clone()), "{of}");
    }
    let numbered = vec![("entity", integers([10, 9, 10, 9])), ("x", integers([1, 2, 3, 4]))];
    assert_eq!(import_fresh(vec![input(numbered)], &Options::default()).await.0.entities, ["9", "10"]);
}

/// Two teams and a player, each column with the name of its entity.
fn paired(worlds: &[i64], is_named: bool) -> Input {
    let of = |factor: i64| integers(worlds.iter().map(|world| world * factor).collect::<Vec<_>>());
    let sky = |world: &i64| if world % 2 == 0 { "sun" } else { "rain" };
    let mut columns = vec![
        ("team-2:points", of(3)),
        ("player-1:sky", texts(worlds.iter().map(sky).collect::<Vec<_>>())),
        ("team-10:points", of(4)),
        ("player-1:share", reals(worlds.iter().map(|world| (*world as f64).sqrt()))),
        ("player-1:points", of(5)),
        ("team-2:won", of(1)),
        ("team-10:won", of(2)),
    ];
    if is_named {
        columns.insert(2, ("world", integers(worlds.to_vec())));
    }
    batches("rows", columns, 3)
}

#[tokio::test(flavor = "multi_thread")]
async fn entities_may_have_different_outcomes() {
    let order: Vec<i64> = (0..20).collect();
    let (report, columns, _folder) = import_fresh(vec![paired(&order, true)], &Options::default()).await;
    assert_eq!(
        (report.entities, report.kinds),
        (vec!["player-1".into(), "team-2".into(), "team-10".into()], vec!["player".into(), "team".into()])
    );
    assert_eq!((report.values, report.outcomes.len(), report.form), (20 * 7, 4, import::Form::Wide));
    let catalogue = &columns.ensemble().plan.catalogue;
    let names = |kind: usize| catalogue.kinds[kind].outcomes.iter().map(|o| o.name.as_str()).collect::<Vec<_>>();
    assert_eq!((names(0), names(1)), (vec!["points", "share", "sky"], vec!["points", "won"]));
    assert_eq!(values(&columns, "team-10", "points")[..3], [0.0, 4.0, 8.0]);
    assert_eq!(values(&columns, "player-1", "share")[9], 3.0);
    assert_eq!(catalogue.kinds[0].outcomes[2].labels, ["rain", "sun"]);
    assert_eq!(values(&columns, "player-1", "sky")[..2], [1.0, 0.0]);
    // The order of worlds, their names and the limit of memory change nothing.
    let mut shuffled = order.clone();
    shuffled.reverse();
    let hash = |inputs: Vec<Input>, options: Options| async move { import_fresh(inputs, &options).await.0.hash };
    assert_eq!(hash(vec![paired(&shuffled, true)], Options::default()).await, report.hash);
    assert_eq!(hash(vec![paired(&order, false)], Options::default()).await, report.hash);
    let little = Options { memory_bytes: 512, ..Options::default() };
    assert_eq!(hash(vec![paired(&order[..7], true), paired(&order[7..], true)], little).await, report.hash);
    // Appended worlds need the same outcomes of the same entities.
    let folder = tempfile::tempdir().unwrap();
    import(folder.path(), vec![paired(&order[..12], true)], &Options::default()).await.unwrap();
    let append = Options { mode: import::Mode::Append, ..Options::default() };
    let of = |names: [&'static str; 3]| input(names.map(|name| (name, integers([1]))).to_vec());
    let said =
        import(folder.path(), vec![of(["a:points", "b:share", "c:won"])], &append).await.unwrap_err().to_string();
    assert!(said.contains("the input lacks entity \"player-1\""), "{said}");
    let moved = ["team-2:points", "team-10:won", "player-1:share", "player-1:points", "player-1:won"];
    let mut moved: Vec<(&str, ArrayRef)> = moved.map(|name| (name, integers([1]))).to_vec();
    moved.push(("player-1:sky", texts(["sun"])));
    let said = import(folder.path(), vec![input(moved)], &append).await.unwrap_err().to_string();
    assert!(said.ends_with("its entities have other outcomes than those of the input"), "{said}");
    let report_of_both = import(folder.path(), vec![paired(&order[12..], true)], &append).await.unwrap();
    assert_eq!(report_of_both.hash, report.hash);
}

/// Teams with `wins` and a game with `margin` and `sky`, in some order of rows. Other columns are NULL.
fn of_kinds(order: &[(i64, &'static str)], rows: usize) -> Input {
    let is_team = |entity: &str| entity.starts_with("team");
    let of = |values: Vec<Option<i64>>| Arc::new(Int64Array::from(values)) as ArrayRef;
    let wins = order.iter().map(|(world, entity)| is_team(entity).then_some(world * 3)).collect();
    let margin = order.iter().map(|(world, entity)| (!is_team(entity)).then_some(world - 7)).collect();
    let sky: DictionaryArray<Int32Type> = order
        .iter()
        .map(|(world, entity)| (!is_team(entity)).then_some(if world % 2 == 0 { "sun" } else { "rain" }))
        .collect();
    let columns = vec![
        ("world", integers(order.iter().map(|(world, _)| *world))),
        ("wins", of(wins)),
        ("entity", texts(order.iter().map(|(_, entity)| *entity))),
        ("sky", Arc::new(sky) as ArrayRef),
        ("margin", of(margin)),
    ];
    batches("rows", columns, rows)
}

#[tokio::test(flavor = "multi_thread")]
async fn entities_have_the_outcomes_that_are_not_null() {
    let by_world: Vec<(i64, &str)> =
        (0..20).flat_map(|world| ["team-2", "game-1", "team-1"].map(|entity| (world, entity))).collect();
    let mut by_entity = by_world.clone();
    by_entity.sort_by_key(|(world, entity)| (*entity, *world));
    let mut mixed = by_world.clone();
    mixed.sort_by_key(|(world, entity)| (world * 31 + entity.len() as i64 * 7) % 23);
    let (report, columns, _folder) = import_fresh(vec![of_kinds(&by_world, 7)], &Options::default()).await;
    assert_eq!((report.kinds, report.values, report.form), (vec!["game".into(), "team".into()], 20 * 4, Form::Wide));
    assert_eq!(report.entities, ["game-1", "team-1", "team-2"]);
    let expected: Vec<f64> = (0..20).map(|world| f64::from(world * 3)).collect();
    assert_eq!(values(&columns, "team-1", "wins"), expected);
    assert_eq!(values(&columns, "game-1", "margin")[..3], [-7.0, -6.0, -5.0]);
    assert_eq!(values(&columns, "game-1", "sky")[..3], [1.0, 0.0, 1.0]);
    // The same values by columns that name their entity.
    let named = input(vec![
        ("team-1:wins", integers((0..20).map(|w| w * 3))),
        ("team-2:wins", integers((0..20).map(|w| w * 3))),
        ("game-1:margin", integers((0..20).map(|w| w - 7))),
        ("game-1:sky", texts((0..20).map(|w| if w % 2 == 0 { "sun" } else { "rain" }))),
    ]);
    let little = Options { memory_bytes: 700, ..Options::default() };
    for (inputs, options) in [
        (vec![named], Options::default()),
        (vec![of_kinds(&by_entity, 9)], Options::default()),
        (vec![of_kinds(&mixed, 60)], Options::default()),
        (vec![of_kinds(&by_world[..30], 5), of_kinds(&by_world[30..], 100)], Options::default()),
        // Most worlds are in the temporary file.
        (vec![of_kinds(&by_world, 6)], little),
    ] {
        assert_eq!(import_fresh(inputs, &options).await.0.hash, report.hash);
    }
    let folder = tempfile::tempdir().unwrap();
    import(folder.path(), vec![of_kinds(&by_world[..36], 36)], &Options::default()).await.unwrap();
    let append = Options { mode: import::Mode::Append, ..Options::default() };
    let longer = import(folder.path(), vec![of_kinds(&by_world[36..], 36)], &append).await.unwrap();
    assert_eq!(longer.hash, report.hash);
}
