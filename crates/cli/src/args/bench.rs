//! What `bench` takes.

mod ask;
mod ingest;
mod siege;

use std::path::PathBuf;

pub(crate) use ask::BenchAskArgs;
use clap::Subcommand;
pub(crate) use ingest::BenchIngestArgs;
pub(crate) use siege::BenchSiegeArgs;
use table::Codec;

use super::{FleetArgs, FormatArgs};

/// What can be measured.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchWorkload {
    /// Write football seasons of many sizes, vary threads, ranges and compression, and time every kind of read
    Season(Box<BenchSeasonArgs>),
    /// Stream a day of call records into every storage layout, without and with look-ups, ask the same questions of each,
    /// and check the gates
    Cdr(Box<BenchCdrArgs>),
    /// Load servers with rows in every wire format and with many settings, and check that they have what they acknowledged
    Ingest(Box<BenchIngestArgs>),
    /// Load nine million events, ask questions of them in fresh processes, append a little at a time, and all of it at once
    Ask(Box<BenchAskArgs>),
    /// Play the same ensembles in one process and with 1, 2, 3 and 8 workers over a broker and a ledger
    Fleet(BenchFleetArgs),
    /// Do everything at once to one server and kill it again and again, and check that nothing is lost, doubled or changed
    Siege(BenchSiegeArgs),
}

/// What `bench cdr` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchCdrArgs {
    /// Batches; however many, they span the whole day
    #[arg(long, value_name = "B", default_value_t = 500)]
    pub(crate) batches: usize,
    /// Multiply the rows of every batch (1: 10,000 to 500,000 of them, 40 million in the day)
    #[arg(long, value_name = "F", default_value_t = 1.0)]
    pub(crate) scale: f64,
    /// Insert everything so many times, the layouts in rotated order; medians count
    #[arg(long, value_name = "R", default_value_t = 1)]
    pub(crate) repeat: usize,
    /// Feed the records of a .csv or .parquet file instead of generated ones, cut into B batches
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scale", "seed"])]
    pub(crate) input: Option<PathBuf>,
    /// Seed of the records
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Columns with Bloom filters, in the layouts that have them
    #[arg(long, value_name = "COL,..", value_delimiter = ',',
          default_values_t = ["call_id", "caller_number", "callee_number"].map(String::from))]
    pub(crate) bloom: Vec<String>,
    /// Columns that layout clustered is clustered by
    #[arg(long, value_name = "COL,..", value_delimiter = ',',
          default_values_t = ["call_hour", "cell_tower_id"].map(String::from))]
    pub(crate) cluster: Vec<String>,
    /// Columns with look-ups in the second pass, in the layouts that have them
    #[arg(long, value_name = "COL,..", value_delimiter = ',',
          default_values_t = ["call_timestamp", "caller_number", "callee_number", "cell_tower_id", "call_date"]
              .map(String::from))]
    pub(crate) lookup: Vec<String>,
    /// Also write the report into this folder, as cdr.md and cdr.html
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
    /// Keep the tables of the second pass in DIR/pass-2; DIR must be empty [default: a temporary folder, removed
    /// afterwards]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// The ways to compress that others offer too, and how much trying harder gives.
const COMPARED_CODECS: [Codec; 6] =
    [Codec::None, Codec::Snappy, Codec::Lz4, Codec::Zstd(1), Codec::Zstd(3), Codec::Zstd(9)];

/// What `bench season` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchSeasonArgs {
    /// Worlds of the seasons to write; the largest is read afterwards
    #[arg(long, value_name = "N,..", value_delimiter = ',', default_values_t = [10, 100, 1_000, 10_000])]
    pub(crate) scales: Vec<u32>,
    /// Seed of all seasons
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Also write the report into this folder, as season.md and season.html
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
    /// Keep the largest season in this folder, which must be empty [default: a temporary folder, removed afterwards]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Worker threads to compare
    #[arg(long, value_name = "T,..", value_delimiter = ',', default_values_t = [1, 2])]
    pub(crate) threads_list: Vec<usize>,
    /// Worlds of a range to compare, up to those of --sweep-worlds
    #[arg(long, value_name = "R,..", value_delimiter = ',', default_values_t = [500, 1_000, 2_500, 5_000, 10_000])]
    pub(crate) range_list: Vec<u32>,
    /// Compression codecs to compare: none, snappy, lz4, gzip, zstd:LEVEL
    #[arg(long, value_name = "CODEC,..", value_delimiter = ',', default_values_t = COMPARED_CODECS)]
    pub(crate) codecs: Vec<Codec>,
    /// Worlds of each season that is compared by threads, ranges and codecs; each is written three times; 0 compares none
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) sweep_worlds: u32,
    /// How long to repeat each read
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    pub(crate) read_seconds: f64,
    /// Write outcomes only
    #[arg(long)]
    pub(crate) skip_plays: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// What `bench fleet` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchFleetArgs {
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,
    /// Worlds of the small event
    #[arg(long, value_name = "N", default_value_t = 500_000)]
    pub(crate) worlds: u32,
    /// Worlds of the big event; 0 leaves it out
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    pub(crate) big_worlds: u32,
    /// Worlds that sleep for 5 ms; 0 leaves them out
    #[arg(long, value_name = "N", default_value_t = 6_400)]
    pub(crate) sleeping_worlds: u32,
    /// Worlds of the small event that two workers play to final figures; 0 leaves them out
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub(crate) final_worlds: u32,
    /// Numbers of workers to compare, each of one thread
    #[arg(long, value_name = "W,..", value_delimiter = ',', default_values_t = [1, 2, 3, 8])]
    pub(crate) workers: Vec<usize>,
    /// Also write the report into this folder, as fleet.md and fleet.html
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
    /// Work in this folder, which must be empty [default: a temporary folder, removed afterwards]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}
