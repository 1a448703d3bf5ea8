//! The rows of one table in progress. A row is added value by value, then committed or rolled back whole.

mod conflicts;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanBufferBuilder, RecordBatch, RecordBatchOptions, TimestampMicrosecondArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use arrow::error::ArrowError;

use self::conflicts::{OutOfPlace, Reports};
use super::column::Column;
use super::kind::Kind;
use super::known::Known;
use super::limits::Limits;
use super::names::{NANOS_TWICE, TIME, TIME_NANOS, check_name, normal};
use super::path::Path;
use super::refusal::{Taken, refuse_field};
use super::request::OnConflict;
use super::rules::{Role, Rules};
use super::value::Value;

/// Up to this many columns, names are searched linearly.
const SCAN_MAX: usize = 8;

pub(super) fn time_type() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

#[derive(Debug)]
pub(super) struct Named {
    pub(super) name: Box<str>,
    /// Whether the name needs no escapes or quotes in a text format.
    plain: bool,
    pub(super) role: Role,
    pub(super) column: Column,
}

/// A complete column.
pub(super) struct Sent<'a> {
    pub(super) name: &'a [u8],
    pub(super) column: Column,
    /// Values of other types than those before, by row.
    pub(super) out_of_place: Vec<(usize, Vec<u8>)>,
}

/// Rows in progress.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) name: Box<str>,
    pub(super) times: Vec<i64>,
    pub(super) columns: Vec<Named>,
    /// Columns by name, kept from [`SCAN_MAX`] on.
    places: HashMap<Box<[u8]>, usize>,
    /// The likely next column: rows mostly name the same columns in the same order.
    next: usize,
    pub(super) row: Row,
    /// The rows that stay without a time.
    untimed: Vec<usize>,
    pub(super) rules: Rules,
    pub(super) on_conflict: OnConflict,
    /// The columns known before the rows.
    pub(super) known: Known,
    reports: Reports,
    /// Whether times of rows are finer than a microsecond.
    pub(super) is_finer: bool,
}

/// The changes made by the current row.
#[derive(Debug, Default)]
pub(super) struct Row {
    columns_before: usize,
    pub(super) touched: Vec<usize>,
    pub(super) typed: Vec<usize>,
    pub(super) widens: Vec<usize>,
    /// Its time, if a field has it.
    pub(super) time: Option<i64>,
    out_of_place: Vec<OutOfPlace>,
}

impl Table {
    pub(super) fn new(name: &str, rules: Rules, on_conflict: OnConflict) -> Self {
        Self { name: name.into(), rules, on_conflict, ..Self::default() }
    }

    /// A table with the same columns and no rows. Call it between batches.
    pub(super) fn without_rows(&self) -> Self {
        let emptied = |named: &Named| Named { name: named.name.clone(), column: named.column.emptied(), ..*named };
        Self {
            name: self.name.clone(),
            columns: self.columns.iter().map(emptied).collect(),
            places: self.places.clone(),
            row: Row { columns_before: self.columns.len(), ..Row::default() },
            rules: self.rules.clone(),
            on_conflict: self.on_conflict,
            known: self.known.clone(),
            ..Self::default()
        }
    }

    /// Whether rows become the same in both tables. Call it between batches of the same stream.
    pub(super) fn has_columns_of(&self, other: &Self) -> bool {
        let is_same =
            |(ours, theirs): (&Named, &Named)| ours.name == theirs.name && ours.column.is_like(&theirs.column);
        self.columns.len() == other.columns.len() && self.columns.iter().zip(&other.columns).all(is_same)
    }

    /// Rows committed.
    #[inline]
    pub(super) fn rows(&self) -> usize {
        self.times.len()
    }

    /// The likely next name, if it needs no escapes.
    #[inline]
    pub(super) fn plain_guess(&self) -> Option<&[u8]> {
        self.columns.get(self.next).filter(|column| column.plain).map(|column| column.name.as_bytes())
    }

