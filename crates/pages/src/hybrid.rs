//! Parquet's hybrid of run-length encoding and bit packing, for levels and dictionary indices.

use crate::{Error, Result, varint};

const SHORT: Error = Error::damaged("a run of levels or dictionary indices ends early");

/// An integer type for unpacked values.
pub trait Index: Copy + Default + Ord {
    /// The lowest bits of `value`.
    fn of(value: u32) -> Self;
    /// The value as a dictionary index.
    fn place(self) -> usize;
}

macro_rules! indices {
    ($($ty:ty),+) => {$(
        impl Index for $ty {
            #[inline]
            fn of(value: u32) -> Self {
                value as Self
            }
            #[inline]
            fn place(self) -> usize {
                self as usize
            }
        }
    )+};
}
indices!(u8, u16, u32);

/// Appends a run of `count` equal values of `width` bits (1 to 32).
pub fn push_run(out: &mut Vec<u8>, count: usize, value: u32, width: u32) {
    varint::push(out, (count as u64) << 1);
    out.extend_from_slice(&value.to_le_bytes()[..width.div_ceil(8) as usize]);
}

/// Appends bit-packed values of `width` bits (1, 2, 4 or 8), padded with zeros to a multiple of eight values.
pub fn push_packed(out: &mut Vec<u8>, values: &[u8], width: u32) {
    let groups = values.len().div_ceil(8);
    varint::push(out, ((groups as u64) << 1) | 1);
    let end = out.len() + groups * width as usize;
    if width == 8 {
        out.extend_from_slice(values);
    } else if width == 1 {
        // The product gathers the lowest bit of each of eight bytes in the highest byte.
        const GATHER: u64 = 0x0102_0408_1020_4080;
        let (eights, rest) = values.as_chunks::<8>();
        out.extend(eights.iter().map(|eight| (u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56) as u8));
        if !rest.is_empty() {
            out.push(rest.iter().enumerate().fold(0, |byte, (place, value)| byte | value << place));
        }
    } else if width == 2 {
        push_bytes::<4>(out, values);
    } else {
        push_bytes::<2>(out, values);
    }
    out.resize(end, 0);
}

/// Appends bytes of `EACH` values. Loops of a known length become vector instructions.
fn push_bytes<const EACH: usize>(out: &mut Vec<u8>, values: &[u8]) {
    let byte = |values: &[u8]| values.iter().rev().fold(0, |byte, value| byte << (8 / EACH) | value);
    let (whole, rest) = values.as_chunks::<EACH>();
    out.extend(whole.iter().map(|values| byte(values)));
    if !rest.is_empty() {
        out.push(byte(rest));
    }
}

/// Appends values of `width` bits (1 to 32): long runs as runs, the rest bit-packed.
pub fn push(out: &mut Vec<u8>, values: &[u32], width: u32) {
    /// Equal values from which a run is shorter than packed values, for most widths.
    const RUN_MIN: usize = 16;
    let (mut packed_from, mut at) = (0, 0);
    while let Some(value) = values.get(at) {
        let run = values[at..].iter().take_while(|other| *other == value).count();
        if run >= RUN_MIN {
            push_eights(out, &values[packed_from..at], width);
            push_run(out, run, *value, width);
            at += run;
            packed_from = at;
        } else {
            // Packed values come in groups of eight.
            at += 8;
        }
    }
    push_eights(out, &values[packed_from..], width);
}

/// Appends bit-packed values of `width` bits (1 to 32), padded with zeros to a multiple of eight values.
fn push_eights(out: &mut Vec<u8>, values: &[u32], width: u32) {
    if values.is_empty() {
        return;
    }
    let groups = values.len().div_ceil(8);
    varint::push(out, ((groups as u64) << 1) | 1);
    let end = out.len() + groups * width as usize;
    let (mut word, mut bits) = (0u64, 0);
    for value in values {
        word |= u64::from(*value) << bits;
        bits += width;
        if bits >= 32 {
            out.extend_from_slice(&(word as u32).to_le_bytes());
            word >>= 32;
            bits -= 32;
        }
    }
    out.extend_from_slice(&word.to_le_bytes()[..bits.div_ceil(8) as usize]);
    out.resize(end, 0);
}

