//! Splits accumulators by group.

use super::accumulator::{Accumulator, Sums, Weights};

/// Which part each group goes to.
pub(super) struct Split {
    /// By group. Groups of parts past the last are dropped.
    pub(super) part_of: Vec<u8>,
    /// The number of groups of each part.
    pub(super) sizes: Vec<usize>,
}

impl Split {
    pub(super) fn new(part_of: Vec<u8>, parts: usize) -> Self {
        let mut sizes = vec![0; parts];
        for &part in &part_of {
            if let Some(size) = sizes.get_mut(usize::from(part)) {
                *size += 1;
            }
        }
        Self { part_of, sizes }
    }

    /// Splits items that each group has one of.
    fn deal<T>(&self, items: impl IntoIterator<Item = T>) -> impl Iterator<Item = Vec<T>> {
        let mut parts: Vec<Vec<T>> = self.sizes.iter().map(|size| Vec::with_capacity(*size)).collect();
        for (item, &part) in items.into_iter().zip(&self.part_of) {
            if let Some(part) = parts.get_mut(usize::from(part)) {
                part.push(item);
            }
        }
        parts.into_iter()
    }

    /// Splits keys of `stride` cells each.
    pub(super) fn deal_keys(&self, cells: &[u64], stride: usize) -> Vec<Vec<u64>> {
        fn of<const STRIDE: usize>(split: &Split, cells: &[u64]) -> Vec<Vec<u64>> {
            split.deal(cells.as_chunks::<STRIDE>().0.iter().copied()).map(Vec::into_flattened).collect()
        }
        match stride {
            // Few cells, whose number the compiler knows, are copied without a call.
            2 => of::<2>(self, cells),
            3 => of::<3>(self, cells),
            _ => {
                let keys = self.deal(cells.chunks_exact(stride));
                keys.map(|keys| keys.concat()).collect()
            }
        }
    }

    fn sums(&self, sums: Sums) -> Box<dyn Iterator<Item = Sums> + '_> {
        match sums {
            Sums::Ints(sums) => Box::new(self.deal(sums).map(Sums::Ints)),
            Sums::Reals(sums) => Box::new(self.deal(sums).map(Sums::Reals)),
        }
    }

    fn weights(&self, weights: Weights) -> Box<dyn Iterator<Item = Weights> + '_> {
        match weights {
            Weights::Rows(rows) => Box::new(self.deal(rows).map(Weights::Rows)),
            Weights::Sums(sums) => Box::new(self.sums(sums).map(Weights::Sums)),
        }
    }
}

impl Accumulator {
    /// Whether its groups share nothing, so that it can be split.
    pub(super) fn can_split(&self) -> bool {
        !matches!(self, Self::Histogram(_) | Self::Distinct { dictionary: Some(_), .. })
    }

    /// One accumulator for each part; itself, if it cannot be split.
    pub(super) fn split(self, split: &Split) -> Vec<Self> {
        match self {
            Self::Count(weights) => split.weights(weights).map(Self::Count).collect(),
            Self::Sum { sums, rows } => {
                split.sums(sums).zip(split.deal(rows)).map(|(sums, rows)| Self::Sum { sums, rows }).collect()
            }
            Self::Mean { sums, weights } => {
                let parts = split.sums(sums).zip(split.weights(weights));
                parts.map(|(sums, weights)| Self::Mean { sums, weights }).collect()
            }
            Self::Deviation { sums, squares, weights } => {
                let parts = split.deal(sums).zip(split.deal(squares)).zip(split.weights(weights));
                parts.map(|((sums, squares), weights)| Self::Deviation { sums, squares, weights }).collect()
            }
            Self::Extreme { greatest, best, seen } => {
                let parts = split.deal(best).zip(split.deal(seen));
                parts.map(|(best, seen)| Self::Extreme { greatest, best, seen }).collect()
            }
            Self::ExtremeText { greatest, best } => {
                split.deal(best).map(|best| Self::ExtremeText { greatest, best }).collect()
            }
            Self::Distinct { cells, dictionary: None } => {
                split.deal(cells).map(|cells| Self::Distinct { cells, dictionary: None }).collect()
            }
            Self::Values(by_group) => split.deal(by_group).map(Self::Values).collect(),
            Self::LogHistogram(by_group) => split.deal(by_group).map(Self::LogHistogram).collect(),
            whole @ (Self::Histogram(_) | Self::Distinct { .. }) => vec![whole],
        }
    }
}
