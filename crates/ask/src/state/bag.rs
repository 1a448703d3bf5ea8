//! Values and how often each occurs.

/// Values in order, each with its weight; those that came last wait to be put in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Bag {
    ordered: Vec<(i64, u64)>,
    waiting: Vec<(i64, u64)>,
}

/// Values that wait, at least, before they are put in order.
const WAITING: usize = 64;

impl Bag {
    pub(crate) fn add(&mut self, value: i64, times: u64) {
        self.waiting.push((value, times));
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

    /// Puts all values in order.
    pub(crate) fn settle(&mut self) {
        if !self.waiting.is_empty() {
            self.waiting.sort_unstable();
            self.join();
        }
    }

    /// Joins what waits, which is in order, with what is ordered.
    fn join(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        let ordered = std::mem::take(&mut self.ordered);
        let mut joined: Vec<(i64, u64)> = Vec::with_capacity(ordered.len() + waiting.len().min(ordered.len()));
        let (mut a, mut b) = (ordered.into_iter().peekable(), waiting.into_iter().peekable());
        loop {
            let next = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x.0 <= y.0 => a.next(),
                (_, Some(_)) => b.next(),
                _ => a.next(),
            };
            let Some((value, times)) = next else { break };
            match joined.last_mut() {
                Some(last) if last.0 == value => last.1 += times,
                _ => joined.push((value, times)),
            }
        }
        self.ordered = joined;
    }

    /// The values in order; all must be settled.
    pub(crate) fn values(&self) -> &[(i64, u64)] {
        debug_assert!(self.waiting.is_empty(), "some values wait");
        &self.ordered
    }

    pub(crate) fn from_ordered(ordered: Vec<(i64, u64)>) -> Self {
        Self { ordered, waiting: Vec::new() }
    }

    pub(crate) fn total(&self) -> u64 {
        self.ordered.iter().chain(&self.waiting).map(|(_, times)| times).sum()
    }

    pub(crate) fn memory(&self) -> usize {
        (self.ordered.capacity() + self.waiting.capacity()) * size_of::<(i64, u64)>()
    }
}
