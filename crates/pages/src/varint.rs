//! Whole numbers in groups of seven bits, the lowest first: as Parquet and Thrift write them, and our own formats.

/// Appends a number: a byte below 128, and up to ten for the largest.
#[inline]
pub fn push(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Cuts a number off the front of `bytes`; `None` where they end before it does.
#[inline]
pub fn read(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// Appends a number that may be below zero: its lowest bit is its sign.
#[inline]
pub fn push_signed(out: &mut Vec<u8>, value: i64) {
    push(out, ((value << 1) ^ (value >> 63)) as u64);
}

/// Cuts a number that may be below zero off the front of `bytes`.
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
        fn numbers_read_back(whole in prop::collection::vec(any::<u64>(), 0..20), signed in prop::collection::vec(any::<i64>(), 0..20)) {
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
