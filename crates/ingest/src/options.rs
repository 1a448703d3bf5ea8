//! Settings of a store.

use std::time::Duration;

use table::Codec;

use crate::log::Durability;

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
    /// What compresses segments of new tables.
    pub codec: Codec,
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
            flush_rows: 100_000,
            flush_bytes: 64 << 20,
            flush_age: Duration::from_secs(10),
            flushes: 2,
            memory_bytes: 256 << 20,
            codec: Codec::default(),
            compact_segments: 16,
            retain: None,
            vacuum_after: Duration::from_hours(1),
        }
    }
}
