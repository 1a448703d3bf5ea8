//! Settings of a store.

use std::collections::BTreeMap;
use std::time::Duration;

use table::{Codec, EncodingSet, TableName};

use crate::log::Durability;
use crate::parts::Partition;

/// How a store takes rows in.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreOptions {
    /// When a request is acknowledged.
    pub durability: Durability,
    /// A segment is written once so many rows of a table wait.
    pub flush_rows: usize,
    /// A segment is written once so many bytes of a table wait.
    pub flush_bytes: usize,
    /// A segment is written once the first row of a table waits so long.
    pub flush_age: Duration,
    /// Segments that are encoded at once, of all tables; at least 1.
    pub flushes: usize,
    /// Bytes of rows that may wait in memory, of all tables; requests past it are refused.
    pub memory_bytes: u64,
    /// Columns that rows may bring to a table; rows with more are refused.
    pub columns_max: usize,
    /// Tables that rows may come in for; those for more are refused.
    pub tables_max: usize,
    /// What compresses segments of new tables.
    pub codec: Codec,
    /// Which encodings segments of new tables may have.
    pub encodings: EncodingSet,
    /// By what segments are cut: one holds rows of one part only, and is merged with others of that only.
    pub partition: Partition,
    /// Columns that tell rows apart, with their time: of those that are equal in these the last stays. Rows of tables that
    /// are not here are all different.
    pub unique: BTreeMap<TableName, Vec<String>>,
    /// Segments of a table are merged in the background once there are so many new ones; 0 never does.
    pub compact_segments: usize,
    /// Rows go once their time is so long ago.
    pub retain: Option<Duration>,
    /// Files that no version of a table needs go after so long, which is as long as readers may keep a version.
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
