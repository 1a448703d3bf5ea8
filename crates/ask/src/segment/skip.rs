//! Selects the parts of a segment that may hold matching rows.

use std::ops::Range;

use arrow::array::{ArrayRef, BooleanArray, Date32Array, Int64Array, StringArray, TimestampMicrosecondArray};
use arrow::datatypes::DataType;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::bloom_filter::Sbbf;
use table::{Key, KeyRange, Lookup, Segment};

use super::open::{Opened, Place, constant, constant_summary};
use super::page_index::{both, page_rows, page_summary};
use super::unit::Unit;
use crate::column::Kind;
use crate::error::AskError;
use crate::expression::{Cond, Test};
use crate::plan::Plan;
use crate::prune::{Bound, Nulls, Summary, Verdict, of_footer, of_log};
use crate::reading::Skipped;

/// Maximum rows of a unit.
const UNIT_ROWS: usize = 1 << 17;
/// Maximum values of a condition to test against filters and secondary indexes. For more, reading costs no more.
const VALUES_MAX: usize = 32;

/// Conditions that the log does not decide for a segment; `None` if no row of it matches.
pub(crate) fn of_segment(segment: &Segment, plan: &Plan) -> Option<Vec<usize>> {
    let summary_of = |column: usize| {
        if segment.partition.contains_key(&plan.names[column]) {
            // An unreadable value excludes nothing; reading it reports the error.
            return constant(column, segment, plan)
                .ok()
                .flatten()
                .map_or_else(Summary::default, |v| constant_summary(&v));
        }
        if counts_items(plan.kinds[column]) {
            return Summary::default();
        }
        let summary = of_log(segment.columns.get(&plan.names[column]), segment.rows, plan.kinds[column]);
        // The log's bounds of floats and decimals have other digits than the values read here.
        let is_double = plan.kinds[column] != Kind::Float || plan.types[column] == DataType::Float64;
        if is_double { summary } else { Summary { nulls: summary.nulls, ..Summary::default() } }
    };
    let all: Vec<usize> = (0..plan.conditions.len()).collect();
    remaining(plan, &all, &summary_of)
}

/// The units of a segment to read, given the conditions (by index) that the log does not decide.
pub(crate) fn units_of(
    opened: &mut Opened,
    (root, segment): (&std::path::Path, &Segment),
    plan: &Plan,
    conditions: &[usize],
    skipped: &mut Skipped,
) -> Result<Vec<Unit>, AskError> {
    let mut left = Vec::new();
    for group in 0..opened.groups() {
        let summary_of = |column: usize| group_summary(opened, plan, group, column);
        match remaining(plan, conditions, &summary_of) {
            Some(conditions) => left.push((group, conditions)),
            None => skipped.groups_by_statistics += 1,
        }
    }
    by_lookup(&mut left, (root, segment), plan, skipped);
    by_filters(&mut left, opened, plan, skipped)?;
    let worthwhile = left.iter().any(|(_, conditions)| conditions.iter().any(|c| can_skip_pages(&plan.conditions[*c])));
    if !left.is_empty() && (worthwhile || plan.has_bucketed()) {
        opened.read_page_index()?;
    }
    let mut units = Vec::new();
    for (group, conditions) in left {
        let rows = opened.rows(group);
        let ranges = if worthwhile { by_pages(opened, plan, group, &conditions, skipped) } else { whole(rows) };
        push_units(&mut units, group, &ranges, &conditions);
    }
    Ok(units)
}

fn whole(rows: usize) -> Vec<Range<usize>> {
    std::iter::once(0..rows).collect()
}

/// Conditions that must still be tested row by row; `None` if no row can match.
fn remaining(plan: &Plan, conditions: &[usize], summary_of: &impl Fn(usize) -> Summary) -> Option<Vec<usize>> {
    let mut left = Vec::new();
    for &condition in conditions {
        match plan.conditions[condition].verdict(summary_of) {
            Verdict::Never => return None,
            Verdict::Maybe => left.push(condition),
            Verdict::Always => {}
        }
    }
    Some(left)
}

