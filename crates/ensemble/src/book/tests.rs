use std::collections::HashMap;
use std::sync::Arc;

use proptest::prelude::*;
use world::{Seed, Stream, World};

use super::money::profits;
use super::tail::{Losses, TailWorlds};
use super::*;
use crate::interval::Interval;

fn bet(stake: &str, odds: &str, side: Side) -> Bet {
    let (stake, odds) = (stake.parse().unwrap(), odds.parse().unwrap());
    Bet { id: None, entity: None, legs: vec!["a > 0".to_owned()], stake, odds, side }
}

/// A book whose bets are met in the given worlds.
fn book<'a>(bets: &'a [Bet], met: &[Vec<bool>], counted: &[bool]) -> Book<'a> {
    let set = |held: &[bool]| BitSet::from_fn(held.len(), |world| held[world]);
    let (unit, profits) = profits(bets).unwrap();
    let met = met.iter().map(|held| Arc::new(set(held))).collect();
    Book { bets, unit, profits, met, counted: set(counted) }
}

#[test]
fn profits_are_whole_units() {
    let bets = [bet("10.50", "2.25", Side::Back), bet("3", "1.9", Side::Lay), bet("0", "2", Side::Back)];
    let (unit, found) = profits(&bets).unwrap();
    assert_eq!((unit.places, unit.is_exact, unit.money(13_125.0)), (3, true, 13.125));
    let expected = [[13_125, -10_500], [-2_700, 3_000], [0, 0]];
    assert_eq!(found.iter().map(|p| [p.if_met, p.if_missed]).collect::<Vec<_>>(), expected);
    // 100 * 0.9090909090909092 has too many decimals beside 10^9.
    let bets = [bet("100.25", "1.9090909090909092", Side::Back), bet("1000000000", "2", Side::Lay)];
    let (unit, found) = profits(&bets).unwrap();
    assert!(!unit.is_exact && unit.places == 6, "{unit:?}");
    assert_eq!([found[0].if_met, found[0].if_missed], [91_136_364, -100_250_000]);
    assert_eq!(profits(&vec![bet("1000000000000", "1000000", Side::Back); 2]), None);
}

#[test]
fn bets_are_checked() {
    let wrong = |stake: &str, odds: &str| bet(stake, odds, Side::Back).check().unwrap_err();
    assert_eq!(wrong("-1", "2"), (BetField::Stake, "the stake -1 is not between 0 and 1000000000000".to_owned()));
    assert_eq!(wrong("1", "1"), (BetField::Odds, "decimal odds are above 1 and at most 1000000, not 1".to_owned()));
    assert_eq!(wrong("1", "1000000.1").0, BetField::Odds);
    let none = Bet { legs: Vec::new(), ..bet("1", "2", Side::Back) };
    assert_eq!(none.check().unwrap_err().0, BetField::Legs);
    assert_eq!(bet("0", "1.000001", Side::Lay).check(), Ok(()));
}

/// Ten worlds, checked by hand.
#[test]
fn a_small_book_has_known_risk() {
    let bets = [bet("10", "3", Side::Back), bet("5", "2", Side::Lay)];
    let first = [true, true, true, false, false, false, false, false, false, false];
    let second = [true, false, false, true, true, true, false, false, false, false];
    let book = book(&bets, &[first.to_vec(), second.to_vec()], &[true; 10]);
    let losses = book.losses();
    // The first bet gains 20 or loses 10; the second, a lay, loses 5 or gains 5.
    assert_eq!(losses, [-15, -25, -25, 15, 15, 15, 5, 5, 5, 5]);
    assert_eq!((book.possible(), book.step()), ([-25, 15], 10));
    let mut sorted = losses.clone();
    sorted.sort_unstable();
    let all = Losses { sorted: &sorted, possible: book.possible(), step: book.step() };
    // The worst half: three worlds that lose 15, and two of the four that lose 5.
    let half = all.tail("0.5".parse().unwrap());
    assert_eq!((half.value_at_risk, half.shortfall, half.mass, half.tie_weight), (5, 11.0, 5.0, 0.5));
    let worlds = TailWorlds::of(&half, &losses, &book.counted);
    // The first bet loses 10 in all of them; the second loses 5 in three and gains 5 in two.
    assert_eq!([0, 1].map(|bet| book.share_of(bet, &half, &worlds)), [10.0, 1.0]);
    // A quarter of the worlds is two and a half.
    let quarter = all.tail("0.75".parse().unwrap());
    assert_eq!((quarter.value_at_risk, quarter.shortfall, quarter.mass), (15, 15.0, 2.5));
    assert!((quarter.tie_weight - 2.5 / 3.0).abs() < 1e-12);
    // One percent of ten worlds is a tenth of a world.
    let rare = all.tail("0.99".parse().unwrap());
    assert_eq!((rare.value_at_risk, rare.shortfall, rare.mass), (15, 15.0, 0.1));
    assert_eq!((rare.value_at_risk_ci.high, rare.shortfall_ci.high), (15.0, 15.0), "no bet can lose more");
}

