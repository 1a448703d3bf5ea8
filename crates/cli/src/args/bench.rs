//! Arguments of `bench`.

use std::path::PathBuf;

use bench::ask::AskWorkload;
use bench::cdr::CdrWorkload;
use bench::fleet::FleetWorkload;
use bench::ingest::IngestWorkload;
use bench::peers::PeersWorkload;
use bench::season::SeasonWorkload;
use bench::siege::SiegeWorkload;
use clap::Subcommand;

use super::{FleetArgs, FormatArgs};

// A benchmark.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchWorkload {
    /// Benchmark simulation and reads
    ///
    /// Writes football seasons of several sizes, varies threads, ranges and compression, and times every kind of read.
    /// With --data it keeps the largest season.
    #[command(after_long_help = "Example:\n  manyworlds bench season --scales 10,100")]
    Season(Box<BenchArgs<SeasonWorkload>>),
    /// Benchmark storage layouts with call records
    ///
    /// Streams a day of call records into Avro files and every layout, with and without secondary indexes, runs the same
    /// queries on each, and checks the gates. Exits with code 1 if a gate fails. With --data it keeps the second pass, in
    /// DIR/pass-2.
    #[command(after_long_help = "Example:\n  manyworlds bench cdr --scale 0.1")]
    Cdr(Box<BenchArgs<CdrWorkload>>),
    /// Benchmark ingest of a server
    ///
    /// Sends rows in every wire format with many settings, and checks that servers store each acknowledged row.
    #[command(after_long_help = "Example:\n  manyworlds bench ingest --sweep formats --seconds 3")]
    Ingest(Box<BenchArgs<IngestWorkload>>),
    /// Benchmark `append`, `flush` and `ask`
    ///
    /// Loads nine million events, queries them in fresh processes, appends small batches, and does all of it at once. With
    /// --data it keeps the table, in DIR/store.
    #[command(after_long_help = "Example:\n  manyworlds bench ask --events 1000000")]
    Ask(Box<BenchArgs<AskWorkload>>),
    /// Benchmark fleets of workers
    ///
    /// Plays the same ensembles in one process and with 1, 2, 3 and 8 workers.
    #[command(
        after_long_help = "Example:\n  manyworlds bench fleet --ledger postgres://localhost/fleet --broker amqp://localhost"
    )]
    Fleet {
        #[command(flatten)]
        fleet: FleetArgs,
        #[command(flatten)]
        args: BenchArgs<FleetWorkload>,
    },
    /// Compare with other programs
    ///
    /// Runs the same work on this program and on each installed peer, in turns: ingest over HTTP, questions about events,
    /// call records, joint probabilities, small appends. Reports ratios of CPU time, memory and bytes on disk.
    /// `scripts/peers.sh` installs peers.
    #[command(after_long_help = "Example:\n  manyworlds bench peers --only ask --peers duckdb,polars")]
    Peers(Box<BenchArgs<PeersWorkload>>),
    /// Stress a server with faults
    ///
    /// Mixes writes, queries and upkeep, kills the server again and again, fills its disk, and checks that no row is lost,
    /// duplicated or changed. The data folder stays if the siege finds something.
    #[command(after_long_help = "Example:\n  manyworlds bench siege --minutes 5 --seed 1")]
    Siege(BenchSiegeArgs),
}

// A workload, and the arguments of every benchmark.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchArgs<W: clap::Args> {
    #[command(flatten)]
    pub(crate) workload: W,
    /// Write the report to this folder
    ///
    /// As Markdown and as HTML, in files named for the benchmark.
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

#[derive(Debug, clap::Args)]
pub(crate) struct BenchSiegeArgs {
    #[command(flatten)]
    pub(crate) bench: BenchArgs<SiegeWorkload>,
    /// Size of the disk to fill, in MB
    ///
    /// The data folder lies on a disk in memory. 0 takes the disk of --data and never fills it.
    #[arg(long, value_name = "MB", default_value_t = 2_048)]
    pub(crate) disk: u64,
    /// Run in an own mount namespace already
    #[arg(long, hide = true)]
    pub(crate) inside: bool,
}
