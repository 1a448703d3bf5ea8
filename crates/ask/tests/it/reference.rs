//! A simple, slow reference, row by row.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Date32Type, Decimal128Type, Float64Type, Int64Type, TimestampMicrosecondType};

/// A value. Booleans, times and days are integers.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Null,
    Int(i128),
    Float(f64),
    Text(String),
    Set(Vec<String>),
    Buckets(Vec<(f64, f64, i64)>),
}

impl Value {
    fn rank(&self) -> u8 {
        match self {
            Self::Int(_) => 0,
            Self::Float(_) => 1,
            Self::Text(_) => 2,
            Self::Set(_) => 3,
            Self::Buckets(_) => 4,
            Self::Null => 5,
        }
    }
}

/// NULL is last. NaN equals itself and exceeds other numbers. Zeros are equal.
impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => match (a.is_nan(), b.is_nan()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                _ => a.partial_cmp(b).unwrap(),
            },
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Set(a), Self::Set(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Value {}

pub(crate) type Row = BTreeMap<String, Value>;

pub(crate) fn rows(batch: &RecordBatch) -> Vec<Row> {
    let columns: Vec<(String, Vec<Value>)> = batch
        .schema()
        .fields()
        .iter()
        .zip(batch.columns())
        .map(|(field, array)| (field.name().clone(), values(array)))
        .collect();
    (0..batch.num_rows()).map(|row| columns.iter().map(|(n, v)| (n.clone(), v[row].clone())).collect()).collect()
}

pub(crate) fn values(array: &ArrayRef) -> Vec<Value> {
    let one = |row: usize| -> Value {
        if array.is_null(row) {
            return Value::Null;
        }
        let int = |v: i64| Value::Int(v.into());
        match array.data_type() {
            DataType::Boolean => int(array.as_boolean().value(row).into()),
            DataType::Int64 => int(array.as_primitive::<Int64Type>().value(row)),
            DataType::Timestamp(..) => int(array.as_primitive::<TimestampMicrosecondType>().value(row)),
            DataType::Date32 => int(array.as_primitive::<Date32Type>().value(row).into()),
            DataType::Float64 => Value::Float(array.as_primitive::<Float64Type>().value(row)),
            DataType::Decimal128(_, 0) => Value::Int(array.as_primitive::<Decimal128Type>().value(row)),
            DataType::Utf8 => Value::Text(array.as_string::<i32>().value(row).to_owned()),
            DataType::List(item) if *item.data_type() == DataType::Utf8 => {
                let list = array.as_list::<i32>().value(row);
                Value::Set(list.as_string::<i32>().iter().flatten().map(str::to_owned).collect())
            }
            DataType::List(_) => {
                let list = array.as_list::<i32>().value(row);
                let parts = list.as_struct();
                let real = |i: usize| cast(parts.column(i), &DataType::Float64).unwrap();
                let (from, to) = (real(0), real(1));
                let counts = parts.column(2).as_primitive::<Int64Type>();
                let edge = |array: &ArrayRef, i: usize| array.as_primitive::<Float64Type>().value(i);
                Value::Buckets((0..list.len()).map(|i| (edge(&from, i), edge(&to, i), counts.value(i))).collect())
            }
            other => panic!("{other}"),
        }
    };
    (0..array.len()).map(one).collect()
}

#[derive(Debug, Clone)]
pub(crate) enum Condition {
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    Compare(String, &'static str, Value, String),
    Arithmetic { a: String, operator: char, b: String, sign: &'static str, c: i64 },
    In(String, Vec<Value>, String),
    Null(String),
    Has(String, String),
    Match(String, String),
}

/// True, false, or unknown.
type Truth = Option<bool>;

impl Condition {
    pub(crate) fn text(&self) -> String {
        match self {
            Self::All(parts) => parts.iter().map(|p| format!("({})", p.text())).collect::<Vec<_>>().join(" AND "),
            Self::Any(parts) => parts.iter().map(|p| format!("({})", p.text())).collect::<Vec<_>>().join(" OR "),
            Self::Not(inner) => format!("NOT ({})", inner.text()),
            Self::Compare(column, sign, _, literal) => format!("{column} {sign} {literal}"),
            Self::Arithmetic { a, operator, b, sign, c } => format!("{a} {operator} {b} {sign} {c}"),
            Self::In(column, _, list) => format!("{column} IN ({list})"),
            Self::Null(column) => format!("{column} IS NULL"),
            Self::Has(column, member) => format!("{column} HAS '{member}'"),
            Self::Match(column, pattern) => format!("{column} ~ '{pattern}'"),
        }
    }

    pub(crate) fn truth(&self, row: &Row) -> Truth {
        match self {
            Self::All(parts) => {
                let truths: Vec<Truth> = parts.iter().map(|p| p.truth(row)).collect();
                if truths.contains(&Some(false)) {
                    Some(false)
                } else if truths.contains(&None) {
                    None
                } else {
                    Some(true)
                }
            }
            Self::Any(parts) => {
                let truths: Vec<Truth> = parts.iter().map(|p| p.truth(row)).collect();
                if truths.contains(&Some(true)) {
                    Some(true)
                } else if truths.contains(&None) {
                    None
                } else {
                    Some(false)
                }
            }
            Self::Not(inner) => inner.truth(row).map(|t| !t),
            Self::Compare(column, sign, value, _) => compare(&row[column], sign, value),
            Self::Arithmetic { a, operator, b, sign, c } => {
                let (Value::Int(a), Value::Int(b)) = (&row[a], &row[b]) else {
                    assert!(row[a] == Value::Null || row[b] == Value::Null);
                    return None;
                };
                let result = match operator {
                    '+' => a + b,
                    '-' => a - b,
                    '*' => a * b,
                    _ => return compare(&Value::Float(*a as f64 / *b as f64), sign, &Value::Float(*c as f64)),
                };
                compare(&Value::Int(result), sign, &Value::Int((*c).into()))
            }
            Self::In(column, values, _) => match &row[column] {
                Value::Null => None,
                value if values.iter().any(|v| *v != Value::Null && v == value) => Some(true),
                _ if values.contains(&Value::Null) => None,
                _ => Some(false),
            },
            Self::Null(column) => Some(row[column] == Value::Null),
            Self::Has(column, member) => match &row[column] {
                Value::Set(members) => Some(members.contains(member)),
                _ => None,
            },
            Self::Match(column, pattern) => match &row[column] {
                Value::Text(text) => Some(regex(pattern).is_match(text)),
                _ => None,
            },
        }
    }
}

fn compare(a: &Value, sign: &str, b: &Value) -> Truth {
    if *a == Value::Null || *b == Value::Null {
        return None;
    }
    let order = match (a, b) {
        (Value::Int(a), Value::Float(b)) => Value::Float(*a as f64).cmp(&Value::Float(*b)),
        (Value::Float(a), Value::Int(b)) => Value::Float(*a).cmp(&Value::Float(*b as f64)),
        _ => a.cmp(b),
    };
    Some(match sign {
        "=" => order.is_eq(),
        "!=" => order.is_ne(),
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        ">=" => order.is_ge(),
        _ => panic!("{sign}"),
    })
}

/// A measure: its name in the answer, its function, its column, and the percentage of a quantile.
pub(crate) type PlainMeasure = (String, &'static str, String, u64);

/// A question to the reference.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plain {
    pub(crate) groups: Vec<String>,
    pub(crate) measures: Vec<PlainMeasure>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) bucket: Option<i64>,
    pub(crate) window: (Option<i64>, Option<i64>),
    pub(crate) weight: Option<String>,
    /// Column, pattern and replacement.
    pub(crate) replace: Option<(String, String, String)>,
}

impl Plain {
    fn keys(&self, row: &Row) -> Vec<Vec<Value>> {
        let mut keys: Vec<Vec<Value>> = vec![Vec::new()];
        if let Some(bucket) = self.bucket {
            let floor = |v: i128| v - v.rem_euclid(bucket.into());
            keys[0].push(match &row["time"] {
                Value::Int(micros) => Value::Int(floor(*micros)),
                other => other.clone(),
            });
        }
        for column in &self.groups {
            let relabel = |text: &str| match &self.replace {
                Some((of, pattern, label)) if of == column => regex(pattern).replace_all(text, label).into_owned(),
                _ => text.to_owned(),
            };
            let values: Vec<Value> = match &row[column] {
                Value::Set(members) if !members.is_empty() => {
                    let labels: BTreeSet<String> = members.iter().map(|m| relabel(m)).collect();
                    labels.into_iter().map(Value::Text).collect()
                }
                Value::Set(_) => vec![Value::Null],
                Value::Text(text) => vec![Value::Text(relabel(text))],
                Value::Float(x) => vec![Value::Float(*x + 0.0)],
                other => vec![other.clone()],
            };
            keys = keys
                .into_iter()
                .flat_map(|key| values.iter().map(move |v| [&key[..], std::slice::from_ref(v)].concat()))
                .collect();
        }
        keys
    }

    /// Every group with its measures, in key order.
    pub(crate) fn answer(&self, rows: &[Row]) -> Vec<(Vec<Value>, Vec<Value>)> {
        let mut groups: BTreeMap<Vec<Value>, Vec<&Row>> = BTreeMap::new();
        if self.groups.is_empty() && self.bucket.is_none() {
            groups.insert(Vec::new(), Vec::new());
        }
        for row in rows {
            let matches = self.conditions.iter().all(|c| c.truth(row) == Some(true));
            let inside = match (&self.window, &row["time"]) {
                ((None, None), _) => true,
                ((since, until), Value::Int(t)) => {
                    since.is_none_or(|s| *t >= s.into()) && until.is_none_or(|u| *t < u.into())
                }
                _ => false,
            };
            if matches && inside {
                self.keys(row).into_iter().for_each(|key| groups.entry(key).or_default().push(row));
            }
        }
        let all: Vec<&Row> = groups.values().flatten().copied().collect();
        groups
            .iter()
            .map(|(key, rows)| (key.clone(), self.measures.iter().map(|m| self.measure(m, rows, &all)).collect()))
            .collect()
    }

    fn weight(&self, row: &Row) -> Option<f64> {
        match &self.weight {
            None => Some(1.0),
            Some(column) => number(&row[column]),
        }
    }

    fn measure(&self, (_, what, column, share): &PlainMeasure, rows: &[&Row], all: &[&Row]) -> Value {
        let is_int = |v: &Value| matches!(v, Value::Int(_));
        let counted: Vec<&&Row> = rows.iter().filter(|r| *what == "count" || r[column] != Value::Null).collect();
        let weighed: Vec<(f64, &Row)> = counted.iter().filter_map(|r| Some((self.weight(r)?, **r))).collect();
        let total: f64 = weighed.iter().map(|(w, _)| w).sum();
        let x = |row: &Row| number(&row[column]).unwrap();
        let exact = |of: &dyn Fn(&Row) -> i128| -> i128 {
            weighed.iter().map(|(_, r)| of(r) * self.weight.as_ref().map_or(1, |w| int(&r[w]))).sum()
        };
        let int_weight = self.weight.as_ref().is_none_or(|w| w == "key");
        let mut sorted: Vec<Value> = counted.iter().map(|r| r.get(column).cloned().unwrap_or(Value::Null)).collect();
        sorted.sort();
        match *what {
            "count" if int_weight => Value::Int(exact(&|_| 1)),
            "count" => Value::Float(total),
            _ if sorted.is_empty() && *what != "distinct" && !what.ends_with("hist") => Value::Null,
            "sum" if weighed.is_empty() => Value::Null,
            "sum" if int_weight && is_int(&sorted[0]) => Value::Int(exact(&|r| int(&r[column]))),
            "sum" => Value::Float(weighed.iter().map(|(w, r)| w * x(r)).sum()),
            "avg" if total == 0.0 => Value::Null,
            "avg" if int_weight && is_int(&sorted[0]) => Value::Float(exact(&|r| int(&r[column])) as f64 / total),
            "avg" => Value::Float(weighed.iter().map(|(w, r)| w * x(r)).sum::<f64>() / total),
            "stddev" if total <= 1.0 => Value::Null,
            "stddev" => {
                let mean = weighed.iter().map(|(w, r)| w * x(r)).sum::<f64>() / total;
                let squares: f64 = weighed.iter().map(|(w, r)| w * (x(r) - mean).powi(2)).sum();
                Value::Float((squares / (total - 1.0)).sqrt())
            }
            "min" => sorted[0].clone(),
            "max" => sorted[sorted.len() - 1].clone(),
            "distinct" => {
                sorted.dedup();
                Value::Int(sorted.len() as i128)
            }
            "quantile" => {
                let rank = (sorted.len() as u64 * share).div_ceil(100).max(1);
                sorted[rank as usize - 1].clone()
            }
            "hist" => histogram(&sorted, all.iter().map(|r| &r[column])),
            "loghist" => log_histogram(&sorted),
            other => panic!("{other}"),
        }
    }
}

pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(v) => Some(*v as f64),
        Value::Float(v) => Some(*v),
        _ => None,
    }
}

