//! What `serve` takes.

use std::net::SocketAddr;

use clap::ValueEnum;
use table::Codec;

use super::DataArgs;

/// When a write is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Durability {
    /// Once it is on disk
    Sync,
    /// At once; it is on disk within a second
    Interval,
    /// At once; it is on disk when the operating system likes to
    None,
}

/// What `serve` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Where to listen; port 0 takes any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080", env = "MANYWORLDS_LISTEN")]
    pub(crate) listen: SocketAddr,
    /// When a write is acknowledged
    #[arg(long, value_enum, default_value = "sync", env = "MANYWORLDS_DURABILITY")]
    pub(crate) durability: Durability,
    /// Write a segment once so many rows of a table wait
    #[arg(long, value_name = "N", default_value_t = 500_000, env = "MANYWORLDS_FLUSH_ROWS",
        value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) flush_rows: u64,
    /// Write a segment once the first row of a table waits so many seconds
    #[arg(long, value_name = "S", default_value_t = 10, env = "MANYWORLDS_FLUSH_SECONDS")]
    pub(crate) flush_seconds: u64,
    /// Segments of a table that are encoded at once
    #[arg(long, value_name = "N", default_value_t = 2, env = "MANYWORLDS_FLUSHES",
        value_parser = clap::value_parser!(u64).range(1..=64))]
    pub(crate) flushes: u64,
    /// Megabytes of rows that may wait in memory; requests past it are answered with 429
    #[arg(long, value_name = "MB", default_value_t = 256, env = "MANYWORLDS_MEMORY",
        value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub(crate) memory: u64,
    /// Compress segments of new tables with none, snappy, lz4 or zstd (zstd:LEVEL)
    #[arg(long, value_name = "CODEC", default_value = "zstd", env = "MANYWORLDS_CODEC")]
    pub(crate) codec: Codec,
    /// Merge segments of a table once there are so many new ones; 0 never does
    #[arg(long, value_name = "N", default_value_t = 16, env = "MANYWORLDS_COMPACT")]
    pub(crate) compact: usize,
    /// Remove rows once their time is so many days ago
    #[arg(long, value_name = "DAYS", env = "MANYWORLDS_RETAIN", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) retain: Option<u64>,
}
