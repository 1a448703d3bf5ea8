//! Different values.

/// Different values in order; those that came last wait to be put in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Cells {
    ordered: Vec<u64>,
    waiting: Vec<u64>,
}

const WAITING: usize = 64;

impl Cells {
    pub(crate) fn add(&mut self, cell: u64) {
        if self.waiting.last() == Some(&cell) {
            return;
        }
        self.waiting.push(cell);
        if self.waiting.len() >= WAITING.max(self.ordered.len() / 2) {
            self.settle();
        }
    }

    pub(crate) fn merge(&mut self, mut other: Self) {
        other.settle();
        self.settle();
        self.waiting = other.ordered;
        self.join();
    }

    pub(crate) fn settle(&mut self) {
        if !self.waiting.is_empty() {
            self.waiting.sort_unstable();
            self.waiting.dedup();
            self.join();
        }
    }

    fn join(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        // What comes in order needs no second place.
        if self.ordered.last().is_none_or(|last| waiting.first().is_none_or(|first| last < first)) {
            self.ordered.extend_from_slice(&waiting);
            return;
        }
        let ordered = std::mem::take(&mut self.ordered);
        let mut joined: Vec<u64> = Vec::with_capacity(ordered.len() + waiting.len());
        let (mut a, mut b) = (ordered.into_iter().peekable(), waiting.into_iter().peekable());
        loop {
            let next = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x <= y => a.next(),
                (_, Some(_)) => b.next(),
                _ => a.next(),
            };
            let Some(cell) = next else { break };
            if joined.last() != Some(&cell) {
                joined.push(cell);
            }
        }
        self.ordered = joined;
    }

    /// The values in order; all must be settled.
    pub(crate) fn values(&self) -> &[u64] {
        debug_assert!(self.waiting.is_empty(), "some values wait");
        &self.ordered
    }

    pub(crate) fn from_ordered(ordered: Vec<u64>) -> Self {
        Self { ordered, waiting: Vec::new() }
    }

    pub(crate) fn memory(&self) -> usize {
        (self.ordered.capacity() + self.waiting.capacity()) * size_of::<u64>()
    }
}