fn int(value: &Value) -> i128 {
    if let Value::Int(v) = value { *v } else { panic!("{value:?}") }
}

/// Integers only: at most 20 of the narrowest buckets, a power of two wide, that span all values.
fn histogram<'a>(values: &[Value], all: impl Iterator<Item = &'a Value>) -> Value {
    let all: Vec<i128> = all.filter(|v| **v != Value::Null).map(int).collect();
    let (Some(low), Some(high)) = (all.iter().min(), all.iter().max()) else { return Value::Buckets(Vec::new()) };
    let power = (0..64).find(|p| (high >> p) - (low >> p) < 20).unwrap();
    let mut buckets: BTreeMap<i128, i64> = BTreeMap::new();
    values.iter().for_each(|v| *buckets.entry(int(v) >> power).or_default() += 1);
    let edge = |place: i128| (place << power) as f64;
    Value::Buckets(buckets.into_iter().map(|(place, n)| (edge(place), edge(place + 1), n)).collect())
}

/// Ignores infinite numbers.
fn log_histogram(values: &[Value]) -> Value {
    let mut buckets: Vec<(f64, f64, i64)> = Vec::new();
    for value in values {
        let x = number(value).unwrap();
        let power = |x: f64| match value {
            Value::Int(v) => (0..64).rev().map(|p| 1i128 << p).find(|low| *low <= v.abs()).unwrap() as f64,
            _ => (-1_080..1_025).rev().map(|p| 2f64.powi(p)).find(|low| *low <= x).unwrap(),
        };
        let (from, to) = match x {
            x if x.is_nan() => (f64::NAN, f64::NAN),
            0.0 => (0.0, 0.0),
            x if x > 0.0 => (power(x), power(x) * 2.0),
            x => (-power(-x) * 2.0, -power(-x)),
        };
        match buckets.last_mut() {
            Some(last) if last.0.to_bits() == from.to_bits() => last.2 += 1,
            _ => buckets.push((from, to, 1)),
        }
    }
    Value::Buckets(buckets)
}

/// Whether two values are equal, real numbers up to the effect of the order of addition. `scale` is the magnitude of
/// the summands.
pub(crate) fn is_same(a: &Value, b: &Value, scale: f64) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) if a.is_finite() && b.is_finite() => {
            (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(scale)
        }
        (Value::Buckets(a), Value::Buckets(b)) => {
            // Edges of integer buckets stop at 2^63.
            let last = 2f64.powi(63);
            let same = |x: f64, y: f64| x == y.clamp(-last, last) || (x.is_nan() && y.is_nan());
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a.0, b.0) && same(a.1, b.1) && a.2 == b.2)
        }
        _ => a == b,
    }
}

fn regex(pattern: &str) -> regex::Regex {
    thread_local!(static COMPILED: std::cell::RefCell<BTreeMap<String, regex::Regex>> = const { std::cell::RefCell::new(BTreeMap::new()) });
    COMPILED.with_borrow_mut(|compiled| {
        compiled.entry(pattern.to_owned()).or_insert_with(|| regex::Regex::new(pattern).unwrap()).clone()
    })
}
