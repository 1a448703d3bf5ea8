//! Worlds to answer from: those that meet some conditions, and ways out where they are too few.

use std::fmt;

use crate::expression::BitSet;
use crate::state::{GameState, NEVER};

/// Conditions, and how each world stands to them.
#[derive(Debug, Clone)]
pub struct Given {
    texts: Vec<String>,
    /// The worlds that meet every condition other than states.
    rest: BitSet,
    states: Vec<GameState>,
    /// How many times the tolerances of all states must be taken for each world to match.
    times: Vec<u32>,
}

impl Given {
    /// No condition yet on any of `worlds` worlds.
    pub fn new(worlds: usize) -> Self {
        Self { texts: Vec::new(), rest: BitSet::all(worlds), states: Vec::new(), times: vec![1; worlds] }
    }

    /// Adds a condition that `worlds` meet.
    pub fn add(&mut self, text: &str, worlds: &BitSet) {
        self.texts.push(text.to_owned());
        self.rest.intersect(worlds);
    }

    /// Adds a state with the times of [`GameState::times_needed`], one a world.
    pub fn add_state(&mut self, text: &str, state: GameState, times: &[u32]) {
        self.texts.push(text.to_owned());
        self.states.push(state);
        self.times.iter_mut().zip(times).for_each(|(all, one)| *all = (*all).max(*one));
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
            states: self.states.iter().map(|state| state.widened(enough)).collect(),
        });
        TooFew {
            condition: self.texts.join(" and "),
            matched,
            worlds: self.rest.len(),
            least,
            wider,
            widest: (!self.states.is_empty()).then_some(widest),
        }
    }
}

/// Too few worlds meet the conditions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct TooFew {
    /// The conditions as they were typed.
    pub condition: String,
    /// Worlds that meet them.
    pub matched: usize,
    /// All worlds.
    pub worlds: usize,
    /// Worlds that there should be.
    pub least: usize,
    /// The narrowest tolerances with which there are.
    pub wider: Option<Wider>,
    /// Worlds that would match if tolerances did not count; `None` where no condition has one.
    pub widest: Option<usize>,
}

/// Tolerances with which enough worlds match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wider {
    /// How many times those that were asked for.
    pub times: u32,
    /// Worlds that match then.
    pub matched: usize,
    /// The states with them.
    pub states: Vec<GameState>,
}

impl TooFew {
    /// Worlds that would have to be played for enough to match, at the rate at which they match now.
    pub fn worlds_needed(&self) -> Option<u64> {
        let (all, least) = (self.worlds as u128, self.least as u128);
        let needed = || (all * least).div_ceil(self.matched as u128).try_into().unwrap_or(u64::MAX);
        (self.matched > 0).then(needed)
    }
}

impl fmt::Display for TooFew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { condition, matched, worlds, least, .. } = self;
        write!(
            f,
            "only {matched} of {worlds} worlds meet {condition:?}: too few to answer from (--min-worlds {least}); "
        )?;
        match (&self.wider, self.widest) {
            (Some(wider), _) => {
                let states: Vec<String> = wider.states.iter().map(|state| format!("\"{state}\"")).collect();
                let (times, states) = (wider.times, states.join(" and "));
                write!(f, "widen the tolerances {times} times, to {states}, for {} to match, or ", wider.matched)?;
            }
            (None, Some(most)) => write!(f, "no tolerance is wide enough, {most} match at most; ")?,
            (None, None) => write!(f, "widen the condition, or ")?,
        }
        match self.worlds_needed() {
            Some(needed) => write!(f, "play about {needed} worlds, or take {matched} with --min-worlds {matched}"),
            None => write!(f, "play many more worlds"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(worlds: &[usize]) -> BitSet {
        BitSet::from_fn(10, |world| worlds.contains(&world))
    }

    #[test]
    fn a_refusal_names_the_ways_out() {
        let state = GameState::parse("at q3 8:00 ±60, score 14-10 ±3").unwrap();
        let mut given = Given::new(10);
        given.add("sacks > 1", &set(&[0, 1, 2, 3, 4, 5, 6, 7]));
        given.add_state("at q3 8:00", state, &[1, 1, 3, 2, 5, 3, NEVER, 9, 1, 1]);
        assert_eq!(given.worlds(2).unwrap(), set(&[0, 1]));
        let said = |least: usize| given.worlds(least).unwrap_err().to_string();
        assert_eq!(
            said(4),
            "only 2 of 10 worlds meet \"sacks > 1 and at q3 8:00\": too few to answer from (--min-worlds 4); widen the \
             tolerances 3 times, to \"at q3 8:00 ±180, score 14-10 ±9\", for 5 to match, or play about 20 worlds, or take \
             2 with --min-worlds 2"
        );
        assert_eq!(
            said(8),
            "only 2 of 10 worlds meet \"sacks > 1 and at q3 8:00\": too few to answer from (--min-worlds 8); no tolerance \
             is wide enough, 7 match at most; play about 40 worlds, or take 2 with --min-worlds 2"
        );
    }

    #[test]
    fn conditions_without_tolerances_are_refused_too() {
        let mut given = Given::new(10);
        given.add("sacks > 1", &set(&[0, 1, 2]));
        assert_eq!(
            given.worlds(5).unwrap_err().to_string(),
            "only 3 of 10 worlds meet \"sacks > 1\": too few to answer from (--min-worlds 5); widen the condition, or play \
             about 17 worlds, or take 3 with --min-worlds 3"
        );
        given.add("sacks > 9", &set(&[]));
        let refused = given.worlds(1).unwrap_err();
        assert_eq!((refused.matched, refused.worlds_needed()), (0, None));
        assert!(refused.to_string().ends_with("widen the condition, or play many more worlds"), "{refused}");
    }
}