/// Whether statistics may count the NULL items of lists and structs instead of NULL rows.
fn counts_items(kind: Kind) -> bool {
    matches!(kind, Kind::Set | Kind::Other)
}

fn group_summary(opened: &Opened, plan: &Plan, group: usize, column: usize) -> Summary {
    match &opened.columns[column] {
        Place::Missing => Summary { nulls: Nulls::All, ..Summary::default() },
        Place::Constant(value) => constant_summary(value),
        Place::Stored { leaf: Some(leaf), bounded, .. } if !counts_items(plan.kinds[column]) => {
            let group = opened.metadata().row_group(group);
            let statistics = group.column(*leaf).statistics();
            of_footer(statistics, group.num_rows() as u64, plan.kinds[column], *bounded)
        }
        Place::Stored { .. } => Summary::default(),
    }
}

/// The column and the values that it may equal, if they are few.
fn values_of(condition: &Cond) -> Option<(usize, Vec<Bound>)> {
    let Cond::Leaf(leaf) = condition else { return None };
    let values: Vec<Bound> = match &leaf.test {
        _ if leaf.negated => return None,
        Test::Ints(ranges) if ranges.iter().all(|(low, high)| low == high) => {
            ranges.iter().map(|(value, _)| Bound::Int(*value)).collect()
        }
        Test::Text(crate::expression::Comparison::Equal, value) => vec![Bound::Text(value.clone())],
        Test::TextIn(list) => list.iter().cloned().map(Bound::Text).collect(),
        _ => return None,
    };
    (values.len() <= VALUES_MAX).then_some((leaf.column, values))
}

type Left = Vec<(usize, Vec<usize>)>;

/// Drops row groups that secondary indexes exclude.
fn by_lookup(left: &mut Left, (root, segment): (&std::path::Path, &Segment), plan: &Plan, skipped: &mut Skipped) {
    let mut wanted = Vec::new();
    for condition in left.iter().flat_map(|(_, conditions)| conditions) {
        if let Some(values) = values_of(&plan.conditions[*condition])
            && !wanted.iter().any(|(c, _)| c == condition)
        {
            wanted.push((*condition, values));
        }
    }
    if wanted.is_empty() || left.len() < 2 {
        return;
    }
    let Some(lookup) = Lookup::open(root, segment) else { return };
    for (_, (column, values)) in wanted {
        let key = |value: &Bound| Key::of(&*as_array(value, plan.kinds[column])?, 0).map(|key| KeyRange::of(&key));
        let Some(ranges) = values.iter().map(key).collect::<Option<Vec<_>>>() else { continue };
        let Some(found) = lookup.find(&plan.names[column], &ranges) else { continue };
        skipped.bytes += found.bytes;
        let before = left.len();
        left.retain(|(group, _)| found.groups.get(*group).copied().unwrap_or(true));
        skipped.groups_by_lookup += before - left.len();
    }
}

fn as_array(value: &Bound, kind: Kind) -> Option<ArrayRef> {
    use std::sync::Arc;
    Some(match (value, kind) {
        (Bound::Int(v), Kind::Int) => Arc::new(Int64Array::from(vec![*v])),
        (Bound::Int(v), Kind::Bool) => Arc::new(BooleanArray::from(vec![*v != 0])),
        (Bound::Int(v), Kind::Time) => Arc::new(TimestampMicrosecondArray::from(vec![*v])),
        (Bound::Int(v), Kind::Date) => Arc::new(Date32Array::from(vec![i32::try_from(*v).ok()?])),
        (Bound::Text(v), Kind::Text) => Arc::new(StringArray::from(vec![v.as_str()])),
        _ => return None,
    })
}

