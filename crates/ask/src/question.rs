//! Questions, as data.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::error::AskError;
use crate::expression::micros_of;

/// A question about the rows of a table: the rows, groups and measures, and the order.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Question {
    /// Key columns. A row with a set belongs to the group of each member. Empty sets and NULL form their own groups.
    pub groups: Vec<String>,
    /// Measures of each group; by default the number of rows.
    pub measures: Vec<Measure>,
    /// Conditions, all of which must hold.
    pub conditions: Vec<String>,
    /// The time column, by default `time`.
    pub time: Option<String>,
    /// Also group by time bucket.
    pub bucket: Option<Bucket>,
    /// A numeric column with the weight of each row; NULL has weight 0. Weights apply to counts, sums, means and
    /// deviations, but not to histograms, extremes, distinct values and quantiles.
    pub weight: Option<String>,
    /// Changes of labels, applied before grouping.
    pub replacements: Vec<Replacement>,
    /// Earliest time, inclusive, in microseconds since 1970 UTC.
    pub since: Option<i64>,
    /// Latest time, exclusive, in microseconds since 1970 UTC.
    pub until: Option<i64>,
    /// Order of the groups: by default by time bucket, else by the first measure, descending.
    pub order: Option<Order>,
    /// Maximum number of groups in the answer.
    pub limit: Option<usize>,
    /// Ask for single rows instead of groups.
    pub samples: Option<Samples>,
}

/// A measure of each group. All but the count ignore rows with NULL in the column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Measure {
    Count,
    #[strum(serialize = "avg")]
    Average(String),
    Sum(String),
    #[strum(serialize = "min")]
    Least(String),
    #[strum(serialize = "max")]
    Greatest(String),
    /// Sample standard deviation (N - 1); NULL for fewer than two rows.
    #[strum(serialize = "stddev")]
    Deviation(String),
    /// Number of distinct values.
    Distinct(String),
    /// Number of values in buckets of equal width, a power of two.
    #[strum(serialize = "hist")]
    Histogram(String),
    /// Number of values between powers of two.
    #[strum(serialize = "loghist")]
    LogHistogram(String),
    Quantiles(String, Vec<Quantile>),
}

impl Measure {
    pub fn column(&self) -> Option<&str> {
        match self {
            Self::Count => None,
            Self::Average(c)
            | Self::Sum(c)
            | Self::Least(c)
            | Self::Greatest(c)
            | Self::Deviation(c)
            | Self::Distinct(c)
            | Self::Histogram(c)
            | Self::LogHistogram(c)
            | Self::Quantiles(c, _) => Some(c),
        }
    }

    /// The names of its columns in the answer.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Count => vec!["count".to_owned()],
            Self::Quantiles(column, quantiles) => quantiles.iter().map(|q| format!("{q}({column})")).collect(),
            other => vec![format!("{}({})", other.into_str(), other.column().unwrap_or_default())],
        }
    }
}

/// A quantile by nearest rank: of N ordered values, the value at place ceil(share * N), counted from 1. The result is
/// always a value of the column. The share is `parts / of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quantile {
    parts: u64,
    of: u64,
}

impl Quantile {
    /// The default quantiles: p50, p95 and p99.
    pub const USUAL: [Self; 3] =
        [Self { parts: 50, of: 100 }, Self { parts: 95, of: 100 }, Self { parts: 99, of: 100 }];

    /// The rank among `n` values, counted from 1.
    pub(crate) fn rank(self, n: u64) -> u64 {
        let rank = (u128::from(n) * u128::from(self.parts)).div_ceil(u128::from(self.of));
        (rank as u64).clamp(1, n.max(1))
    }

    /// The share as numerator and denominator.
    pub(crate) fn fraction(self) -> (u64, u64) {
        (self.parts, self.of)
    }
}

impl FromStr for Quantile {
    type Err = String;

    /// Parses `p50`, `p99.9`.
    fn from_str(text: &str) -> Result<Self, String> {
        let fail =
            || format!("invalid quantile {text:?}: write p and a percentage from 0 to 100, such as p50 or p99.9");
        let digits = text.trim().strip_prefix('p').ok_or_else(fail)?;
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        let all: String = [whole, part].concat();
        if all.is_empty() || !all.bytes().all(|b| b.is_ascii_digit()) || part.len() > 9 || whole.len() > 3 {
            return Err(fail());
        }
        let parts: u64 = all.parse().map_err(|_| fail())?;
        let of = 100 * 10u64.pow(part.len() as u32);
        if parts > of { Err(fail()) } else { Ok(Self { parts, of }) }
    }
}

