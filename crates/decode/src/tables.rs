//! The tables of one body in progress, and its refused items.

use std::collections::HashMap;

use super::column::Column;
use super::decoded::Decoded;
use super::error::DecodeError;
use super::limits::Limits;
use super::names::{TIME_NANOS, check_table_name};
use super::refusal::{Refusal, Refusals, Taken, refuse};
use super::request::{OnConflict, Request};
use super::rules::Rules;
use super::table::{Sent, Table};
use super::time::Moment;

/// Up to this many tables, names are searched linearly.
const SCAN_MAX: usize = 8;

#[derive(Debug)]
pub(super) struct Times {
    pub(super) micros: Vec<i64>,
    /// The nanoseconds past each, if there are any.
    pub(super) nanos: Option<Column>,
}

/// The content of a body so far.
#[derive(Debug)]
pub(super) struct Tables<'a> {
    pub(super) limits: &'a Limits,
    /// The time of rows without one.
    pub(super) now: i64,
    pub(super) on_conflict: OnConflict,
    opened: Vec<Table>,
    /// Tables by name, kept from [`SCAN_MAX`] on.
    places: HashMap<Box<str>, usize>,
    /// The last opened table.
    last: usize,
    cells_left: usize,
    refused: Refusals,
}

impl<'a> Tables<'a> {
    pub(super) fn new(request: &Request<'_>, limits: &'a Limits) -> Self {
        Self {
            limits,
            now: request.now_micros,
            on_conflict: request.on_conflict,
            opened: Vec::new(),
            places: HashMap::new(),
            last: 0,
            cells_left: limits.cells_max,
            refused: Refusals::default(),
        }
    }

    /// The index of a table by name, added if missing.
    #[inline]
    pub(super) fn open(&mut self, name: &[u8]) -> Taken<usize> {
        // Rows come table by table, or the tables take turns.
        let following = if self.last + 1 < self.opened.len() { self.last + 1 } else { 0 };
        for place in [self.last, following] {
            if self.opened.get(place).is_some_and(|table| table.name.as_bytes() == name) {
                self.last = place;
                return Ok(place);
            }
        }
        self.last = self.find_or_add(name)?;
        Ok(self.last)
    }

    fn find_or_add(&mut self, name: &[u8]) -> Taken<usize> {
        let name = match check_table_name(name, self.limits) {
            Ok(name) => name,
            Err(reason) => return refuse(format!("the table's name is not accepted: {reason}")),
        };
        let found = if self.opened.len() <= SCAN_MAX {
            self.opened.iter().position(|table| *table.name == *name)
        } else {
            self.places.get(name.as_ref()).copied()
        };
        if let Some(place) = found {
            return Ok(place);
        }
        if self.opened.len() == self.limits.tables_max {
            return refuse(format!("the body names {} tables, as many as are allowed", self.limits.tables_max));
        }
        self.opened.push(Table::new(&name, Rules::default(), self.on_conflict));
        if self.opened.len() > SCAN_MAX {
            let kept = self.places.len();
            for (place, table) in self.opened.iter().enumerate().skip(kept) {
                self.places.insert(table.name.clone(), place);
            }
        }
        Ok(self.opened.len() - 1)
    }

    #[inline]
    pub(super) fn table(&mut self, place: usize) -> &mut Table {
        &mut self.opened[place]
    }

    /// Keeps the current row, or refuses it.
    #[inline]
    pub(super) fn commit(&mut self, place: usize, time: Option<Moment>) -> Taken<()> {
        let table = &mut self.opened[place];
        if table.row_is_empty() {
            return refuse("it names no field");
        }
        let time = time.unwrap_or(Moment::of_micros(self.now));
        if time.nanos != 0 {
            table.put_nanos(time.nanos, self.limits)?;
        }
        table.settle(self.limits)?;
        let cells = table.row_cells();
        if cells > self.cells_left {
            return self.limits.too_many_cells();
        }
        self.cells_left -= cells;
        table.report_overflow(|| 0);
        table.is_finer |= time.nanos != 0;
        table.commit(Some(time.micros));
        Ok(())
    }

    /// Adds whole columns to a table, or refuses them.
    pub(super) fn append(&mut self, place: usize, times: Times, mut columns: Vec<Sent<'_>>) -> Taken<()> {
        let is_finer = times.nanos.is_some();
        columns.extend(times.nanos.map(|column| Sent {
            name: TIME_NANOS.as_bytes(),
            column,
            out_of_place: Vec::new(),
        }));
        let table = &mut self.opened[place];
        let cells = table.append(times.micros, columns, self.cells_left, self.limits)?;
        if cells > self.cells_left {
            return self.limits.too_many_cells();
        }
        table.is_finer |= is_finer;
        self.cells_left -= cells;
        Ok(())
    }

    /// Reports the item at `position` as refused, and drops its values from its table.
    #[cold]
    pub(super) fn refuse(&mut self, position: usize, table: Option<&[u8]>, refusal: Refusal) {
        if let Some(table) = self.opened.get_mut(self.last) {
            table.rollback();
        }
        // A table opened for this item alone is the last one.
        if self.opened.last().is_some_and(|table| table.rows() == 0)
            && let Some(table) = self.opened.pop()
        {
            self.places.remove(&table.name);
            self.last = 0;
        }
        self.refused.push(position, table, refusal, self.limits);
    }

    pub(super) fn finish(self) -> Result<Decoded, DecodeError> {
        finish(self.opened, self.refused)
    }
}

/// The content of a body that holds these tables.
pub(super) fn finish(read: Vec<Table>, refused: Refusals) -> Result<Decoded, DecodeError> {
    let Refusals { refused, beyond: refused_beyond } = refused;
    let mut decoded = Decoded { tables: Vec::new(), refused, refused_beyond, finer: Vec::new(), overflows: Vec::new() };
    for mut table in read {
        decoded.finer.extend(table.is_finer.then(|| table.name.to_string()));
        decoded.overflows.extend(table.take_reports().into_iter().map(|overflow| (table.name.to_string(), overflow)));
        let rows = table.finish(false).map_err(|error| DecodeError::unassembled(&error))?;
        decoded.tables.extend(rows.map(|rows| (table.name.into(), rows)));
    }
    Ok(decoded)
}
