//! Selects worlds that meet conditions, and suggests wider tolerances if they are too few.

use std::fmt;

use model::{Condition, NEVER};

use crate::expression::BitSet;

/// Conditions, and how each world meets them.
pub struct Given {
    texts: Vec<String>,
    /// The worlds that meet every condition without tolerances.
    rest: BitSet,
    /// Conditions with tolerances, and the text typed before each.
    widening: Vec<(String, Box<dyn Condition>)>,
    /// For each world, the factor on all tolerances needed to match.
    times: Vec<u32>,
}

impl Given {
    /// No condition yet on any of `worlds` worlds.
    pub fn new(worlds: usize) -> Self {
        Self { texts: Vec::new(), rest: BitSet::all(worlds), widening: Vec::new(), times: vec![1; worlds] }
    }

    /// Adds a condition that `worlds` meet.
    pub fn add(&mut self, text: &str, worlds: &BitSet) {
        self.texts.push(text.to_owned());
        self.rest.intersect(worlds);
    }

    /// Adds a condition in a model's words with its [distances](Condition::distances), one per world. `before` is the
    /// entity prefix as typed.
    pub fn add_widening(&mut self, text: &str, before: &str, condition: Box<dyn Condition>, distances: &[u32]) {
        self.texts.push(text.to_owned());
        self.widening.push((before.to_owned(), condition));
        self.times.iter_mut().zip(distances).for_each(|(all, one)| *all = (*all).max(*one));
    }

    /// The worlds that meet every condition, at least `least` of them.
    pub fn worlds(&self, least: usize) -> Result<BitSet, TooFew> {
        let met = BitSet::from_fn(self.rest.len(), |world| self.times[world] == 1 && self.rest.contains(world));
        if met.count() >= least { Ok(met) } else { Err(self.too_few(met.count(), least)) }
    }

    fn too_few(&self, matched: usize, least: usize) -> TooFew {
        let mut times: Vec<u32> = self.rest.worlds().map(|w| self.times[w]).filter(|&t| t != NEVER).collect();
        times.sort_unstable();
        let widest = times.len();
        let wider = least.checked_sub(1).and_then(|place| times.get(place)).map(|&enough| Wider {
            times: enough,
            matched: times.partition_point(|&t| t <= enough),
            conditions: self.widening.iter().map(|(before, c)| format!("{before}{}", c.widened(enough))).collect(),
        });
        TooFew {
            condition: self.texts.join(" and "),
            matched,
            worlds: self.rest.len(),
            least,
            wider,
            widest: (!self.widening.is_empty()).then_some(widest),
        }
    }
}

/// Too few worlds meet the conditions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct TooFew {
    /// The conditions as typed.
    pub condition: String,
    pub matched: usize,
    pub worlds: usize,
    /// Required worlds.
    pub least: usize,
    /// The smallest tolerances with enough worlds.
    pub wider: Option<Wider>,
    /// Matching worlds with unlimited tolerances; `None` if no condition has one.
    pub widest: Option<usize>,
}

/// Tolerances with enough matching worlds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wider {
    /// The factor on the requested tolerances.
    pub times: u32,
    pub matched: usize,
    /// The conditions with these tolerances, as a user would type them.
    pub conditions: Vec<String>,
}

impl TooFew {
    /// The number of worlds to simulate for enough to match, at the current rate.
    pub fn worlds_needed(&self) -> Option<u64> {
        let (all, least) = (self.worlds as u128, self.least as u128);
        let needed = || (all * least).div_ceil(self.matched as u128).try_into().unwrap_or(u64::MAX);
        (self.matched > 0).then(needed)
    }
}

impl fmt::Display for TooFew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { condition, matched, worlds, least, .. } = self;
        write!(f, "too few worlds meet {condition:?}: {matched} of {worlds}, fewer than the minimum of {least}; ")?;
        match (&self.wider, self.widest) {
            (Some(wider), _) => {
                let conditions: Vec<String> = wider.conditions.iter().map(|c| format!("\"{c}\"")).collect();
                let (times, conditions) = (wider.times, conditions.join(" and "));
                write!(f, "widen the tolerances {times} times, to {conditions}, for {} to match; ", wider.matched)?;
            }
            (None, Some(most)) => write!(f, "no tolerance is wide enough, at most {most} match; ")?,
            (None, None) => write!(f, "widen the condition; ")?,
        }
        match self.worlds_needed() {
            Some(needed) => write!(f, "play about {needed} worlds; or lower the minimum to {matched}"),
            None => write!(f, "or play many more worlds"),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::EventBlock;

    use super::*;

    fn set(worlds: &[usize]) -> BitSet {
        BitSet::from_fn(10, |world| worlds.contains(&world))
    }

    /// A condition with two tolerances.
    struct Near;

    impl Condition for Near {
        fn columns(&self) -> Vec<usize> {
            Vec::new()
        }

        fn distances(&self, _: &EventBlock<'_>) -> Vec<u32> {
            Vec::new()
        }

        fn widened(&self, times: u32) -> String {
            format!("at 8:00 ±{}, level 14 ±{}", 60 * times, 3 * times)
        }
    }

    #[test]
    fn a_refusal_names_the_ways_out() {
        let mut given = Given::new(10);
        given.add("sacks > 1", &set(&[0, 1, 2, 3, 4, 5, 6, 7]));
        given.add_widening("a: at 8:00", "a: ", Box::new(Near), &[1, 1, 3, 2, 5, 3, NEVER, 9, 1, 1]);
        assert_eq!(given.worlds(2).unwrap(), set(&[0, 1]));
        let said = |least: usize| given.worlds(least).unwrap_err().to_string();
        assert_eq!(
            said(4),
            "too few worlds meet \"sacks > 1 and a: at 8:00\": 2 of 10, fewer than the minimum of 4; widen the tolerances 3 \
             times, to \"a: at 8:00 ±180, level 14 ±9\", for 5 to match; play about 20 worlds; or lower the minimum to 2"
        );
        assert_eq!(
            said(8),
            "too few worlds meet \"sacks > 1 and a: at 8:00\": 2 of 10, fewer than the minimum of 8; no tolerance is wide \
             enough, at most 7 match; play about 40 worlds; or lower the minimum to 2"
        );
    }

    #[test]
    fn conditions_without_tolerances_are_refused_too() {
        let mut given = Given::new(10);
        given.add("sacks > 1", &set(&[0, 1, 2]));
        assert_eq!(
            given.worlds(5).unwrap_err().to_string(),
            "too few worlds meet \"sacks > 1\": 3 of 10, fewer than the minimum of 5; widen the condition; play about 17 \
             worlds; or lower the minimum to 3"
        );
        given.add("sacks > 9", &set(&[]));
        let refused = given.worlds(1).unwrap_err();
        assert_eq!((refused.matched, refused.worlds_needed()), (0, None));
        assert!(refused.to_string().ends_with("widen the condition; or play many more worlds"), "{refused}");
    }
}
