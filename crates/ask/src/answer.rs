//! The answer: groups in order, as rows.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array, ListArray, RecordBatch,
    StringArray, StructArray, TimestampMicrosecondArray,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Fields, Schema};

use crate::column::{Kind, from_ordinal};
use crate::error::AskError;
use crate::partial::{Partial, Shape};
use crate::question::{Measure, Order};
use crate::reading::Reading;
use crate::state::{
    Accumulator, CountedValues, Groups, Histogram, INFINITE, LEAST, NOT_A_NUMBER, POWERS, Sums, Weights, scaled,
    shifted, span,
};

#[derive(Debug, Clone)]
pub struct Answer {
    /// One row per group: its key columns (the first `keys`), then its measures. For samples, the sampled rows.
    pub rows: RecordBatch,
    /// Number of key columns. The time bucket, if any, is the first.
    pub keys: usize,
    /// Whether the rows are grouped by time bucket.
    pub by_time: bool,
    /// Number of groups, including those past the limit.
    pub groups: usize,
    /// The data read to compute the answer.
    pub reading: Reading,
    /// Remarks about the answer, such as why it is approximate.
    pub notes: Vec<String>,
}

type Result<T> = std::result::Result<T, AskError>;

#[derive(Debug, Clone, PartialEq)]
enum Scalar<'a> {
    Null,
    Int(i128),
    Float(f64),
    Text(&'a str),
}

impl Scalar<'_> {
    /// NULL sorts last in both directions.
    fn order(&self, other: &Self, ascending: bool) -> Ordering {
        let order = match (self, other) {
            (Self::Null, Self::Null) => return Ordering::Equal,
            (Self::Null, _) => return Ordering::Greater,
            (_, Self::Null) => return Ordering::Less,
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => crate::column::ordinal(*a).cmp(&crate::column::ordinal(*b)),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            _ => Ordering::Equal,
        };
        if ascending { order } else { order.reverse() }
    }
}

#[derive(Debug, Clone, Copy)]
enum Source {
    Key(usize),
    /// A measure, and the index of one of its columns.
    Measure(usize, usize),
}

impl Partial {
    /// Finishes the answer.
    ///
    /// # Errors
    /// If the question sorts by an unknown column or by a histogram.
    pub fn answer(self) -> Result<Answer> {
        let Self { shape, mut groups, left_out, reading } = self;
        groups.settle();
        let table = Table { shape: &shape, groups: &groups };
        let columns = table.columns();
        let order = table.ordered(&columns)?;
        let mut fields = Vec::with_capacity(columns.len());
        let mut arrays = Vec::with_capacity(columns.len());
        for (name, source) in &columns {
            let array = table.array(*source, name, &order)?;
            fields.push(Field::new(name, array.data_type().clone(), true));
            arrays.push(array);
        }
        let schema = Arc::new(Schema::new(fields));
        let rows = RecordBatch::try_new(schema, arrays).map_err(|e| AskError::invalid(e.to_string()))?;
        let (keys, all) = (shape.groups.len(), groups.keys.len() + left_out);
        let by_time = shape.question.bucket.is_some();
        Ok(Answer { rows, keys, by_time, groups: all, reading, notes: shape.notes })
    }
}

impl Shape {
    /// The groups that may be in the answer, at most its limit.
    ///
    /// # Errors
    /// See [`Partial::answer`].
    pub(crate) fn first(&self, groups: &mut Groups) -> Result<Vec<u32>> {
        groups.settle();
        let table = Table { shape: self, groups };
        table.ordered(&table.columns())
    }
}

struct Table<'a> {
    shape: &'a Shape,
    groups: &'a Groups,
}

