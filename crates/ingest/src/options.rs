//! Settings of a store.

use std::collections::BTreeMap;
use std::time::Duration;

use table::{Codec, EncodingSet, TableName};

use crate::log::Durability;
use crate::parts::Partition;

#[derive(Debug, Clone, PartialEq)]
pub struct StoreOptions {
    /// When a request is acknowledged.
    pub durability: Durability,
    /// Write a segment once this many rows of a table wait.
    pub flush_rows: usize,
    /// Write a segment once this many bytes of a table wait.
    pub flush_bytes: usize,
    /// Write a segment once the first row of a table has waited this long.
    pub flush_age: Duration,
    /// Segments encoded at once, over all tables; at least 1.
    pub flushes: usize,
    /// Bytes of rows waiting in memory, over all tables; requests beyond are refused.
    pub memory_bytes: u64,
    /// Maximum columns of a table; rows that bring more are refused.
    pub columns_max: usize,
    /// Maximum number of tables; rows for more are refused.
    pub tables_max: usize,
    /// Compression of segments of new tables.
    pub codec: Codec,
    /// Allowed encodings of segments of new tables.
    pub encodings: EncodingSet,
    /// How segments are partitioned: a segment holds rows of one part, and merges only within it.
    pub partition: Partition,
    /// Columns that identify a row, together with its time: of rows equal in these, the last stays. Tables not listed
    /// keep all rows.
    pub unique: BTreeMap<TableName, Vec<String>>,
    /// Merge segments of a table in the background once it has this many new ones; 0 disables merging.
    pub compact_segments: usize,
    /// Delete rows of this age.
    pub retain: Option<Duration>,
    /// Delete files that no version needs after this time, which is how long readers may keep a version.
    pub vacuum_after: Duration,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            durability: Durability::Sync,
            flush_rows: 200_000,
            flush_bytes: 64 << 20,
            flush_age: Duration::from_secs(10),
            flushes: 2,
            memory_bytes: 256 << 20,
            columns_max: 2_000,
            tables_max: 5_000,
            codec: Codec::default(),
            encodings: EncodingSet::default(),
            partition: Partition::None,
            unique: BTreeMap::new(),
            compact_segments: 16,
            retain: None,
            vacuum_after: Duration::from_hours(1),
        }
    }
}
