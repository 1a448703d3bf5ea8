//! Numbers written in digits.
//!
//! Short decimals, the common case, take one division; the standard library parses the others. Both give the nearest
//! float.

/// Powers of ten that a float holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];
/// Any number of this many digits fits 64 bits without a sign.
const DIGITS_SAFE: usize = 19;

/// The digits of a number at the start of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Digits<'a> {
    text: &'a [u8],
    negative: bool,
    /// All digits as one integer, valid up to [`DIGITS_SAFE`] of them.
    mantissa: u64,
    whole: usize,
    fraction: usize,
    point: bool,
    exponent: bool,
}

impl<'a> Digits<'a> {
    /// Reads the longest match of `[+-] digits [. digits] [e [+-] digits]`.
    #[inline]
    pub(super) fn read(bytes: &'a [u8]) -> Self {
        let mut at = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
        let negative = bytes.first() == Some(&b'-');
        let mut mantissa = 0u64;
        let mut run = |at: &mut usize| {
            let start = *at;
            while let Some(eight) = bytes.get(*at..).and_then(<[u8]>::first_chunk).copied().and_then(eight_digits) {
                mantissa = mantissa.wrapping_mul(100_000_000).wrapping_add(eight);
                *at += 8;
            }
            while let Some(digit) = bytes.get(*at).map(|b| b.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
                mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
                *at += 1;
            }
            *at - start
        };
        let whole = run(&mut at);
        let point = bytes.get(at) == Some(&b'.');
        let fraction = if point {
            at += 1;
            run(&mut at)
        } else {
            0
        };
        let end = exponent_end(bytes, at);
        let exponent = end > at;
        let text = &bytes[..end];
        Self { text, negative, mantissa, whole, fraction, point, exponent }
    }

    /// Bytes read.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Whether any digit precedes an exponent, which [`Digits::float`] requires.
    #[inline]
    pub(super) fn is_number(&self) -> bool {
        self.whole + self.fraction > 0
    }

    /// Whether this is an integer: digits with at most a sign.
    #[inline]
    pub(super) fn is_integer(&self) -> bool {
        self.whole > 0 && !self.point && !self.exponent
    }

    /// Whether this is valid JSON: no `+`, no leading zeros, digits on both sides of a point.
    #[inline]
    pub(super) fn is_json(&self) -> bool {
        self.whole > 0
            && self.text[0] != b'+'
            && (self.whole == 1 || self.text[usize::from(self.negative)] != b'0')
            && self.point == (self.fraction > 0)
    }

    /// The integer's value; `None` if it does not fit.
    #[inline]
    pub(super) fn int(&self) -> Option<i64> {
        if self.whole <= DIGITS_SAFE {
            let size = self.mantissa;
            return if self.negative { 0i64.checked_sub_unsigned(size) } else { i64::try_from(size).ok() };
        }
        self.slow()
    }

    /// The nearest float; `None` if it is too large for one.
    #[inline]
    pub(super) fn float(&self) -> Option<f64> {
        let digits = self.whole + self.fraction;
        if digits <= DIGITS_SAFE && self.mantissa < 1 << 53 && !self.exponent {
            // Both are exact, so the quotient is the nearest float: a division rounds once.
            let size = self.mantissa as f64 / POWERS[self.fraction];
            return Some(if self.negative { -size } else { size });
        }
        self.slow().filter(|value: &f64| value.is_finite())
    }

    /// An integer's value as a float, if a float holds all its digits.
    #[cold]
    pub(super) fn exact_float(&self) -> Option<f64> {
        let value = self.float().filter(|_| self.is_integer())?;
        let digits = self.text.strip_prefix(b"-").unwrap_or(self.text);
        (format!("{:.0}", value.abs()).as_bytes() == digits).then_some(value)
    }

    /// The value of a whole number in any notation; `None` if it does not fit, or a float may have rounded it.
    pub(super) fn whole(&self) -> Option<i64> {
        if self.is_integer() { self.int() } else { self.float().and_then(whole) }
    }

    #[cold]
    fn slow<T: std::str::FromStr>(&self) -> Option<T> {
        std::str::from_utf8(self.text).ok()?.parse().ok()
    }
}

/// Reads `[-] digits [. digits]` of at most seven bytes after the sign, without branches on the digits, whose number the
/// processor cannot predict. Returns the value, as [`Digits::float`] does, and the bytes read. `None` for other numbers,
/// and before the last seven bytes of a text.
#[inline]
pub(super) fn short_float(bytes: &[u8]) -> Option<(f64, usize)> {
    let negative = bytes.first() == Some(&b'-');
    let sign = usize::from(negative);
    let chunk = *bytes.get(sign..)?.first_chunk()?;
    let (digits, others) = digits_of(chunk);
    let whole = first_byte(others)?;
    let (digits, len, fraction) = if chunk[whole] == b'.' {
        let len = first_byte(others & (others - 1))?;
        // Without the point.
        let before = (1 << (8 * whole)) - 1;
        (digits & before | digits >> 8 & !before, len, len - whole - 1)
    } else {
        (digits, whole, 0)
    };
    if whole == 0 || (fraction == 0 && len > whole) || matches!(chunk[len], b'e' | b'E') {
        return None;
    }
    // The first digit is in the lowest byte, and zeros may precede it.
    let count = whole + fraction;
    let size = f64::from(joined(digits << (64 - 8 * count)) as u32) / POWERS[fraction];
    Some((if negative { -size } else { size }, sign + len))
}

