//! Statistics of a column over some rows, and conclusions about conditions.

use std::cmp::Ordering;

use parquet::file::statistics::Statistics;
use serde_json::Value;
use table::ColumnStatistics;

use crate::column::Kind;
use crate::expression::{Comparison, Cond, Leaf, Test};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Nulls {
    None,
    All,
    /// Some rows, or unknown.
    #[default]
    Some,
}

impl Nulls {
    pub(crate) fn of(nulls: Option<u64>, rows: u64) -> Self {
        match nulls {
            Some(0) => Self::None,
            Some(nulls) if nulls == rows && rows > 0 => Self::All,
            _ => Self::Some,
        }
    }
}

/// A lower or upper bound of some values, not necessarily one of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Bound {
    Int(i64),
    Float(f64),
    Text(String),
}

/// Statistics of a column over some rows. Missing statistics exclude nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Summary {
    pub(crate) low: Option<Bound>,
    pub(crate) high: Option<Bound>,
    pub(crate) nulls: Nulls,
}

/// The conclusion from statistics about a condition over some rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No row matches.
    Never,
    Maybe,
    /// Every row matches.
    Always,
}

impl Cond {
    /// Evaluates the condition on the summary of each column.
    pub(crate) fn verdict(&self, summary_of: &impl Fn(usize) -> Summary) -> Verdict {
        let worst = |parts: &[Self], ends: Verdict, other: Verdict| {
            let verdicts: Vec<Verdict> = parts.iter().map(|part| part.verdict(summary_of)).collect();
            if verdicts.contains(&ends) {
                ends
            } else if verdicts.iter().all(|v| *v == other) {
                other
            } else {
                Verdict::Maybe
            }
        };
        match self {
            Self::All(parts) => worst(parts, Verdict::Never, Verdict::Always),
            Self::Any(parts) => worst(parts, Verdict::Always, Verdict::Never),
            Self::Constant(true) => Verdict::Always,
            Self::Constant(false) => Verdict::Never,
            Self::Leaf(leaf) => leaf.verdict(&summary_of(leaf.column)),
            Self::Numbers { .. } | Self::Texts { .. } => Verdict::Maybe,
        }
    }
}

impl Leaf {
    fn verdict(&self, summary: &Summary) -> Verdict {
        if matches!(self.test, Test::Null) {
            return match (summary.nulls, self.negated) {
                (Nulls::Some, _) => Verdict::Maybe,
                (Nulls::All, false) | (Nulls::None, true) => Verdict::Always,
                _ => Verdict::Never,
            };
        }
        if summary.nulls == Nulls::All {
            return Verdict::Never;
        }
        match (&self.test, summary.low.as_ref(), summary.high.as_ref()) {
            (Test::Ints(ranges), Some(Bound::Int(low)), Some(Bound::Int(high))) => {
                let none = ranges.iter().all(|(from, to)| to < low || from > high);
                let all = ranges.iter().any(|(from, to)| from <= low && high <= to);
                match (none, all, self.negated) {
                    (true, _, false) | (_, true, true) => Verdict::Never,
                    (_, true, false) | (true, _, true) if summary.nulls == Nulls::None => Verdict::Always,
                    _ => Verdict::Maybe,
                }
            }
            _ if self.negated => Verdict::Maybe,
            (Test::Float(comparison, value), low, high) => {
                never_if(outside(low, high, *comparison, &Bound::Float(*value)))
            }
            (Test::FloatIn(list), low, high) => {
                never_if(list.iter().all(|value| outside(low, high, Comparison::Equal, &Bound::Float(*value))))
            }
            (Test::Text(comparison, value), low, high) => {
                never_if(outside(low, high, *comparison, &Bound::Text(value.clone())))
            }
            (Test::TextIn(list), low, high) => {
                never_if(list.iter().all(|v| outside(low, high, Comparison::Equal, &Bound::Text(v.clone()))))
            }
            _ => Verdict::Maybe,
        }
    }
}

fn never_if(never: bool) -> Verdict {
    if never { Verdict::Never } else { Verdict::Maybe }
}

