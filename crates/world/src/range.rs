//! Contiguous ranges of worlds.

use serde::{Deserialize, Serialize};

use crate::World;

/// A contiguous, non-empty range of worlds: the unit of work, of file and of commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WorldRange {
    first: u32,
    count: u32,
}

/// Why a range of worlds is invalid.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum RangeError {
    #[error("a range needs at least one world")]
    Empty,
    #[error("an ensemble has at most 2147483647 worlds: cannot take {count} worlds from {first} on")]
    TooFar { first: u32, count: u32 },
}

impl WorldRange {
    /// `count` worlds from `first` on.
    pub fn new(first: World, count: u32) -> Result<Self, RangeError> {
        let first = first.0;
        if count == 0 {
            Err(RangeError::Empty)
        } else if first.checked_add(count).is_none_or(|end| end > i32::MAX as u32) {
            Err(RangeError::TooFar { first, count })
        } else {
            Ok(Self { first, count })
        }
    }

    pub fn first(self) -> World {
        World(self.first)
    }

    /// The number of worlds, at least 1.
    pub fn count(self) -> usize {
        self.count as usize
    }

    /// One past the last world's number.
    pub fn end(self) -> u32 {
        self.first + self.count
    }

    pub fn contains(self, world: World) -> bool {
        (self.first..self.end()).contains(&world.0)
    }

    pub fn worlds(self) -> impl ExactSizeIterator<Item = World> + Clone {
        (self.first..self.first + self.count).map(World)
    }

    /// Splits the range into pieces of `size` worlds; the last may be shorter.
    pub fn split(self, size: u32) -> Vec<Self> {
        let size = size.max(1);
        (0..self.count.div_ceil(size))
            .map(|piece| Self { first: self.first + piece * size, count: size.min(self.count - piece * size) })
            .collect()
    }
}

/// Formats the first and last world as `00000000-00004999`. The fixed width makes names sort as numbers.
impl std::fmt::Display for WorldRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:08}-{:08}", self.first, self.end() - 1)
    }
}

/// Parses the format of [`Display`](std::fmt::Display).
impl std::str::FromStr for WorldRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || format!("invalid range of worlds {text:?}: expected FIRST-LAST");
        let (first, last) = text.split_once('-').ok_or_else(bad)?;
        let first: u32 = first.parse().map_err(|_| bad())?;
        let last: u32 = last.parse().map_err(|_| bad())?;
        let count = last.checked_sub(first).and_then(|n| n.checked_add(1));
        Self::new(World(first), count.ok_or_else(bad)?).map_err(|_| bad())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_cover_range_once(first in 0u32..1_000_000, count in 1u32..5_000, size in 1u32..700) {
            let range = WorldRange::new(World(first), count).unwrap();
            let worlds: Vec<World> = range.split(size).into_iter().flat_map(WorldRange::worlds).collect();
            prop_assert_eq!(worlds, range.worlds().collect::<Vec<_>>());
        }

        #[test]
        fn names_round_trip(first in 0u32..1 << 30, count in 1u32..1 << 30) {
            let range = WorldRange::new(World(first), count).unwrap();
            prop_assert_eq!(range.to_string().parse::<WorldRange>().unwrap(), range);
        }
    }

    #[test]
    fn invalid_ranges_are_rejected() {
        assert_eq!(WorldRange::new(World(3), 0), Err(RangeError::Empty));
        assert!(WorldRange::new(World(u32::MAX), 1).is_err());
        // Tables have signed numbers.
        assert!(
            WorldRange::new(World(0), i32::MAX as u32).is_ok() && WorldRange::new(World(1), i32::MAX as u32).is_err()
        );
        for text in ["", "5", "7-3", "a-b", "0-4294967295"] {
            assert!(text.parse::<WorldRange>().is_err(), "{text}");
        }
    }
}
