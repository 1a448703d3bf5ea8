//! Rows that repeat the bytes of the row before them, except for their values.
//!
//! Most bodies write all rows alike. Comparing the bytes between the values takes less time than reading keys and looking
//! up columns. A row that differs in any way is read as any other.

use super::reader::{Reader, Token};
use super::row::{HOST, field, tag};
use super::{read_time, table_name};
use crate::limits::Limits;
use crate::names::TIME;
use crate::table::Table;
use crate::tables::Tables;
use crate::time::of_int;

/// The bytes of a row between its values.
pub(super) struct Shape<'a> {
    table: usize,
    /// The bytes before each value, and what the value is.
    values: Vec<(&'a [u8], Slot<'a>)>,
    /// The bytes after the last value.
    end: &'a [u8],
}

#[derive(Clone, Copy)]
enum Slot<'a> {
    Time,
    /// The host, with its column.
    Host(usize),
    /// A field, with its column.
    Field(usize, &'a [u8]),
}

impl<'a> Shape<'a> {
    /// The shape of the row that begins at `reader` and was taken before; `None` if it has more than `m`, `t`, `h` and
    /// `fields` of scalars.
    pub(super) fn of(mut reader: Reader<'a>, tables: &mut Tables<'_>) -> Option<Self> {
        let table = tables.open(table_name(reader)?).ok()?;
        let mut column = |name: &[u8]| tables.table(table).find(name);
        let (mut values, mut from) = (Vec::new(), reader.at);
        let mut hold = |reader: &mut Reader<'a>, slot| {
            values.push((&reader.body[from..reader.at], slot));
            let is_scalar = matches!(reader.token(), Ok(Token::Value(_)));
            from = reader.at;
            is_scalar.then_some(())
        };
        for _ in 0..reader.token().ok()?.keys("it").ok()? {
            match reader.token().ok()?.text("a key").ok()? {
                b"m" => reader.skip().ok()?,
                b"t" => hold(&mut reader, Slot::Time)?,
                b"h" => hold(&mut reader, Slot::Host(column(HOST)?))?,
                b"fields" => {
                    for _ in 0..reader.token().ok()?.keys("`fields`").ok()? {
                        let name = reader.token().ok()?.text("a field's name").ok()?;
                        // It may be the row's time.
                        let name = Some(name).filter(|name| *name != TIME.as_bytes())?;
                        hold(&mut reader, Slot::Field(column(name)?, name))?;
                    }
                }
                _ => return None,
            }
        }
        Some(Self { table, values, end: &reader.body[from..reader.at] })
    }

    /// Takes a row of this shape. If it has another or is refused, returns false, and leaves the reader and the table
    /// as they were.
    pub(super) fn take(&self, reader: &mut Reader<'_>, tables: &mut Tables<'_>) -> bool {
        let start = *reader;
        let taken = self.try_take(reader, tables).is_some();
        if !taken {
            *reader = start;
            tables.table(self.table).rollback();
        }
        taken
    }

    fn try_take(&self, reader: &mut Reader<'_>, tables: &mut Tables<'_>) -> Option<()> {
        let limits = tables.limits;
        let table = tables.table(self.table);
        let mut time = None;
        for (before, slot) in &self.values {
            reader.pass(before)?;
            match *slot {
                Slot::Time => {
                    time = match reader.long() {
                        Some(value) => Some(of_int(value)),
                        None => read_time(reader.token().ok()?).ok()?,
                    };
                }
                Slot::Field(column, _) if put_float(reader, table, column).is_some() => {}
                Slot::Host(column) | Slot::Field(column, _) if put_text(reader, table, column, limits).is_some() => {}
                // A host is a text, also if it is sent as a number.
                Slot::Host(column) => {
                    table.add_value(column, tag(reader.token().ok()?, HOST, &mut String::new()).ok()?, limits).ok()?;
                }
                Slot::Field(column, name) => {
                    table.add_value(column, field(reader.token().ok()?, name).ok()?, limits).ok()?;
                }
            }
        }
        reader.pass(self.end)?;
        tables.commit(self.table, time).ok()
    }
}

/// Adds a float to a column of floats, without a token, which would stall the processor as a value does
/// ([`Table::add_float`]). Returns `None` for any other value or column, and then reads nothing.
#[inline]
fn put_float(reader: &mut Reader<'_>, table: &mut Table, column: usize) -> Option<()> {
    let mut after = *reader;
    let float = after.float()?;
    table.add_float(column, float).then(|| *reader = after)
}

/// As [`put_float`], for a short text.
#[inline]
fn put_text(reader: &mut Reader<'_>, table: &mut Table, column: usize, limits: &Limits) -> Option<()> {
    let mut after = *reader;
    let text = after.short_text()?;
    let is_added = std::str::from_utf8(text).is_ok() && table.add_text(column, text, limits);
    is_added.then(|| *reader = after)
}
