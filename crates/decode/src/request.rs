//! What a request asks for: the format of its body, and the options.

use arrow::datatypes::Schema;

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

/// The format of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFormat {
    /// One JSON object per line.
    Json,
    /// Comma-separated values under a header.
    Csv,
    /// MessagePack: a sequence of maps or arrays of maps.
    MessagePack,
}