/// Whether the bytes start with a run of at least `count` values that equal `value`, of up to eight bits.
pub fn is_one_run(mut bytes: &[u8], count: usize, value: u8) -> bool {
    let header = varint::read(&mut bytes);
    header.is_some_and(|header| header & 1 == 0 && header >> 1 >= count as u64) && bytes.first() == Some(&value)
}

/// Appends `count` values of `width` bits.
pub fn read<T: Index>(mut bytes: &[u8], width: u32, count: usize, out: &mut Vec<T>) -> Result<()> {
    if width > 32 {
        return Err(Error::damaged("dictionary indices are wider than 32 bits"));
    }
    // Truncating wide values to `T` would hide invalid ones.
    if width as usize > 8 * size_of::<T>() {
        return Err(Error::damaged("a dictionary index is out of range"));
    }
    let mut left = count;
    while left > 0 {
        let header = varint::read(&mut bytes).ok_or(SHORT)?;
        if header & 1 == 0 {
            let value = bytes.split_off(..width.div_ceil(8) as usize).ok_or(SHORT)?;
            let mut word = [0; 4];
            word[..value.len()].copy_from_slice(value);
            let run = ((header >> 1) as usize).min(left);
            if run == 0 {
                return Err(SHORT);
            }
            out.resize(out.len() + run, T::of(u32::from_le_bytes(word)));
            left -= run;
        } else {
            let groups = (header >> 1) as usize;
            let length = groups.checked_mul(width as usize).ok_or(SHORT)?;
            let run = groups.saturating_mul(8).min(left);
            if run == 0 {
                return Err(SHORT);
            }
            // Writers may omit the padding of the last group.
            let packed = bytes.get(..length.min(bytes.len())).ok_or(SHORT)?;
            bytes = &bytes[packed.len()..];
            if packed.len() * 8 < run * width as usize {
                return Err(SHORT);
            }
            unpack(packed, width, run, out);
            left -= run;
        }
    }
    Ok(())
}

/// Appends `count` indices into a dictionary of `entries` values. The first byte of `body` is their width.
pub fn places<T: Index>(body: &[u8], count: usize, entries: usize, out: &mut Vec<T>) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    let (width, packed) = body.split_first().ok_or(Error::SHORT)?;
    let before = out.len();
    if *width == 0 && entries > 0 {
        out.resize(before + count, T::default());
        return Ok(());
    }
    // Other writers may use more bits than the dictionary needs.
    if usize::from(*width) > 8 * size_of::<T>() {
        return Err(Error::Unsupported);
    }
    read(packed, u32::from(*width), count, out)?;
    // By value: the place of the greatest one would make this take longer than unpacking.
    match out[before..].iter().copied().max() {
        Some(most) if most.place() >= entries => Err(Error::damaged("a dictionary index is out of range")),
        _ => Ok(()),
    }
}

/// Appends `count` packed values; the caller checked the length.
fn unpack<T: Index>(packed: &[u8], width: u32, count: usize, out: &mut Vec<T>) {
    macro_rules! widths {
        ($($width:literal)+) => {
            match width {
                0 => out.resize(out.len() + count, T::default()),
                $($width => eights::<T, $width>(packed, count, out),)+
                _ => one_by_one(packed, 0, width, count, out),
            }
        };
    }
    widths!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
}

/// Unpacks eight values at a time: they fill `WIDTH` bytes.
fn eights<T: Index, const WIDTH: usize>(packed: &[u8], count: usize, out: &mut Vec<T>) {
    let before = out.len();
    let (groups, _) = packed.as_chunks::<WIDTH>();
    let whole = groups.len().min(count / 8);
    out.resize(before + whole * 8, T::default());
    let (eights, _) = out[before..].as_chunks_mut::<8>();
    let mask = (1u32 << WIDTH) - 1;
    for (group, eight) in groups.iter().zip(eights) {
        if WIDTH <= 8 {
            let mut word = [0; 8];
            word[..WIDTH].copy_from_slice(group);
            let word = u64::from_le_bytes(word);
            for (place, value) in eight.iter_mut().enumerate() {
                *value = T::of((word >> (place * WIDTH)) as u32 & mask);
            }
        } else {
            let mut word = [0; 16];
            word[..WIDTH].copy_from_slice(group);
            let word = u128::from_le_bytes(word);
            for (place, value) in eight.iter_mut().enumerate() {
                *value = T::of((word >> (place * WIDTH)) as u32 & mask);
            }
        }
    }
    one_by_one(packed, whole * 8, WIDTH as u32, count, out);
}

