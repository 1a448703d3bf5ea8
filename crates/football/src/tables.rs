//! The measured rates of the game as lookup tables: figures from 1,280 regular-season games of 2015 to 2019.

use crate::quantiles::{self as q, PERCENTILES, Quantiles};

const BITS: u32 = 11;

/// Draws from a measured distribution with one random word, by its inverse distribution function at 2,048 points.
pub(crate) struct Lookup([i8; 1 << BITS]);

impl Lookup {
    fn new(quantiles: &Quantiles) -> Self {
        let mut values = [0; 1 << BITS];
        let mut segment = 0;
        for (i, value) in values.iter_mut().enumerate() {
            let percent = (i as f32 + 0.5) * 100.0 / (1 << BITS) as f32;
            while segment + 2 < PERCENTILES.len() && PERCENTILES[segment + 1] <= percent {
                segment += 1;
            }
            let (low, high) = (PERCENTILES[segment], PERCENTILES[segment + 1]);
            let (from, to) = (f32::from(quantiles[segment]), f32::from(quantiles[segment + 1]));
            let x = from + (to - from) * (percent - low) / (high - low);
            *value = (x + 0.5).floor() as i8;
        }
        Self(values)
    }

    /// Like [`Self::new`], for gains measured from `shares.len()` neighbouring yard lines: the distribution without an
    /// end of the field. The nearest line is `first` yards from the goal line; `shares` are the shares of plays on each
    /// line.
    ///
    /// A gain ends at the goal line, so the measured gains are censored, and their values at a yard line mix gains that
    /// ended there with touchdowns from there. The product-limit estimate (Kaplan and Meier 1958) separates them: of
    /// all gains of at least v yards, those from yard line v were touchdowns.
    fn uncensored(quantiles: &Quantiles, first: usize, shares: &[f64]) -> Self {
        let censored = Self::new(quantiles);
        let last = first + shares.len() - 1;
        let size = censored.0.len() as f64;
        let mass = |v: usize| censored.0.iter().filter(|&&x| x as usize == v && x >= 0).count() as f64 / size;
        let mut values = censored.0;
        let mut at = values.iter().filter(|&&x| i32::from(x) < first as i32).count();
        let mut farther = 1.0;
        for (v, share) in (first..last).zip(shares) {
            let least = 1.0 - at as f64 / size;
            farther -= share;
            let ended = ((mass(v) - share * least) / farther).clamp(0.0, least);
            let next = (at + (ended * size + 0.5) as usize).min(values.len());
            values[at..next].fill(v as i8);
            at = next;
        }
        values[at..].fill(last as i8);
        Self(values)
    }

    /// The value for the random word `u`.
    #[inline]
    pub(crate) fn at(&self, u: u32) -> i32 {
        i32::from(self.0[(u >> (32 - BITS)) as usize])
    }
}

/// Every measured distribution, ready to draw from.
pub(crate) struct Tables {
    /// Designed runs by zone of yards to go, 1-2 to 21-40, without the end of the field.
    pub(crate) run: [Lookup; 5],
    pub(crate) run_open: Lookup,
    /// Completions by zone, 1-2 to 21-40, without the end of the field; farther out by position.
    pub(crate) catch: [Lookup; 5],
    /// Completions from more than 40 yards out: backs, wide receivers, tight ends.
    pub(crate) catch_open: [Lookup; 3],
    pub(crate) scramble: Lookup,
    pub(crate) sack: Lookup,
    pub(crate) air_complete: Lookup,
    pub(crate) air_incomplete: Lookup,
    /// Punts from 30-45, 46-55, 56-65 and 66-99 yards out.
    pub(crate) punt: [Lookup; 4],
    pub(crate) punt_return: Lookup,
    pub(crate) kick_return: Lookup,
    pub(crate) interception_return: Lookup,
    /// Seconds from snap to snap after a run, a catch, a sack and an incomplete pass, except in the last two minutes of
    /// a half.
    pub(crate) run_off: [Lookup; 4],
    /// Factors on a player's share of throws, and of carries, that vary from game to game: 256 equally likely values.
    pub(crate) target_factor: [f32; 256],
    pub(crate) carry_factor: [f32; 256],
    /// Factor on the odds of a pass in the second half, by lead from -[`LEAD_MAX`] to [`LEAD_MAX`].
    pub(crate) pass_odds_by_lead: [f32; 2 * LEAD_MAX as usize + 1],
    /// Standard normal draws: 1,024 equally likely values.
    pub(crate) normal: [f32; 1024],
}

