//! Reads the matching rows of a unit.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray, UInt32Array,
    new_null_array,
};
use arrow::compute::{cast, take};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use pages::ColumnPages;
use parquet::basic::Type;

use super::open::{Opened, Place};
use super::{bucketed, general, set};
use crate::column::{Column, Kind, Values};
use crate::error::AskError;
use crate::expression::Rows;
use crate::plan::Plan;
use crate::prune::Bound;
use crate::reading::Reading;

/// Some rows of a row group: the unit of work of a thread.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unit {
    pub(crate) group: usize,
    pub(crate) ranges: Vec<Range<usize>>,
    /// Indexes of the conditions that the rows must still meet.
    pub(crate) conditions: Vec<usize>,
}

impl Unit {
    pub(crate) fn rows(&self) -> usize {
        self.ranges.iter().map(Range::len).sum()
    }
}

/// The matching rows: their number, and the requested columns, by index into the table's columns.
pub(crate) struct Matching {
    pub(crate) rows: usize,
    pub(crate) columns: Vec<Option<Column>>,
    /// Their row numbers in the unit or batch; `None` for all rows.
    pub(crate) places: Option<Vec<u32>>,
}

/// Rows of a segment that load their columns on demand.
struct Lazy<'a> {
    opened: &'a Opened,
    unit: &'a Unit,
    plan: &'a Plan,
    columns: Vec<Option<Column>>,
    reading: &'a mut Reading,
}

impl Rows for Lazy<'_> {
    fn rows(&self) -> usize {
        self.unit.rows()
    }

    fn column(&mut self, column: usize) -> Result<&Column, AskError> {
        if self.columns[column].is_none() {
            let read = read_column(self.opened, self.unit.group, &self.unit.ranges, column, self.plan, self.reading)?;
            self.columns[column] = Some(read);
        }
        self.columns[column].as_ref().ok_or_else(|| AskError::invalid("a column was not read"))
    }
}

/// Rows of a batch in memory.
struct Batch<'a> {
    rows: &'a RecordBatch,
    plan: &'a Plan,
    columns: Vec<Option<Column>>,
}

impl Rows for Batch<'_> {
    fn rows(&self) -> usize {
        self.rows.num_rows()
    }

    fn column(&mut self, column: usize) -> Result<&Column, AskError> {
        if self.columns[column].is_none() {
            let kind = self.plan.kinds[column];
            let read = match self.rows.column_by_name(&self.plan.names[column]) {
                Some(array) => Column::from_arrow(array, kind)
                    .map_err(|e| AskError::invalid(format!("column {:?}: {e}", self.plan.names[column])))?,
                None => Column::nulls(kind, self.rows.num_rows()),
            };
            self.columns[column] = Some(read);
        }
        self.columns[column].as_ref().ok_or_else(|| AskError::invalid("a column was not read"))
    }
}

/// Reads the matching rows of a unit, with the `wanted` columns.
pub(crate) fn read(
    opened: &Opened,
    unit: &Unit,
    plan: &Plan,
    wanted: &[usize],
    reading: &mut Reading,
) -> Result<Matching, AskError> {
    let mut rows = Lazy { opened, unit, plan, columns: vec![None; plan.names.len()], reading };
    let selected = match select(&mut rows, plan, &unit.conditions)? {
        Selected::All => None,
        Selected::Some(places) => Some(places),
    };
    let Lazy { mut columns, reading, .. } = rows;
    let Some(selected) = selected else {
        for &column in wanted {
            if columns[column].is_none() {
                columns[column] = Some(read_answered(opened, unit.group, &unit.ranges, column, plan, reading)?);
            }
        }
        return Ok(Matching { rows: unit.rows(), columns, places: None });
    };
    if selected.is_empty() {
        return Ok(Matching { rows: 0, columns, places: Some(selected) });
    }
    let (ranges, places) = narrowed(&unit.ranges, &selected);
    for &column in wanted {
        columns[column] = Some(match &columns[column] {
            Some(read) => read.take(&selected),
            None => read_answered(opened, unit.group, &ranges, column, plan, reading)?.take(&places),
        });
    }
    Ok(Matching { rows: selected.len(), columns, places: Some(selected) })
}

/// Selects the matching rows of a batch, with the `wanted` columns.
pub(crate) fn match_batch(batch: &RecordBatch, plan: &Plan, wanted: &[usize]) -> Result<Matching, AskError> {
    let mut rows = Batch { rows: batch, plan, columns: vec![None; plan.names.len()] };
    let all: Vec<usize> = (0..plan.conditions.len()).collect();
    let selected = select(&mut rows, plan, &all)?;
    for &column in wanted {
        rows.column(column)?;
    }
    let mut columns = rows.columns;
    Ok(match selected {
        Selected::All => Matching { rows: batch.num_rows(), columns, places: None },
        Selected::Some(places) => {
            columns.iter_mut().flatten().for_each(|column| *column = column.take(&places));
            Matching { rows: places.len(), columns, places: Some(places) }
        }
    })
}

