//! The rows of one table under way. A row is added value by value, then committed or taken back whole.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, TimestampMicrosecondArray};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use arrow::error::ArrowError;

use super::column::{Column, Effect, Kind, Value};
use super::rules::{Role, Rules};
use super::strays::{Reports, Stray};
use super::{Limits, NANOS_TWICE, TIME, TIME_NANOS};

/// Up to so many columns a name is looked for one by one.
const SCAN_MAX: usize = 8;

/// Why an item is refused.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) field: Option<String>,
    pub(super) reason: String,
}

/// A small result: refusals are rare.
pub(super) type Taken<T> = Result<T, Box<Refusal>>;

/// A refusal of an item as a whole.
#[cold]
pub(super) fn refuse<T>(reason: impl Into<String>) -> Taken<T> {
    Err(Box::new(Refusal { field: None, reason: reason.into() }))
}

/// A refusal because of a field.
#[cold]
pub(super) fn refuse_field<T>(field: &[u8], reason: impl Into<String>) -> Taken<T> {
    Err(Box::new(Refusal { field: Some(String::from_utf8_lossy(field).into_owned()), reason: reason.into() }))
}

/// What a table's times are.
pub(super) fn time_type() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

/// Checks a column's name.
pub(super) fn check_name(name: &[u8], limits: &Limits) -> Taken<()> {
    if name.len() > limits.name_bytes_max {
        let shown = &name[..limits.name_bytes_max.min(32)];
        let reason = format!("the name has {} bytes, where {} are allowed", name.len(), limits.name_bytes_max);
        return refuse_field(shown, reason);
    }
    match std::str::from_utf8(name) {
        Ok("") => refuse("a field has no name"),
        Ok(TIME) => refuse_field(name, "the name `time` is the row's own time: give the field another"),
        Ok(text) if text.chars().any(char::is_control) => refuse_field(name, "the name has control characters"),
        Ok(_) => Ok(()),
        Err(_) => refuse_field(name, "the name is no UTF-8"),
    }
}

/// Checks a text's length.
#[inline]
pub(super) fn check_text(name: &[u8], value: Value<'_>, limits: &Limits) -> Taken<()> {
    match value {
        Value::Text(text) if text.len() > limits.text_bytes_max => refuse_field(
            name,
            format!("the text has {} bytes, where {} are allowed", text.len(), limits.text_bytes_max),
        ),
        Value::Set(members) if members.len() > limits.text_bytes_max => refuse_field(
            name,
            format!("the set has {} bytes, where {} are allowed", members.len(), limits.text_bytes_max),
        ),
        _ => Ok(()),
    }
}

/// A value as an answer shows it, cut where it is long.
pub(super) fn shown(raw: &[u8]) -> String {
    String::from_utf8_lossy(&raw[..raw.len().min(64)]).into_owned()
}

#[derive(Debug)]
pub(super) struct Named {
    pub(super) name: Box<str>,
    /// Whether the name stands in a text format as it is, without escapes or quotes.
    plain: bool,
    pub(super) role: Role,
    pub(super) column: Column,
}

/// Rows under way.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: Box<str>,
    pub(super) times: Vec<i64>,
    pub(super) columns: Vec<Named>,
    /// Columns by name, kept from [`SCAN_MAX`] on.
    places: HashMap<Box<[u8]>, usize>,
    /// The column that is likely to come next: rows mostly name the same columns in the same order.
    next: usize,
    pub(super) row: Row,
    /// The rules of a stream's rows. A request's have none: there a conflict refuses the row.
    pub(super) rules: Option<Rules>,
    pub(super) reports: Reports,
    /// Whether times of rows are finer than a microsecond, in a request.
    pub(super) is_finer: bool,
}

/// What the row under way has changed.
#[derive(Debug, Default)]
pub(super) struct Row {
    /// Columns that were there before it.
    columns_before: usize,
    pub(super) touched: Vec<usize>,
    pub(super) typed: Vec<usize>,
    pub(super) widens: Vec<usize>,
    /// Its time, in a stream.
    pub(super) time: Option<i64>,
    pub(super) strays: Vec<Stray>,
}

