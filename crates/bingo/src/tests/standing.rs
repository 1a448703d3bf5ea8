//! Where a team stands at a second, as an operator asks for it.

use model::{EventBlock, Model as _, NEVER, OutcomeBlock, Sink, Stop, Wanted};
use world::{Seed, World, WorldRange};

use super::rows::three_rows;
use super::support::*;
use crate::Bingo;

/// The distance of the first world of [`three_rows`]: a4 is completed at 100, a3 at 200, b4 at 300, b3 at 400.
struct Distance<'a>(&'a Bingo, &'a str, u32);

impl Sink for Distance<'_> {
    fn outcomes(&mut self, _: OutcomeBlock<'_>) -> Result<(), Stop> {
        Ok(())
    }

    fn events(&mut self, block: EventBlock<'_>) -> Result<(), Stop> {
        let condition = self.0.condition(self.0.catalogue(), self.1).unwrap().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(condition.columns(), [0, 1, 6]);
        self.2 = condition.distances(&block)[0];
        Ok(())
    }
}

fn distance(model: &Bingo, text: &str) -> u32 {
    let mut sink = Distance(model, text, 0);
    let range = WorldRange::new(World(0), 1).unwrap();
    model.simulate(Seed(1), range, Wanted { events: true, entity: Some(0) }, &mut sink).unwrap();
    sink.2
}

#[test]
fn a_team_stands_as_its_tiles_say() {
    let model = model(&three_rows(5), &[]);
    for (text, expected) in [
        ("at 50s, points 0, tiles 0, row 0", 1),
        ("at 99s, tiles 0", 1),
        ("at 100s, tiles 1, points 4, row 0", 1),
        ("at 250s, points 7, tiles 2, row 1, done a4, missing b4", 1),
        ("at 250s, points 8", 2),
        ("at 250s, points 9 ±1", 2),
        ("at 250s, points 9 +-2", 1),
        ("at 250s ±1m, points 11", 1),
        ("at 250s ±30s, points 11", 2),
        ("at 250s ±100s, missing a4", 2),
        ("at 250s, missing a4", 2),
        ("at 1h, missing a4", 1 + 3501_u32.div_ceil(600)),
        ("at 250s, missing a3, done b4", NEVER),
    ] {
        assert_eq!(distance(&model, text), expected, "{text}");
        let condition = model.condition(model.catalogue(), text).unwrap().unwrap();
        for wider in 1..8 {
            let holds = distance(&model, &condition.widened(wider)) == 1;
            assert_eq!(holds, expected <= wider, "{text}, {wider} times: {}", condition.widened(wider));
        }
    }
    let condition = model.condition(model.catalogue(), "at 30m +-90s, row 1, points 8 ±2, done a11").unwrap();
    assert_eq!(condition.err().unwrap().to_string(), "no tile \"a11\"; did you mean a1?");
    let condition = model.condition(model.catalogue(), " at 30m +-90s, row 1, points 8 ±2, done a1").unwrap().unwrap();
    assert_eq!(condition.widened(2), "at 30m ±3m, row 1 ±1, points 8 ±4, done a1");
}

#[test]
fn other_words_are_refused_or_left_to_others() {
    let model = model(&three_rows(5), &[]);
    for text in ["points > 3", "attempts > 1", "ata 1h"] {
        assert!(model.condition(model.catalogue(), text).is_none(), "{text}");
    }
    for (text, expected) in [
        ("at", "\"at\": expected a time such as 12h or 1day 6h, as in 'at 12h ±30m, points"),
        ("at noon", "\"at noon\": expected a time such as"),
        ("at 30m ±x", "expected a time such as"),
        ("at 2h", "\"at 2h\": expected a time of the event, which lasts 1h"),
        ("at 30m, tiles", "\"tiles\": expected a number"),
        ("at 30m, tiles -3", "\"tiles -3\": expected a number"),
        ("at 30m, tiles 3 ±x", "expected a tolerance"),
        ("at 30m, loot 3", "\"loot 3\": expected points, tiles, row, done or missing"),
        ("at 30m,", "\"\": expected points"),
    ] {
        let said = model.condition(model.catalogue(), text).unwrap().err().unwrap().to_string();
        assert!(said.contains(expected), "{text}: {said}");
    }
}
