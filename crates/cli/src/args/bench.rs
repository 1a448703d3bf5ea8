//! Arguments of `bench`.

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

/// A benchmark.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchWorkload {
    /// Benchmark simulation and reads
    ///
    /// Writes football seasons of several sizes, varies threads, ranges and compression, and times every kind of read.
    #[command(after_long_help = "Example:\n  manyworlds bench season --scales 10,100")]
    Season(Box<BenchSeasonArgs>),
    /// Benchmark storage layouts with call records
    ///
    /// Streams a day of call records into Avro files and every layout, with and without secondary indexes, runs the same
    /// queries on each, and checks the gates. Exits with code 1 if a gate fails.
    #[command(after_long_help = "Example:\n  manyworlds bench cdr --scale 0.1")]
    Cdr(Box<BenchCdrArgs>),
    /// Benchmark ingest of a server
    ///
    /// Sends rows in every wire format with many settings, and checks that servers store each acknowledged row.
    #[command(after_long_help = "Example:\n  manyworlds bench ingest --sweep formats --seconds 3")]
    Ingest(Box<BenchIngestArgs>),
    /// Benchmark `append`, `flush` and `ask`
    ///
    /// Loads nine million events, queries them in fresh processes, appends small batches, and does all of it at once.
    #[command(after_long_help = "Example:\n  manyworlds bench ask --events 1000000")]
    Ask(Box<BenchAskArgs>),
    /// Benchmark fleets of workers
    ///
    /// Plays the same ensembles in one process and with 1, 2, 3 and 8 workers.
    #[command(
        after_long_help = "Example:\n  manyworlds bench fleet --ledger postgres://localhost/fleet --broker amqp://localhost"
    )]
    Fleet(BenchFleetArgs),
    /// Stress a server with faults
    ///
    /// Mixes writes, queries and upkeep, kills the server again and again, fills its disk, and checks that no row is lost,
    /// duplicated or changed.
    #[command(after_long_help = "Example:\n  manyworlds bench siege --minutes 5 --seed 1")]
    Siege(BenchSiegeArgs),
}

/// Arguments of `bench cdr`.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchCdrArgs {
    /// Cut the day into this many batches
    #[arg(long, value_name = "B", default_value_t = 500)]
    pub(crate) batches: usize,
    /// Multiply the rows of every batch
    ///
    /// At 1 a batch has 10,000 to 500,000 rows, and the day 40 million.
    #[arg(long, value_name = "F", default_value_t = 1.0)]
    pub(crate) scale: f64,
    /// Repeat every insert and report medians
    #[arg(long, value_name = "R", default_value_t = 1)]
    pub(crate) repeat: usize,
    /// Insert records of this file instead
    ///
    /// A .csv or .parquet file, cut into batches.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scale", "seed"])]
    pub(crate) input: Option<PathBuf>,
    /// Seed of the generated records
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Add Bloom filters to these columns
    #[arg(long, value_name = "COL,..", value_delimiter = ',',
          default_values_t = ["call_id", "caller_number", "callee_number"].map(String::from))]
    pub(crate) bloom: Vec<String>,
    /// Cluster by these columns
    #[arg(long, value_name = "COL,..", value_delimiter = ',',
          default_values_t = ["call_hour", "cell_tower_id"].map(String::from))]
    pub(crate) cluster: Vec<String>,
    /// Add secondary indexes to these columns
    ///
    /// They exist in the second pass only.
    #[arg(long, value_name = "COL,..", value_delimiter = ',',
          default_values_t = ["call_timestamp", "caller_number", "callee_number", "cell_tower_id", "call_date"]
              .map(String::from))]
    pub(crate) lookup: Vec<String>,
    /// Write the report to this folder
    ///
    /// As cdr.md and cdr.html.
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
    /// Keep the tables in this empty folder
    ///
    /// Keeps the second pass, in DIR/pass-2. Default: a temporary folder, removed at the end.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// Codecs that other systems also offer, and higher levels of compression.
const COMPARED_CODECS: [Codec; 6] =
    [Codec::None, Codec::Snappy, Codec::Lz4, Codec::Zstd(1), Codec::Zstd(3), Codec::Zstd(9)];

/// Arguments of `bench season`.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchSeasonArgs {
    /// Write seasons of this many worlds
    ///
    /// The reads use the largest one.
    #[arg(long, value_name = "N,..", value_delimiter = ',', default_values_t = [10, 100, 1_000, 10_000])]
    pub(crate) scales: Vec<u32>,
    /// Seed of the seasons
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Write the report to this folder
    ///
    /// As season.md and season.html.
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
    /// Keep the largest season in this empty folder
    ///
    /// Default: a temporary folder, removed at the end.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Compare these numbers of threads
    #[arg(long, value_name = "T,..", value_delimiter = ',', default_values_t = [1, 2])]
    pub(crate) threads_list: Vec<usize>,
    /// Compare ranges of this many worlds
    ///
    /// Larger ranges than --sweep-worlds are left out.
    #[arg(long, value_name = "R,..", value_delimiter = ',', default_values_t = [500, 1_000, 2_500, 5_000, 10_000])]
    pub(crate) range_list: Vec<u32>,
    /// Compare these compression codecs
    ///
    /// none, snappy, lz4, gzip or zstd:LEVEL.
    #[arg(long, value_name = "CODEC,..", value_delimiter = ',', default_values_t = COMPARED_CODECS)]
    pub(crate) codecs: Vec<Codec>,
    /// Compare settings with this many worlds
    ///
    /// Each season is written three times. 0 skips the comparison.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) sweep_worlds: u32,
    /// Repeat each read for this many seconds
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    pub(crate) read_seconds: f64,
    /// Write outcomes and no events
    #[arg(long)]
    pub(crate) skip_plays: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// Arguments of `bench fleet`.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchFleetArgs {
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,
    /// Play this many worlds of a small event
    #[arg(long, value_name = "N", default_value_t = 500_000)]
    pub(crate) worlds: u32,
    /// Play this many worlds of a big event
    ///
    /// 0 skips it.
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    pub(crate) big_worlds: u32,
    /// Play this many worlds that sleep 5 ms
    ///
    /// 0 skips them.
    #[arg(long, value_name = "N", default_value_t = 6_400)]
    pub(crate) sleeping_worlds: u32,
    /// Play this many worlds with two workers
    ///
    /// Of the small event, to final figures. 0 skips them.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub(crate) final_worlds: u32,
    /// Compare these numbers of workers
    ///
    /// Each has one thread.
    #[arg(long, value_name = "W,..", value_delimiter = ',', default_values_t = [1, 2, 3, 8])]
    pub(crate) workers: Vec<usize>,
    /// Write the report to this folder
    ///
    /// As fleet.md and fleet.html.
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
    /// Work in this empty folder
    ///
    /// Default: a temporary folder, removed at the end.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}
