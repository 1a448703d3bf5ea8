//! The run-length and bit-packing hybrid of Parquet, as far as we write it, and all of it as we read it.

use crate::varint;

/// Appends a run of one value. `width` is the bit width of a value, 1 to 32.
pub(super) fn push_run(out: &mut Vec<u8>, count: usize, value: u32, width: u32) {
    varint::push(out, (count as u64) << 1);
    out.extend_from_slice(&value.to_le_bytes()[..width.div_ceil(8) as usize]);
}

/// Appends values of `width` bits (1, 2, 4 or 8) packed side by side, filled up with zeros to a multiple of eight.
pub(super) fn push_packed(out: &mut Vec<u8>, values: &[u8], width: u32) {
    let groups = values.len().div_ceil(8);
    varint::push(out, ((groups as u64) << 1) | 1);
    let end = out.len() + groups * width as usize;
    if width == 8 {
        out.extend_from_slice(values);
    } else {
        let per_byte = (8 / width) as usize;
        out.extend(
            values
                .chunks(per_byte)
                .map(|chunk| chunk.iter().enumerate().fold(0, |byte, (i, value)| byte | value << (i as u32 * width))),
        );
    }
    out.resize(end, 0);
}

/// Appends levels that are all `level`, with the length that a first-version data page puts before them.
pub(super) fn push_level_run(out: &mut Vec<u8>, parts: &[(usize, u32)], width: u32) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    for &(count, level) in parts {
        if count > 0 {
            push_run(out, count, level, width);
        }
    }
    let length = (out.len() - at - 4) as u32;
    out[at..at + 4].copy_from_slice(&length.to_le_bytes());
}

/// Appends levels of 0 and 1 as they are, with their length before them.
pub(crate) fn push_packed_levels(out: &mut Vec<u8>, levels: &[u8]) {
    if levels.iter().all(|&level| level == 1) {
        return push_level_run(out, &[(levels.len(), 1)], 1);
    }
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    push_packed(out, levels, 1);
    let length = (out.len() - at - 4) as u32;
    out[at..at + 4].copy_from_slice(&length.to_le_bytes());
}

/// Reads `count` values of `width` bits and hands each, with how often it repeats, to `take`.
pub(super) fn read_hybrid(
    mut bytes: &[u8],
    width: u32,
    count: usize,
    mut take: impl FnMut(u32, usize),
) -> Result<(), &'static str> {
    const SHORT: &str = "a run of levels or indices ends early";
    let mut left = count;
    while left > 0 {
        let header = varint::read(&mut bytes).ok_or(SHORT)?;
        if header & 1 == 0 {
            let bytes_wide = width.div_ceil(8) as usize;
            let (value, rest) = bytes.split_at_checked(bytes_wide).ok_or(SHORT)?;
            let mut word = [0; 4];
            word[..bytes_wide].copy_from_slice(value);
            bytes = rest;
            let run = ((header >> 1) as usize).min(left);
            if run == 0 {
                return Err(SHORT);
            }
            take(u32::from_le_bytes(word), run);
            left -= run;
        } else {
            let values = (header >> 1) as usize * 8;
            let (packed, rest) = bytes.split_at_checked(values / 8 * width as usize).ok_or(SHORT)?;
            bytes = rest;
            let run = values.min(left);
            if run == 0 {
                return Err(SHORT);
            }
            unpack(packed, width, run, &mut take);
            left -= run;
        }
    }
    Ok(())
}

fn unpack(packed: &[u8], width: u32, count: usize, take: &mut impl FnMut(u32, usize)) {
    let mask = ((1u64 << width) - 1) as u32;
    let (mut word, mut bits, mut bytes) = (0u64, 0, packed.iter());
    for _ in 0..count {
        while bits < width {
            word |= u64::from(bytes.next().copied().unwrap_or(0)) << bits;
            bits += 8;
        }
        take(word as u32 & mask, 1);
        word >>= width;
        bits -= width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8], width: u32, count: usize) -> Vec<u32> {
        let mut values = Vec::new();
        read_hybrid(bytes, width, count, |value, run| values.extend(std::iter::repeat_n(value, run))).unwrap();
        values
    }

    proptest! {
        #[test]
        fn packed_values_read_back(values in prop::collection::vec(any::<u8>(), 1..300), log_width in 0u32..4) {
            let width = 1 << log_width;
            let values: Vec<u8> = values.into_iter().map(|v| v & ((1u32 << width) - 1) as u8).collect();
            let mut bytes = Vec::new();
            push_packed(&mut bytes, &values, width);
            let expected: Vec<u32> = values.iter().map(|&v| u32::from(v)).collect();
            prop_assert_eq!(read(&bytes, width, values.len()), expected);
        }

        #[test]
        fn runs_read_back(runs in prop::collection::vec((1usize..500, 0u32..1 << 13), 1..20)) {
            let mut bytes = Vec::new();
            for &(count, value) in &runs {
                push_run(&mut bytes, count, value, 13);
            }
            let expected: Vec<u32> = runs.iter().flat_map(|&(n, v)| std::iter::repeat_n(v, n)).collect();
            prop_assert_eq!(read(&bytes, 13, expected.len()), expected);
        }
    }

    #[test]
    fn a_truncated_run_is_an_error() {
        let mut bytes = Vec::new();
        push_packed(&mut bytes, &[1; 64], 8);
        for length in 0..bytes.len() {
            assert!(read_hybrid(&bytes[..length], 8, 64, |_, _| {}).is_err());
        }
    }
}
