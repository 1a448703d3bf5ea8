//! Variable-length integers, seven bits per byte, lowest first. Used by Parquet, Thrift and our own formats.

/// Appends a number: one byte below 128, at most ten.
#[inline]
pub fn push(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Removes a number from the front of `bytes`; `None` if they end early.
#[inline]
pub fn read(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let &byte = bytes.split_off_first()?;
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// Appends a signed number, zigzag-encoded.
#[inline]
pub fn push_signed(out: &mut Vec<u8>, value: i64) {
    push(out, ((value << 1) ^ (value >> 63)) as u64);
}

/// Removes a signed number from the front of `bytes`.
#[inline]
pub fn read_signed(bytes: &mut &[u8]) -> Option<i64> {
    let value = read(bytes)?;
    Some((value >> 1) as i64 ^ -((value & 1) as i64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_round_trip(whole in prop::collection::vec(any::<u64>(), 0..20), signed in prop::collection::vec(any::<i64>(), 0..20)) {
            let mut out = Vec::new();
            whole.iter().for_each(|value| push(&mut out, *value));
            signed.iter().for_each(|value| push_signed(&mut out, *value));
            let mut bytes = out.as_slice();
            for value in whole {
                prop_assert_eq!(read(&mut bytes), Some(value));
            }
            for value in signed {
                prop_assert_eq!(read_signed(&mut bytes), Some(value));
            }
            prop_assert_eq!(read(&mut bytes), None);
        }
    }
}