/// Spread (standard deviation of the logarithm) of a player's share of throws, and of carries, from game to game. These
/// values give WR1's targets and RB1's carries their measured spreads.
const TARGET_SPREAD: f64 = 0.15;
const CARRY_SPREAD: f64 = 0.48;

/// The distributions of the five zones up to 40 yards out, without the end of the field. Plays spread evenly over the
/// yard lines of a zone, except for the two next to the goal line.
fn near_goal(zones: &[Quantiles; 5]) -> [Lookup; 5] {
    let first = [1, 3, 6, 11, 21];
    let shares: [&[f64]; 5] = [&ON_THE_GOAL_LINE, &[1.0 / 3.0; 3], &[0.2; 5], &[0.1; 10], &[0.05; 20]];
    std::array::from_fn(|zone| Lookup::uncensored(&zones[zone], first[zone], shares[zone]))
}

/// Shares of the plays one and two yards out, within those two lines.
const ON_THE_GOAL_LINE: [f64; 2] = [0.79, 0.21];

/// Larger leads do not change play calls further.
pub(crate) const LEAD_MAX: i32 = 14;
/// Change of the log-odds of a pass in the second half, per point behind and per point ahead.
const PASS_BEHIND: f64 = 0.085;
const RUN_AHEAD: f64 = 0.02;

impl Tables {
    pub(crate) fn new() -> Self {
        let quantile = |i: usize, n: usize| world::normal_quantile((i as f64 + 0.5) / n as f64);
        let factors = |spread: f64| std::array::from_fn(|i| libm::exp(spread * quantile(i, 256)) as f32);
        Self {
            run: near_goal(&q::DESIGNED_RUN),
            run_open: Lookup::new(&q::DESIGNED_RUN_OPEN_FIELD),
            catch: near_goal(&q::COMPLETION),
            catch_open: q::COMPLETION_OPEN_FIELD.each_ref().map(Lookup::new),
            scramble: Lookup::new(&q::SCRAMBLE),
            sack: Lookup::new(&q::SACK),
            air_complete: Lookup::new(&q::AIR_YARDS_COMPLETED),
            air_incomplete: Lookup::new(&q::AIR_YARDS_INCOMPLETE),
            punt: q::PUNT_GROSS.each_ref().map(Lookup::new),
            punt_return: Lookup::new(&q::PUNT_RETURN),
            kick_return: Lookup::new(&q::KICK_RETURN),
            interception_return: Lookup::new(&q::INTERCEPTION_RETURN),
            run_off: [&q::RUN_OFF_RUN, &q::RUN_OFF_COMPLETION, &q::RUN_OFF_SACK, &q::RUN_OFF_INCOMPLETION]
                .map(Lookup::new),
            target_factor: factors(TARGET_SPREAD),
            carry_factor: factors(CARRY_SPREAD),
            pass_odds_by_lead: std::array::from_fn(|i| {
                let lead = (i as i32 - LEAD_MAX) as f64;
                libm::exp(if lead < 0.0 { -PASS_BEHIND * lead } else { -RUN_AHEAD * lead }) as f32
            }),
            normal: std::array::from_fn(|i| quantile(i, 1024) as f32),
        }
    }
}

/// The band of each number below `N`, given the last number of every band but the last. A load instead of comparisons:
/// their branches follow the draws, which no processor can predict.
const fn bands<const N: usize>(last: &[usize]) -> [u8; N] {
    let mut bands = [0; N];
    let mut number = 1;
    while number < N {
        let before = bands[number - 1];
        let ended = (before as usize) < last.len() && last[before as usize] < number;
        bands[number] = before + ended as u8;
        number += 1;
    }
    bands
}

/// The bands of yards: all below a power of two, which a field is shorter than.
type Bands = [u8; 128];

/// The band of a number of yards on the field.
#[inline]
fn band(bands: &Bands, yards: i32) -> usize {
    usize::from(bands[yards as usize % 128])
}

