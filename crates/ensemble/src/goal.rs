//! When an estimate is precise enough to stop an ensemble.

use crate::aggregate::Aggregate;

/// Stop an ensemble once both ends of a confidence interval are this close to the mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// Maximum distance from the mean to either end, in the outcome's unit.
    HalfWidth(f64),
    /// Maximum distance in percent: of 1 if all values lie between 0 and 1, else of the mean.
    Percent(f64),
}

impl Goal {
    /// Fewer worlds estimate their own spread too poorly.
    const WORLDS_MIN: u64 = 100;

    pub fn is_met(self, aggregate: &Aggregate) -> bool {
        let goal = match (self, aggregate.bounds()) {
            (Self::HalfWidth(half), _) => half,
            (Self::Percent(percent), Some([min, max])) if min >= 0.0 && max <= 1.0 => percent / 100.0,
            (Self::Percent(percent), _) => percent / 100.0 * aggregate.mean().abs(),
        };
        aggregate.count >= Self::WORLDS_MIN && aggregate.ci_half_width().is_some_and(|half| half <= goal)
    }
}

impl std::str::FromStr for Goal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, of): (_, fn(f64) -> Self) = match text.strip_suffix('%') {
            Some(number) => (number, Self::Percent),
            None => (text, Self::HalfWidth),
        };
        let wrong =
            || format!("{text:?} is not a width of an interval: write 0.5%, or a number above 0 in the outcome's unit");
        let number: f64 = number.trim().parse().map_err(|_| wrong())?;
        if number > 0.0 && number.is_finite() { Ok(of(number)) } else { Err(wrong()) }
    }
}

/// [`FromStr`](std::str::FromStr) reads this back.
impl std::fmt::Display for Goal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::HalfWidth(half) => write!(f, "{half}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::Values;

    use super::*;
    use crate::interval::Interval;

    fn whole(values: &[i32], scale: i32) -> Aggregate {
        Aggregate::of(&Values::I32(values), scale)
    }

    #[test]
    fn a_goal_is_met_when_the_interval_is_narrow_enough() {
        let coins: Vec<i32> = (0..10_000).map(|i| i % 2).collect();
        let (few, many) = (whole(&coins[..99], 1), whole(&coins, 1));
        let goal = |text: &str| text.parse::<Goal>().unwrap();
        // 2.054 x 0.5 / 100, plus half a world for the steps of a share: just above 1.03% of 1, or 2.06% of the mean.
        assert!(goal("1.04%").is_met(&many) && !goal("1.02%").is_met(&many) && goal("0.0104").is_met(&many));
        assert!(!goal("100").is_met(&few), "99 worlds do not do");
        let larger = whole(&coins.iter().map(|c| c * 4).collect::<Vec<_>>(), 1);
        assert!(goal("2.08%").is_met(&larger) && !goal("2%").is_met(&larger));
        for bad in ["", "%", "0", "-1%", "NaN", "inf", "1 percent"] {
            assert!(bad.parse::<Goal>().is_err(), "{bad}");
        }
        assert_eq!([goal("0.5%"), goal("3.5")].map(|g| g.to_string()), ["0.5%", "3.5"]);
    }

    /// Runs ranges of `worlds` worlds until the goal is met; returns whether the interval contains the mean.
    fn covers(
        seed: u32,
        worlds: usize,
        goal: Goal,
        mean: f64,
        mut world: impl FnMut(&mut world::Stream) -> i32,
    ) -> bool {
        let mut random = world::Stream::new(world::Seed(11), world::World(seed), 0, 0);
        let mut known = whole(&[], 1);
        while !goal.is_met(&known) {
            known.merge(&whole(&(0..worlds).map(|_| world(&mut random)).collect::<Vec<_>>(), 1));
        }
        let Interval { low, high } = known.interval().unwrap();
        assert!((known.mean() - low).max(high - known.mean()) <= known.ci_half_width().unwrap());
        low <= mean && mean <= high
    }

    /// In how many of 400 runs the interval contains the mean.
    fn covered(worlds: usize, goal: &str, mean: f64, world: impl Fn(&mut world::Stream) -> i32 + Copy) -> usize {
        let goal = goal.parse().unwrap();
        (0..400).filter(|seed| covers(*seed, worlds, goal, mean, world)).count()
    }

    /// 94% of 400: a true 95% sometimes falls below 380. The seeds are fixed, so the tests are deterministic.
    const ENOUGH: usize = 376;

    #[test]
    fn stopping_early_keeps_shares_covered() {
        for (share, goals) in [(0.0002, ["0.3%", "0.05%"]), (0.005, ["2%", "0.5%"]), (0.4, ["10%", "3%"])] {
            for goal in goals {
                let found = covered(250, goal, share, |random| i32::from(f64::from(random.uniform()) < share));
                assert!(found >= ENOUGH, "{share} within {goal}: {found} of 400");
            }
        }
    }

    #[test]
    fn stopping_early_keeps_skewed_means_covered() {
        // Geometric integers: each is a tenth less likely than the one before, and the mean is 9.
        let skewed = |random: &mut world::Stream| (0..200).take_while(|_| random.uniform() < 0.9).count() as i32;
        for goal in ["2", "0.7"] {
            let found = covered(50, goal, 9.0, skewed);
            assert!(found >= ENOUGH, "within {goal}: {found} of 400");
        }
    }

    #[test]
    fn intervals_of_many_worlds_are_not_needlessly_wide() {
        let coins: Vec<i32> = (0..10_000).map(|i| i % 2).collect();
        let dice: Vec<i32> = (0..10_000).map(|i| i % 6 + 1).collect();
        for values in [coins, dice] {
            let known = whole(&values, 1);
            let plain = 1.96 * (known.variance() / 10_000.0).sqrt();
            assert!(known.ci_half_width().unwrap() < 1.06 * plain, "{known:?}");
        }
    }
}
