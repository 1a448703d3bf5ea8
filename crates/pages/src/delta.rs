//! Delta encoding of integers (`DELTA_BINARY_PACKED`).

use crate::{Error, Result, varint};

const SHORT: Error = Error::damaged("a delta page ends early");
/// Limit on the values of a miniblock; usual are 32 or 64.
const PART_MAX: usize = 1 << 16;

fn number(bytes: &mut &[u8]) -> Result<u64> {
    varint::read(bytes).ok_or(SHORT)
}

fn signed(bytes: &mut &[u8]) -> Result<i64> {
    varint::read_signed(bytes).ok_or(SHORT)
}

/// Appends `count` values and removes them from the front of `bytes`.
pub(crate) fn read(bytes: &mut &[u8], count: usize, out: &mut Vec<i64>) -> Result<()> {
    let block = number(bytes)? as usize;
    let parts = number(bytes)? as usize;
    let total = number(bytes)? as usize;
    let first = signed(bytes)?;
    if total != count {
        return Err(Error::damaged("a page and its header differ in the number of values"));
    }
    if count == 0 {
        return Ok(());
    }
    let part = block
        .checked_div(parts)
        .filter(|part| *part > 0 && part % 8 == 0 && *part <= PART_MAX)
        .ok_or(Error::damaged("a delta page has an invalid block size"))?;
    let end = out.len() + count;
    out.push(first);
    let mut value = first;
    // Padded, so that words can be read past the last value.
    let mut padded: Vec<u8> = Vec::new();
    while out.len() < end {
        let least = signed(bytes)?;
        let widths = bytes.split_off(..parts).ok_or(SHORT)?;
        for &width in widths {
            if out.len() == end {
                break;
            }
            let width = usize::from(width);
            let packed = bytes.split_off(..part / 8 * width).ok_or(SHORT)?;
            let now = part.min(end - out.len());
            padded.clear();
            padded.extend_from_slice(packed);
            padded.resize(packed.len() + 16, 0);
            differences(&padded, width, now, least, &mut value, out)?;
        }
    }
    Ok(())
}

fn differences(
    packed: &[u8],
    width: usize,
    count: usize,
    least: i64,
    value: &mut i64,
    out: &mut Vec<i64>,
) -> Result<()> {
    let mut last = *value;
    macro_rules! words {
        ($word:ty) => {{
            let mask = u64::MAX >> (64 - width);
            out.extend((0..count).map(|place| {
                let bit = place * width;
                let mut word = [0; size_of::<$word>()];
                word.copy_from_slice(&packed[bit / 8..bit / 8 + size_of::<$word>()]);
                let difference = (<$word>::from_le_bytes(word) >> (bit % 8)) as u64 & mask;
                last = last.wrapping_add(least).wrapping_add(difference as i64);
                last
            }));
        }};
    }
    match width {
        0 => out.extend((0..count).map(|_| {
            last = last.wrapping_add(least);
            last
        })),
        // With up to seven bits before it, such a number lies within eight bytes.
        1..=57 => words!(u64),
        58..=64 => words!(u128),
        _ => return Err(Error::damaged("deltas are wider than 64 bits")),
    }
    *value = last;
    Ok(())
}

const BLOCK: usize = 128;
const MINIBLOCKS: usize = 4;
const MINIBLOCK: usize = BLOCK / MINIBLOCKS;

/// An integer of 32 or 64 bits.
pub trait Integer: Copy + Into<i64> {
    /// The difference, wrapped to the integer's bits, because readers add in that many.
    fn minus(self, other: Self) -> i64;
}

impl Integer for i32 {
    fn minus(self, other: Self) -> i64 {
        self.wrapping_sub(other).into()
    }
}

impl Integer for i64 {
    fn minus(self, other: Self) -> i64 {
        self.wrapping_sub(other)
    }
}

/// Appends the first number and the differences between neighbours, in blocks of 32 with the minimum bit width each.
pub fn push<T: Integer>(out: &mut Vec<u8>, values: &[T]) {
    varint::push(out, BLOCK as u64);
    varint::push(out, MINIBLOCKS as u64);
    varint::push(out, values.len() as u64);
    varint::push_signed(out, values.first().map_or(0, |first| (*first).into()));
    let mut deltas = [0; BLOCK];
    for from in (1..values.len()).step_by(BLOCK) {
        let block = &values[from - 1..values.len().min(from + BLOCK)];
        let deltas = &mut deltas[..block.len() - 1];
        for (delta, pair) in deltas.iter_mut().zip(block.windows(2)) {
            *delta = pair[1].minus(pair[0]);
        }
        push_block(out, deltas);
    }
}

fn push_block(out: &mut Vec<u8>, block: &[i64]) {
    let least = block.iter().copied().min().unwrap_or(0);
    varint::push_signed(out, least);
    let widths_at = out.len();
    out.resize(widths_at + MINIBLOCKS, 0);
    for (place, miniblock) in block.chunks(MINIBLOCK).enumerate() {
        let most = miniblock.iter().map(|d| d.wrapping_sub(least) as u64).max().unwrap_or(0);
        let width = u64::BITS - most.leading_zeros();
        if width == 0 {
            continue;
        }
        out[widths_at + place] = width as u8;
        push_packed(out, miniblock.iter().map(|d| d.wrapping_sub(least) as u64), width);
    }
}

/// Appends a miniblock of `width`-bit values, packed from the lowest bit and padded with zeros.
fn push_packed(out: &mut Vec<u8>, values: impl Iterator<Item = u64>, width: u32) {
    let end = out.len() + MINIBLOCK / 8 * width as usize;
    let (mut word, mut bits) = (0u128, 0);
    for value in values {
        word |= u128::from(value) << bits;
        bits += width;
        if bits >= u64::BITS {
            out.extend_from_slice(&(word as u64).to_le_bytes());
            word >>= u64::BITS;
            bits -= u64::BITS;
        }
    }
    out.extend_from_slice(&word.to_le_bytes()[..bits.div_ceil(8) as usize]);
    out.resize(end, 0);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbers near each other, or any.
    fn numbers() -> impl Strategy<Value = Vec<i64>> {
        let number = prop_oneof![any::<i64>(), Just(i64::MIN), Just(i64::MAX), -9i64..9];
        prop_oneof![
            prop::collection::vec(any::<i32>().prop_map(i64::from), 1..400),
            prop::collection::vec(number, 1..400)
        ]
    }

    proptest! {
        #[test]
        fn deltas_round_trip(values in numbers()) {
            let mut bytes = Vec::new();
            push(&mut bytes, &values);
            let mut out = Vec::new();
            prop_assert!(read(&mut &bytes[..], values.len(), &mut out).is_ok());
            prop_assert_eq!(out, values);
        }

        #[test]
        fn reading_any_bytes_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..80), count in 0usize..500) {
            let mut out = Vec::new();
            let read = read(&mut &bytes[..], count, &mut out);
            prop_assert!(out.len() <= count && (read.is_err() || out.len() == count));
        }
    }
}
