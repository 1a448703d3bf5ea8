//! The distributions of a record's values: the effective shares of the public call-record benchmark. Each share is
//! exact, because it is a count out of a hundred, a thousand, ten thousand or a hundred thousand.

use crate::draws::{below, rounded};

/// Cell towers, with ids from 1 on.
pub const TOWERS: usize = 10_000;

/// Rate plans, with ids from 1 on.
pub const RATE_PLANS: usize = 50;

/// Telephone numbers by frequency of calls: 200,000 hot, 800,000 warm and 4,000,001 cold ones.
#[inline]
pub(crate) fn phone([band, word]: [u32; 2]) -> u32 {
    match below(band, 100) {
        0..20 => rounded(word, 1, 200_000),
        20..68 => rounded(word, 200_000, 999_999),
        _ => rounded(word, 1_000_000, 5_000_000),
    }
}

/// Seconds: 1 to 3,600, 411 on average.
#[inline]
pub(crate) fn duration([band, word]: [u32; 2]) -> u32 {
    match below(band, 10_000) {
        0..500 => rounded(word, 1, 10),
        500..8_575 => rounded(word, 30, 300),
        _ => rounded(word, 300, 3_600),
    }
}

/// Unscaled, four decimal places: 0.10 per second. The duration is drawn separately from the call's, as in the
/// reference.
#[inline]
pub(crate) fn billing(words: [u32; 2]) -> i128 {
    i128::from(duration(words)) * 1_000
}

#[inline]
pub(crate) fn tower([word]: [u32; 1]) -> i32 {
    rounded(word, 1, TOWERS as u32) as i32
}

#[inline]
pub(crate) fn rate_plan([word]: [u32; 1]) -> i32 {
    rounded(word, 1, RATE_PLANS as u32) as i32
}

#[inline]
pub(crate) fn call_type([word]: [u32; 1]) -> &'static str {
    match below(word, 1_000) {
        0..700 => "voice",
        700..985 => "sms",
        _ => "data",
    }
}

#[inline]
pub(crate) fn network([word]: [u32; 1]) -> &'static str {
    match below(word, 100) {
        0..30 => "4G",
        30..93 => "5G",
        _ => "5G-mmWave",
    }
}

/// Transferred bytes; only few records have any.
#[inline]
pub(crate) fn bytes([band, word]: [u32; 2]) -> Option<u32> {
    match below(band, 10_000) {
        0..500 => Some(rounded(word, 100, 10_000_100)),
        500..1_925 => Some(rounded(word, 1, 1_001)),
        _ => None,
    }
}

#[inline]
pub(crate) fn termination([band, word]: [u32; 2]) -> i32 {
    match below(band, 100_000) {
        0..80_000 => 1,
        80_000..98_000 => 16,
        98_000..99_900 => 17,
        99_900..99_998 => 18,
        _ => rounded(word, 21, 127) as i32,
    }
}

#[inline]
pub(crate) fn roaming([word]: [u32; 1]) -> bool {
    below(word, 100) < 10
}

/// Mean opinion score from 1.00 to 5.00; unscaled, two decimal places.
#[inline]
pub(crate) fn quality([word]: [u32; 1]) -> i128 {
    i128::from(rounded(word, 100, 500))
}

/// Percentage of lost packets from 0.00 to 100.00; unscaled, two decimal places.
#[inline]
pub(crate) fn loss([word]: [u32; 1]) -> i128 {
    i128::from(rounded(word, 0, 10_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One random word for each of `n` equally likely cases.
    fn cases(n: u32) -> impl Iterator<Item = u32> {
        (0..n).map(move |case| (u64::from(case) << 32).div_ceil(u64::from(n)) as u32)
    }

    /// The number of cases, out of 100,000 equally likely ones, that give `value`.
    fn count<T: Copy + PartialEq>(value: T, of: impl Fn(u32) -> T) -> usize {
        cases(100_000).filter(|&word| of(word) == value).count()
    }

    #[test]
    fn shares_are_exact() {
        assert_eq!([1, 200_000, 1_000_000].map(|low| count(low, |band| phone([band, 0]))), [20_000, 48_000, 32_000]);
        assert_eq!([1, 30, 300].map(|low| count(low, |band| duration([band, 0]))), [5_000, 80_750, 14_250]);
        assert_eq!(["voice", "sms", "data"].map(|kind| count(kind, |word| call_type([word]))), [70_000, 28_500, 1_500]);
        assert_eq!(["4G", "5G", "5G-mmWave"].map(|kind| count(kind, |word| network([word]))), [30_000, 63_000, 7_000]);
        assert_eq!([Some(100), Some(1), None].map(|low| count(low, |band| bytes([band, 0]))), [5_000, 14_250, 80_750]);
        let codes = [1, 16, 17, 18, 21].map(|code| count(code, |band| termination([band, 0])));
        assert_eq!(codes, [80_000, 18_000, 1_900, 98, 2]);
        assert_eq!(count(true, |word| roaming([word])), 10_000);
    }

    #[test]
    fn ranges_end_where_they_should() {
        let ends = |of: fn([u32; 2]) -> u32, n: u32| -> Vec<u32> {
            let mut ends: Vec<u32> = cases(n).flat_map(|band| [of([band, 0]), of([band, u32::MAX])]).collect();
            ends.sort_unstable();
            ends.dedup();
            ends
        };
        assert_eq!(ends(phone, 100), [1, 200_000, 999_999, 1_000_000, 5_000_000]);
        assert_eq!(ends(duration, 10_000), [1, 10, 30, 300, 3_600]);
        assert_eq!(ends(|words| bytes(words).unwrap_or(7), 10_000), [1, 7, 100, 1_001, 10_000_100]);
        assert_eq!(ends(|words| termination(words) as u32, 100_000), [1, 16, 17, 18, 21, 127]);
        assert_eq!([0, u32::MAX].map(|word| tower([word])), [1, 10_000]);
        assert_eq!([0, u32::MAX].map(|word| rate_plan([word])), [1, 50]);
        assert_eq!([0, u32::MAX].map(|word| quality([word])), [100, 500]);
        assert_eq!([0, u32::MAX].map(|word| loss([word])), [0, 10_000]);
        assert_eq!([0, u32::MAX].map(|word| billing([u32::MAX, word])), [300_000, 3_600_000]);
    }
}