/// Whether no value within the bounds satisfies the comparison with `value`.
fn outside(low: Option<&Bound>, high: Option<&Bound>, comparison: Comparison, value: &Bound) -> bool {
    let low = low.and_then(|low| low.order(value));
    let high = high.and_then(|high| high.order(value));
    // NaN is greater than all numbers, and bounds leave it out.
    let is_real = matches!(value, Bound::Float(_));
    match comparison {
        Comparison::Equal => low == Some(Ordering::Greater) || high == Some(Ordering::Less),
        Comparison::Less => low.is_some_and(Ordering::is_ge),
        Comparison::LessOrEqual => low.is_some_and(Ordering::is_gt),
        Comparison::Greater => !is_real && high.is_some_and(Ordering::is_le),
        Comparison::GreaterOrEqual => !is_real && high.is_some_and(Ordering::is_lt),
        Comparison::NotEqual => false,
    }
}

impl Bound {
    fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Some(a.cmp(b)),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(b),
            (Self::Text(a), Self::Text(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }
}

/// The statistics of a segment's column in the table's log.
pub(crate) fn of_log(statistics: Option<&ColumnStatistics>, rows: u64, kind: Kind) -> Summary {
    const DAY: i64 = 86_400_000_000;
    let Some(statistics) = statistics else { return Summary::default() };
    let nulls = Nulls::of(statistics.nulls, rows);
    let (low, high) = match kind {
        Kind::Time => (statistics.earliest().map(Bound::Int), statistics.latest().map(Bound::Int)),
        Kind::Date => {
            let day = |micros: i64| Bound::Int(micros.div_euclid(DAY));
            (statistics.earliest().map(day), statistics.latest().map(day))
        }
        _ => {
            let bound = |value: &Option<Value>, next: fn(f64) -> f64| of_json(value.as_ref()?, kind, next);
            (bound(&statistics.min, f64::next_down), bound(&statistics.max, f64::next_up))
        }
    };
    Summary { low, high, nulls }
}

/// Parses a bound from JSON. JSON may lose the last digit of a real number, so `next` moves the bound two steps.
fn of_json(value: &Value, kind: Kind, next: fn(f64) -> f64) -> Option<Bound> {
    Some(match kind {
        Kind::Int => Bound::Int(value.as_i64()?),
        Kind::Bool => Bound::Int(i64::from(value.as_bool()?)),
        Kind::Float => Bound::Float(next(next(value.as_f64()?))),
        Kind::Text => Bound::Text(value.as_str()?.to_owned()),
        _ => return None,
    })
}

/// The statistics of a column chunk in the file's footer. `bounded`: their bounds apply to the table's type.
pub(crate) fn of_footer(statistics: Option<&Statistics>, rows: u64, kind: Kind, bounded: bool) -> Summary {
    let Some(statistics) = statistics else { return Summary::default() };
    let nulls = Nulls::of(statistics.null_count_opt(), rows);
    if !bounded || statistics.is_min_max_deprecated() {
        return Summary { nulls, ..Summary::default() };
    }
    let text = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(|text| Bound::Text(text.to_owned()));
    let (low, high) = match statistics {
        Statistics::Boolean(s) if kind == Kind::Bool => {
            (s.min_opt().map(|v| Bound::Int(i64::from(*v))), s.max_opt().map(|v| Bound::Int(i64::from(*v))))
        }
        Statistics::Int32(s) if kind.is_whole() => {
            (s.min_opt().map(|v| Bound::Int(i64::from(*v))), s.max_opt().map(|v| Bound::Int(i64::from(*v))))
        }
        Statistics::Int64(s) if kind.is_whole() => {
            (s.min_opt().map(|v| Bound::Int(*v)), s.max_opt().map(|v| Bound::Int(*v)))
        }
        Statistics::Float(s) if kind == Kind::Float => {
            (s.min_opt().map(|v| Bound::Float(f64::from(*v))), s.max_opt().map(|v| Bound::Float(f64::from(*v))))
        }
        Statistics::Double(s) if kind == Kind::Float => {
            (s.min_opt().map(|v| Bound::Float(*v)), s.max_opt().map(|v| Bound::Float(*v)))
        }
        Statistics::ByteArray(s) if kind == Kind::Text => {
            (s.min_opt().and_then(|v| text(v.data())), s.max_opt().and_then(|v| text(v.data())))
        }
        _ => (None, None),
    };
    Summary { low, high, nulls }
}
