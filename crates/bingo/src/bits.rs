//! Small sets of numbers below 256 with fast access to the smallest.

use std::ops::{BitAnd, BitOr, BitOrAssign};

const WORDS: usize = 4;

/// A set of numbers below 256.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Bits([u64; WORDS]);

impl Bits {
    pub(crate) fn insert(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }

    pub(crate) fn remove(&mut self, number: usize) {
        self.0[number / 64] &= !(1 << (number % 64));
    }

    pub(crate) fn contains(self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 == 1
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == [0; WORDS]
    }

    /// The smallest number in the set.
    #[inline]
    pub(crate) fn first(self) -> Option<usize> {
        let word = self.0.iter().position(|word| *word != 0)?;
        Some(word * 64 + self.0[word].trailing_zeros() as usize)
    }

    pub(crate) fn len(self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The numbers in ascending order.
    pub(crate) fn iter(mut self) -> impl Iterator<Item = usize> {
        std::iter::from_fn(move || {
            let first = self.first()?;
            self.0[first / 64] &= self.0[first / 64] - 1;
            Some(first)
        })
    }
}

impl FromIterator<usize> for Bits {
    fn from_iter<I: IntoIterator<Item = usize>>(numbers: I) -> Self {
        let mut bits = Self::default();
        numbers.into_iter().for_each(|number| bits.insert(number));
        bits
    }
}

impl BitAnd for Bits {
    type Output = Self;

    #[inline]
    fn bitand(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }
}

impl BitOr for Bits {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }
}

impl BitOrAssign for Bits {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bits_are_sets(a in prop::collection::btree_set(0usize..256, 0..40), b in prop::collection::btree_set(0usize..256, 0..40)) {
            let (x, y): (Bits, Bits) = (a.iter().copied().collect(), b.iter().copied().collect());
            prop_assert_eq!(x.iter().collect::<BTreeSet<_>>(), a.clone());
            prop_assert_eq!((x.len(), x.is_empty(), x.first()), (a.len(), a.is_empty(), a.first().copied()));
            prop_assert_eq!((x & y).iter().collect::<BTreeSet<_>>(), a.intersection(&b).copied().collect());
            prop_assert_eq!((x | y).iter().collect::<BTreeSet<_>>(), a.union(&b).copied().collect());
            let mut without = x;
            b.iter().for_each(|n| without.remove(*n));
            prop_assert!((0..256).all(|n| without.contains(n) == (a.contains(&n) && !b.contains(&n))));
        }
    }
}