impl Table<'_> {
    fn columns(&self) -> Vec<(String, Source)> {
        let keys = self.shape.groups.iter().enumerate().map(|(i, (name, _))| (name.clone(), Source::Key(i)));
        let measures = self.shape.measures().iter().enumerate().flat_map(|(i, measure)| {
            let names = measure.names().into_iter().enumerate();
            names.map(move |(part, name)| (name, Source::Measure(i, part)))
        });
        keys.chain(measures).collect()
    }

    fn kind(&self, source: Source) -> Kind {
        match source {
            Source::Key(key) => self.shape.groups[key].1,
            Source::Measure(measure, _) => {
                let of = self.shape.measured[measure];
                let real = |real: bool| if real { Kind::Float } else { Kind::Int };
                let weighted = self.shape.weight == Some(Kind::Float);
                match &self.shape.measures()[measure] {
                    Measure::Count => real(weighted),
                    Measure::Sum(_) => real(weighted || of == Some(Kind::Float)),
                    Measure::Average(_) | Measure::Deviation(_) => Kind::Float,
                    Measure::Distinct(_) => Kind::Int,
                    Measure::Histogram(_) | Measure::LogHistogram(_) => Kind::Other,
                    Measure::Least(_) | Measure::Greatest(_) | Measure::Quantiles(..) => of.unwrap_or(Kind::Int),
                }
            }
        }
    }

    fn scalar(&self, source: Source, group: usize) -> Scalar<'_> {
        match source {
            Source::Key(key) => self.key(key, group),
            Source::Measure(measure, part) => self.measure(measure, part, group),
        }
    }

    fn key(&self, key: usize, group: usize) -> Scalar<'_> {
        let keys = &self.groups.keys;
        if keys.is_null(group, key) {
            return Scalar::Null;
        }
        let cell = keys.cells(group)[key];
        whole(self.shape.groups[key].1, cell as i64).unwrap_or_else(|| Scalar::Text(keys.word(key, cell)))
    }

    fn measure(&self, measure: usize, part: usize, group: usize) -> Scalar<'_> {
        let kind = self.shape.measured[measure].unwrap_or(Kind::Int);
        let of_sums = |sums: &Sums| match sums {
            Sums::Ints(sums) => Scalar::Int(sums[group]),
            Sums::Reals(sums) => Scalar::Float(sums[group].value()),
        };
        match &self.groups.accumulators[measure] {
            Accumulator::Count(Weights::Rows(rows)) => Scalar::Int(i128::from(rows[group])),
            Accumulator::Sum { rows, .. } if rows[group] == 0 => Scalar::Null,
            Accumulator::Count(Weights::Sums(sums)) | Accumulator::Sum { sums, .. } => of_sums(sums),
            Accumulator::Mean { sums, weights } => match weights.real(group) {
                0.0 => Scalar::Null,
                weight => Scalar::Float(sums.real(group) / weight),
            },
            Accumulator::Deviation { sums, squares, weights } => match weights.real(group) {
                weight if weight > 1.0 => {
                    let (sum, squares) = (sums[group], squares[group]);
                    let finite = sum.value().is_finite() && squares.value().is_finite();
                    let variance = if finite { sum.spread(squares, weight) / (weight - 1.0) } else { f64::NAN };
                    Scalar::Float(variance.sqrt())
                }
                _ => Scalar::Null,
            },
            Accumulator::Extreme { seen, .. } if !seen[group] => Scalar::Null,
            Accumulator::Extreme { best, .. } => whole(kind, best[group]).unwrap_or(Scalar::Null),
            Accumulator::ExtremeText { best, .. } => best[group].as_deref().map_or(Scalar::Null, Scalar::Text),
            Accumulator::Distinct { cells, .. } => Scalar::Int(cells[group].values().len() as i128),
            Accumulator::Values(by_group) => {
                let Measure::Quantiles(_, quantiles) = &self.shape.measures()[measure] else { return Scalar::Null };
                let counted = &by_group[group];
                let mut left = quantiles[part].rank(counted.total());
                for &(value, times) in counted.values() {
                    if times >= left {
                        return whole(kind, value).unwrap_or(Scalar::Null);
                    }
                    left -= times;
                }
                Scalar::Null
            }
            Accumulator::Histogram { .. } | Accumulator::LogHistogram(_) => Scalar::Null,
        }
    }

    /// The groups in order, up to the limit.
    fn ordered(&self, columns: &[(String, Source)]) -> Result<Vec<u32>> {
        let question = &self.shape.question;
        let (by, ascending) = match &question.order {
            Some(Order { by, ascending }) => {
                let found = columns.iter().find(|(name, _)| name == by).map(|(_, source)| *source);
                let names = columns.iter().map(|(name, _)| name.as_str());
                (Some(found.ok_or_else(|| AskError::unknown_column(by, names))?), *ascending)
            }
            None if question.bucket.is_some() => (None, true),
            None => (columns.iter().map(|(_, source)| *source).find(|s| matches!(s, Source::Measure(..))), false),
        };
        if by.is_some_and(|by| self.kind(by) == Kind::Other) && question.order.is_some() {
            return Err(AskError::invalid("cannot sort by a histogram: sort by another column of the answer"));
        }
        let compare = |a: &u32, b: &u32| {
            let (a, b) = (*a as usize, *b as usize);
            let by_score = by.map_or(Ordering::Equal, |by| self.scalar(by, a).order(&self.scalar(by, b), ascending));
            let keys = 0..self.shape.groups.len();
            keys.fold(by_score, |order, key| order.then_with(|| self.key(key, a).order(&self.key(key, b), true)))
        };
        // Groups mostly come in the order of their keys, so those of the greatest keys come last.
        let from_last = matches!(by, Some(Source::Key(_))) && !ascending;
        let mut order = self.first(question.limit, from_last, compare);
        order.sort_unstable_by(compare);
        Ok(order)
    }

    /// The first `limit` groups, unsorted. Few comparisons are needed where those come first, or last and `from_last`.
    fn first(&self, limit: Option<usize>, from_last: bool, compare: impl Fn(&u32, &u32) -> Ordering) -> Vec<u32> {
        /// Candidates past the limit that are collected before the next selection.
        const WAITING: usize = 64;
        let all = 0..self.groups.keys.len() as u32;
        let Some(limit) = limit.filter(|limit| *limit < all.len()) else { return all.collect() };
        let Some(last) = limit.checked_sub(1) else { return Vec::new() };
        let mut first: Vec<u32> = Vec::new();
        let cut = |first: &mut Vec<u32>| {
            first.select_nth_unstable_by(last, &compare);
            first.truncate(limit);
        };
        // The last of the groups that the latest cut left.
        let mut bound = None;
        for place in all.clone() {
            let group = if from_last { all.end - 1 - place } else { place };
            if bound.is_some_and(|bound| compare(&group, &bound).is_gt()) {
                continue;
            }
            first.push(group);
            if first.len() >= 2 * limit + WAITING {
                cut(&mut first);
                bound = Some(first[last]);
            }
        }
        if limit < first.len() {
            cut(&mut first);
        }
        first
    }

    fn array(&self, source: Source, name: &str, order: &[u32]) -> Result<ArrayRef> {
        let scalars = || order.iter().map(|&group| self.scalar(source, group as usize));
        let ints = || scalars().map(|s| if let Scalar::Int(v) = s { Some(v) } else { None });
        Ok(match self.kind(source) {
            Kind::Int => return integers(name, ints().collect()),
            Kind::Time => Arc::new(
                ints().map(|v| v.map(|v| v as i64)).collect::<TimestampMicrosecondArray>().with_timezone("UTC"),
            ),
            Kind::Date => Arc::new(ints().map(|v| v.map(|v| v as i32)).collect::<Date32Array>()),
            Kind::Bool => Arc::new(ints().map(|v| v.map(|v| v != 0)).collect::<BooleanArray>()),
            Kind::Float => {
                let reals = scalars().map(|s| if let Scalar::Float(v) = s { Some(v) } else { None });
                Arc::new(reals.collect::<Float64Array>())
            }
            Kind::Text => {
                let texts = scalars().map(|s| if let Scalar::Text(v) = s { Some(v.to_owned()) } else { None });
                Arc::new(texts.collect::<StringArray>())
            }
            Kind::Set | Kind::Other => match source {
                Source::Measure(measure, _) => self.buckets(measure, order)?,
                Source::Key(_) => return Err(AskError::invalid(format!("cannot group by {name:?}"))),
            },
        })
    }

    /// Lists of buckets: lower edge, exclusive upper edge, and number of values.
    fn buckets(&self, measure: usize, order: &[u32]) -> Result<ArrayRef> {
        let is_real = self.shape.measured[measure] == Some(Kind::Float);
        let (by_group, width): (Vec<CountedValues>, Width) = match &self.groups.accumulators[measure] {
            Accumulator::Histogram(Histogram { shift, by_group }) => {
                let by = widening(by_group);
                (order.iter().map(|&g| shifted(&by_group[g as usize], by)).collect(), Width::Power(*shift + by))
            }
            Accumulator::LogHistogram(by_group) => {
                (order.iter().map(|&g| by_group[g as usize].clone()).collect(), Width::Doubling)
            }
            _ => return Err(AskError::invalid("the measure has no buckets")),
        };
        let places = || by_group.iter().flat_map(CountedValues::values).map(|(place, _)| *place);
        let (from, to): (ArrayRef, ArrayRef) = if is_real {
            let edges = || places().map(|place| width.real_edges(place));
            (
                Arc::new(edges().map(|e| e.0).collect::<Float64Array>()),
                Arc::new(edges().map(|e| e.1).collect::<Float64Array>()),
            )
        } else {
            let edges = || places().map(|place| width.whole_edges(place));
            (
                Arc::new(edges().map(|e| e.0).collect::<Int64Array>()),
                Arc::new(edges().map(|e| e.1).collect::<Int64Array>()),
            )
        };
        let counts: Int64Array =
            by_group.iter().flat_map(CountedValues::values).map(|(_, times)| *times as i64).collect();
        let lengths = by_group.iter().map(|counted| counted.values().len());
        let ty = if is_real { DataType::Float64 } else { DataType::Int64 };
        let fields = Fields::from(vec![
            Field::new("from", ty.clone(), false),
            Field::new("to", ty, false),
            Field::new("count", DataType::Int64, false),
        ]);
        let parts: Vec<ArrayRef> = vec![from, to, Arc::new(counts)];
        let failed = |e: arrow::error::ArrowError| AskError::invalid(e.to_string());
        let buckets = StructArray::try_new(fields.clone(), parts, None).map_err(failed)?;
        let item = Arc::new(Field::new("item", DataType::Struct(fields), false));
        let list = ListArray::try_new(item, OffsetBuffer::from_lengths(lengths), Arc::new(buckets), None);
        Ok(Arc::new(list.map_err(failed)?))
    }
}

