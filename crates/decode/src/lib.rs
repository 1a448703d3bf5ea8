//! Wire formats to record batches.
//!
//! Enters: a request's body and its [`Format`], or a stream of rows, a chunk at a time ([`RowReader`]). Leaves: record
//! batches, and what was refused, by position. A body that cannot be read at all is a [`DecodeError`], and nothing of it is
//! stored.
//!
//! Promises
//! - nothing is dropped silently: an item is stored whole or reported as refused;
//! - a bad item takes no good one with it and leaves no trace: no column, no type, no value of it remains;
//! - the same JSON object, CSV line or map becomes the same columns, types and values as a body and in a stream, wherever
//!   the stream is cut into chunks; `docs/rows.md` has the rules;
//! - missing is NULL, never 0;
//! - the first value gives a column its type, unless the table has the column; a float after integers turns the whole
//!   column into floats, unless that would change one of them (past 2^53); every other difference is a conflict: the value is
//!   kept as text in an overflow column ([`overflow_name`]), or its row is refused ([`OnConflict`]);
//! - a row's time is kept to the nanosecond: the column `time_nanos` holds the nanoseconds past the microsecond;
//! - memory is bounded by [`Limits`], whatever a body claims, and by the chunk of a stream.
//!
//! Knows Arrow, and nothing of tables on disk: a change here is checked, and fuzzed, without building Delta Lake.
//!
//! ```
//! use decode::{Format, Limits, Precision, Request, decode};
//!
//! let body = b"cpu,host=a usage=1.5 1700000000\ncpu,host=b usage= 1700000000\n";
//! let format = Format::LineProtocol { precision: Precision::Seconds };
//! let decoded = decode(format, body, &Request::default(), &Limits::default())?;
//! assert_eq!(decoded.tables[0].1.num_rows(), 1);
//! assert_eq!(decoded.refused[0].position, 2);
//! # Ok::<(), decode::DecodeError>(())
//! ```
//!
//! ```
//! use decode::{Limits, RowFormat, RowReader, RowRules};
//!
//! let mut reader = RowReader::new(RowFormat::Json, &RowRules::default(), &Limits::default())?;
//! let rows = reader.read(b"{\"ping\": 60}\n{\"ping\": \"late\"}\n{\"pi", false, 0)?;
//! assert_eq!(rows.taken, 30);
//! assert_eq!(rows.batch.expect("two rows").num_columns(), 3);
//! assert_eq!((rows.overflows[0].overflow.as_str(), rows.overflows[0].position), ("ping_text", 2));
//! # Ok::<(), decode::DecodeError>(())
//! ```

mod arrow_stream;
mod batch;
mod column;
mod csv;
mod expand;
mod json;
mod known;
mod line_protocol;
mod lines;
mod messagepack;
mod names;
mod number;
mod path;
mod rows;
mod rules;
mod set;
mod table;
mod tables;
mod time;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;

pub use batch::RefusedRecord;
pub use expand::expand;
pub use names::{ColumnNames, normal};
pub use number::{is_exact_as_float, whole};
pub use rows::{Overflow, RowFormat, RowReader, Rows};
pub use rules::{RowRules, overflow_name};
use tables::Tables;

/// The column of each row's time.
pub const TIME: &str = "time";
/// The column of the nanoseconds past the microsecond in [`TIME`]: 0 to 999, and NULL or 0 where there are none.
pub const TIME_NANOS: &str = "time_nanos";
/// Why a column of the sender's own is not stored under that name.
const NANOS_TWICE: &str = "the name is for the nanoseconds of the row's time, which has some: give the field another";

/// What a body is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format<'a> {
    /// MessagePack: a map or an array of maps, each columnar or a row. The maps name their tables.
    MessagePack,
    /// InfluxDB's line protocol. The lines name their tables.
    LineProtocol {
        /// The unit of its timestamps.
        precision: Precision,
    },
    /// One JSON object a line.
    Json {
        /// The table of all rows.
        table: &'a str,
    },
    /// Comma-separated values under a header.
    Csv {
        /// The table of all rows.
        table: &'a str,
    },
    /// An Arrow IPC stream.
    ArrowStream {
        /// The table of all rows.
        table: &'a str,
    },
}

/// The unit of line protocol's timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// `ns`, as in InfluxDB where nothing is said.
    #[default]
    Nanoseconds,
    /// `us`
    Microseconds,
    /// `ms`
    Milliseconds,
    /// `s`
    Seconds,
    /// `m`, of InfluxDB's first version
    Minutes,
    /// `h`, of the same
    Hours,
}

/// What becomes of a value that its column does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnConflict {
    /// It is kept, as text, in the overflow column beside its own.
    #[default]
    Overflow,
    /// Its row is refused.
    Refuse,
}

/// What is asked of a body, beside its format.
#[derive(Debug, Clone, Copy, Default)]
pub struct Request<'a> {
    /// The time of rows that have none, in microseconds since 1970.
    pub now_micros: i64,
    /// What becomes of values that their columns do not hold.
    pub on_conflict: OnConflict,
    /// The columns that the table has, where the format names one table.
    pub columns: Option<&'a Schema>,
}

