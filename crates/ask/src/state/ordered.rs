//! Values in order, each once.

/// Values, each with how often it occurs.
pub(crate) type CountedValues = Ordered<(i64, u64)>;
/// Different values.
pub(crate) type DistinctValues = Ordered<u64>;

/// What can be put in order, equal ones becoming one.
pub(crate) trait Item: Copy + Ord {
    /// Takes in another that follows it in order; says so, or that the two are different.
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

/// Items in order; those that came last wait to be put in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ordered<T> {
    ordered: Vec<T>,
    waiting: Vec<T>,
}

/// Items that wait, at least, before they are put in order.
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

    /// The items in order; all must be settled.
    pub(crate) fn values(&self) -> &[T] {
        debug_assert!(self.waiting.is_empty(), "some values wait");
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

    /// Puts all items in order.
    pub(crate) fn settle(&mut self) {
        if !self.waiting.is_empty() {
            self.waiting.sort_unstable();
            self.waiting.dedup_by(|next, item| item.absorb(*next));
            self.join();
        }
    }

    /// Joins what waits, which is in order and each once, with what is ordered.
    fn join(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        let Some(first) = waiting.first() else { return };
        // What comes in order needs no second place.
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
    /// How often all values occur together.
    pub(crate) fn total(&self) -> u64 {
        self.ordered.iter().chain(&self.waiting).map(|(_, times)| times).sum()
    }
}
