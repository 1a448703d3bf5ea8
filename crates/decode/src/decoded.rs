//! What leaves: the rows of a body or of a chunk of a stream, with what was refused or kept elsewhere.

use std::ops::Range;

use arrow::array::RecordBatch;

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
    /// Refused items not in `refused`, because of [`Limits::refused_max`](crate::Limits::refused_max).
    pub refused_beyond: usize,
    /// The tables with a column [`TIME_NANOS`](crate::TIME_NANOS), because they have times finer than a microsecond.
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

/// The result of [`RowReader::read`](crate::RowReader::read).
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// Bytes of complete records, accepted or refused. Pass the rest again; if this is 0, with more bytes appended.
    pub taken: usize,
    /// The rows; `None` without any. Column `time` (microseconds, UTC) comes first, the others in order of appearance
    /// in the stream: `Int64`, `Float64`, `Utf8`, `Boolean`, `Timestamp(Microsecond, "UTC")`, or a set, `List<Utf8>` of
    /// sorted, distinct members. A column of only NULLs is omitted.
    pub batch: Option<RecordBatch>,
    pub refused: Vec<RefusedRecord>,
    /// Values that went to an overflow column, by column.
    pub overflows: Vec<Overflow>,
}

/// A record that is not a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedRecord {
    /// The line on which it begins, from 1 (a CSV's header is line 1), or in MessagePack the index among the maps, from
    /// 0. Counted over the whole stream.
    pub position: usize,
    /// The field at fault, if a single one is.
    pub field: Option<String>,
    pub reason: String,
    /// Its bytes within this call, without the line's end.
    pub bytes: Range<usize>,
}

/// Values of a field that do not fit its column and are kept as text in another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overflow {
    /// The field's column, NULL in these rows.
    pub name: String,
    /// The text column that holds the values, named by [`overflow_name`](crate::overflow_name).
    pub overflow: String,
    pub rows: usize,
    /// The first of them, as in [`RefusedRecord::position`].
    pub position: usize,
    /// Its value, truncated if long.
    pub sample: String,
    pub holds: &'static str,
}
