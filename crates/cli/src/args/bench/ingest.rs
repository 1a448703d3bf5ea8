//! What `bench ingest` takes.

use std::path::PathBuf;

use bench::ingest::IngestSweep;
use clap::ValueEnum;

use super::FormatArgs;

/// What `bench ingest` compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compared {
    /// All of the others
    All,
    /// Wire formats
    Formats,
    /// Bodies compressed with none, gzip and zstd
    Bodies,
    /// Acknowledged once on disk, or before
    Durability,
    /// Segments compressed with none, snappy, lz4, gzip and zstd
    Compression,
    /// Rows of a segment: 50K to 500K
    Buffers,
    /// Segments of a table encoded at once: 1, 2, 4
    Flushes,
    /// Tables: 1, 3, 12
    Tables,
    /// Connections: 1 to 32
    Connections,
    /// Requests at a rate
    Rate,
    /// More than fits into 32 MB
    Overload,
}

/// What `bench ingest` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchIngestArgs {
    /// What to compare
    #[arg(long, value_name = "WHAT,..", value_enum, value_delimiter = ',', default_value = "all")]
    pub(crate) sweep: Vec<Compared>,
    /// How long to load each server
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    pub(crate) seconds: f64,
    /// How long to load the server that is to have too little memory [default: as --seconds]
    #[arg(long, value_name = "S")]
    pub(crate) overload_seconds: Option<f64>,
    /// Connections, where they are not what is compared
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) connections: usize,
    /// Records a second where a rate is kept
    #[arg(long, value_name = "N", default_value_t = 500_000.0)]
    pub(crate) rate: f64,
    /// Seed of the values
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Also write the report into this folder, as ingest.md and ingest.html
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
    /// Folder for the servers' data, which must be empty [default: a temporary folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

impl BenchIngestArgs {
    /// What to compare.
    pub(crate) fn sweeps(&self) -> Vec<IngestSweep> {
        let each = |compared: &Compared| match compared {
            Compared::All => IngestSweep::ALL.to_vec(),
            Compared::Formats => vec![IngestSweep::Formats],
            Compared::Bodies => vec![IngestSweep::Bodies],
            Compared::Durability => vec![IngestSweep::Durability],
            Compared::Compression => vec![IngestSweep::Compression],
            Compared::Buffers => vec![IngestSweep::Buffers],
            Compared::Flushes => vec![IngestSweep::Flushes],
            Compared::Tables => vec![IngestSweep::Tables],
            Compared::Connections => vec![IngestSweep::Connections],
            Compared::Rate => vec![IngestSweep::Rate],
            Compared::Overload => vec![IngestSweep::Overload],
        };
        self.sweep.iter().flat_map(each).collect()
    }
}
