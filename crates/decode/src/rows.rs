//! Streams of rows that declare no schema.

use std::ops::Range;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;

use super::lines::Lines;
use super::rules::{RowRules, Rules, wrong};
use super::table::{Refusal, Table, Taken, refuse};
use super::{DecodeError, Limits, csv, json, messagepack};

/// What a stream is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFormat {
    /// One JSON object a line.
    Json,
    /// Comma-separated values under a header.
    Csv,
    /// MessagePack: maps, or arrays of maps, one after the other.
    MessagePack,
}

/// Bytes that one call looks at: offsets of texts are 32 bits wide, and what a number is spelt as is longer than itself.
const BYTES_MAX: usize = 128 << 20;
/// Refused records after which a call ends: they are told one by one, and take more memory than their bytes.
const REFUSED_MAX: usize = 10_000;
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Reads the rows of one table out of a stream, a chunk at a time.
///
/// Columns keep the type that their first value gave them over all chunks, but that a float turns integers into floats
/// from its chunk on. However the stream is cut into chunks, its rows are the same.
#[derive(Debug)]
pub struct RowReader {
    format: RowFormat,
    limits: Limits,
    table: Table,
    begun: bool,
    /// The line that comes next, counted from 1.
    line: usize,
    /// A CSV's header.
    header: Option<Vec<Box<[u8]>>>,
    packed: messagepack::rows::State,
}

/// What a call of [`RowReader::read`] took.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// Bytes of whole records, taken or refused. What follows is to be handed over again, with more behind it unless
    /// this is over 0.
    pub taken: usize,
    /// The rows. Column `time` (microseconds, UTC, never NULL) comes first, the others in the order in which the stream
    /// first names them: `Int64`, `Float64`, `Utf8`, `Boolean`, `Timestamp(Microsecond, "UTC")`, or a set, `List<Utf8>`
    /// of sorted, distinct members. A column of nothing but NULLs is left out. Nothing where there are no rows.
    pub batch: Option<RecordBatch>,
    /// All records that were refused.
    pub refused: Vec<RefusedRecord>,
    /// Which values went to a column beside their own, by column.
    pub twins: Vec<Twin>,
}

/// A record that is no row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedRecord {
    /// The line on which it begins, counted from 1 (a CSV's header is line 1); in MessagePack its place among the maps,
    /// counted from 0. Counted over the whole stream.
    pub position: usize,
    /// The field that is to blame, where it is one.
    pub field: Option<String>,
    /// What is wrong.
    pub reason: String,
    /// Where it lies in the bytes of this call, without its line's end.
    pub bytes: Range<usize>,
}

/// Values of a field that its column does not hold, and that are kept as text in another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Twin {
    /// The field's column, NULL in these rows.
    pub name: String,
    /// The column of texts that has the values, as [`twin_name`](crate::twin_name) calls it.
    pub twin: String,
    /// How many rows.
    pub rows: usize,
    /// The first of them, as [`RefusedRecord::position`] has it.
    pub position: usize,
    /// Its value, cut where it is long.
    pub sample: String,
    /// What the column holds.
    pub holds: &'static str,
}

impl RowReader {
    /// Begins a stream. Of the limits those of names, texts, columns, nesting and values hold; no record is left
    /// untold.
    pub fn new(format: RowFormat, rules: &RowRules, limits: &Limits) -> Result<Self, DecodeError> {
        let rules = Rules::new(rules)?;
        if format == RowFormat::Csv && !rules.path.is_empty() {
            return wrong("a path leads into documents, and CSV has none: leave the path out".to_owned());
        }
        Ok(Self {
            format,
            limits: limits.clone(),
            table: Table::of_stream(rules),
            begun: false,
            line: 1,
            header: None,
            packed: messagepack::rows::State::default(),
        })
    }

    /// Takes columns as if the stream had named them before, so that a value goes to its twin where it does not fit what a
    /// table has, and not for what this stream happens to begin with. Columns of types that no stream has are passed over.
    #[must_use]
    pub fn knowing(mut self, columns: &Schema) -> Self {
        self.table.know(columns);
        self
    }

