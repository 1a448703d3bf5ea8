//! Sorted values with counts, the basis of exact quantiles and histograms.

/// Minimum number of pending values before sorting.
const PENDING_MIN: usize = 1024;

/// Keys with counts; keys have the order of their values. Memory grows with the number of distinct values.
#[derive(Debug, Default, Clone)]
pub(super) struct Runs {
    /// Sorted, each key once.
    runs: Vec<(u64, u64)>,
    pending: Vec<u64>,
}

impl Runs {
    pub(super) fn push(&mut self, key: u64) {
        // Wait for as many values as are sorted, so that each value moves only a few times.
        if self.pending.len() >= PENDING_MIN.max(self.runs.len()) {
            self.settle();
        }
        self.pending.push(key);
    }

    pub(super) fn merge(&mut self, other: impl ExactSizeIterator<Item = (u64, u64)>) {
        self.settle();
        self.runs = merged(&self.runs, other);
    }

    /// All values, sorted.
    pub(super) fn finish(&mut self) -> &[(u64, u64)] {
        self.settle();
        &self.runs
    }

    /// Whether there may be two different values.
    pub(super) fn has_several(&self) -> bool {
        self.runs.len() + self.pending.len() > 1
    }

    /// Allocated bytes.
    pub(super) fn size(&self) -> usize {
        self.runs.capacity() * size_of::<(u64, u64)>() + self.pending.capacity() * size_of::<u64>()
    }

    fn settle(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        self.pending.sort_unstable();
        let chunks = self.pending.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64));
        let fresh: Vec<_> = chunks.collect();
        self.runs = merged(&self.runs, fresh.into_iter());
        self.pending = Vec::new();
    }
}

/// Merges sorted runs with distinct keys.
fn merged(runs: &[(u64, u64)], other: impl ExactSizeIterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    let mut out = Vec::with_capacity(runs.len().max(other.len()));
    let mut left = runs.iter().copied().peekable();
    for (key, count) in other {
        while let Some(run) = left.next_if(|run| run.0 < key) {
            out.push(run);
        }
        let same = left.next_if(|run| run.0 == key).map_or(0, |run| run.1);
        out.push((key, count + same));
    }
    out.extend(left);
    out
}

/// The least key such that at least the share `p` of the values do not exceed it; `None` without values.
pub(super) fn quantile(runs: &[(u64, u64)], p: f64) -> Option<u64> {
    let total: u64 = runs.iter().map(|run| run.1).sum();
    let rank = rank(total, p);
    let mut below = 0;
    let found = runs.iter().find(|run| {
        below += run.1;
        below >= rank
    });
    found.map(|run| run.0)
}

/// The least integer from 1 that is at least `p * total`, with `p` as a decimal fraction. In binary, 0.07 * 100 is
/// 7.000000000000001, but the rank is 7.
fn rank(total: u64, p: f64) -> u64 {
    let exact = p * total as f64;
    let near = exact.round();
    let rank = if (exact - near).abs() <= 4.0 * f64::EPSILON * exact { near } else { exact.ceil() };
    (rank as u64).clamp(1, total.max(1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranks_are_those_of_the_fraction_as_written() {
        assert_eq!(
            [rank(100, 0.07), rank(100, 0.071), rank(100, 0.0), rank(100, 1.0), rank(10, 0.3)],
            [7, 8, 1, 100, 3]
        );
        assert_eq!([rank(9_043_968, 0.5), rank(3, 0.5), rank(1, 0.99)], [4_521_984, 2, 1]);
    }

    #[test]
    fn repeated_values_take_no_more_memory() {
        let mut runs = Runs::default();
        (0..1_000_000_u64).for_each(|n| runs.push(n % 300));
        assert!(runs.size() < 64 << 10, "{}", runs.size());
        assert_eq!(runs.finish().len(), 300);
    }

    proptest! {
        #[test]
        fn runs_are_the_values_in_order_however_they_came(
            parts in prop::collection::vec(prop::collection::vec(0_u64..500, 0..3000), 1..4),
            p in 0.0..=1.0,
        ) {
            let mut all = Runs::default();
            for part in &parts {
                let mut runs = Runs::default();
                part.iter().for_each(|&key| runs.push(key));
                let other = runs.finish().to_vec();
                all.merge(other.into_iter());
                part.iter().for_each(|&key| all.push(key));
            }
            let mut expected: Vec<u64> = parts.iter().flatten().flat_map(|&key| [key, key]).collect();
            expected.sort_unstable();
            let listed: Vec<u64> = all.finish().iter().flat_map(|&(key, n)| std::iter::repeat_n(key, n as usize)).collect();
            prop_assert_eq!(&listed, &expected);
            let least = expected.iter().find(|&&key| {
                expected.partition_point(|&other| other <= key) as f64 >= p * expected.len() as f64
            });
            prop_assert_eq!(quantile(all.finish(), p), least.copied());
        }
    }
}