/// Yards to go 1-2, 3-5, 6-10, 11-20, 21-40, 41-60, 61-99.
static FIELD_ZONES: Bands = bands(&[2, 5, 10, 20, 40, 60]);

/// The zone of a yard line in the yardage tables: as [`FIELD_ZONES`], with the last two in one.
#[inline]
pub(crate) fn zone(yards_to_goal: i32) -> usize {
    band(&FIELD_ZONES, yards_to_goal).min(5)
}

/// Share of drop-backs by down, for distances 1, 2, 3, 4-5, 6-7, 8-9, 10, 11-14 and 15 or more.
const DROPBACK: [[f32; 9]; 4] = [
    [0.25, 0.36, 0.39, 0.44, 0.40, 0.41, 0.51, 0.53, 0.68],
    [0.32, 0.40, 0.45, 0.52, 0.62, 0.69, 0.65, 0.78, 0.80],
    [0.29, 0.71, 0.86, 0.92, 0.95, 0.95, 0.96, 0.92, 0.86],
    [0.29, 0.82, 0.93, 0.94, 0.96, 0.89, 0.95, 0.92, 0.94],
];

/// The columns of [`DROPBACK`] by distance.
static DISTANCE_BANDS: Bands = bands(&[1, 2, 3, 5, 7, 9, 10, 14]);

/// [`DROPBACK`] as odds.
static DROPBACK_ODDS: [[f32; 9]; 4] = {
    let mut odds = DROPBACK;
    let mut at = 0;
    while at < 36 {
        let share = DROPBACK[at / 9][at % 9];
        odds[at / 9][at % 9] = share / (1.0 - share);
        at += 1;
    }
    odds
};

/// Odds of a drop-back.
#[inline]
pub(crate) fn dropback_odds(down: i32, distance: i32) -> f32 {
    DROPBACK_ODDS[(down - 1) as usize][distance_band(distance)]
}

/// The column of a distance in [`DROPBACK`].
#[inline]
pub(crate) fn distance_band(distance: i32) -> usize {
    band(&DISTANCE_BANDS, distance)
}

/// Shares of fourth downs gone for, and kicked for a field goal, by yard line (1-5, 6-10, 11-20, 21-30, 31-35, 36-40,
/// 41-45, 46-50, 51-60, 61-99) and distance (1, 2, 3, 4-5, 6-8, 9-12, 13 or more). The rest are punts.
const FOURTH_DOWN: [[[f32; 7]; 2]; 10] = [
    [[0.79, 0.28, 0.16, 0.13, 0.13, 0.13, 0.13], [0.21, 0.72, 0.84, 0.87, 0.87, 0.87, 0.87]],
    [[0.60, 0.38, 0.18, 0.11, 0.09, 0.04, 0.04], [0.40, 0.62, 0.82, 0.89, 0.91, 0.96, 0.96]],
    [[0.58, 0.19, 0.10, 0.15, 0.09, 0.08, 0.08], [0.42, 0.81, 0.90, 0.85, 0.91, 0.92, 0.92]],
    [[0.65, 0.24, 0.19, 0.14, 0.09, 0.10, 0.06], [0.35, 0.76, 0.81, 0.86, 0.91, 0.90, 0.94]],
    [[0.76, 0.46, 0.42, 0.24, 0.19, 0.15, 0.08], [0.24, 0.51, 0.58, 0.72, 0.77, 0.79, 0.87]],
    [[0.86, 0.56, 0.53, 0.45, 0.27, 0.16, 0.10], [0.05, 0.24, 0.18, 0.19, 0.25, 0.30, 0.22]],
    [[0.85, 0.53, 0.28, 0.21, 0.11, 0.11, 0.05], [0.0; 7]],
    [[0.65, 0.35, 0.26, 0.14, 0.07, 0.12, 0.08], [0.0; 7]],
    [[0.37, 0.15, 0.09, 0.09, 0.06, 0.08, 0.07], [0.0; 7]],
    [[0.15, 0.07, 0.06, 0.06, 0.03, 0.04, 0.03], [0.0; 7]],
];