/// Buckets of a reported histogram, at most.
const BUCKETS_MAX: u64 = 20;

/// The number of powers of two by which the buckets must widen, so that at most [`BUCKETS_MAX`] remain.
fn widening(by_group: &[CountedValues]) -> i32 {
    let Some((low, high)) = span(by_group) else { return 0 };
    (0..63).find(|by| (high >> by).abs_diff(low >> by) < BUCKETS_MAX).unwrap_or(63)
}

#[derive(Debug, Clone, Copy)]
enum Width {
    /// The width is two to this power.
    Power(i32),
    /// Each from one power of two to the next.
    Doubling,
}

impl Width {
    /// The edges of a bucket of real numbers.
    fn real_edges(self, place: i64) -> (f64, f64) {
        match (self, place) {
            (_, NOT_A_NUMBER) => (f64::NAN, f64::NAN),
            (_, INFINITE) => (f64::INFINITY, f64::INFINITY),
            (_, LEAST) => (f64::NEG_INFINITY, f64::NEG_INFINITY),
            (Self::Power(power), place) => (scaled(place as f64, power), scaled((place + 1) as f64, power)),
            (Self::Doubling, 0) => (0.0, 0.0),
            (Self::Doubling, 1..) => {
                let power = (place - POWERS) as i32;
                (scaled(1.0, power), scaled(1.0, power + 1))
            }
            (Self::Doubling, _) => {
                let (low, high) = self.real_edges(-place);
                (-high, -low)
            }
        }
    }

