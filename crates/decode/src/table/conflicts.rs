//! Values that do not fit their columns: their rows are refused, or they go to overflow columns as text.

use std::collections::HashMap;

use super::{Named, Table, differ};
use crate::column::{Column, Conflict, Effect};
use crate::decoded::Overflow;
use crate::kind::Kind;
use crate::limits::Limits;
use crate::names::{NANOS_TWICE, TIME_NANOS, overflow_name};
use crate::refusal::{Taken, check_text, refuse_field, shown};
use crate::request::OnConflict;
use crate::rules::Role;
use crate::value::Value;

const NOT_TEXT: &str = "its overflow column does not hold it, which is a mistake of manyworlds";

/// A misfit of the current row.
#[derive(Debug)]
pub(super) struct OutOfPlace {
    /// Its column.
    pub(super) place: usize,
    text: Box<[u8]>,
    /// For a row's time finer than a microsecond: the nanoseconds past it.
    nanos: Option<i64>,
    /// Its overflow column, once known.
    overflow: usize,
}

/// Overflows since the last report, by column and overflow column.
#[derive(Debug, Default)]
pub(super) struct Reports {
    reports: Vec<(usize, Overflow)>,
    places: HashMap<(usize, usize), usize>,
}

impl Reports {
    /// Adds the rows of a report to those of the same columns.
    pub(super) fn add(&mut self, columns: (usize, usize), report: Overflow) {
        self.count(columns, report.rows, || Overflow { rows: 0, ..report });
    }

    /// Counts rows of a column and its overflow column; `begin` creates a new report.
    fn count(&mut self, columns: (usize, usize), rows: usize, begin: impl FnOnce() -> Overflow) {
        let Self { reports, places } = self;
        let at = *places.entry(columns).or_insert_with(|| {
            reports.push((columns.0, begin()));
            reports.len() - 1
        });
        reports[at].1.rows += rows;
    }
}

impl Table {
    /// Whether an object or field is left out.
    pub(crate) fn excludes(&self, name: &[u8]) -> bool {
        self.rules.role(name) == Role::Excluded
    }

    #[inline]
    pub(crate) fn is_excluded(&self, place: usize) -> bool {
        self.columns[place].role == Role::Excluded
    }

    /// As [`Table::add_written`], for a value with only one notation.
    #[inline]
    pub(crate) fn add_value(&mut self, place: usize, value: Value<'_>, limits: &Limits) -> Taken<()> {
        self.add_written(place, value, || value.to_text(), limits)
    }

    /// Adds a value to the current row. `written` returns it as in the input, in case it does not fit.
    #[inline]
    pub(crate) fn add_written(
        &mut self,
        place: usize,
        value: Value<'_>,
        written: impl Fn() -> Vec<u8>,
        limits: &Limits,
    ) -> Taken<()> {
        let rows = self.times.len();
        let named = &mut self.columns[place];
        if named.column.len() > rows {
            return refuse_field(named.name.as_bytes(), "the name occurs twice");
        }
        named.column.pad(rows);
        if named.role == Role::Plain && named.column.kind() != Kind::Nothing {
            check_text(named.name.as_bytes(), value, limits)?;
            if let Ok(effect) = named.column.push(value) {
                self.note(place, effect);
                return Ok(());
            }
        }
        self.add_by_rules(place, value, &written, limits)
    }