/// Three worlds say little: one without any of their losses is possible.
#[test]
fn intervals_of_few_worlds_reach_what_is_possible() {
    let bets = [bet("10", "3", Side::Back)];
    let book = book(&bets, &[vec![false; 3]], &[true; 3]);
    let losses = book.losses();
    let tail = Losses { sorted: &losses, possible: book.possible(), step: book.step() }.tail("0.5".parse().unwrap());
    assert_eq!((losses, tail.value_at_risk), (vec![10; 3], 10));
    assert_eq!(tail.value_at_risk_ci, Interval { low: -20.0, high: 10.0 });
}

/// No profit is a plain 0, not -0.
#[test]
fn nothing_staked_is_nothing_lost() {
    let bets = [bet("0", "2", Side::Back)];
    let book = book(&bets, &[vec![true, false]], &[true; 2]);
    let losses = book.losses();
    let tail = Losses { sorted: &losses, possible: book.possible(), step: book.step() }.tail("0.5".parse().unwrap());
    let worlds = TailWorlds::of(&tail, &losses, &book.counted);
    let zeros = [tail.shortfall, book.share_of(0, &tail, &worlds), tail.shortfall_ci.low, tail.shortfall_ci.high];
    assert!(zeros.iter().all(|zero| *zero == 0.0), "{zeros:?}");
    assert!(book.share_of(0, &tail, &worlds).is_sign_positive());
}

/// The definition, world by world: the mean over the worst part of the losses, each world with its weight.
fn naive_tail(losses: &[i64], level: f64) -> (i64, f64, Vec<f64>) {
    let mass = losses.len() as f64 * (1.0 - level);
    let mut sorted = losses.to_vec();
    sorted.sort_unstable();
    let enough =
        |value: i64| losses.iter().filter(|loss| **loss <= value).count() as f64 >= losses.len() as f64 * level - 1e-9;
    let value_at_risk = *sorted.iter().find(|value| enough(**value)).unwrap();
    let above = losses.iter().filter(|loss| **loss > value_at_risk).count() as f64;
    let ties = losses.iter().filter(|loss| **loss == value_at_risk).count() as f64;
    let weight = |loss: i64| match loss.cmp(&value_at_risk) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => (mass - above) / ties,
        std::cmp::Ordering::Greater => 1.0,
    };
    let weights: Vec<f64> = losses.iter().map(|loss| weight(*loss) / mass).collect();
    (value_at_risk, losses.iter().zip(&weights).map(|(loss, weight)| *loss as f64 * weight).sum(), weights)
}

/// Stakes and odds in hundredths, the side, and the worlds in which the bet is met.
type Written = (i64, i64, bool, Vec<bool>);

fn written() -> impl Strategy<Value = (Vec<Written>, Vec<bool>)> {
    (1usize..200).prop_flat_map(|worlds| {
        let worlds = || prop::collection::vec(any::<bool>(), worlds);
        let bets = prop::collection::vec((0i64..10_000, 101i64..2_000, any::<bool>(), worlds()), 1..8);
        (bets, worlds())
    })
}

