//! Byte planes: the first bytes of all numbers, then the second bytes, and so on (`BYTE_STREAM_SPLIT`).

use crate::{Error, Result};

/// Appends `count` 64-bit integers.
pub fn longs(body: &[u8], count: usize, out: &mut Vec<i64>) -> Result<()> {
    let planes = planes::<8>(body, count)?;
    // The upper planes of small numbers hold zeros only.
    let used = planes.iter().rposition(|plane| plane.iter().any(|byte| *byte != 0)).map_or(0, |place| place + 1);
    match used {
        0 => out.resize(out.len() + count, 0),
        1 => out.extend(planes[0].iter().map(|&byte| i64::from(byte))),
        2 => out.extend(planes[0].iter().zip(planes[1]).map(|(&a, &b)| i64::from(u16::from_le_bytes([a, b])))),
        3 | 4 => {
            let low = planes[0].iter().zip(planes[1]).map(|(&a, &b)| u16::from_le_bytes([a, b]));
            let high = planes[2].iter().zip(planes[3]).map(|(&a, &b)| u16::from_le_bytes([a, b]));
            out.extend(low.zip(high).map(|(low, high)| i64::from(low) | i64::from(high) << 16));
        }
        _ => out.extend((0..count).map(|i| i64::from_le_bytes(planes.map(|plane| plane[i])))),
    }
    Ok(())
}

/// Appends `count` 32-bit integers.
pub fn ints(body: &[u8], count: usize, out: &mut Vec<i64>) -> Result<()> {
    let planes = planes::<4>(body, count)?;
    out.extend((0..count).map(|i| i64::from(i32::from_le_bytes(planes.map(|plane| plane[i])))));
    Ok(())
}

fn planes<const BYTES: usize>(body: &[u8], count: usize) -> Result<[&[u8]; BYTES]> {
    let all = count.checked_mul(BYTES).and_then(|length| body.get(..length)).ok_or(Error::SHORT)?;
    Ok(std::array::from_fn(|plane| &all[plane * count..(plane + 1) * count]))
}