/// What a body may ask of us. Beyond, an item is refused, or the body where no item is to blame.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of a body as sent.
    pub body_bytes_max: usize,
    /// Bytes of a body after decompression, and of a text column of an Arrow stream after it is spelt out.
    pub expanded_bytes_max: usize,
    /// How many times its size a compressed body may grow to, once it is over 1 MiB.
    pub ratio_max: usize,
    /// Tables that a body may name.
    pub tables_max: usize,
    /// Columns of a table, without `time`.
    pub columns_max: usize,
    /// Values of all tables of a body, NULLs included: rows times columns. A value takes about 8 bytes.
    pub cells_max: usize,
    /// Levels of a JSON object, the line's own included.
    pub depth_max: usize,
    /// Bytes of a table's name.
    pub table_bytes_max: usize,
    /// Bytes of a column's name.
    pub name_bytes_max: usize,
    /// Bytes of one text.
    pub text_bytes_max: usize,
    /// How many refused items are told one by one; the others are counted.
    pub refused_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes_max: 32 << 20,
            expanded_bytes_max: 128 << 20,
            ratio_max: 100,
            tables_max: 1_000,
            columns_max: 1_000,
            cells_max: 16 << 20,
            depth_max: 8,
            table_bytes_max: 128,
            name_bytes_max: 256,
            text_bytes_max: 1 << 20,
            refused_max: 100,
        }
    }
}

/// What a body held.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// Rows by table, in the order in which the body names the tables. Column `time` (microseconds, UTC, never NULL)
    /// comes first, the others in the order in which they appear: `Int64`, `Float64`, `Utf8`, `Boolean`, times in
    /// microseconds of UTC, or sets, `List<Utf8>` of sorted, distinct members. A column of
    /// nothing but NULLs is left out, unless the format states its type (Arrow).
    pub tables: Vec<(String, RecordBatch)>,
    /// What was refused, by position.
    pub refused: Vec<Refused>,
    /// How many more were refused than `refused` tells, because of [`Limits::refused_max`].
    pub refused_beyond: usize,
    /// The tables that have column [`TIME_NANOS`], because times of their rows are finer than a microsecond.
    pub finer: Vec<String>,
    /// Which values went to an overflow column, by table and column. Their positions are 0 in formats without lines.
    pub overflows: Vec<(String, Overflow)>,
}

/// An item that was not taken, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Where: text formats give the line on which it begins, counted from 1 (a CSV's header is line 1); MessagePack
    /// gives the item's place in the batch and Arrow the record batch's in the stream, counted from 0.
    pub position: usize,
    /// The table, where its name could be read.
    pub table: Option<String>,
    /// The field or tag that is to blame, where it is one.
    pub field: Option<String>,
    /// What is wrong.
    pub reason: String,
}

/// A body of which nothing is taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The body is not in its format, or breaks off.
    #[error("the body is no {format}: {reason} (byte {at})")]
    Malformed {
        /// What it should be.
        format: &'static str,
        /// What is wrong.
        reason: String,
        /// Where, in bytes after decompression.
        at: usize,
    },
    /// The table's name, given beside the body, is none.
    #[error("the table's name {name:?} is not accepted: {reason}")]
    TableName {
        /// The name.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A stream cannot be read by its rules.
    #[error("the rows cannot be read so: {reason}")]
    Rules {
        /// What is wrong.
        reason: String,
    },
    /// Columns were decoded that Arrow does not take as a batch: a mistake of ours.
    #[error("the body's rows do not make a batch, which is a mistake of manyworlds: {reason}; please report it")]
    Unassembled {
        /// What Arrow answered.
        reason: String,
    },
    /// The body is larger than a limit.
    #[error("the body is too large: {reason}; send fewer rows at once")]
    TooLarge {
        /// Which limit, and by how much.
        reason: String,
    },
}

/// What to do about a [`DecodeError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeErrorKind {
    /// Correct the body: HTTP's 400.
    Malformed,
    /// Send less at once: HTTP's 413.
    TooLarge,
    /// Report it: HTTP's 500.
    Bug,
}

impl DecodeError {
    /// What to do about it.
    pub fn kind(&self) -> DecodeErrorKind {
        match self {
            Self::Malformed { .. } | Self::TableName { .. } | Self::Rules { .. } => DecodeErrorKind::Malformed,
            Self::Unassembled { .. } => DecodeErrorKind::Bug,
            Self::TooLarge { .. } => DecodeErrorKind::TooLarge,
        }
    }
}

/// Decodes a body, decompressed ([`expand`]).
///
/// Times in numbers are seconds, milliseconds, microseconds or nanoseconds by the magnitude of each value (below 1e10,
/// 1e13, 1e16 in absolute value), except in line protocol. Microseconds are kept in `time` and nanoseconds past them in
/// [`TIME_NANOS`]; a float is rounded to the microsecond, since doubles tell present times no finer.
pub fn decode(format: Format<'_>, body: &[u8], request: &Request<'_>, limits: &Limits) -> Result<Decoded, DecodeError> {
    // Offsets of texts are 32 bits wide.
    let bytes_max = limits.expanded_bytes_max.min(i32::MAX as usize);
    if body.len() > bytes_max {
        return Err(DecodeError::TooLarge { reason: format!("{} bytes, where {bytes_max} are allowed", body.len()) });
    }
    let mut tables = Tables::new(request, limits);
    match format {
        Format::MessagePack => messagepack::decode(body, &mut tables)?,
        Format::LineProtocol { precision } => line_protocol::decode(body, precision, &mut tables),
        Format::Json { table } => return rows::decode(RowFormat::Json, body, table, request, limits),
        Format::Csv { table } => return rows::decode(RowFormat::Csv, body, table, request, limits),
        Format::ArrowStream { table } => return arrow_stream::decode(body, table, request, limits),
    }
    tables.finish()
}
