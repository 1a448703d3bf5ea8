//! Tables on disk: Delta Lake logs over Parquet segments that this workspace reads and writes itself.
//!
//! Enters: columns of numbers and texts ([`FlatColumn`], [`ListRows`]) and changes to a table ([`Change`]). Leaves:
//! segments, and the list of segments in each version ([`Segment`]).
//!
//! Guarantees
//! - durable means synced: segments before the log entry that names them, the entry before the call returns, and each
//!   with its folder;
//! - a change is atomic, and applied once even if it is committed twice under one name;
//! - files get a temporary name first and are renamed, so readers never open a partial segment;
//! - any Delta reader can read the tables.
//!
//! The crate depends on no SQL engine, no model, and no meaning of columns.

mod append;
mod arrow_footer;
mod bounds;
pub mod cluster;
mod committer;
mod error;
mod folder;
mod folder_lock;
mod grow;
mod input;
mod insert;
mod inspect;
mod job;
mod layout;
mod log;
mod lookup;
mod new_file;
mod output;
mod prefix;
mod schema;
mod segment;
mod store;
mod target;
pub mod upkeep;
mod writer;

pub use append::Appender;
pub use arrow_footer::arrow_footer;
pub use error::{ErrorKind, TableError, describe_io};
pub use folder::{DATABASE, SIM, TableName, tables};
pub use folder_lock::FolderLock;
pub use insert::{Inserted, Inserter};
pub use inspect::{ColumnReport, inspect};
pub use job::Progress;
pub use layout::{
    ADVICE_ROWS, Advice, Clustering, ColumnEncoding, Curve, Encodings, GROUP_ROWS_MAX, Layout, TableOptions, Verdict,
    advise, conform, set_of, storable,
};
pub use log::{
    CALLS_MAX, Change, ColumnStatistics, Committed, Definition, FolderId, Rewrite, Segment, Table, TransactionId,
};
pub use lookup::{Found, Key, KeyRange, Lookup, lookup_bytes};
pub use pages::{Codec, EncodedColumn, EncodingSet, PageFormat, UnknownCodec, plain};
pub use schema::{Field, FieldType, SegmentSchema, set_type};
pub use segment::{
    Encoder, FlatColumn, FlatValues, ListRows, ListValues, PAGE_ROWS, SegmentReader, SegmentWriter, WrittenSegment,
};
