//! Prepared statements, and the portals and cursors that run them.

use std::collections::HashMap;

use arrow::datatypes::{DataType, Field, Schema};
use sql::Literal;

use crate::pg::commands::Command;
use crate::pg::copy::Copy;
use crate::pg::error::PgError;
use crate::pg::statements::Answer;
use crate::pg::values::Formats;

/// Maximum bytes of a connection's prepared statements together.
const PREPARED_BYTES_MAX: usize = 8 << 20;
/// Maximum bytes of a connection's portals together, with their values.
const PORTALS_BYTES_MAX: usize = 32 << 20;
/// Maximum portals of a connection, with its cursors.
const PORTALS_MAX: usize = 256;

/// A prepared statement.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    pub(super) sql: String,
    /// The parameter types that client and server have exchanged so far.
    pub(super) types: Vec<u32>,
}

impl Prepared {
    /// Bytes of memory under the name `name`.
    fn bytes(&self, name: &str) -> usize {
        size_of::<(String, Self)>() + name.len() + self.sql.len() + size_of_val(&self.types[..])
    }
}

/// The prepared statements of a connection, by name.
#[derive(Default)]
pub(super) struct Statements {
    by_name: HashMap<String, Prepared>,
    bytes: usize,
}

impl Statements {
    pub(super) fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    pub(super) fn get(&self, name: &str) -> Result<Prepared, PgError> {
        let found = self.by_name.get(name).cloned();
        found.ok_or_else(|| PgError::new("26000", format!("unknown prepared statement {name:?}")))
    }

    /// Adds or replaces a statement.
    pub(super) fn insert(&mut self, name: String, prepared: Prepared) -> Result<(), PgError> {
        self.remove(&name);
        let bytes = prepared.bytes(&name);
        if self.bytes + bytes > PREPARED_BYTES_MAX {
            return Err(PgError::new("53200", "too many prepared statements: deallocate some"));
        }
        self.bytes += bytes;
        self.by_name.insert(name, prepared);
        Ok(())
    }

    pub(super) fn remove(&mut self, name: &str) {
        if let Some(prepared) = self.by_name.remove(name) {
            self.bytes -= prepared.bytes(name);
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// A statement with its values and the state of its answer. A cursor is a portal that the client named in SQL.
pub(super) struct Portal {
    /// The statement, or the query of a `COPY`.
    pub(super) sql: String,
    pub(super) values: Vec<Literal>,
    pub(super) formats: Formats,
    pub(super) answer: Option<Answer>,
    /// How rows are copied, if the statement is a `COPY`.
    pub(super) copy: Option<Copy>,
    /// Bytes of the statement and its values.
    pub(super) bytes: usize,
    /// Whether all rows are sent.
    pub(super) over: bool,
    /// Whether it is a cursor that outlives its transaction.
    pub(super) held: bool,
    /// Whether its rows are sent, and not skipped.
    pub(super) sends: bool,
}

impl Portal {
    pub(super) fn new(sql: String) -> Result<Self, PgError> {
        let copy = Copy::of(&sql)?;
        let sql = copy.as_ref().map_or(sql, |copy| copy.sql.clone());
        let (values, formats) = (Vec::new(), Formats::default());
        Ok(Self { sql, values, formats, answer: None, copy, bytes: 0, over: false, held: false, sends: true })
    }

    /// The statement if it is none that `sql` answers.
    pub(super) fn command(&self) -> Result<Option<Command>, PgError> {
        if self.copy.is_some() { Ok(None) } else { Command::of(&self.sql) }
    }
}

/// The open portals of a connection, by name.
#[derive(Default)]
pub(super) struct Portals(pub(super) HashMap<String, Portal>);

impl Portals {
    /// Checks that a portal of `bytes` bytes fits.
    pub(super) fn check_room(&self, bytes: usize) -> Result<(), PgError> {
        let held: usize = self.0.values().map(|portal| portal.bytes).sum();
        if self.0.len() >= PORTALS_MAX || held + bytes > PORTALS_BYTES_MAX {
            return Err(PgError::new("53200", "too many open portals and cursors: close some"));
        }
        Ok(())
    }

    pub(super) fn take(&mut self, name: &str) -> Result<Portal, PgError> {
        let found = self.0.remove(name);
        found.ok_or_else(|| PgError::new("34000", format!("no open portal or cursor {name:?}")))
    }

    /// Closes the portals that end with a transaction.
    pub(super) fn end_transaction(&mut self) {
        self.0.retain(|_, portal| portal.held);
    }

    /// The columns of a statement other than a query, empty if it returns no rows; `None` for a query.
    pub(super) fn columns_of_command(&self, command: Option<&Command>) -> Option<Schema> {
        Some(match command? {
            Command::Show(name) => Schema::new(vec![Field::new(name, DataType::Utf8, false)]),
            Command::Stop(stop) => Schema::new(vec![Field::new(stop.name(), DataType::Boolean, false)]),
            Command::Fetch(fetch) if fetch.sends => {
                let cursor = self.0.get(&fetch.name).and_then(|portal| portal.answer.as_ref());
                cursor.and_then(Answer::known_columns).map_or_else(Schema::empty, |columns| columns.as_ref().clone())
            }
            _ => Schema::empty(),
        })
    }
}
