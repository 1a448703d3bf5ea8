//! Wire formats to record batches.
//!
//! Enters: a request's body and its [`Format`], or a stream of rows, a chunk at a time ([`RowReader`]). Leaves: record
//! batches, and the refused items, by position. An unreadable body is a [`DecodeError`], and none of it is stored.
//!
//! Guarantees
//! - No silent loss: an item is stored whole or reported as refused.
//! - Isolation: a bad item affects no good one and leaves no column, type or value behind.
//! - Consistency: the same JSON object, CSV line or map becomes the same columns, types and values as a body and in a
//!   stream, however the stream is cut into chunks, and on any number of threads; `docs/rows.md` has the rules.
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

mod arrow_messages;
mod arrow_stream;
mod batch;
mod column;
mod csv;
mod decoded;
mod error;
mod expand;
mod json;
mod kind;
mod known;
mod limits;
mod line_protocol;
mod lines;
mod messagepack;
mod names;
mod number;
mod path;
mod refusal;
mod request;
mod rows;
mod rules;
mod set;
mod table;
mod tables;
mod time;
mod value;

pub use arrow_messages::fault_of_message;
pub use decoded::{Decoded, Overflow, Refused, RefusedRecord, Rows};
pub use error::{DecodeError, DecodeErrorKind};
pub use expand::{expand, expand_stream};
pub use limits::Limits;
pub use names::{ColumnNames, TIME, TIME_NANOS, normal, overflow_name};
pub use number::{is_exact_as_float, whole};
pub use request::{Format, OnConflict, Precision, Request, RowFormat};
pub use rows::RowReader;
pub use rules::RowRules;
use tables::Tables;

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