/// The rows and columns of [`FOURTH_DOWN`] by yard line and by distance.
static FOURTH_DOWN_ROWS: Bands = bands(&[5, 10, 20, 30, 35, 40, 45, 50, 60]);
static FOURTH_DOWN_COLUMNS: Bands = bands(&[1, 2, 3, 5, 8, 12]);

/// Shares on fourth down: (gone for, field goals).
#[inline]
pub(crate) fn fourth_down_shares(yards_to_goal: i32, distance: i32) -> (f32, f32) {
    let [gone_for, kicked] = &FOURTH_DOWN[band(&FOURTH_DOWN_ROWS, yards_to_goal)];
    let column = band(&FOURTH_DOWN_COLUMNS, distance);
    (gone_for[column], kicked[column])
}

/// Share of field goals made from `yards`, in bands up to 25, 30, ..., 60 and beyond.
#[inline]
pub(crate) fn field_goal_share(yards: i32) -> f32 {
    const MADE: [f32; 9] = [0.99, 0.97, 0.93, 0.89, 0.82, 0.71, 0.66, 0.55, 0.31];
    // Linear interpolation between the middles of the bands gives neighbouring yards different shares.
    let place = ((yards as f32 - 22.5) / 5.0).clamp(0.0, 8.0);
    let band = (place as usize).min(7);
    MADE[band] + (MADE[band + 1] - MADE[band]) * (place - band as f32)
}

/// Completion rate by zone of [`FIELD_ZONES`].
#[inline]
pub(crate) fn completion_by_field(yards_to_goal: i32) -> f32 {
    const RATES: [f32; 7] = [0.56, 0.50, 0.53, 0.58, 0.62, 0.64, 0.66];
    RATES[band(&FIELD_ZONES, yards_to_goal)]
}

/// Change of the completion rate by down.
pub(crate) const COMPLETION_BY_DOWN: [f32; 4] = [0.022, 0.022, -0.044, -0.102];
/// Change of the completion rate by position: backs, wide receivers, tight ends.
pub(crate) const COMPLETION_BY_POSITION: [f32; 3] = [0.117, -0.023, 0.027];
/// Sacks per drop-back by down.
pub(crate) const SACK_BY_DOWN: [f32; 4] = [0.049, 0.051, 0.090, 0.062];
/// Interceptions per attempt by down.
pub(crate) const INTERCEPTION_BY_DOWN: [f32; 4] = [0.021, 0.0215, 0.028, 0.059];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_follow_the_quantiles() {
        let lookup = Lookup::new(&q::SCRAMBLE);
        assert_eq!(lookup.at(u32::MAX / 2), 6);
        assert_eq!(lookup.at(0), -4);
        assert!(lookup.at(u32::MAX) > 60);
        let sack = Lookup::new(&q::SACK);
        let mean = (0..4096u32).map(|i| sack.at(i << 20)).sum::<i32>() as f32 / 4096.0;
        assert!((mean + 6.6).abs() < 0.2, "mean sack {mean}");
    }

    #[test]
    fn gains_go_on_past_the_goal_line() {
        let share = |lookup: &Lookup, least: i32| {
            lookup.0.iter().filter(|&&x| i32::from(x) >= least).count() as f64 / lookup.0.len() as f64
        };
        let censored = Lookup::new(&q::COMPLETION[2]);
        let whole = Lookup::uncensored(&q::COMPLETION[2], 6, &[0.2; 5]);
        // Nothing is censored below 6 yards. Above, the touchdowns of each line come from a fifth of the catches.
        assert!((share(&censored, 6) - share(&whole, 6)).abs() < 0.01);
        assert!((1..=10).all(|least| share(&whole, least) >= share(&censored, least) - 0.01));
        let seen: f64 = (6..=10).map(|line| 0.2 * share(&whole, line)).sum();
        assert!(seen > 1.3 * (6..=10).map(|line| 0.2 * share(&censored, line)).sum::<f64>(), "{seen}");
    }

    #[test]
    fn longer_field_goals_are_harder() {
        assert!((field_goal_share(20) - 0.99).abs() < 1e-6);
        assert!((30..70).all(|y| field_goal_share(y) >= field_goal_share(y + 1)));
        assert!((field_goal_share(70) - 0.31).abs() < 1e-6);
    }
}
