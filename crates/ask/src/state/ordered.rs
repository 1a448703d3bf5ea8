//! Sorted, distinct values.

pub(crate) type CountedValues = Ordered<(i64, u64)>;
pub(crate) type DistinctValues = Ordered<u64>;

/// Items to sort; equal items merge.
pub(crate) trait Item: Copy + Ord {
    /// Merges the `next` item in order; returns false if the two differ.
    fn absorb(&mut self, next: Self) -> bool;
}

impl Item for u64 {
    fn absorb(&mut self, next: Self) -> bool {
        *self == next
    }
}

impl Item for (i64, u64) {
    fn absorb(&mut self, next: Self) -> bool {
        let is_same = self.0 == next.0;
        if is_same {
            self.1 += next.1;
        }
        is_same
    }
}

/// Sorted items, and pending ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ordered<T> {
    ordered: Vec<T>,
    waiting: Vec<T>,
}

/// Minimum number of pending items before sorting.
const WAITING: usize = 64;

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self::from_ordered(Vec::new())
    }
}

impl<T> Ordered<T> {
    pub(crate) fn from_ordered(ordered: Vec<T>) -> Self {
        Self { ordered, waiting: Vec::new() }
    }

    /// The items in order; call [`Self::settle`] before.
    pub(crate) fn values(&self) -> &[T] {
        debug_assert!(self.waiting.is_empty(), "some values are not sorted yet");
        &self.ordered
    }

    pub(crate) fn memory(&self) -> usize {
        (self.ordered.capacity() + self.waiting.capacity()) * size_of::<T>()
    }
}

impl<T: Item> Ordered<T> {
    pub(crate) fn add(&mut self, item: T) {
        if self.waiting.last_mut().is_some_and(|last| last.absorb(item)) {
            return;
        }
        self.waiting.push(item);
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

    /// Sorts all items.
    pub(crate) fn settle(&mut self) {
        if !self.waiting.is_empty() {
            self.waiting.sort_unstable();
            self.waiting.dedup_by(|next, item| item.absorb(*next));
            self.join();
        }
    }

    /// Merges the pending items, sorted and distinct, with the sorted ones.
    fn join(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        let Some(first) = waiting.first() else { return };
        // Items that arrive in order need no merge.
        let is_before_all = |last: &T| {
            let mut last = *last;
            last < *first && !last.absorb(*first)
        };
        if self.ordered.last().is_none_or(is_before_all) {
            self.ordered.extend_from_slice(&waiting);
            return;
        }
        let ordered = std::mem::take(&mut self.ordered);
        let mut joined: Vec<T> = Vec::with_capacity(ordered.len() + waiting.len());
        let (mut a, mut b) = (ordered.into_iter().peekable(), waiting.into_iter().peekable());
        loop {
            let next = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x <= y => a.next(),
                (_, Some(_)) => b.next(),
                _ => a.next(),
            };
            let Some(item) = next else { break };
            if !joined.last_mut().is_some_and(|last| last.absorb(item)) {
                joined.push(item);
            }
        }
        self.ordered = joined;
    }
}

impl CountedValues {
    pub(crate) fn total(&self) -> u64 {
        self.ordered.iter().chain(&self.waiting).map(|(_, times)| times).sum()
    }
}
