//! Tables on disk: Delta Lake logs over Parquet segments that this crate writes and reads page by page.
//!
//! Enters: columns of numbers and words ([`FlatColumn`], [`ListRows`]) and changes to a table ([`Change`]). Leaves:
//! segments, and the list of segments of a table's version ([`Segment`]).
//!
//! Guarantees
//! - durable means synced: a segment and its folder are synced before the log entry that names it, the log entry and
//!   its folder before success is reported;
//! - a change is in the table whole or not at all, and once even if it is committed twice under one name;
//! - files are written under a temporary name and renamed, so a reader never opens a half-written segment;
//! - any Delta reader can read the tables without this crate.
//!
//! Knows no SQL, no model, and no meaning of columns.

mod append;
mod aside;
mod bounds;
pub mod bucket;
pub mod cluster;
mod committer;
pub mod disk;
mod error;
mod folder;
mod hold;
mod input;
mod insert;
mod inspect;
mod layout;
mod log;
mod lookup;
mod new_file;
mod output;
pub mod power_loss;
mod schema;
mod segment;
mod store;
pub mod upkeep;
pub mod varint;

pub use append::Appender;
pub use error::{ErrorKind, TableError};
pub use folder::{DATABASE, SIM, StoredTable, TableName, tables};
pub use hold::Hold;
pub use insert::{Inserted, Inserter};
pub use inspect::{ColumnReport, inspect};
pub use layout::avro::AvroTable;
pub use layout::{
    ADVICE_ROWS, Advice, Clustering, ColumnEncoding, Curve, Encodings, GROUP_ROWS_MAX, Layout, TableOptions, Verdict,
    advise, conform, set_of, storable,
};
pub use log::{CALLS_MAX, Change, ColumnStatistics, Committed, Definition, Rewrite, Segment, Table, TransactionId};
pub use lookup::{Found, Key, KeyRange, Lookup, lookup_bytes};
pub use schema::{Field, FieldType, SegmentSchema, set_type};
pub use segment::{
    Codec, EncodedColumn, Encoder, EncodingSet, FlatColumn, FlatValues, ListRows, ListValues, PAGE_ROWS, PageFormat,
    SegmentFile, SegmentReader, SegmentWriter, UnknownCodec, WrittenSegment,
};
