//! Selects segments by the statistics in the log.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, StringArray, TimestampMicrosecondArray, UInt64Array};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Field, SchemaRef, TimeUnit};
use datafusion::catalog::Session;
use datafusion::common::pruning::PruningStatistics;
use datafusion::common::{Column, DFSchema, ScalarValue};
use datafusion::error::Result;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::utils::conjunction;
use datafusion::physical_optimizer::pruning::{PruningPredicate, PruningPredicateBuilder};
use table::{ColumnStatistics, Segment};

use crate::filter::is_plain;

/// Maximum values of an `IN` list to test against statistics; longer lists exclude nothing.
pub(super) const IN_LIST_MAX: usize = 1_000;

/// Digits of a decimal that every writer keeps exactly in a JSON number.
const EXACT_DIGITS: u8 = 15;

/// Segments that may hold a row that matches all conditions; true if unknown.
pub(super) fn prune(session: &dyn Session, statistics: &LogStatistics<'_>, conditions: &[Expr]) -> Vec<bool> {
    let all = vec![true; statistics.segments.len()];
    let Some(condition) = conjunction(conditions.iter().filter(|c| is_plain(c)).cloned()) else { return all };
    may_match(session, statistics.schema, condition).and_then(|predicate| predicate.prune(statistics)).unwrap_or(all)
}

/// A predicate on statistics: whether a segment may hold a row that matches the condition.
pub(crate) fn may_match(session: &dyn Session, schema: &SchemaRef, condition: Expr) -> Result<PruningPredicate> {
    let condition = session.create_physical_expr(condition, &DFSchema::try_from(schema.clone())?)?;
    let builder = PruningPredicateBuilder::new().with_file_schema(schema.clone()).with_max_in_list_size(IN_LIST_MAX);
    builder.try_build(condition)
}

/// Statistics of segments in the log: bounds by column. Missing statistics exclude nothing.
pub(crate) struct LogStatistics<'a> {
    pub(crate) segments: &'a [Segment],
    pub(crate) schema: &'a SchemaRef,
    pub(crate) partition: &'a [String],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    Min,
    Max,
}

impl LogStatistics<'_> {
    fn bounds(&self, column: &Column, bound: Bound) -> Option<ArrayRef> {
        let name = column.name();
        let ty = self.schema.field_with_name(name).ok()?.data_type();
        if self.partition.iter().any(|p| p == name) {
            return partition_values(self.segments, name, ty);
        }
        if let DataType::Timestamp(TimeUnit::Microsecond, zone) = ty {
            let time =
                |column: &ColumnStatistics| if bound == Bound::Min { column.earliest() } else { column.latest() };
            let times = self.segments.iter().map(|s| s.columns.get(name).and_then(time));
            return Some(Arc::new(TimestampMicrosecondArray::from_iter(times).with_timezone_opt(zone.clone())));
        }
        if !is_bounded(ty) {
            return None;
        }
        let text = |segment: &Segment| {
            // Other writers leave NaN out, which is greater than all numbers.
            if bound == Bound::Max && ty.is_floating() && segment.groups().is_none() {
                return None;
            }
            let statistics = segment.columns.get(name)?;
            let value = if bound == Bound::Min { statistics.min.as_ref() } else { statistics.max.as_ref() };
            value.map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned))
        };
        parse(&self.segments.iter().map(text).collect(), ty)
    }
}

/// Whether the log stores bounds of the type exactly.
fn is_bounded(ty: &DataType) -> bool {
    match ty {
        DataType::Decimal128(precision, _) => *precision <= EXACT_DIGITS,
        DataType::Boolean | DataType::Utf8View | DataType::Date32 => true,
        ty => ty.is_signed_integer() || ty.is_floating(),
    }
}

/// The rows of a segment in which the column is NULL; `None` if unknown.
pub(super) fn null_rows(segment: &Segment, field: &Field) -> Option<u64> {
    // Some writers count the NULL items of lists instead.
    segment.columns.get(field.name()).filter(|_| !field.data_type().is_nested())?.nulls
}

pub(super) fn partition_values(segments: &[Segment], name: &str, ty: &DataType) -> Option<ArrayRef> {
    let text = |s: &Segment| s.partition.get(name).filter(|text| !text.is_empty()).cloned();
    parse(&segments.iter().map(text).collect(), ty)
}

/// Parses values; invalid texts become NULL.
fn parse(texts: &StringArray, ty: &DataType) -> Option<ArrayRef> {
    let lenient = CastOptions { safe: true, ..CastOptions::default() };
    cast_with_options(texts, ty, &lenient).ok()
}

impl PruningStatistics for LogStatistics<'_> {
    fn min_values(&self, column: &Column) -> Option<ArrayRef> {
        self.bounds(column, Bound::Min)
    }

    fn max_values(&self, column: &Column) -> Option<ArrayRef> {
        self.bounds(column, Bound::Max)
    }

    fn num_containers(&self) -> usize {
        self.segments.len()
    }

    fn null_counts(&self, column: &Column) -> Option<ArrayRef> {
        let in_log = self.partition.contains(&column.name);
        let nulls = |s: &Segment| match s.partition.get(column.name()).filter(|_| in_log) {
            // If the number of rows is known, every row is NULL.
            Some(text) if text.is_empty() => (s.rows > 0).then_some(s.rows),
            Some(_) => Some(0),
            None => null_rows(s, self.schema.field_with_name(column.name()).ok()?),
        };
        Some(Arc::new(self.segments.iter().map(nulls).collect::<UInt64Array>()))
    }

    fn row_counts(&self) -> Option<ArrayRef> {
        let rows = |s: &Segment| (s.rows > 0).then_some(s.rows);
        Some(Arc::new(self.segments.iter().map(rows).collect::<UInt64Array>()))
    }

    fn contained(&self, _: &Column, _: &HashSet<ScalarValue>) -> Option<BooleanArray> {
        None
    }
}
