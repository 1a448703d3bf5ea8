//! Profits in whole numbers of one small unit.

use super::{Bet, Side};

/// The profits of a bet, in units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Profits {
    /// Where every leg holds.
    pub(super) if_met: i64,
    /// Where a leg does not hold.
    pub(super) if_missed: i64,
}

/// The unit of all profits of a book: a power of ten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    /// Units are 10 to the power of minus this.
    pub(super) places: u32,
    /// Whether every profit is a whole number of units.
    pub(super) is_exact: bool,
}

/// Sums up to this are exact in doubles too.
const SUM_MAX: i128 = 1 << 53;
/// Maximum decimals of the unit.
const PLACES_MAX: u32 = 15;
/// Larger stakes or odds might overflow 128 bits before they are rounded.
pub(super) const STAKE_MAX: i64 = 1_000_000_000_000;
pub(super) const ODDS_MAX: i64 = 1_000_000;

impl Unit {
    /// An amount in money.
    pub(super) fn money(self, units: f64) -> f64 {
        units / 10f64.powi(self.places as i32)
    }
}

/// The profits of every bet in one unit: the largest power of ten that divides them all. If they need more than 15
/// decimals, or their sum would exceed 2^53 units, the unit is larger, and each profit is rounded to it. `None` if the
/// sum exceeds 2^53 even as whole numbers.
pub(super) fn profits(bets: &[Bet]) -> Option<(Unit, Vec<Profits>)> {
    let needed = bets.iter().map(|bet| bet.stake.places() + bet.odds.places()).max().unwrap_or(0);
    let fits = |all: &[[i128; 2]]| all.iter().map(|[a, b]| a.abs().max(b.abs())).sum::<i128>() <= SUM_MAX;
    (0..=needed.min(PLACES_MAX)).rev().find_map(|places| {
        let all: Vec<[i128; 2]> = bets.iter().map(|bet| of_bet(bet, places)).collect();
        let narrow = |[met, missed]: &[i128; 2]| Profits { if_met: *met as i64, if_missed: *missed as i64 };
        let unit = Unit { places, is_exact: places == needed };
        fits(&all).then(|| (unit, all.iter().map(narrow).collect()))
    })
}

/// The profits where the bet is met and missed, in units of 10 to the power of `-places`.
fn of_bet(bet: &Bet, places: u32) -> [i128; 2] {
    let (stake, odds) = (bet.stake, bet.odds);
    let stake_units = scaled(stake.digits().into(), stake.places(), places);
    let gain = i128::from(stake.digits()) * (i128::from(odds.digits()) - 10i128.pow(odds.places()));
    let gain_units = scaled(gain, stake.places() + odds.places(), places);
    match bet.side {
        Side::Back => [gain_units, -stake_units],
        Side::Lay => [-gain_units, stake_units],
    }
}

/// Changes the number of decimals; rounds to the nearest, halves up. The digits are not negative.
fn scaled(digits: i128, from: u32, to: u32) -> i128 {
    let power = 10i128.pow(from.abs_diff(to));
    if from <= to { digits * power } else { (digits + power / 2) / power }
}