    /// The edges of a bucket of integers, limited to the greatest integer.
    fn whole_edges(self, place: i64) -> (i64, i64) {
        let within = |edge: i128| edge.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
        match (self, place) {
            (Self::Power(power), place) => {
                let edge = |place: i128| within(place << power.clamp(0, 63));
                (edge(i128::from(place)), edge(i128::from(place) + 1))
            }
            (Self::Doubling, 0) => (0, 0),
            (Self::Doubling, 1..) => {
                let low = 1i128 << (place - POWERS).clamp(0, 64);
                (within(low), within(low * 2))
            }
            (Self::Doubling, _) => {
                let low = 1i128 << (-place - POWERS).clamp(0, 64);
                (within(-low * 2), within(-low))
            }
        }
    }
}

/// A value of a kind that is stored as an integer.
fn whole(kind: Kind, value: i64) -> Option<Scalar<'static>> {
    match kind {
        Kind::Float => Some(Scalar::Float(from_ordinal(value))),
        kind if kind.is_whole() => Some(Scalar::Int(i128::from(value))),
        _ => None,
    }
}

/// Uses 64-bit integers if all values fit, otherwise decimals of 38 digits.
fn integers(name: &str, values: Vec<Option<i128>>) -> Result<ArrayRef> {
    const DIGITS_MAX: u8 = 38;
    if values.iter().flatten().all(|v| i64::try_from(*v).is_ok()) {
        return Ok(Arc::new(values.into_iter().map(|v| v.map(|v| v as i64)).collect::<Int64Array>()));
    }
    if values.iter().flatten().any(|v| v.unsigned_abs() >= 10u128.pow(u32::from(DIGITS_MAX))) {
        return Err(AskError::Overflow { what: name.to_owned() });
    }
    let decimals = Decimal128Array::from(values).with_precision_and_scale(DIGITS_MAX, 0);
    Ok(Arc::new(decimals.map_err(|e| AskError::invalid(e.to_string()))?))
}