/// Drops row groups that Bloom filters exclude.
fn by_filters(left: &mut Left, opened: &mut Opened, plan: &Plan, skipped: &mut Skipped) -> Result<(), AskError> {
    let mut kept = Vec::with_capacity(left.len());
    for (group, conditions) in left.drain(..) {
        let mut never = false;
        for condition in &conditions {
            let Some((column, values)) = values_of(&plan.conditions[*condition]) else { continue };
            let Place::Stored { leaf: Some(leaf), bounded: true, .. } = opened.columns[column] else { continue };
            let chunk = opened.metadata().row_group(group).column(leaf);
            if chunk.bloom_filter_offset().is_none() {
                continue;
            }
            skipped.bytes += chunk.bloom_filter_length().unwrap_or(0) as u64;
            let physical = chunk.column_type();
            let file = opened.file.clone();
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, opened.footer.clone());
            let filter = builder.get_row_group_column_bloom_filter(group, leaf);
            if let Some(filter) = filter.map_err(|e| AskError::pages(&opened.path, e.into()))? {
                never = !values.iter().any(|value| may_hold(&filter, value, physical));
            }
            if never {
                break;
            }
        }
        if never {
            skipped.groups_by_filter += 1;
        } else {
            kept.push((group, conditions));
        }
    }
    *left = kept;
    Ok(())
}

fn may_hold(filter: &Sbbf, value: &Bound, physical: parquet::basic::Type) -> bool {
    use parquet::basic::Type;
    match (value, physical) {
        (Bound::Int(v), Type::INT64) => filter.check(v),
        // A column of 32-bit integers cannot hold a larger value.
        (Bound::Int(v), Type::INT32) => i32::try_from(*v).is_ok_and(|v| filter.check(&v)),
        (Bound::Text(v), Type::BYTE_ARRAY) => filter.check(v.as_str()),
        _ => true,
    }
}

/// Whether page statistics can exclude pages by this condition.
fn can_skip_pages(condition: &Cond) -> bool {
    match condition {
        Cond::All(parts) | Cond::Any(parts) => parts.iter().any(can_skip_pages),
        Cond::Leaf(leaf) => !matches!(leaf.test, Test::Match(_) | Test::Has(_)),
        _ => false,
    }
}

/// The rows of a row group in pages that may match all conditions.
fn by_pages(
    opened: &Opened,
    plan: &Plan,
    group: usize,
    conditions: &[usize],
    skipped: &mut Skipped,
) -> Vec<Range<usize>> {
    let rows = opened.rows(group);
    let mut left = whole(rows);
    for condition in conditions {
        let mut columns = Vec::new();
        plan.conditions[*condition].each_column(&mut |column| columns.push(column));
        columns.dedup();
        // Pages of different columns may start at different rows.
        let [column] = columns[..] else { continue };
        let Place::Stored { leaf: Some(leaf), bounded: true, .. } = opened.columns[column] else { continue };
        if counts_items(plan.kinds[column]) {
            continue;
        }
        let Some((index, pages)) = opened.page_index(group, leaf) else { continue };
        let mut kept: Vec<Range<usize>> = Vec::new();
        for page in 0..pages.len() {
            let of_page = page_rows(pages, page, rows);
            let summary_of = |_: usize| page_summary(index, page, of_page.len() as u64, plan.kinds[column]);
            if plan.conditions[*condition].verdict(&summary_of) == Verdict::Never {
                skipped.pages_by_statistics += 1;
                continue;
            }
            match kept.last_mut() {
                Some(last) if last.end == of_page.start => last.end = of_page.end,
                _ => kept.push(of_page),
            }
        }
        if !pages.is_empty() {
            left = both(&left, &kept);
        }
    }
    left
}

/// Splits the ranges of a row group into units.
fn push_units(units: &mut Vec<Unit>, group: usize, ranges: &[Range<usize>], conditions: &[usize]) {
    let mut unit = Unit { group, ranges: Vec::new(), conditions: conditions.to_vec() };
    let mut free = UNIT_ROWS;
    for range in ranges {
        let mut from = range.start;
        while from < range.end {
            let to = range.end.min(from + free);
            unit.ranges.push(from..to);
            free -= to - from;
            from = to;
            if free == 0 {
                let next = Unit { group, ranges: Vec::new(), conditions: conditions.to_vec() };
                units.push(std::mem::replace(&mut unit, next));
                free = UNIT_ROWS;
            }
        }
    }
    if !unit.ranges.is_empty() {
        units.push(unit);
    }
}