/// The number in eight digits; `None` if any is another character.
#[inline]
fn eight_digits(chunk: [u8; 8]) -> Option<u64> {
    let (digits, others) = digits_of(chunk);
    (others == 0).then(|| joined(digits))
}

/// Converts eight characters at once. Each byte of the first result is the value of one digit, and the first character is the
/// lowest byte. The second result has the highest bit set in every byte that is not a digit.
#[inline]
fn digits_of(chunk: [u8; 8]) -> (u64, u64) {
    const fn each(byte: u8) -> u64 {
        u64::from_le_bytes([byte; 8])
    }
    let digits = u64::from_le_bytes(chunk) ^ each(b'0');
    // Adding 118 to a value of 10 or more reaches the highest bit.
    let others = (((digits & each(0x7f)) + each(118)) | digits) & each(0x80);
    (digits, others)
}

/// The place of the first byte whose highest bit is set.
#[inline]
fn first_byte(marked: u64) -> Option<usize> {
    (marked != 0).then(|| (marked.trailing_zeros() / 8) as usize)
}

/// The number in eight digits, first digit in the lowest byte: pairs of digits, of pairs, and of fours are joined at once.
#[inline]
fn joined(digits: u64) -> u64 {
    let pairs = digits.wrapping_mul(10 << 8 | 1) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100 << 16 | 1) >> 16 & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(10_000 << 32 | 1) >> 32
}

/// Below this magnitude every integer is a float of its own.
const EXACT_INTEGERS: u64 = 1 << 53;

/// The integer that a float stands for; `None` for fractions, and for floats so large that several integers round to
/// them.
pub fn whole(value: f64) -> Option<i64> {
    const EXACT: f64 = EXACT_INTEGERS as f64;
    (value.trunc() == value && value.abs() < EXACT).then_some(value as i64)
}

/// Whether an integer keeps its value as a float, and no other integer rounds to it.
#[inline]
pub fn is_exact_as_float(value: i64) -> bool {
    value.unsigned_abs() < EXACT_INTEGERS
}

/// The end of an exponent that begins at `at`; `at` without one.
#[inline]
fn exponent_end(bytes: &[u8], at: usize) -> usize {
    if !matches!(bytes.get(at), Some(b'e' | b'E')) {
        return at;
    }
    let sign = usize::from(matches!(bytes.get(at + 1), Some(b'-' | b'+')));
    let digits = bytes[at + 1 + sign..].iter().take_while(|b| b.is_ascii_digit()).count();
    if digits == 0 { at } else { at + 1 + sign + digits }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn floats_are_the_nearest(text in "[+-]?[0-9]{0,22}([.][0-9]{0,22})?(e[+-]?[0-9]{1,3})?") {
            let digits = Digits::read(text.as_bytes());
            let expected = text.parse::<f64>().ok();
            prop_assert_eq!(digits.is_number(), expected.is_some());
            if let Some(expected) = expected {
                prop_assert_eq!(digits.len(), text.len());
                let found = digits.float();
                prop_assert_eq!(found.map(f64::to_bits), expected.is_finite().then(|| expected.to_bits()));
            }
        }

        #[test]
        fn short_floats_are_those_of_digits(text in "[-+]?[0-9]{0,7}([.][0-9]{0,6})?[eE,i. /:\\n][-+0-9eE.]{0,9}") {
            let digits = Digits::read(text.as_bytes());
            if let Some((value, len)) = short_float(text.as_bytes()) {
                prop_assert_eq!(len, digits.len());
                prop_assert_eq!(Some(value.to_bits()), digits.float().map(f64::to_bits));
            }
        }

        #[test]
        fn short_floats_are_read(whole in 0..10_000u32, fraction in 0..100u32, negative: bool, after in "[, i}\n]") {
            let sign = if negative { "-" } else { "" };
            for number in [format!("{sign}{whole}.{fraction:02}"), format!("{sign}{whole}")] {
                let (value, len) = short_float(format!("{number}{after}       ").as_bytes()).unwrap();
                prop_assert_eq!(len, number.len());
                prop_assert_eq!(value.to_bits(), number.parse::<f64>().unwrap().to_bits());
            }
        }

        #[test]
        fn floats_that_are_written_are_read(value in any::<f64>().prop_filter("JSON has none", |v| v.is_finite())) {
            for text in [format!("{value}"), format!("{value:?}"), format!("{value:e}")] {
                prop_assert_eq!(Digits::read(text.as_bytes()).float().map(f64::to_bits), Some(value.to_bits()));
            }
        }

        #[test]
        fn integers_are_exact(text in "[+-]?[0-9]{1,22}") {
            let digits = Digits::read(text.as_bytes());
            prop_assert!(digits.is_integer());
            prop_assert_eq!(digits.int(), text.parse::<i64>().ok());
        }
    }

    #[test]
    fn the_ends_of_integers_are_exact() {
        for value in [i64::MIN, i64::MAX, 0, -1, 999_999_999_999_999_999, 1_000_000_000_000_000_000] {
            assert_eq!(Digits::read(value.to_string().as_bytes()).int(), Some(value));
        }
    }
}