    /// As [`Table::add_written`], for a column's first value, a rule, or a conflict.
    #[inline(never)]
    fn add_by_rules(
        &mut self,
        place: usize,
        value: Value<'_>,
        written: &dyn Fn() -> Vec<u8>,
        limits: &Limits,
    ) -> Taken<()> {
        let (named, rules) = (&mut self.columns[place], &self.rules);
        if named.role != Role::Excluded {
            check_text(named.name.as_bytes(), value, limits)?;
        }
        let time = if named.role == Role::RowTime { rules.row_time(value, written) } else { None };
        let pushed = match rules.fit(named.role, named.column.kind(), value, written) {
            _ if time.is_some_and(|time| time.nanos == 0) => named.column.push(Value::Null),
            Some(value) => named.column.push(value),
            None => Err(Conflict),
        };
        self.row.time = time.map(|time| time.micros).or(self.row.time);
        if let Ok(effect) = pushed {
            self.note(place, effect);
            return Ok(());
        }
        if self.on_conflict == OnConflict::Refuse && time.is_none() {
            return conflict(&self.columns[place], value, &written());
        }
        let text = written().into_boxed_slice();
        let named = &mut self.columns[place];
        check_text(named.name.as_bytes(), Value::Text(&text), limits)?;
        named.column.pad(self.times.len() + 1);
        self.row.touched.push(place);
        self.row.out_of_place.push(OutOfPlace { place, text, nanos: time.map(|time| time.nanos), overflow: 0 });
        Ok(())
    }

    #[inline]
    fn note(&mut self, place: usize, effect: Effect) {
        match effect {
            Effect::None => {}
            Effect::Typed => self.row.typed.push(place),
            Effect::Widens => self.row.widens.push(place),
        }
        self.row.touched.push(place);
    }

    /// Assigns overflow columns to misfits. Call it once the whole row is added.
    #[inline]
    pub(crate) fn settle(&mut self, limits: &Limits) -> Taken<()> {
        if self.row.out_of_place.is_empty() { Ok(()) } else { self.settle_all(limits) }
    }

    #[inline(never)]
    fn settle_all(&mut self, limits: &Limits) -> Taken<()> {
        let rows = self.times.len();
        for at in 0..self.row.out_of_place.len() {
            let value = &self.row.out_of_place[at];
            let nanos = value.nanos.filter(|_| self.takes_nanos());
            if nanos.is_none() && self.on_conflict == OnConflict::Refuse {
                return refuse_field(TIME_NANOS.as_bytes(), NANOS_TWICE);
            }
            let name = match nanos {
                Some(_) => TIME_NANOS.to_owned(),
                None => overflow_name(&self.columns[value.place].name, |name| self.is_taken(name)),
            };
            let place = self.find_or_insert(&name, limits)?;
            let column = &mut self.columns[place].column;
            // The row itself may have a NULL there.
            column.truncate(rows);
            column.pad(rows);
            let value = &mut self.row.out_of_place[at];
            value.overflow = place;
            match column.push(nanos.map_or(Value::Text(&value.text), Value::Int)) {
                Ok(effect) => self.note(place, effect),
                Err(_) => return refuse_field(name.as_bytes(), NOT_TEXT),
            }
        }
        Ok(())
    }

    /// The column of an overflow name, added if missing.
    fn find_or_insert(&mut self, name: &str, limits: &Limits) -> Taken<usize> {
        match self.find(name.as_bytes()) {
            Some(place) => Ok(place),
            // Twice the limit: each column may need an overflow column.
            None if self.columns.len() >= 2 * limits.columns_max => {
                let reason = format!("there are {} columns with those that take what does not fit", self.columns.len());
                refuse_field(name.as_bytes(), reason)
            }
            None => Ok(self.insert(name.to_owned(), Role::Plain)),
        }
    }

    /// The overflow column for values, by row, of a complete column: its index, the column, and a report for when the
    /// item is kept. `placed` are part of the same item.
    pub(crate) fn overflow_of(
        &mut self,
        place: usize,
        placed: &[(usize, Column)],
        texts: &[(usize, Vec<u8>)],
        limits: &Limits,
    ) -> Taken<(usize, Column, Overflow)> {
        let name = overflow_name(&self.columns[place].name, |name| {
            let comes = |found: usize| placed.iter().any(|(place, _)| *place == found);
            self.is_taken(name) || self.find(name.as_bytes()).is_some_and(comes)
        });
        let overflow = self.find_or_insert(&name, limits)?;
        let Ok(column) = Column::of_rows(texts) else { return refuse_field(name.as_bytes(), NOT_TEXT) };
        let sample = texts.first().map(|(_, text)| shown(text)).unwrap_or_default();
        let report = Overflow {
            name: self.columns[place].name.to_string(),
            overflow: name,
            rows: texts.len(),
            position: 0,
            sample,
            holds: "",
        };
        Ok((overflow, column, report))
    }

