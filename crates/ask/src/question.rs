//! What can be asked.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::AskError;
use crate::expression::micros_of;

/// A question about the rows of a table: which rows, how they are grouped, what is told of each group, and in which order.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Question {
    /// Columns whose values make groups. A row counts for each member of a set; rows without members, and rows in which
    /// a column is NULL, are groups of their own.
    pub groups: Vec<String>,
    /// What is told of each group; the count of its rows where there is none.
    pub measures: Vec<Measure>,
    /// Conditions, all of which must hold.
    pub conditions: Vec<String>,
    /// The column of times; `time` where none is named.
    pub time: Option<String>,
    /// Groups by spans of time too.
    pub bucket: Option<Bucket>,
    /// A column of numbers: how often a row counts. Counts, sums, means and deviations are weighted; histograms, least
    /// and greatest values, distinct values and quantiles are not. Rows in which it is NULL weigh nothing.
    pub weight: Option<String>,
    /// Labels that are changed before rows are grouped.
    pub replacements: Vec<Replacement>,
    /// The first moment, in microseconds of UTC.
    pub since: Option<i64>,
    /// The first moment that is too late.
    pub until: Option<i64>,
    /// By what the groups are ordered: by time where there are spans of it, otherwise by the first measure, the
    /// greatest first.
    pub order: Option<Order>,
    /// Groups of the answer, at most.
    pub limit: Option<usize>,
    /// Asks for rows as they are instead of groups.
    pub samples: Option<Samples>,
}

/// What is told of a group. Rows in which the column is NULL are left out, but of counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Measure {
    /// Its rows.
    Count,
    /// The mean of a column of numbers.
    Average(String),
    /// The sum of a column of numbers.
    Sum(String),
    /// The least value.
    Least(String),
    /// The greatest value.
    Greatest(String),
    /// The standard deviation of a sample (with N - 1), NULL of fewer than two rows.
    Deviation(String),
    /// How many different values there are.
    Distinct(String),
    /// Values by buckets of equal width, a power of two.
    Histogram(String),
    /// Values by powers of two.
    LogHistogram(String),
    /// Quantiles.
    Quantiles(String, Vec<Quantile>),
}

impl Measure {
    /// The column that is measured.
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

    /// What it is called, without its column.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Average(_) => "avg",
            Self::Sum(_) => "sum",
            Self::Least(_) => "min",
            Self::Greatest(_) => "max",
            Self::Deviation(_) => "stddev",
            Self::Distinct(_) => "distinct",
            Self::Histogram(_) => "hist",
            Self::LogHistogram(_) => "loghist",
            Self::Quantiles(..) => "quantiles",
        }
    }

    /// The names of its columns in the answer.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Count => vec!["count".to_owned()],
            Self::Quantiles(column, quantiles) => quantiles.iter().map(|q| format!("{q}({column})")).collect(),
            other => vec![format!("{}({})", other.word(), other.column().unwrap_or_default())],
        }
    }
}

/// A quantile by nearest rank: of N values in order the one at place ceil(share * N), so that at least that share of
/// the values does not exceed it. It is always one of the values. The share is `parts` of `of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quantile {
    parts: u64,
    of: u64,
}

impl Quantile {
    /// Those that are told where none are named.
    pub const USUAL: [Self; 3] =
        [Self { parts: 50, of: 100 }, Self { parts: 95, of: 100 }, Self { parts: 99, of: 100 }];

    /// The place among `n` values, counted from 1.
    pub(crate) fn rank(self, n: u64) -> u64 {
        let rank = (u128::from(n) * u128::from(self.parts)).div_ceil(u128::from(self.of));
        (rank as u64).clamp(1, n.max(1))
    }

    /// The share as a fraction: above and below the line.
    pub(crate) fn fraction(self) -> (u64, u64) {
        (self.parts, self.of)
    }
}

impl FromStr for Quantile {
    type Err = String;

