//! Decimals as typed: stakes, odds and levels.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};

/// A decimal number of at most 18 digits, without rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    /// The number times 10 to the power of `places`.
    digits: i64,
    places: u32,
}

/// Why a text cannot be read as a decimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecimalError {
    #[error("expected a decimal number such as 12.50")]
    Form,
    #[error("expected at most 18 digits")]
    Digits,
}

impl Decimal {
    /// A share of 100.
    pub(crate) const fn percent(digits: i64) -> Self {
        Self { digits, places: 2 }
    }

    /// The number times 10 to the power of [`Self::places`].
    pub(crate) fn digits(self) -> i64 {
        self.digits
    }

    /// Number of decimals.
    pub(crate) fn places(self) -> u32 {
        self.places
    }

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        self.digits as f64 / 10f64.powi(self.places as i32)
    }

    pub(crate) fn is_above(self, whole: i64) -> bool {
        i128::from(self.digits) > i128::from(whole) * 10i128.pow(self.places)
    }

    pub(crate) fn is_below(self, whole: i64) -> bool {
        i128::from(self.digits) < i128::from(whole) * 10i128.pow(self.places)
    }
}

impl FromStr for Decimal {
    type Err = DecimalError;

    fn from_str(text: &str) -> Result<Self, DecimalError> {
        const DIGITS_MAX: usize = 18;
        let text = text.trim();
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !is_digits(whole) || !is_digits(fraction) {
            return Err(DecimalError::Form);
        }
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        if whole.len() + fraction.len() > DIGITS_MAX {
            return Err(DecimalError::Digits);
        }
        let digits: i64 = format!("0{whole}{fraction}").parse().map_err(|_| DecimalError::Digits)?;
        let digits = if text.starts_with('-') { -digits } else { digits };
        Ok(Self { digits, places: fraction.len() as u32 })
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (places, sign) = (self.places as usize, if self.digits < 0 { "-" } else { "" });
        let digits = format!("{:0>width$}", self.digits.unsigned_abs(), width = places + 1);
        let (whole, fraction) = digits.split_at(digits.len() - places);
        if places == 0 { write!(f, "{sign}{whole}") } else { write!(f, "{sign}{whole}.{fraction}") }
    }
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.to_f64())
    }
}

/// A JSON number stands for the decimal that prints like it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Whole(i64),
    Real(f64),
    Text(String),
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = match Written::deserialize(deserializer)? {
            Written::Whole(number) => number.to_string(),
            Written::Real(number) => number.to_string(),
            Written::Text(text) => text,
        };
        text.parse().map_err(|error| serde::de::Error::custom(format!("{text:?}: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decimals_keep_their_digits() {
        for (text, shown, places) in
            [("12.50", "12.5", 1), ("007", "7", 0), ("-.05", "-0.05", 2), ("+3.", "3", 0), (" 1.909 ", "1.909", 3)]
        {
            let decimal: Decimal = text.parse().unwrap();
            assert_eq!((decimal.to_string().as_str(), decimal.places()), (shown, places), "{text}");
        }
        for text in ["", ".", "-", "1e3", "1,5", "NaN", "inf", "1.2.3", "--1", "€5"] {
            assert_eq!(text.parse::<Decimal>(), Err(DecimalError::Form), "{text}");
        }
        assert_eq!("1234567890123456789".parse::<Decimal>(), Err(DecimalError::Digits));
        let from = |json: &str| serde_json::from_str::<Decimal>(json).map(|decimal| decimal.to_string());
        assert_eq!([from("1.1").unwrap(), from("3").unwrap(), from("\"2.50\"").unwrap()], ["1.1", "3", "2.5"]);
        assert!(from("\"x\"").unwrap_err().to_string().contains("\"x\": expected a decimal number"));
        assert!(Decimal::percent(101).is_above(1) && !Decimal::percent(100).is_above(1));
    }

    proptest! {
        #[test]
        fn texts_and_doubles_agree(digits in -1_000_000_000i64..1_000_000_000, places in 0usize..9) {
            let text = format!("{:.places$}", digits as f64 / 10f64.powi(places as i32));
            let decimal: Decimal = text.parse().unwrap();
            prop_assert_eq!(decimal.to_f64(), text.parse::<f64>().unwrap());
            prop_assert_eq!(decimal.to_string().parse::<Decimal>(), Ok(decimal));
        }
    }
}
