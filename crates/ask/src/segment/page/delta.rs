//! Integers as differences of neighbours (`DELTA_BINARY_PACKED`).

use table::varint;

use super::{Fault, Read};

const SHORT: Fault = Fault::Broken("a page of differences ends early");
const WRONG: Fault = Fault::Broken("a page of differences has blocks of a size that there is not");
/// Values of a part of a block, at most; the usual is 32 or 64.
const PART_MAX: usize = 1 << 16;

fn number(bytes: &mut &[u8]) -> Read<u64> {
    varint::read(bytes).ok_or(SHORT)
}

fn signed(bytes: &mut &[u8]) -> Read<i64> {
    varint::read_signed(bytes).ok_or(SHORT)
}

/// Appends `count` values and cuts them off the front of `bytes`.
pub(super) fn read(bytes: &mut &[u8], count: usize, out: &mut Vec<i64>) -> Read<()> {
    let block = number(bytes)? as usize;
    let parts = number(bytes)? as usize;
    let total = number(bytes)? as usize;
    let first = signed(bytes)?;
    if total != count {
        return Err(Fault::Broken("a page has other values than its header says"));
    }
    if count == 0 {
        return Ok(());
    }
    let part = block.checked_div(parts).filter(|part| *part > 0 && part % 8 == 0 && *part <= PART_MAX).ok_or(WRONG)?;
    let end = out.len() + count;
    out.push(first);
    let mut value = first;
    // Past its end there is room to read words from.
    let mut padded: Vec<u8> = Vec::new();
    while out.len() < end {
        let least = signed(bytes)?;
        let (widths, rest) = bytes.split_at_checked(parts).ok_or(SHORT)?;
        *bytes = rest;
        for &width in widths {
            if out.len() == end {
                break;
            }
            let width = usize::from(width);
            let (packed, rest) = bytes.split_at_checked(part / 8 * width).ok_or(SHORT)?;
            *bytes = rest;
            let now = part.min(end - out.len());
            padded.clear();
            padded.extend_from_slice(packed);
            padded.resize(packed.len() + 16, 0);
            differences(&padded, width, now, least, &mut value, out)?;
        }
    }
    Ok(())
}

fn differences(packed: &[u8], width: usize, count: usize, least: i64, value: &mut i64, out: &mut Vec<i64>) -> Read<()> {
    let mut last = *value;
    match width {
        0 => out.extend((0..count).map(|_| {
            last = last.wrapping_add(least);
            last
        })),
        // With up to seven bits before it, such a number lies within eight bytes.
        1..=57 => {
            let mask = u64::MAX >> (64 - width);
            out.extend((0..count).map(|place| {
                let bit = place * width;
                let mut word = [0; 8];
                word.copy_from_slice(&packed[bit / 8..bit / 8 + 8]);
                let difference = u64::from_le_bytes(word) >> (bit % 8) & mask;
                last = last.wrapping_add(least).wrapping_add(difference as i64);
                last
            }));
        }
        58..=64 => {
            let mask = u64::MAX >> (64 - width);
            out.extend((0..count).map(|place| {
                let bit = place * width;
                let mut word = [0; 16];
                word.copy_from_slice(&packed[bit / 8..bit / 8 + 16]);
                let difference = (u128::from_le_bytes(word) >> (bit % 8)) as u64 & mask;
                last = last.wrapping_add(least).wrapping_add(difference as i64);
                last
            }));
        }
        _ => return Err(Fault::Broken("differences are wider than 64 bits")),
    }
    *value = last;
    Ok(())
}