    /// Whether the current row can store the nanoseconds of its time in their own column.
    fn takes_nanos(&self) -> bool {
        let name = TIME_NANOS.as_bytes();
        let is_free = |place: usize| {
            let column = &self.columns[place].column;
            column.len() <= self.times.len() || column.ends_null()
        };
        self.rules.role(name) == Role::Plain
            && matches!(self.kind_of(name), Some(Kind::Nothing | Kind::Int))
            && self.find(name).is_none_or(is_free)
    }

    /// The kind of a named column; `None` for types that no reader creates.
    fn kind_of(&self, name: &[u8]) -> Option<Kind> {
        self.find(name).map_or_else(|| self.known.kind(name), |place| Some(self.columns[place].column.kind()))
    }

    /// Whether the current row cannot store an overflow value under this name.
    fn is_taken(&self, name: &str) -> bool {
        if self.rules.role(name.as_bytes()) != Role::Plain
            || !matches!(self.kind_of(name.as_bytes()), Some(Kind::Nothing | Kind::Text))
        {
            return true;
        }
        let Some(place) = self.find(name.as_bytes()) else { return false };
        let column = &self.columns[place].column;
        let of_row = column.len() > self.times.len();
        of_row && (!column.ends_null() || self.row.out_of_place.iter().any(|value| value.place == place))
    }

    /// Reports the overflows of a kept row.
    #[inline]
    pub(crate) fn report_overflow(&mut self, position: impl FnOnce() -> usize) {
        if self.row.out_of_place.is_empty() {
            return;
        }
        let position = position();
        for value in self.row.out_of_place.drain(..) {
            let [name, overflow] = [value.place, value.overflow].map(|place| &self.columns[place].name);
            self.is_finer |= **overflow == *TIME_NANOS;
            self.reports.count((value.place, value.overflow), 1, || Overflow {
                name: name.to_string(),
                overflow: overflow.to_string(),
                rows: 0,
                position,
                sample: shown(&value.text),
                holds: "",
            });
        }
    }

    /// Takes the overflows since the last call, in order of first occurrence.
    pub(crate) fn take_reports(&mut self) -> Vec<Overflow> {
        let reports = std::mem::take(&mut self.reports).reports;
        let holds = |place: usize| match (self.columns[place].role, self.columns[place].column.kind()) {
            (Role::RowTime | Role::Homeless, _) => "the row's time",
            (Role::Int, _) => Kind::Int.word(),
            (Role::Timestamp(_), _) => Kind::Time.word(),
            (_, Kind::Nothing) => "nothing yet",
            (_, kind) => kind.word(),
        };
        reports.into_iter().map(|(place, overflow)| Overflow { holds: holds(place), ..overflow }).collect()
    }
}

/// Refuses the row of a value.
#[cold]
fn conflict(named: &Named, value: Value<'_>, written: &[u8]) -> Taken<()> {
    let name = named.name.as_bytes();
    let reason = match (named.role, value) {
        (Role::RowTime, Value::Text(text)) => format!("{:?} is not a time", shown(text)),
        (Role::RowTime, value) => format!("{} is not a time", value.kind().word()),
        (_, Value::Huge) => format!("{} does not fit 64 bits", shown(written)),
        (Role::Plain, _) => differ((value.kind(), "here"), (named.column.kind(), "rows before")),
        (Role::Int, _) => format!("{:?} is not an integer", shown(written)),
        _ => format!("{:?} is not a time of its field", shown(written)),
    };
    refuse_field(name, reason)
}