    /// Takes the whole records that `bytes` begins with, or, where they are many, some of them. With `last` the stream
    /// ends behind `bytes`: what is left then is a record as well, or refused as one that breaks off.
    ///
    /// Where nothing is taken of bytes that there are, they hold no whole record: more is needed. With `last` something
    /// is always taken. A row without a time gets `now_micros`, in microseconds since 1970.
    ///
    /// An error ends the stream: the header is none, or a record is too large.
    pub fn read(&mut self, bytes: &[u8], last: bool, now_micros: i64) -> Result<Rows, DecodeError> {
        let may_mark = !self.begun && self.format != RowFormat::MessagePack;
        if may_mark && !last && bytes.len() < BOM.len() {
            return Ok(Rows { taken: 0, batch: None, refused: Vec::new(), twins: Vec::new() });
        }
        let mark = if may_mark && bytes.starts_with(BOM) { BOM.len() } else { 0 };
        let (chunk, last) = match bytes[mark..].split_at_checked(BYTES_MAX) {
            Some((chunk, _)) => (chunk, false),
            None => (&bytes[mark..], last),
        };
        let mut batch = Batch {
            cells_left: self.limits.cells_max,
            table: &mut self.table,
            limits: &self.limits,
            now: now_micros,
            refused: Vec::new(),
        };
        let mut lines = Lines::from(chunk, self.line);
        let mut taken = match self.format {
            RowFormat::Json => json::rows::read(chunk, last, &mut lines, &mut batch),
            RowFormat::Csv => csv::rows::read(chunk, last, &mut self.header, &mut lines, &mut batch)?,
            RowFormat::MessagePack => messagepack::rows::read(chunk, last, &mut self.packed, &mut batch),
        };
        if taken == 0 && chunk.len() == BYTES_MAX {
            let reason = format!("line {}: a record has over {BYTES_MAX} bytes", self.line);
            return Err(DecodeError::TooLarge { reason });
        }
        if self.format != RowFormat::MessagePack {
            self.line = lines.number(taken);
        }
        let mut refused = batch.refused;
        if mark > 0 && (taken > 0 || last) {
            taken += mark;
            refused.iter_mut().for_each(|record| record.bytes = record.bytes.start + mark..record.bytes.end + mark);
        }
        self.begun |= taken > 0;
        let twins = self.table.take_reports();
        let batch = self.table.finish().map_err(|e| DecodeError::Unassembled { reason: e.to_string() })?;
        Ok(Rows { taken, batch, refused, twins })
    }
}

/// The rows of one call under way.
#[derive(Debug)]
pub(super) struct Batch<'a> {
    pub(super) table: &'a mut Table,
    pub(super) limits: &'a Limits,
    now: i64,
    cells_left: usize,
    refused: Vec<RefusedRecord>,
}

impl Batch<'_> {
    /// Whether the call is to end before the next record.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.refused.len() >= REFUSED_MAX
    }

    /// The path under which rows lie.
    #[inline]
    pub(super) fn path(&self) -> &[Box<[u8]>] {
        self.table.rules.as_ref().map_or(&[], |rules| &rules.path)
    }

    /// Whether a document of so many rows is to be begun.
    pub(super) fn has_room(&self, rows: usize) -> bool {
        self.table.rows() == 0 || rows.saturating_mul(self.table.row_cells()) <= self.cells_left
    }

    /// Keeps the row under way and says so, or forgets it where the batch is full without it.
    #[inline]
    pub(super) fn keep(&mut self, position: impl FnOnce() -> usize) -> Taken<bool> {
        self.table.settle(self.limits)?;
        let cells = self.table.row_cells();
        if cells > self.cells_left {
            if self.table.rows() == 0 {
                return refuse(format!("it holds more than {} values, rows times columns", self.limits.cells_max));
            }
            self.table.rollback();
            return Ok(false);
        }
        self.cells_left -= cells;
        self.table.report_strays(position);
        self.table.commit(self.table.row.time.unwrap_or(self.now));
        Ok(true)
    }

    /// As [`Batch::keep`], for a row of a document: it is refused where the document has too many.
    pub(super) fn keep_whole(&mut self, position: impl FnOnce() -> usize) -> Taken<()> {
        if self.keep(position)? {
            return Ok(());
        }
        refuse(format!("its document holds more than {} values, rows times columns", self.limits.cells_max))
    }

    /// Notes that a record is refused, and forgets what was taken of it.
    #[cold]
    pub(super) fn refuse(&mut self, position: usize, refusal: Refusal, bytes: Range<usize>) {
        self.table.rollback();
        self.refused.push(RefusedRecord { position, field: refusal.field, reason: refusal.reason, bytes });
    }
}