enum Selected {
    All,
    Some(Vec<u32>),
}

fn select(rows: &mut impl Rows, plan: &Plan, conditions: &[usize]) -> Result<Selected, AskError> {
    let mut mask: Option<Vec<bool>> = None;
    for &condition in conditions {
        let matches = plan.conditions[condition].mask(rows)?;
        let all = match mask.take() {
            None => matches,
            Some(mut all) => {
                all.iter_mut().zip(matches).for_each(|(all, matches)| *all &= matches);
                all
            }
        };
        // No row matches, and the remaining conditions cannot change that.
        if !all.contains(&true) {
            return Ok(Selected::Some(Vec::new()));
        }
        mask = Some(all);
    }
    let Some(mask) = mask else { return Ok(Selected::All) };
    let matches = mask.iter().filter(|matches| **matches).count();
    if matches == mask.len() {
        return Ok(Selected::All);
    }
    // Writes every row number and advances only past matches: no branch to mispredict.
    let mut places = vec![0u32; matches + 1];
    let mut next = 0;
    for (row, matches) in mask.iter().enumerate() {
        places[next] = row as u32;
        next += usize::from(*matches);
    }
    places.truncate(matches);
    Ok(Selected::Some(places))
}

/// The ranges that hold selected rows, and where those rows are within the new ranges.
fn narrowed(ranges: &[Range<usize>], selected: &[u32]) -> (Vec<Range<usize>>, Vec<u32>) {
    /// Gaps of fewer rows are read rather than skipped.
    const GAP: usize = 512;
    let mut narrow: Vec<Range<usize>> = Vec::new();
    let mut places = Vec::with_capacity(selected.len());
    // The current range, the rows before it, and the rows of the finished new ranges.
    let (mut range, mut before, mut kept) = (0, 0, 0);
    for &row in selected {
        while row as usize - before >= ranges[range].len() {
            before += ranges[range].len();
            range += 1;
        }
        let at = ranges[range].start + (row as usize - before);
        match narrow.last_mut() {
            Some(last) if at < last.end + GAP => last.end = at + 1,
            _ => {
                kept += narrow.last().map_or(0, Range::len);
                narrow.push(at..at + 1);
            }
        }
        let start = narrow.last().map_or(0, |last| last.start);
        places.push((kept + at - start) as u32);
    }
    (narrow, places)
}

/// Reads ranges of a column for the answer. Of times that the answer only groups by their bucket, any of the bucket will
/// do.
fn read_answered(
    opened: &Opened,
    group: usize,
    ranges: &[Range<usize>],
    column: usize,
    plan: &Plan,
    reading: &mut Reading,
) -> Result<Column, AskError> {
    if let (Some(bucket), Place::Stored { leaf: Some(leaf), bounded: true, .. }) =
        (plan.only_bucket(column), &opened.columns[column])
    {
        match bucketed::times(opened, (group, *leaf), ranges, bucket) {
            Ok(Some((times, bytes))) => {
                reading.columns.insert(plan.names[column].clone());
                reading.bytes += bytes;
                return Ok(times);
            }
            Ok(None) | Err(pages::Error::Unsupported) => {}
            Err(error) => return Err(AskError::pages(&opened.path, error)),
        }
    }
    read_column(opened, group, ranges, column, plan, reading)
}

