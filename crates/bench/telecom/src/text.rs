//! Text columns, written in place without formatting or an allocation per row.

use std::iter::repeat_n;

use arrow::array::StringArray;
use arrow::buffer::{Buffer, OffsetBuffer};

pub(crate) const CALL_ID: usize = 26;

pub(crate) const PHONE: usize = 13;

const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut i = 0;
    while i < 100 {
        pairs[i] = [b'0' + (i / 10) as u8, b'0' + (i % 10) as u8];
        i += 1;
    }
    pairs
};

/// `call-`, twelve digits of the sequence number, `-`, eight hexadecimal digits of `noise`.
#[inline]
pub(crate) fn call_id(sequence: u64, noise: u32) -> [u8; CALL_ID] {
    let mut text = *b"call-000000000000-00000000";
    digits::<6>(&mut text[5..17], sequence);
    for (i, digit) in text[18..].iter_mut().enumerate() {
        *digit = b"0123456789abcdef"[(noise >> (28 - 4 * i)) as usize & 15];
    }
    text
}

/// `+1-` and ten digits.
#[inline]
pub(crate) fn phone(id: u32) -> [u8; PHONE] {
    let mut text = *b"+1-0000000000";
    digits::<5>(&mut text[3..], u64::from(id));
    text
}

/// Writes the last 2 `N` decimal digits of `value`, with leading zeros.
#[inline]
fn digits<const N: usize>(text: &mut [u8], mut value: u64) {
    for pair in text[..2 * N].rchunks_exact_mut(2) {
        pair.copy_from_slice(&PAIRS[(value % 100) as usize]);
        value /= 100;
    }
}

/// A text column of `rows` values of `width` bytes each, stored back to back in `bytes`.
pub(crate) fn fixed_width(bytes: Vec<u8>, width: usize, rows: usize) -> StringArray {
    StringArray::new(OffsetBuffer::from_lengths(repeat_n(width, rows)), Buffer::from_vec(bytes), None)
}

/// A text column under construction, for values of different lengths.
pub(crate) struct Words {
    offsets: Vec<i32>,
    bytes: Vec<u8>,
}

impl Words {
    /// Reserves space for `rows` values of `width` bytes.
    pub(crate) fn with_capacity(rows: usize, width: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self { offsets, bytes: Vec::with_capacity(rows * width) }
    }

    #[inline]
    pub(crate) fn push(&mut self, word: &str) {
        self.bytes.extend_from_slice(word.as_bytes());
        self.offsets.push(self.bytes.len() as i32);
    }

    pub(crate) fn finish(self) -> StringArray {
        StringArray::new(OffsetBuffer::new(self.offsets.into()), Buffer::from_vec(self.bytes), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_what_formatting_would_write() {
        for (sequence, noise) in [(1, 0), (999_999_999_999, u32::MAX), (39_210_000, 0x0123_4567), (100, 0x89ab_cdef)] {
            assert_eq!(call_id(sequence, noise), format!("call-{sequence:012}-{noise:08x}").as_bytes());
        }
        for id in [1, 99, 123_456, 5_000_000, u32::MAX] {
            assert_eq!(phone(id), format!("+1-{id:010}").as_bytes());
        }
    }
}
