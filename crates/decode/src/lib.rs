//! Wire formats to record batches.
//!
//! Enters: a request's body and its [`Format`], or a stream of rows, a chunk at a time ([`RowReader`]). Leaves: record
//! batches, and the refused items, by position. An unreadable body is a [`DecodeError`], and none of it is stored.
//!
//! Guarantees
//! - No silent loss: an item is stored whole or reported as refused.
//! - Isolation: a bad item affects no good one and leaves no column, type or value behind.
//! - Consistency: the same JSON object, CSV line or map becomes the same columns, types and values as a body and in a
//!   stream, however the stream is cut into chunks; `docs/rows.md` has the rules.
//! - Missing values are NULL, never 0.
//! - Types: the first value gives a column its type, unless the table has the column. A float after integers turns the
//!   whole column into floats, unless that would change an integer (past 2^53). Every other mismatch is a conflict: the
//!   value is kept as text in an overflow column ([`overflow_name`]), or its row is refused ([`OnConflict`]).
//! - Times keep nanoseconds: the column `time_nanos` holds those past the microsecond.
//! - Memory is bounded by [`Limits`], whatever a body claims, and by the chunk of a stream.
//!
//! Knows Arrow but no tables on disk, so that it can be tested and fuzzed without building Delta Lake.
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

/// The time column of each row.
pub const TIME: &str = "time";
/// The column of the nanoseconds past the microsecond in [`TIME`]: 0 to 999; NULL or 0 for none.
pub const TIME_NANOS: &str = "time_nanos";
/// Why a sender's own column cannot have that name.
const NANOS_TWICE: &str = "the name is for the nanoseconds of the row's time, which has some: give the field another";

/// The format of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format<'a> {
    /// MessagePack: a map or an array of maps, each columnar or a row. The maps name their tables.
    MessagePack,
    /// InfluxDB's line protocol. The lines name their tables.
    LineProtocol {
        /// The unit of its timestamps.
        precision: Precision,
    },
    /// One JSON object per line.
    Json { table: &'a str },
    /// Comma-separated values under a header.
    Csv { table: &'a str },
    /// An Arrow IPC stream.
    ArrowStream { table: &'a str },
}

/// The unit of line protocol timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// `ns`, InfluxDB's default.
    #[default]
    Nanoseconds,
    /// `us`
    Microseconds,
    /// `ms`
    Milliseconds,
    /// `s`
    Seconds,
    /// `m`, from InfluxDB 1
    Minutes,
    /// `h`, from InfluxDB 1
    Hours,
}

/// How to treat a value that does not fit its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnConflict {
    /// Keep it as text in the column's overflow column.
    #[default]
    Overflow,
    /// Refuse its row.
    Refuse,
}

/// Options of a request, besides the format.
#[derive(Debug, Clone, Copy, Default)]
pub struct Request<'a> {
    /// The time of rows without one, in microseconds since 1970.
    pub now_micros: i64,
    /// How to treat values that do not fit their columns.
    pub on_conflict: OnConflict,
    /// The table's columns, if the format names one table.
    pub columns: Option<&'a Schema>,
}

/// Limits on a body. An item over a limit is refused, or the body if no single item is at fault.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of a body as sent.
    pub body_bytes_max: usize,
    /// Bytes of a decompressed body, and of an expanded text column of an Arrow stream.
    pub expanded_bytes_max: usize,
    /// Maximum growth of a compressed body beyond 1 MiB, as a multiple of its size.
    pub ratio_max: usize,
    /// Tables per body.
    pub tables_max: usize,
    /// Columns per table, without `time`.
    pub columns_max: usize,
    /// Values of all tables of a body, including NULLs: rows times columns. A value takes about 8 bytes.
    pub cells_max: usize,
    /// Levels of a JSON object, including the line's own.
    pub depth_max: usize,
    /// Bytes of a table's name.
    pub table_bytes_max: usize,
    /// Bytes of a column's name.
    pub name_bytes_max: usize,
    pub text_bytes_max: usize,
    /// Refused items to report one by one; the others are counted.
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

/// The content of a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// Rows by table, in the body's order of tables. Column `time` (microseconds, UTC, never NULL) comes first, the
    /// others in order of appearance: `Int64`, `Float64`, `Utf8`, `Boolean`, times in UTC microseconds, or sets,
    /// `List<Utf8>` of sorted, distinct members. A column of only NULLs is omitted, unless the format states its type
    /// (Arrow).
    pub tables: Vec<(String, RecordBatch)>,
    /// Refused items, by position.
    pub refused: Vec<Refused>,
    /// Refused items not in `refused`, because of [`Limits::refused_max`].
    pub refused_beyond: usize,
    /// The tables with a column [`TIME_NANOS`], because they have times finer than a microsecond.
    pub finer: Vec<String>,
    /// Values that went to an overflow column, by table and column. Positions are 0 in formats without lines.
    pub overflows: Vec<(String, Overflow)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Its position: in text formats the line on which it begins, from 1 (a CSV's header is line 1); in MessagePack the
    /// item's index in the batch, and in Arrow the record batch's in the stream, both from 0.
    pub position: usize,
    /// The table, if its name could be read.
    pub table: Option<String>,
    /// The field or tag at fault, if a single one is.
    pub field: Option<String>,
    pub reason: String,
}

/// A body that is refused whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    #[error("the body is not valid {format}: {reason} (byte {at})")]
    Malformed {
        format: &'static str,
        reason: String,
        /// The offset, in bytes after decompression.
        at: usize,
    },
    #[error("the table's name {name:?} is not accepted: {reason}")]
    TableName { name: String, reason: String },
    /// The rules of a stream are invalid.
    #[error("the rows cannot be read so: {reason}")]
    Rules { reason: String },
    /// A bug: Arrow rejects the decoded columns as a batch.
    #[error("the body's rows do not make a batch, which is a mistake of manyworlds: {reason}; please report it")]
    Unassembled { reason: String },
    #[error("the body is too large: {reason}; send fewer rows at once")]
    TooLarge {
        /// The limit, and by how much it is exceeded.
        reason: String,
    },
}

/// How to handle a [`DecodeError`].
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
    pub fn kind(&self) -> DecodeErrorKind {
        match self {
            Self::Malformed { .. } | Self::TableName { .. } | Self::Rules { .. } => DecodeErrorKind::Malformed,
            Self::Unassembled { .. } => DecodeErrorKind::Bug,
            Self::TooLarge { .. } => DecodeErrorKind::TooLarge,
        }
    }
}

/// Decodes a decompressed body (see [`expand`]).
///
/// Except in line protocol, the magnitude of each numeric time determines its unit: seconds below 1e10, milliseconds
/// below 1e13, microseconds below 1e16 in absolute value, and else nanoseconds. `time` keeps microseconds and
/// [`TIME_NANOS`] the nanoseconds past them; a float is rounded to the microsecond, the precision of doubles at present
/// times.
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
