//! Parquet's packed differences (`DELTA_BINARY_PACKED`), as far as we write them: lengths.

use crate::varint;

const BLOCK: usize = 128;
const MINIBLOCKS: usize = 4;
const MINIBLOCK: usize = BLOCK / MINIBLOCKS;

/// Appends numbers as their first, and the differences from each to the next in as few bits as a block of 32 needs.
pub(crate) fn push_deltas(out: &mut Vec<u8>, values: &[i32]) {
    varint::push(out, BLOCK as u64);
    varint::push(out, MINIBLOCKS as u64);
    varint::push(out, values.len() as u64);
    varint::push_signed(out, i64::from(values.first().copied().unwrap_or(0)));
    let mut deltas = [0; BLOCK];
    for from in (1..values.len()).step_by(BLOCK) {
        let block = &values[from - 1..values.len().min(from + BLOCK)];
        let deltas = &mut deltas[..block.len() - 1];
        for (delta, pair) in deltas.iter_mut().zip(block.windows(2)) {
            *delta = i64::from(pair[1]) - i64::from(pair[0]);
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
        let most = miniblock.iter().map(|d| (d - least) as u64).max().unwrap_or(0);
        let width = u64::BITS - most.leading_zeros();
        if width == 0 {
            continue;
        }
        out[widths_at + place] = width as u8;
        push_packed(out, miniblock.iter().map(|d| (d - least) as u64), width);
    }
}

/// Appends a miniblock of values of `width` bits, side by side from the lowest bit on, filled up with zeros.
fn push_packed(out: &mut Vec<u8>, values: impl Iterator<Item = u64>, width: u32) {
    let end = out.len() + MINIBLOCK / 8 * width as usize;
    let (mut word, mut bits) = (0u128, 0);
    for value in values {
        word |= u128::from(value) << bits;
        bits += width;
        while bits >= 8 {
            out.push(word as u8);
            word >>= 8;
            bits -= 8;
        }
    }
    if bits > 0 {
        out.push(word as u8);
    }
    out.resize(end, 0);
}
