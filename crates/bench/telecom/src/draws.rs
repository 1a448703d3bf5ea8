//! Random words for rows. A value depends only on its row's words, not on the chunk that contains it.

use std::array;
use std::ops::Range;

use world::{Seed, Stream, World};

/// Rows that share a stream. A chunk that starts inside a block skips the words of the rows before it.
pub(crate) const BLOCK: usize = 4096;

/// The purpose of random words. Each purpose has its own streams, so columns are independent. A changed number changes
/// the records of every seed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    Size = 0,
    CallId = 1,
    Caller = 2,
    Callee = 3,
    Duration = 4,
    Tower = 5,
    CallType = 6,
    Network = 7,
    Bytes = 8,
    Termination = 9,
    Billing = 10,
    RatePlan = 11,
    Roaming = 12,
    Quality = 13,
    Loss = 14,
    City = 15,
    Site = 16,
}

/// The random words of consecutive rows of one batch.
#[derive(Debug, Clone)]
pub(crate) struct Draws {
    pub(crate) seed: Seed,
    pub(crate) batch: u32,
    pub(crate) rows: Range<usize>,
}

impl Draws {
    /// Calls `take` with each row's `W` words, in order.
    #[inline]
    pub(crate) fn each<const W: usize>(&self, purpose: Purpose, mut take: impl FnMut([u32; W])) {
        let mut row = self.rows.start;
        while row < self.rows.end {
            let block = row / BLOCK;
            let end = self.rows.end.min((block + 1) * BLOCK);
            let mut random = Stream::new(self.seed, World(self.batch), block as u32, purpose as u32);
            for _ in 0..row % BLOCK * W {
                random.next_u32();
            }
            for _ in row..end {
                take(array::from_fn(|_| random.next_u32()));
            }
            row = end;
        }
    }

    /// Each row's value, in order.
    #[inline]
    pub(crate) fn values<const W: usize, T>(&self, purpose: Purpose, value: impl Fn([u32; W]) -> T) -> Vec<T> {
        let mut values = Vec::with_capacity(self.rows.len());
        self.each(purpose, |words| values.push(value(words)));
        values
    }
}

/// A uniform integer below `n`, from one random word; the bias is below `n` / 2^32.
#[inline]
pub(crate) fn below(word: u32, n: u32) -> u32 {
    ((u64::from(word) * u64::from(n)) >> 32) as u32
}

/// A uniform real number from `low` to `high`, rounded to an integer, from one random word. The two ends have half the
/// weight of the others, as in the reference. `high - low` is below 2^31.
#[inline]
pub(crate) fn rounded(word: u32, low: u32, high: u32) -> u32 {
    low + below(word, 2 * (high - low)).div_ceil(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_rounded_range_have_half_weight() {
        let mut counts = [0; 5];
        for step in 0..8_000 {
            counts[rounded(step * (u32::MAX / 8_000) + 1, 10, 14) as usize - 10] += 1;
        }
        for (count, expected) in counts.into_iter().zip([1_000, 2_000, 2_000, 2_000, 1_000_i32]) {
            assert!((count - expected).abs() <= 2, "{counts:?}");
        }
        assert_eq!((rounded(0, 1, 10_000), rounded(u32::MAX, 1, 10_000)), (1, 10_000));
    }

    #[test]
    fn every_column_has_streams_of_its_own() {
        let draws = Draws { seed: Seed(1), batch: 1, rows: 0..10 };
        let caller = draws.values(Purpose::Caller, |[word]| word);
        let callee = draws.values(Purpose::Callee, |[word]| word);
        assert!(caller.iter().all(|word| !callee.contains(word)));
    }
}