    /// Reads `p50`, `p99.9`.
    fn from_str(text: &str) -> Result<Self, String> {
        let fail = || format!("{text:?} is no quantile: write p and a percentage from 0 to 100, such as p50 or p99.9");
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

/// Spans of time of equal length, which begin at multiples of it since 1970-01-01 UTC (weeks on Mondays).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    /// Their length.
    pub micros: i64,
}

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;
const WEEK: i64 = 7 * DAY;

impl Bucket {
    /// Where one of them begins: 1970 began on a Thursday.
    pub(crate) fn origin(self) -> i64 {
        if self.micros % WEEK == 0 { 4 * DAY } else { 0 }
    }
}

/// Units of lengths of time, in microseconds.
const UNITS: [(&str, i64); 7] =
    [("us", 1), ("ms", 1_000), ("s", SECOND), ("m", 60 * SECOND), ("h", 3_600 * SECOND), ("d", DAY), ("w", WEEK)];

/// Reads a length of time, such as `15m`, in microseconds.
fn length(text: &str) -> Option<i64> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let (_, micros) = UNITS.iter().find(|(name, _)| *name == unit)?;
    number.parse::<i64>().ok()?.checked_mul(*micros).filter(|micros| *micros > 0)
}

impl FromStr for Bucket {
    type Err = String;

    /// Reads `15m`, `1h`, `1d` ...
    fn from_str(text: &str) -> Result<Self, String> {
        let micros = length(text);
        micros.map(|micros| Self { micros }).ok_or_else(|| {
            format!("{text:?} is no length of time: write a number and us, ms, s, m, h, d or w, such as 15m or 1h")
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

/// Reads a moment: RFC 3339, a day, or a length of time before `now_micros`.
///
/// # Errors
/// Where it is none of these.
pub fn moment(text: &str, now_micros: i64) -> Result<i64, AskError> {
    micros_of(text).or_else(|| now_micros.checked_sub(length(text)?)).ok_or_else(|| {
        AskError::invalid(format!(
            "{text:?} is no time: write 2025-10-01, 2025-10-01T12:30:00Z, or how long ago it was, such as 7d or 15m"
        ))
    })
}

/// A change of labels: in the values of a column of text, or in the members of a set, whatever matches a pattern
/// becomes something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replacement {
    /// The column.
    pub column: String,
    /// The pattern.
    pub pattern: String,
    /// What takes the place of each match; `$1` or `${name}` is what a group of the pattern matched.
    pub with: String,
}

impl FromStr for Replacement {
    type Err = AskError;

    /// Reads `COLUMN=/PATTERN/TEXT/`; what follows the `=` is what parts them.
    fn from_str(text: &str) -> Result<Self, AskError> {
        let fail = |at: usize, reason: &str| AskError::Syntax {
            what: "replacement",
            error: expr::Error::new(text, at, format!("{reason}: write COLUMN=/PATTERN/TEXT/")),
        };
        let (column, rest) = text.split_once('=').ok_or_else(|| fail(text.len(), "a = is missing"))?;
        let at = column.len() + 1;
        let mark = rest.chars().next().ok_or_else(|| fail(at, "a pattern is missing"))?;
        if mark.is_alphanumeric() || mark == '\\' {
            return Err(fail(at, "a mark such as / is expected here"));
        }
        let parts: Vec<&str> = rest[mark.len_utf8()..].split(mark).collect();
        match parts[..] {
            [pattern, with, ""] if !column.is_empty() && !pattern.is_empty() => {
                Ok(Self { column: column.to_owned(), pattern: pattern.to_owned(), with: with.to_owned() })
            }
            _ => Err(fail(at, &format!("three {mark} are expected, with a pattern and a text between them"))),
        }
    }
}

/// By what groups are ordered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// A column of the answer.
    pub by: String,
    /// Whether the least comes first. NULL comes last either way.
    pub ascending: bool,
}

/// Rows as they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Samples {
    /// How many, at most.
    pub rows: usize,
    /// Which columns; all where none is named.
    pub columns: Vec<String>,
}
