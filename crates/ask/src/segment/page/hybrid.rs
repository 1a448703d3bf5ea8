//! Parquet's hybrid of runs and packed bits.

use table::varint;

use super::{Fault, Read};

const SHORT: Fault = Fault::Broken("a run of levels or places ends early");

/// A number that packed bits become.
pub(super) trait Index: Copy + Default + Ord {
    fn of(value: u32) -> Self;
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

/// Whether there is nothing but `count` times one value of one bit.
pub(super) fn is_one_run(mut bytes: &[u8], count: usize, value: u8) -> bool {
    let header = varint::read(&mut bytes);
    header.is_some_and(|header| header & 1 == 0 && header >> 1 >= count as u64) && bytes.first() == Some(&value)
}

/// Appends `count` values of `width` bits.
pub(super) fn read<T: Index>(mut bytes: &[u8], width: u32, count: usize, out: &mut Vec<T>) -> Read<()> {
    if width > 32 {
        return Err(Fault::Broken("places are wider than 32 bits"));
    }
    // A number too narrow for its values would hide that they are wrong.
    if width as usize > 8 * size_of::<T>() {
        return Err(Fault::Broken("a page points past its dictionary"));
    }
    let mut left = count;
    while left > 0 {
        let header = varint::read(&mut bytes).ok_or(SHORT)?;
        if header & 1 == 0 {
            let (value, rest) = bytes.split_at_checked(width.div_ceil(8) as usize).ok_or(SHORT)?;
            let mut word = [0; 4];
            word[..value.len()].copy_from_slice(value);
            bytes = rest;
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
            // The last groups of a page may be cut off where no values are left.
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

/// Appends `count` packed values, of which there are enough.
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

/// Eight values lie in as many bytes as each has bits.
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

/// Appends the values from `from` to `count`.
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

    proptest! {
        #[test]
        fn packed_values_of_any_width_are_read(values in prop::collection::vec(any::<u32>(), 1..200), width in 1u32..33) {
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
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60), width in 0u32..40) {
            let mut out: Vec<u32> = Vec::new();
            let _ = read(&bytes, width, 1_000, &mut out);
            prop_assert!(out.len() <= 1_000);
        }
    }
}
