//! Rows of formats without a schema: a stream a chunk at a time, or a request's body at once.

mod pieces;

use arrow::datatypes::Schema;

use super::batch::Batch;
use super::decoded::{Decoded, Refused, RefusedRecord, Rows};
use super::error::{DecodeError, wrong};
use super::kind::Kind;
use super::known::Known;
use super::limits::Limits;
use super::lines::Lines;
use super::names::{TIME, body_table};
use super::refusal::Refusals;
use super::request::{OnConflict, Request, RowFormat};
use super::rules::{RowRules, Rules};
use super::table::Table;
use super::{csv, json, messagepack, tables};

/// Maximum bytes per call: offsets of texts are 32 bits wide, and the text of a number is longer than the number.
const BYTES_MAX: usize = 128 << 20;
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Reads the rows of one table out of a stream, a chunk at a time.
///
/// The first value of a column fixes its type for all chunks, except that a float turns integers into floats from its
/// chunk on. The rows do not depend on how the stream is cut into chunks.
#[derive(Debug)]
pub struct RowReader {
    format: RowFormat,
    limits: Limits,
    table: Table,
    begun: bool,
    /// Whether rows without a time get one.
    stamps: bool,
    /// The next line, from 1.
    line: usize,
    /// A CSV's header.
    header: Option<Vec<Box<[u8]>>>,
    packed: messagepack::rows::State,
}

impl RowReader {
    /// Begins a stream. The limits on names, texts, columns, nesting and values apply; every refused record is
    /// reported.
    pub fn new(format: RowFormat, rules: &RowRules, limits: &Limits) -> Result<Self, DecodeError> {
        let rules = Rules::new(rules)?;
        if format == RowFormat::Csv && !rules.path.is_empty() {
            return wrong("a path leads into documents, and CSV has none: leave the path out".to_owned());
        }
        Ok(Self {
            format,
            limits: limits.clone(),
            table: Table::new("", rules, OnConflict::Overflow),
            begun: false,
            stamps: true,
            line: 1,
            header: None,
            packed: messagepack::rows::State::default(),
        })
    }

    /// Presets the types of a table's columns, so that the start of the stream does not decide what fits. Skips columns
    /// of types that streams never produce.
    #[must_use]
    pub fn knowing(mut self, columns: &Schema) -> Self {
        self.table.known = Known::of(columns);
        self
    }

    /// Sets how to treat values that do not fit their columns.
    #[must_use]
    pub fn on_conflict(mut self, on_conflict: OnConflict) -> Self {
        self.table.on_conflict = on_conflict;
        self
    }

    /// Leaves rows without a time as they are, and keeps a column `time` that holds something else in the table.
    #[must_use]
    pub fn unstamped(mut self) -> Self {
        self.stamps = false;
        if !matches!(self.table.known.kind(TIME.as_bytes()), Some(Kind::Nothing | Kind::Time)) {
            self.table.rules.forget_time();
        }
        self
    }

    /// Reads complete records at the start of `bytes`, possibly not all. With `last`, the stream ends after `bytes`:
    /// the rest is a record, too, or refused as cut off.
    ///
    /// If it takes 0 of some bytes, they hold no complete record: append more. With `last` it always takes some. A row
    /// without a time gets `now_micros`, in microseconds since 1970.
    ///
    /// An error ends the stream: the header is invalid, or a record is too large.
    pub fn read(&mut self, bytes: &[u8], last: bool, now_micros: i64) -> Result<Rows, DecodeError> {
        let may_mark = !self.begun && self.format != RowFormat::MessagePack;
        if may_mark && !last && bytes.len() < BOM.len() {
            return Ok(Rows { taken: 0, batch: None, refused: Vec::new(), overflows: Vec::new() });
        }
        let mark = if may_mark && bytes.starts_with(BOM) { BOM.len() } else { 0 };
        let (chunk, last) = match bytes[mark..].split_at_checked(BYTES_MAX) {
            Some((chunk, _)) => (chunk, false),
            None => (&bytes[mark..], last),
        };
        let mut batch = Batch::new(&mut self.table, &self.limits, self.stamps.then_some(now_micros), None);
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
        let overflows = self.table.take_reports();
        let batch = self.table.finish(true).map_err(|error| DecodeError::unassembled(&error))?;
        Ok(Rows { taken, batch, refused, overflows })
    }
}

/// Decodes the body of a request, with rows for one table.
pub(super) fn decode(
    format: RowFormat,
    body: &[u8],
    table: &str,
    request: &Request<'_>,
    limits: &Limits,
) -> Result<Decoded, DecodeError> {
    let name = body_table(table, limits)?;
    let body = body.strip_prefix(BOM).unwrap_or(body);
    let mut rows = Table::new(&name, Rules::new(&RowRules::default())?, request.on_conflict);
    rows.known = request.columns.map(Known::of).unwrap_or_default();
    let mut batch = Batch::new(&mut rows, limits, Some(request.now_micros), Some(0));
    let mut lines = Lines::new(body);
    match format {
        RowFormat::Csv => csv::rows::read(body, true, &mut None, &mut lines, &mut batch)?,
        _ => json::rows::read(body, true, &mut lines, &mut batch),
    };
    let beyond = batch.beyond.unwrap_or(0);
    let refused = batch.refused.into_iter().map(|record| {
        let RefusedRecord { position, field, reason, .. } = record;
        Refused { position, table: Some(name.to_string()), field, reason }
    });
    let refused = refused.collect();
    tables::finish(vec![rows], Refusals { refused, beyond })
}