/// Appends the values from index `from` to `count`.
fn one_by_one<T: Index>(packed: &[u8], from: usize, width: u32, count: usize, out: &mut Vec<T>) {
    let mask = (1u64 << width) - 1;
    for place in from..count {
        let bit = place * width as usize;
        let mut word = [0; 8];
        let bytes = &packed[bit / 8..(bit + width as usize).div_ceil(8)];
        word[..bytes.len()].copy_from_slice(bytes);
        out.push(T::of((u64::from_le_bytes(word) >> (bit % 8) & mask) as u32));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(bytes: &[u8], width: u32, count: usize) -> Vec<u32> {
        let mut values = Vec::new();
        read(bytes, width, count, &mut values).unwrap();
        values
    }

    #[test]
    fn truncated_runs_are_rejected() {
        let mut bytes = Vec::new();
        push_packed(&mut bytes, &[1; 64], 8);
        for length in 0..bytes.len() {
            assert!(read::<u8>(&bytes[..length], 8, 64, &mut Vec::new()).is_err());
        }
    }

    #[test]
    fn widths_over_32_bits_are_rejected() {
        for width in 33..=255 {
            assert!(read::<u32>(&[2, 0, 0, 0, 0, 0, 0, 0], width, 1, &mut Vec::new()).is_err());
        }
    }

    #[test]
    fn wide_indices_are_left_to_another_reader() {
        let mut body = vec![16];
        push_run(&mut body, 3, 1, 16);
        let mut narrow: Vec<u8> = Vec::new();
        assert!(matches!(places(&body, 3, 2, &mut narrow), Err(Error::Unsupported)));
        let mut wide: Vec<u32> = Vec::new();
        places(&body, 3, 2, &mut wide).unwrap();
        assert_eq!(wide, [1, 1, 1]);
    }

    proptest! {
        #[test]
        fn packed_values_round_trip(numbers in prop::collection::vec(any::<u8>(), 1..300), log_width in 0u32..4) {
            let width = 1 << log_width;
            let numbers: Vec<u8> = numbers.into_iter().map(|v| v & ((1u32 << width) - 1) as u8).collect();
            let mut bytes = Vec::new();
            push_packed(&mut bytes, &numbers, width);
            let expected: Vec<u32> = numbers.iter().map(|&v| u32::from(v)).collect();
            prop_assert_eq!(values(&bytes, width, numbers.len()), expected);
        }

        #[test]
        fn runs_round_trip(runs in prop::collection::vec((1usize..500, 0u32..1 << 13), 1..20)) {
            let mut bytes = Vec::new();
            for &(count, value) in &runs {
                push_run(&mut bytes, count, value, 13);
            }
            let expected: Vec<u32> = runs.iter().flat_map(|&(n, v)| std::iter::repeat_n(v, n)).collect();
            prop_assert_eq!(values(&bytes, 13, expected.len()), expected);
        }

        #[test]
        fn values_of_any_width_unpack(values in prop::collection::vec(any::<u32>(), 1..200), width in 1u32..33) {
            let values: Vec<u32> = values.iter().map(|v| (u64::from(*v) & ((1u64 << width) - 1)) as u32).collect();
            let groups = values.len().div_ceil(8);
            let mut bytes = vec![0u8; groups * width as usize];
            for (place, value) in values.iter().enumerate() {
                for bit in 0..width as usize {
                    let at = place * width as usize + bit;
                    bytes[at / 8] |= ((value >> bit & 1) as u8) << (at % 8);
                }
            }
            let mut packed = vec![(groups as u8) << 1 | 1];
            packed.extend(&bytes);
            let mut out: Vec<u32> = Vec::new();
            prop_assert!(read(&packed, width, values.len(), &mut out).is_ok());
            prop_assert_eq!(&out, &values);
            if width <= 8 {
                let mut narrow: Vec<u8> = Vec::new();
                prop_assert!(read(&packed, width, values.len(), &mut narrow).is_ok());
                prop_assert_eq!(narrow.iter().map(|v| u32::from(*v)).collect::<Vec<_>>(), values);
            }
        }

        #[test]
        fn reading_any_bytes_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..60), width in 0u32..40) {
            let mut out: Vec<u32> = Vec::new();
            let _ = read(&bytes, width, 1_000, &mut out);
            prop_assert!(out.len() <= 1_000);
        }
    }
}
