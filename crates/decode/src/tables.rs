//! The tables of one body in progress, and its refused items.

use std::borrow::Cow;
use std::collections::HashMap;

use super::column::Column;
use super::names::normal;
use super::rules::Rules;
use super::table::{Refusal, Sent, Table, Taken, refuse};
use super::time::Moment;
use super::{DecodeError, Decoded, Limits, OnConflict, Refused, Request, TIME_NANOS};

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
    refused: Vec<Refused>,
    refused_beyond: usize,
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
            refused: Vec::new(),
            refused_beyond: 0,
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
        if self.refused.len() == self.limits.refused_max {
            self.refused_beyond += 1;
            return;
        }
        let table = table.map(|name| shown(name, self.limits.table_bytes_max));
        self.refused.push(Refused { position, table, field: refusal.field, reason: refusal.reason });
    }

    pub(super) fn finish(self) -> Result<Decoded, DecodeError> {
        let mut tables = Vec::with_capacity(self.opened.len());
        let mut overflows = Vec::new();
        let finer = self.opened.iter().filter(|table| table.is_finer).map(|table| table.name.to_string()).collect();
        for mut table in self.opened {
            overflows.extend(table.take_reports().into_iter().map(|overflow| (table.name.to_string(), overflow)));
            let rows = table.finish(false).map_err(|e| DecodeError::Unassembled { reason: e.to_string() })?;
            tables.extend(rows.map(|rows| (table.name.into(), rows)));
        }
        Ok(Decoded { tables, refused: self.refused, refused_beyond: self.refused_beyond, finer, overflows })
    }
}

/// A name for reports, truncated if too long.
fn shown(name: &[u8], bytes_max: usize) -> String {
    String::from_utf8_lossy(&name[..name.len().min(bytes_max)]).into_owned()
}

/// Checks a table's name and returns its Unicode normal form; an error says why it is invalid.
pub(super) fn check_table_name<'n>(name: &'n [u8], limits: &Limits) -> Result<Cow<'n, str>, String> {
    let fits = |name: &[u8]| match name.len() {
        bytes if bytes > limits.table_bytes_max => {
            Err(format!("it has {bytes} bytes, where {} are allowed", limits.table_bytes_max))
        }
        _ => Ok(()),
    };
    fits(name)?;
    let name = match std::str::from_utf8(name) {
        Err(_) => return Err("it is not valid UTF-8".to_owned()),
        Ok("") => return Err("it is empty".to_owned()),
        Ok(text) if text.chars().any(char::is_control) => return Err("it has control characters".to_owned()),
        Ok(text) => normal(text),
    };
    // The normal form of some letters is longer.
    fits(name.as_bytes())?;
    Ok(name)
}