fn read_column(
    opened: &Opened,
    group: usize,
    ranges: &[Range<usize>],
    column: usize,
    plan: &Plan,
    reading: &mut Reading,
) -> Result<Column, AskError> {
    let kind = plan.kinds[column];
    let rows: usize = ranges.iter().map(Range::len).sum();
    if let Some(column) = opened.unstored(column, kind, rows) {
        return Ok(column);
    }
    let Place::Stored { root, leaf, bounded } = opened.columns[column] else {
        return Err(AskError::damaged(&opened.path, "a column is missing"));
    };
    reading.columns.insert(plan.names[column].clone());
    let failed = |e| AskError::pages(&opened.path, e);
    if let Some(leaf) = leaf.filter(|_| bounded) {
        match read_pages(opened, group, ranges, leaf, kind) {
            Ok((column, bytes)) => {
                reading.bytes += bytes;
                return Ok(column);
            }
            Err(pages::Error::Unsupported) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    reading.bytes += chunk_bytes(opened, group, root);
    let array = general::array(opened, group, ranges, root).map_err(failed)?;
    Column::from_arrow(&array, kind)
        .map_err(|e| AskError::damaged(&opened.path, format!("column {:?}: {e}", plan.names[column])))
}

/// Reads ranges of a column; returns the bytes read too.
///
/// Decodes the layouts that this program's tables use faster than the Parquet library, without materializing values
/// that are only counted. Returns [`pages::Error::Unsupported`] for all other layouts.
fn read_pages(
    opened: &Opened,
    group: usize,
    ranges: &[Range<usize>],
    leaf: usize,
    kind: Kind,
) -> pages::Result<(Column, u64)> {
    let chunk = opened.metadata().row_group(group).column(leaf);
    let rows = opened.rows(group);
    let descriptor = chunk.column_descr();
    let fits = match chunk.column_type() {
        Type::INT32 | Type::INT64 => kind.is_whole() && kind != Kind::Bool,
        Type::FLOAT | Type::DOUBLE => kind == Kind::Float,
        Type::BOOLEAN => kind == Kind::Bool,
        Type::BYTE_ARRAY => kind == Kind::Text || kind == Kind::Set && descriptor.max_def_level() <= 3,
        _ => false,
    };
    if !fits || descriptor.max_rep_level() != i16::from(kind == Kind::Set) {
        return Err(pages::Error::Unsupported);
    }
    if kind == Kind::Set {
        // Lists have no row index per page, so rows are counted from the first page.
        let pages = ColumnPages::all(&opened.file, chunk);
        let column = set::column(&pages, chunk, rows)?;
        return Ok((set::within(column, ranges), pages.bytes()));
    }
    let indexes = opened.metadata().offset_index();
    let locations = indexes.and_then(|index| Some(index.get(group)?.get(leaf)?.page_locations()));
    let wanted: usize = ranges.iter().map(Range::len).sum();
    let pages = match locations {
        Some(locations) if !locations.is_empty() && wanted * 2 < rows => {
            let holds = |page: Range<usize>| ranges.iter().any(|r| r.start < page.end && page.start < r.end);
            ColumnPages::located(&opened.file, chunk, locations, holds)?
        }
        // If most pages are wanted, one read of all is fastest.
        _ => ColumnPages::all(&opened.file, chunk),
    };
    let column = pages::read_flat(&pages, chunk, rows, ranges)?;
    let values = match column.values {
        pages::Values::Ints(values) => Values::Ints(values),
        pages::Values::Floats(values) => Values::Floats(values),
        pages::Values::Texts { codes, dictionary } => Values::Texts { codes, dictionary: Arc::new(dictionary) },
    };
    Ok((Column { values, valid: column.valid }, pages.bytes()))
}

fn chunk_bytes(opened: &Opened, group: usize, root: usize) -> u64 {
    let schema = opened.footer.parquet_schema();
    let leaves = (0..schema.num_columns()).filter(|leaf| schema.get_column_root_idx(*leaf) == root);
    leaves.map(|leaf| opened.metadata().row_group(group).column(leaf).compressed_size() as u64).sum()
}

/// Reads the given rows of a unit of one column, as an Arrow array.
pub(crate) fn rows_of(
    opened: &Opened,
    unit: &Unit,
    plan: &Plan,
    column: usize,
    rows: &[u32],
    reading: &mut Reading,
) -> Result<ArrayRef, AskError> {
    if rows.is_empty() {
        return Ok(new_null_array(&plan.types[column], 0));
    }
    let failed = |e: ArrowError| AskError::damaged(&opened.path, e.to_string());
    let root = match &opened.columns[column] {
        Place::Stored { root, .. } => *root,
        Place::Constant(Some(value)) => {
            return constant_array(value, &plan.types[column], rows.len()).map_err(failed);
        }
        Place::Constant(None) | Place::Missing => return Ok(new_null_array(&plan.types[column], rows.len())),
    };
    let (ranges, places) = narrowed(&unit.ranges, rows);
    let array = general::array(opened, unit.group, &ranges, root).map_err(|e| AskError::pages(&opened.path, e))?;
    reading.columns.insert(plan.names[column].clone());
    reading.bytes += chunk_bytes(opened, unit.group, root);
    take(&array, &UInt32Array::from(places), None).map_err(failed)
}

fn constant_array(value: &Bound, ty: &DataType, rows: usize) -> Result<ArrayRef, ArrowError> {
    let array: ArrayRef = match value {
        Bound::Int(v) if *ty == DataType::Boolean => Arc::new(BooleanArray::from(vec![*v != 0; rows])),
        Bound::Int(v) if *ty == DataType::Date32 => Arc::new(Date32Array::from(vec![*v as i32; rows])),
        Bound::Int(v) => Arc::new(Int64Array::from(vec![*v; rows])),
        Bound::Float(v) => Arc::new(Float64Array::from(vec![*v; rows])),
        Bound::Text(v) => Arc::new(StringArray::from(vec![v.as_str(); rows])),
    };
    cast(&array, ty)
}
