//! The content hash of an ensemble, independent of order, range size and number of workers.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// Scrambles 64 bits (the finaliser of `SplitMix64`, Steele, Lea and Flood 2014): a bijection.
#[inline]
pub const fn mix64(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A 64-bit hash of values at fixed places. It is a sum of per-value terms modulo 2^64, so parts add up in any order.
///
/// A value `v` at (column `c`, world `w`) adds `(v + OFFSET) * key(c, w)`: the multilinear family (Carter and Wegman
/// 1979) with keys from [`mix64`]. Changing, losing or moving one value changes the hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
pub struct ContentHash(pub u64);

impl ContentHash {
    /// Makes a zero differ from an absent value.
    const OFFSET: u64 = 0x9E37_79B9_7F4A_7C15;

    /// The weight of a world. Odd, so that multiplication loses no difference.
    #[inline]
    pub fn world_key(world: u32) -> u64 {
        mix64((u64::from(world) << 1).wrapping_add(0x5851_F42D_4C95_7F2D)) | 1
    }

    /// The weight of a column, from its number. Odd.
    #[inline]
    pub fn column_key(column: u64) -> u64 {
        mix64(column.wrapping_add(0x1405_7B7E_F767_814F)) | 1
    }

    /// Hash of one column over some worlds: `values[i]` belongs to the world of `world_keys[i]`.
    pub fn of_column<T: Copy + Into<i64>>(column: u64, world_keys: &[u64], values: &[T]) -> Self {
        assert_eq!(world_keys.len(), values.len(), "each value needs one key");
        let sum = pulp::Arch::new().dispatch(|| {
            world_keys.iter().zip(values).fold(0u64, |sum, (key, value)| {
                let value: i64 = (*value).into();
                sum.wrapping_add((value as u64).wrapping_add(Self::OFFSET).wrapping_mul(*key))
            })
        });
        Self(sum.wrapping_mul(Self::column_key(column)))
    }

    /// Hash of one row of numbers; `key` names the row.
    #[inline]
    pub fn of_row(key: u64, words: impl IntoIterator<Item = u64>) -> Self {
        let mut state = mix64(key.wrapping_add(Self::OFFSET));
        words.into_iter().for_each(|word| add_word(&mut state, word));
        Self(mix64(state))
    }
}

/// Adds a word to the state of a hash. Finish the state with [`mix64`].
#[inline]
pub fn add_word(state: &mut u64, word: u64) {
    *state = (*state ^ word).wrapping_mul(0x9FB2_1C65_1E98_DF25);
    *state ^= *state >> 29;
}

impl Add for ContentHash {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }
}

impl AddAssign for ContentHash {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for ContentHash {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), Add::add)
    }
}

/// Formats the hash as 16 hexadecimal digits.
impl std::fmt::Display for ContentHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Parses the format of [`Display`](std::fmt::Display).
impl std::str::FromStr for ContentHash {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u64::from_str_radix(text, 16).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn keys(worlds: std::ops::Range<u32>) -> Vec<u64> {
        worlds.map(ContentHash::world_key).collect()
    }

    proptest! {
        #[test]
        fn parts_add_up_to_the_whole(values in prop::collection::vec(any::<i16>(), 2..200), cut in 1usize..199) {
            let cut = cut.min(values.len() - 1);
            let n = values.len() as u32;
            let whole = ContentHash::of_column(5, &keys(0..n), &values);
            let left = ContentHash::of_column(5, &keys(0..cut as u32), &values[..cut]);
            let right = ContentHash::of_column(5, &keys(cut as u32..n), &values[cut..]);
            prop_assert_eq!(whole, right + left);
        }

        #[test]
        fn changed_or_swapped_values_change_hash(values in prop::collection::vec(-50i16..50, 2..50), at in 0usize..50) {
            let at = at % values.len();
            let keys = keys(0..values.len() as u32);
            let before = ContentHash::of_column(1, &keys, &values);
            let mut changed = values.clone();
            changed[at] += 1;
            prop_assert_ne!(before, ContentHash::of_column(1, &keys, &changed));
            prop_assert_ne!(before, ContentHash::of_column(2, &keys, &values));
            let mut swapped = values.clone();
            swapped.swap(0, at);
            if swapped != values {
                prop_assert_ne!(before, ContentHash::of_column(1, &keys, &swapped));
            }
        }
    }

    #[test]
    fn text_form_round_trips() {
        let hash = ContentHash(0xdead_beef);
        assert_eq!(hash.to_string(), "00000000deadbeef");
        assert_eq!(hash.to_string().parse::<ContentHash>(), Ok(hash));
    }
}