impl fmt::Display for Quantile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = self.of / 100;
        match self.parts % unit {
            0 => write!(f, "p{}", self.parts / unit),
            rest => write!(f, "p{}.{rest:0width$}", self.parts / unit, width = unit.ilog10() as usize),
        }
    }
}

/// Time buckets of equal length, aligned to 1970-01-01 UTC (weeks to Mondays).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    pub micros: i64,
}

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;
const WEEK: i64 = 7 * DAY;

impl Bucket {
    /// The start of one bucket. 1970 began on a Thursday, so weeks start four days later.
    pub(crate) fn origin(self) -> i64 {
        if self.micros % WEEK == 0 { 4 * DAY } else { 0 }
    }

    /// The start of the bucket that contains a time.
    pub(crate) fn start_of(self, time: i64) -> i64 {
        time.saturating_sub(time.wrapping_sub(self.origin()).rem_euclid(self.micros))
    }
}

/// Units of durations, in microseconds.
const UNITS: [(&str, i64); 7] =
    [("us", 1), ("ms", 1_000), ("s", SECOND), ("m", 60 * SECOND), ("h", 3_600 * SECOND), ("d", DAY), ("w", WEEK)];

/// Parses a duration such as `15m` as microseconds.
fn length(text: &str) -> Option<i64> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let (_, micros) = UNITS.iter().find(|(name, _)| *name == unit)?;
    number.parse::<i64>().ok()?.checked_mul(*micros).filter(|micros| *micros > 0)
}

impl FromStr for Bucket {
    type Err = String;

    /// Parses `15m`, `1h`, `1d` ...
    fn from_str(text: &str) -> Result<Self, String> {
        let micros = length(text);
        micros.map(|micros| Self { micros }).ok_or_else(|| {
            format!("invalid duration {text:?}: write a number and us, ms, s, m, h, d or w, such as 15m or 1h")
        })
    }
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = UNITS.iter().rev().find(|(_, micros)| self.micros % micros == 0);
        let (unit, micros) = fits.unwrap_or(&UNITS[0]);
        write!(f, "{}{unit}", self.micros / micros)
    }
}

/// Parses a time as microseconds since 1970 UTC: RFC 3339, a day, or a duration before `now_micros`.
///
/// # Errors
/// If `text` is none of these.
pub fn moment(text: &str, now_micros: i64) -> Result<i64, AskError> {
    micros_of(text).or_else(|| now_micros.checked_sub(length(text)?)).ok_or_else(|| {
        AskError::invalid(format!(
            "invalid time {text:?}: write 2025-10-01, 2025-10-01T12:30:00Z, or a duration before now, such as 7d or 15m"
        ))
    })
}

/// Replaces all matches of a pattern in a column of text, or in the members of a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replacement {
    pub column: String,
    /// The regular expression.
    pub pattern: String,
    /// The replacement of each match; `$1` and `${name}` refer to groups of the pattern.
    pub with: String,
}

impl FromStr for Replacement {
    type Err = AskError;

    /// Parses `COLUMN=/PATTERN/TEXT/`; the character after `=` is the delimiter.
    fn from_str(text: &str) -> Result<Self, AskError> {
        let fail = |at: usize, reason: &str| AskError::Syntax {
            what: "replacement",
            error: expr::Error::new(text, at, format!("{reason}: write COLUMN=/PATTERN/TEXT/")),
        };
        let (column, rest) = text.split_once('=').ok_or_else(|| fail(text.len(), "missing ="))?;
        let at = column.len() + 1;
        let mark = rest.chars().next().ok_or_else(|| fail(at, "missing pattern"))?;
        if mark.is_alphanumeric() || mark == '\\' {
            return Err(fail(at, "expected a delimiter such as / here"));
        }
        let parts: Vec<&str> = rest[mark.len_utf8()..].split(mark).collect();
        match parts[..] {
            [pattern, with, ""] if !column.is_empty() && !pattern.is_empty() => {
                Ok(Self { column: column.to_owned(), pattern: pattern.to_owned(), with: with.to_owned() })
            }
            _ => Err(fail(at, &format!("expected three {mark} around the pattern and the text"))),
        }
    }
}

/// The order of the groups.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// A column of the answer.
    pub by: String,
    /// Whether the order is ascending. NULL sorts last either way.
    pub ascending: bool,
}

/// A request for single rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Samples {
    /// Maximum number of rows.
    pub rows: usize,
    /// Columns to return; empty for all.
    pub columns: Vec<String>,
}