impl Table {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            times: Vec::new(),
            columns: Vec::new(),
            places: HashMap::new(),
            next: 0,
            row: Row::default(),
            rules: None,
            reports: Reports::default(),
            is_finer: false,
        }
    }

    /// The rows of a stream, by its rules.
    pub(super) fn of_stream(rules: Rules) -> Self {
        Self { rules: Some(rules), ..Self::new("") }
    }

    /// Columns with types, and no rows.
    pub(super) fn know(&mut self, columns: &Schema) {
        for field in columns.fields().iter().filter(|field| field.name() != TIME) {
            let Some(kind) = Kind::of(field.data_type()) else { continue };
            let role = self.rules.as_ref().map_or(Role::Plain, |rules| rules.role(field.name().as_bytes()));
            let place = self.insert(field.name().clone(), role);
            self.columns[place].column = Column::of_kind(kind);
        }
        self.row.columns_before = self.columns.len();
    }

    /// Rows committed.
    #[inline]
    pub(super) fn rows(&self) -> usize {
        self.times.len()
    }

    /// The name that likely comes next, where it stands in a text as it is.
    #[inline]
    pub(super) fn plain_guess(&self) -> Option<&[u8]> {
        self.columns.get(self.next).filter(|column| column.plain).map(|column| column.name.as_bytes())
    }

    /// The column of the name last guessed, which was right.
    #[inline]
    pub(super) fn take_guess(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    /// The column of a name, made where there is none.
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

    pub(super) fn find(&self, name: &[u8]) -> Option<usize> {
        if self.columns.len() <= SCAN_MAX {
            self.columns.iter().position(|column| column.name.as_bytes() == name)
        } else {
            self.places.get(name).copied()
        }
    }

    fn add(&mut self, name: &[u8], limits: &Limits) -> Taken<usize> {
        // A stream may tell another field to be the row's time.
        if self.rules.is_none() || name != TIME.as_bytes() {
            check_name(name, limits)?;
        }
        if self.columns.len() >= limits.columns_max {
            return refuse_field(name, format!("the table has {} columns, as many as are allowed", limits.columns_max));
        }
        let role = self.rules.as_ref().map_or(Role::Plain, |rules| rules.role(name));
        Ok(self.insert(String::from_utf8_lossy(name).into_owned(), role))
    }

    /// Adds a column; its place.
    pub(super) fn insert(&mut self, name: String, role: Role) -> usize {
        let plain = !name.bytes().any(|b| matches!(b, b',' | b'=' | b' ' | b'\\' | b'"'));
        self.columns.push(Named { name: name.into_boxed_str(), plain, role, column: Column::new() });
        if self.columns.len() > SCAN_MAX {
            // The one that passes the mark brings those before it along.
            let kept = self.places.len();
            for (place, column) in self.columns.iter().enumerate().skip(kept) {
                self.places.insert(column.name.as_bytes().into(), place);
            }
        }
        self.columns.len() - 1
    }

    /// Adds a value to the row under way.
    #[inline]
    pub(super) fn put(&mut self, place: usize, value: Value<'_>, limits: &Limits) -> Taken<()> {
        let rows = self.times.len();
        let named = &mut self.columns[place];
        if named.column.len() > rows {
            return refuse_field(named.name.as_bytes(), "the name stands there twice");
        }
        check_text(named.name.as_bytes(), value, limits)?;
        named.column.pad(rows);
        match named.column.push(value) {
            Ok(Effect::None) => {}
            Ok(Effect::Typed) => self.row.typed.push(place),
            Ok(Effect::Widens) => self.row.widens.push(place),
            Err(_) => return conflict(named, value),
        }
        self.row.touched.push(place);
        Ok(())
    }

    /// Adds the nanoseconds past the microsecond of the row's time.
    #[inline]
    pub(super) fn put_nanos(&mut self, nanos: i64, limits: &Limits) -> Taken<()> {
        let place = self.column(TIME_NANOS.as_bytes(), limits)?;
        if self.columns[place].column.len() > self.times.len() {
            return refuse_field(TIME_NANOS.as_bytes(), NANOS_TWICE);
        }
        self.put(place, Value::Int(nanos), limits)
    }

    /// How many values the row under way has been given.
    #[inline]
    pub(super) fn values_put(&self) -> usize {
        self.row.touched.len()
    }

    /// Whether the row under way has given a column a value after its first `since` ones.
    #[inline]
    pub(super) fn was_put_since(&self, place: usize, since: usize) -> bool {
        self.columns[place].column.len() > self.times.len() && self.row.touched[since..].contains(&place)
    }

    /// Takes a column's value out of the row under way, so that another can take its place.
    pub(super) fn unput(&mut self, place: usize) {
        self.columns[place].column.truncate(self.times.len());
        self.row.widens.retain(|widens| *widens != place);
    }

    /// What a column holds so far.
    pub(super) fn kind(&self, place: usize) -> Kind {
        self.columns[place].column.kind()
    }

    /// Whether the row under way has named any column.
    #[inline]
    pub(super) fn row_is_empty(&self) -> bool {
        self.row.touched.is_empty()
    }

    /// Cells that the row under way would add, once NULLs are filled in.
    #[inline]
    pub(super) fn row_cells(&self) -> usize {
        let new = self.columns.len() - self.row.columns_before;
        self.columns.len() + 1 + new * (self.rows() + COLUMN_CELLS)
    }

    /// Keeps the row under way.
    #[inline]
    pub(super) fn commit(&mut self, time: i64) {
        self.times.push(time);
        for place in self.row.widens.drain(..) {
            self.columns[place].column.widen(true);
        }
        self.row.touched.clear();
        self.row.typed.clear();
        self.row.time = None;
        self.row.columns_before = self.columns.len();
        self.next = 0;
    }

    /// Forgets the row under way: its values, the types that it gave, its new columns.
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
        self.row.strays.clear();
        self.row.time = None;
        for column in self.columns.drain(self.row.columns_before..) {
            self.places.remove(column.name.as_bytes());
        }
        self.next = 0;
    }

    /// Adds whole columns of `times.len()` values each, or none of them. Gives the cells added.
    pub(super) fn append(
        &mut self,
        times: Vec<i64>,
        mut columns: Vec<(&[u8], Column)>,
        cells_left: usize,
        limits: &Limits,
    ) -> Taken<usize> {
        let mut places = Vec::with_capacity(columns.len());
        for (name, column) in &mut columns {
            let place = self.column(name, limits)?;
            let ours = &mut self.columns[place].column;
            if !ours.agrees(column) {
                return refuse_field(name, differ((column.kind(), "here"), (ours.kind(), "items before")));
            }
            places.push(place);
        }
        let cells = self.row_cells() + (self.columns.len() + 1) * times.len();
        if cells > cells_left {
            return Ok(cells);
        }
        let rows = self.rows();
        for (place, (_, column)) in places.into_iter().zip(columns) {
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

    /// The rows so far. Nothing where there are none. Columns keep their names and types for the rows to come.
    pub(super) fn finish(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let rows = self.times.len();
        if rows == 0 {
            return Ok(None);
        }
        let times = std::mem::replace(&mut self.times, Vec::with_capacity(if self.rules.is_some() { rows } else { 0 }));
        let mut fields = vec![Field::new(TIME, time_type(), false)];
        let mut arrays: Vec<ArrayRef> = vec![Arc::new(TimestampMicrosecondArray::from(times).with_timezone("UTC"))];
        for named in self.columns.iter_mut().filter(|named| named.column.len() > 0) {
            let next = if self.rules.is_some() { named.column.emptied() } else { Column::new() };
            let mut column = std::mem::replace(&mut named.column, next);
            column.pad(rows);
            // A type that rows before gave holds no value yet of these.
            if let Some(array) = column.finish()?.filter(|array| array.null_count() < rows) {
                fields.push(Field::new(named.name.as_ref(), array.data_type().clone(), true));
                arrays.push(array);
            }
        }
        Ok(Some(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?))
    }
}

/// What a column takes by itself, in cells.
const COLUMN_CELLS: usize = 64;

#[cold]
fn conflict(named: &Named, value: Value<'_>) -> Taken<()> {
    refuse_field(named.name.as_bytes(), differ((value.kind(), "here"), (named.column.kind(), "rows before")))
}

/// Why a value of a kind cannot be among others; each with where it is.
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