    /// Accepts the last guessed name; returns its column.
    #[inline]
    pub(super) fn take_guess(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    /// The column of a name, added if missing.
    #[inline]
    pub(super) fn column(&mut self, name: &[u8], limits: &Limits) -> Taken<usize> {
        if let Some(guess) = self.columns.get(self.next)
            && guess.name.as_bytes() == name
        {
            return Ok(self.take_guess());
        }
        let place = match self.find(name) {
            Some(place) => place,
            None => self.add(name, limits)?,
        };
        self.next = place + 1;
        Ok(place)
    }

    /// The column of a field of nested objects: `a_b`, or `a.b` if the table has that from an older version.
    #[inline]
    pub(super) fn nested(&mut self, path: &mut Path, name: &[u8], limits: &Limits) -> Taken<usize> {
        let field = path.field(name);
        if self.known.has_dots() && !self.known.contains(field) {
            let dotted = path.dotted();
            if self.known.contains(&dotted) {
                return self.column(&dotted, limits);
            }
        }
        self.column(path.last(), limits)
    }

    pub(super) fn find(&self, name: &[u8]) -> Option<usize> {
        if self.columns.len() <= SCAN_MAX {
            self.columns.iter().position(|column| column.name.as_bytes() == name)
        } else {
            self.places.get(name).copied()
        }
    }

    fn add(&mut self, name: &[u8], limits: &Limits) -> Taken<usize> {
        // If rows may have fields of that name, rules decide its meaning.
        if !self.rules.has_time_field || name != TIME.as_bytes() {
            check_name(name, limits)?;
        }
        let text = String::from_utf8_lossy(name);
        let name = normal(&text);
        if let Cow::Owned(name) = &name
            && let Some(place) = self.find(name.as_bytes())
        {
            return Ok(place);
        }
        let columns = self.columns.iter().filter(|column| column.role != Role::RowTime).count();
        if columns >= limits.columns_max {
            let reason = format!("the table has {} columns, as many as are allowed", limits.columns_max);
            return refuse_field(name.as_bytes(), reason);
        }
        let role = self.rules.role(name.as_bytes());
        Ok(self.insert(name.into_owned(), role))
    }

    /// Adds a column; returns its index.
    pub(super) fn insert(&mut self, name: String, role: Role) -> usize {
        let plain = !name.bytes().any(|b| matches!(b, b',' | b'=' | b' ' | b'\\' | b'"'));
        let column = self.known.kind(name.as_bytes()).map_or_else(Column::new, Column::of_kind);
        self.columns.push(Named { name: name.into_boxed_str(), plain, role, column });
        if self.columns.len() > SCAN_MAX {
            // The insertion that passes the mark adds all earlier columns, too.
            let kept = self.places.len();
            for (place, column) in self.columns.iter().enumerate().skip(kept) {
                self.places.insert(column.name.as_bytes().into(), place);
            }
        }
        self.columns.len() - 1
    }

    /// Adds a float to the current row, as [`Self::add_usual`] does.
    #[inline]
    pub(super) fn add_float(&mut self, place: usize, value: f64) -> bool {
        self.add_usual(place, |column| column.push_float(value))
    }

    /// Adds an integer to the current row, as [`Self::add_usual`] does.
    #[inline]
    pub(super) fn add_int(&mut self, place: usize, value: i64) -> bool {
        self.add_usual(place, |column| column.push_int(value))
    }

    /// Adds a text, which is UTF-8, to the current row, as [`Self::add_usual`] does.
    #[inline]
    pub(super) fn add_text(&mut self, place: usize, text: &[u8], limits: &Limits) -> bool {
        text.len() <= limits.text_bytes_max && self.add_usual(place, |column| column.push_text(text))
    }

    /// Adds a value to the current row if no rule concerns its column, which has a value in each row before. `push` appends
    /// it, and returns whether the column has its type. Otherwise returns false and adds nothing.
    ///
    /// A [`Value`] would cost more than the rest of this work: it is stored in pieces and loaded
    /// whole, which stalls the processor.
    #[inline]
    fn add_usual(&mut self, place: usize, push: impl FnOnce(&mut Column) -> bool) -> bool {
        let rows = self.times.len();
        let Named { role, column, .. } = &mut self.columns[place];
        let is_added = *role == Role::Plain && column.len() == rows && push(column);
        if is_added {
            self.row.touched.push(place);
        }
        is_added
    }

    /// Adds the nanoseconds past the microsecond of the row's time.
    #[inline]
    pub(super) fn put_nanos(&mut self, nanos: i64, limits: &Limits) -> Taken<()> {
        let place = self.column(TIME_NANOS.as_bytes(), limits)?;
        if self.columns[place].column.len() > self.times.len() {
            return refuse_field(TIME_NANOS.as_bytes(), NANOS_TWICE);
        }
        self.add_value(place, Value::Int(nanos), limits)
    }

    /// How many values the current row has so far.
    #[inline]
    pub(super) fn values_put(&self) -> usize {
        self.row.touched.len()
    }

    /// Whether the current row gave a column a value after its first `since` ones.
    #[inline]
    pub(super) fn was_put_since(&self, place: usize, since: usize) -> bool {
        self.columns[place].column.len() > self.times.len() && self.row.touched[since..].contains(&place)
    }

    /// Removes a column's value from the current row, so that another can replace it.
    pub(super) fn unput(&mut self, place: usize) {
        self.columns[place].column.truncate(self.times.len());
        self.row.widens.retain(|widens| *widens != place);
        self.row.out_of_place.retain(|value| value.place != place);
        if let Some(typed) = self.row.typed.iter().position(|typed| *typed == place) {
            self.row.typed.swap_remove(typed);
            self.columns[place].column.untype();
        }
    }

    /// What a column holds so far.
    pub(super) fn kind(&self, place: usize) -> Kind {
        self.columns[place].column.kind()
    }

    /// Whether the current row has named no column.
    #[inline]
    pub(super) fn row_is_empty(&self) -> bool {
        self.row.touched.is_empty()
    }

    /// Cells that the current row would add, including filled-in NULLs.
    #[inline]
    pub(super) fn row_cells(&self) -> usize {
        let new = self.columns.len() - self.row.columns_before;
        self.columns.len() + 1 + new * (self.rows() + COLUMN_CELLS)
    }

    /// Keeps the current row.
    #[inline]
    pub(super) fn commit(&mut self, time: Option<i64>) {
        if time.is_none() {
            self.untimed.push(self.times.len());
        }
        self.times.push(time.unwrap_or(0));
        for place in self.row.widens.drain(..) {
            self.columns[place].column.widen(true);
        }
        self.row.touched.clear();
        self.row.typed.clear();
        self.row.time = None;
        self.row.columns_before = self.columns.len();
        self.next = 0;
    }

    /// Drops the current row with its values, types and new columns.
    #[cold]
    pub(super) fn rollback(&mut self) {
        let rows = self.times.len();
        for place in self.row.touched.drain(..) {
            self.columns[place].column.truncate(rows);
        }
        for place in self.row.typed.drain(..) {
            self.columns[place].column.untype();
        }
        self.row.widens.clear();
        self.row.out_of_place.clear();
        self.row.time = None;
        for column in self.columns.drain(self.row.columns_before..) {
            self.places.remove(column.name.as_bytes());
        }
        self.next = 0;
    }

    /// Adds whole columns of `times.len()` values each, all or none. Returns the cells added.
    pub(super) fn append(
        &mut self,
        times: Vec<i64>,
        columns: Vec<Sent<'_>>,
        cells_left: usize,
        limits: &Limits,
    ) -> Taken<usize> {
        let mut placed = Vec::with_capacity(columns.len());
        let (mut overflows, mut reports, mut misfits) = (Vec::new(), Vec::new(), 0);
        for mut sent in columns {
            let place = self.column(sent.name, limits)?;
            let ours = &mut self.columns[place].column;
            if !ours.agrees(&mut sent.column) {
                if self.on_conflict == OnConflict::Refuse {
                    let kinds = ((sent.column.kind(), "here"), (ours.kind(), "items before"));
                    return refuse_field(sent.name, differ(kinds.0, kinds.1));
                }
                misfits += sent.column.len();
                limits.check_misfits(misfits)?;
                sent.out_of_place.extend(ours.take_misfits(&mut sent.column));
                sent.out_of_place.sort_unstable_by_key(|(row, _)| *row);
            }
            placed.push((place, sent.column));
            if !sent.out_of_place.is_empty() {
                overflows.push((place, sent.out_of_place));
            }
        }
        for (place, texts) in &overflows {
            let (overflow, column, report) = self.overflow_of(*place, &placed, texts, limits)?;
            placed.push((overflow, column));
            reports.push(((*place, overflow), report));
        }
        let cells = self.row_cells() + (self.columns.len() + 1) * times.len();
        if cells > cells_left {
            return Ok(cells);
        }
        reports.into_iter().for_each(|(columns, report)| self.reports.add(columns, report));
        let rows = self.rows();
        for (place, column) in placed {
            let ours = &mut self.columns[place].column;
            ours.pad(rows);
            ours.append(column);
        }
        if self.times.is_empty() {
            self.times = times;
        } else {
            self.times.extend_from_slice(&times);
        }
        self.row.columns_before = self.columns.len();
        self.next = 0;
        Ok(cells)
    }

    /// The rows so far; `None` without any. With `more`, columns keep their names and types for further rows.
    pub(super) fn finish(&mut self, more: bool) -> Result<Option<RecordBatch>, ArrowError> {
        let rows = self.times.len();
        if rows == 0 {
            return Ok(None);
        }
        let times = std::mem::replace(&mut self.times, Vec::with_capacity(if more { rows } else { 0 }));
        let untimed = std::mem::take(&mut self.untimed);
        let (mut fields, mut arrays): (Vec<Field>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
        if untimed.len() < rows {
            let mut present = BooleanBufferBuilder::new(rows);
            present.append_n(rows, true);
            untimed.iter().for_each(|row| present.set_bit(*row, false));
            let nulls = (!untimed.is_empty()).then(|| NullBuffer::new(present.finish()));
            fields.push(Field::new(TIME, time_type(), nulls.is_some()));
            arrays.push(Arc::new(TimestampMicrosecondArray::try_new(times.into(), nulls)?.with_timezone("UTC")));
        }
        for named in self.columns.iter_mut().filter(|named| named.column.len() > 0) {
            let next = if more { named.column.emptied() } else { Column::new() };
            let mut column = std::mem::replace(&mut named.column, next);
            column.pad(rows);
            // Earlier rows may have set the type, while these hold only NULLs.
            if let Some(array) = column.finish()?.filter(|array| array.null_count() < rows) {
                fields.push(Field::new(named.name.as_ref(), array.data_type().clone(), true));
                arrays.push(array);
            }
        }
        let count = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(Some(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &count)?))
    }
}

/// The overhead of a column, in cells.
const COLUMN_CELLS: usize = 64;

/// Explains why a value of one kind cannot be among others, with the location of each.
#[cold]
pub(super) fn differ((kind, here): (Kind, &str), (before, place): (Kind, &str)) -> String {
    let words = format!("it is {} {here} and {} in {place}", kind.word(), before.word());
    match (kind, before) {
        (Kind::Int, Kind::Float) | (Kind::Float, Kind::Int) => {
            format!("{words}: a column of both would change integers past 2^53")
        }
        _ => words,
    }
}