proptest! {
    /// Losses, tails and parts of bets are those of a loop over worlds.
    #[test]
    fn books_are_those_of_single_worlds(
        (written, mut counted) in written(),
        level in prop::sample::select(vec!["0.5", "0.75", "0.9", "0.95", "0.975", "0.99"]),
    ) {
        counted[0] = true;
        let bets: Vec<Bet> = written.iter().map(|(stake, odds, lay, _)| {
            let decimal = |hundredths: &i64| format!("{}.{:02}", hundredths / 100, hundredths % 100);
            bet(&decimal(stake), &decimal(odds), if *lay { Side::Lay } else { Side::Back })
        }).collect();
        let met: Vec<Vec<bool>> = written.iter().map(|bet| bet.3.clone()).collect();
        let book = book(&bets, &met, &counted);
        let losses = book.losses();
        // In ten-thousandths of money.
        let profit = |(stake, odds, lay, met): &Written, world: usize| {
            let backed = if met[world] { stake * (odds - 100) } else { -stake * 100 };
            if *lay { -backed } else { backed }
        };
        let unit = 10i64.pow(4 - book.unit.places);
        prop_assert!(book.unit.is_exact);
        for (world, loss) in losses.iter().enumerate() {
            let naive: i64 = written.iter().map(|bet| -profit(bet, world)).sum();
            prop_assert_eq!(loss * unit, naive);
        }
        let worlds: Vec<usize> = (0..counted.len()).filter(|world| counted[*world]).collect();
        let chosen: Vec<i64> = worlds.iter().map(|world| losses[*world]).collect();
        let mut sorted = chosen.clone();
        sorted.sort_unstable();
        let tail = Losses { sorted: &sorted, possible: book.possible(), step: book.step() }.tail(level.parse().unwrap());
        let (value_at_risk, shortfall, weights) = naive_tail(&chosen, level.parse().unwrap());
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-7 * (1.0 + b.abs());
        prop_assert_eq!(tail.value_at_risk, value_at_risk);
        prop_assert!(near(tail.shortfall, shortfall), "{} {shortfall}", tail.shortfall);
        let within = |ci: Interval, value: f64| ci.low <= value + 1e-6 && value - 1e-6 <= ci.high;
        prop_assert!(within(tail.value_at_risk_ci, tail.value_at_risk as f64), "{tail:?}");
        prop_assert!(within(tail.shortfall_ci, tail.shortfall), "{tail:?}");
        let selected = TailWorlds::of(&tail, &losses, &book.counted);
        let parts: Vec<f64> = (0..bets.len()).map(|bet| book.share_of(bet, &tail, &selected)).collect();
        prop_assert!(near(parts.iter().sum(), tail.shortfall));
        for (part, bet) in parts.iter().zip(&written) {
            let losses = worlds.iter().zip(&weights).map(|(world, weight)| -profit(bet, *world) as f64 * weight);
            prop_assert!(near(*part, losses.sum::<f64>() / unit as f64));
        }
    }
}

/// Intervals of many samples contain the true values of a known distribution in about 95 of 100 cases.
#[test]
fn intervals_cover_the_true_risk() {
    const SAMPLES: u32 = 600;
    // The loss is the cube of a normal number in thousandths: its tail is heavy.
    let cube = |z: f64| (1000.0 * z.powi(3)).round() as i64;
    let (quantile, z) = (1.644_853_627, 1.644_853_627_f64);
    let density = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let shortfall = 1000.0 * density * (z * z + 2.0) / 0.05;
    let mut covered = HashMap::from([("value at risk", 0), ("shortfall", 0)]);
    for sample in 0..SAMPLES {
        let mut random = Stream::new(Seed(11), World(sample), 0, 0);
        let mut sorted: Vec<i64> = (0..1_000).map(|_| cube(random.normal().into())).collect();
        sorted.sort_unstable();
        let losses = Losses { sorted: &sorted, possible: [-1_000_000_000, 1_000_000_000], step: 1 };
        let tail = losses.tail("0.95".parse().unwrap());
        let mut count = |what: &'static str, ci: Interval, truth: f64| {
            *covered.entry(what).or_default() += u32::from(ci.low <= truth && truth <= ci.high);
        };
        count("value at risk", tail.value_at_risk_ci, cube(quantile) as f64);
        count("shortfall", tail.shortfall_ci, shortfall);
    }
    let least = f64::from(SAMPLES) * 0.93;
    assert!(covered.values().all(|n| f64::from(*n) > least), "{covered:?} of {SAMPLES}");
}
