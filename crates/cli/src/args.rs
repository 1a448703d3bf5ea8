//! What can be typed.

mod ingest;
mod load;
mod serve;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
pub(crate) use ingest::BenchIngestArgs;
pub(crate) use load::LoadArgs;
pub(crate) use serve::{Durability, Partition, ServeArgs, TokenTask, Unique};
use table::{Codec, Curve, Layout, TableName};

/// Simulate what could happen. Take in what did. Ask both.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 110)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// A command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Play an ensemble of worlds and keep every outcome and event
    Run(Box<RunArgs>),
    /// List the models, or one model's parameters
    Models {
        /// The model whose parameters to list
        model: Option<String>,
    },
    /// Measure a model against the real thing it models
    Calibrate(CalibrateArgs),
    /// List the stored ensembles
    Ensembles {
        #[command(flatten)]
        data: DataArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Price a bet: the probability that all its legs hold in the same world
    Price(PriceArgs),
    /// Show how an outcome is distributed over the worlds
    Outcome(OutcomeArgs),
    /// Correlate the outcomes of one entity
    Correlate(CorrelateArgs),
    /// Show what happened in one world: its plays and its box score
    Plays(PlaysArgs),
    /// Check an ensemble: hashes, identities, and outcomes counted again from the events
    Verify {
        /// The ensemble
        ensemble: String,
        #[command(flatten)]
        data: DataArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Ask in SQL
    Sql(SqlArgs),
    /// Take rows in and answer questions over HTTP
    Serve(Box<ServeArgs>),
    /// Print the settings that `serve` would have with the same flags, and where each comes from
    Config(Box<ServeArgs>),
    /// Make, list and revoke the tokens that a server asks for
    Token {
        #[command(subcommand)]
        task: TokenTask,
    },
    /// Load a server with rows as fast as it takes them, or at a rate, and check that it has what it acknowledged
    Load(LoadArgs),
    /// Remove an ensemble and its files
    Drop {
        /// The ensemble
        ensemble: String,
        #[command(flatten)]
        data: DataArgs,
    },
    /// Keep tables in shape: insert rows, order them, merge small files, change layouts, remove rows and files
    Table {
        #[command(subcommand)]
        task: TableTask,
    },
    /// Measure this program on this machine, and report it beside the bars
    Bench {
        #[command(subcommand)]
        workload: BenchWorkload,
    },
}

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

/// Where the tables are.
#[derive(Debug, clap::Args)]
pub(crate) struct DataArgs {
    /// Folder of the tables
    #[arg(long, value_name = "DIR", default_value = "data", env = "MANYWORLDS_DATA")]
    pub(crate) data: PathBuf,
}

/// How results are written.
#[derive(Debug, clap::Args)]
pub(crate) struct FormatArgs {
    /// How to write the result
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// A way to write results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// An aligned table for people
    Table,
    /// JSON
    Json,
    /// Comma-separated values with a header line
    Csv,
}

/// What `run` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The model to play (`manyworlds models` lists them)
    pub(crate) model: String,
    /// Worlds to play
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) worlds: u32,
    /// Seed: with the parameters it fixes every world
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Name of the ensemble [default: the model's name]
    #[arg(long, value_name = "ID")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Keep every event, or play events again whenever they are asked for
    #[arg(long, value_enum, default_value_t = Events::Store)]
    pub(crate) events: Events,
    /// Worker threads [default: one a core]
    #[arg(long, value_name = "T")]
    pub(crate) threads: Option<usize>,
    /// Worlds of a range, the unit of work and of commit [default: at most 5000, and a range a thread]
    #[arg(long, value_name = "R")]
    pub(crate) range_worlds: Option<u32>,
    /// Set a parameter of the model (`manyworlds models MODEL` lists them)
    #[arg(long = "param", value_name = "K=V", value_parser = parse_pair)]
    pub(crate) parameters: Vec<(String, String)>,
    /// What compresses the tables: none, snappy, lz4, gzip, or zstd:LEVEL with a level from 1 (fast) to 22
    #[arg(long, value_name = "CODEC", default_value_t = Codec::default())]
    pub(crate) codec: Codec,
    /// Go on with an ensemble that was interrupted
    #[arg(long, conflicts_with = "replace")]
    pub(crate) resume: bool,
    /// Play the ensemble anew; the old version stays readable until the new one is complete
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// What `calibrate` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct CalibrateArgs {
    /// The model
    pub(crate) model: String,
    /// Games to play (rounded up to whole seasons, at least two)
    #[arg(long, value_name = "N", default_value_t = 57_600)]
    pub(crate) games: usize,
    /// Seed of the games
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Set a parameter of the model (`manyworlds models MODEL` lists them)
    #[arg(long = "param", value_name = "K=V", value_parser = parse_pair)]
    pub(crate) parameters: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// What `price` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct PriceArgs {
    /// The ensemble
    pub(crate) ensemble: String,
    /// Whose outcomes the legs name; other entities' are written `entity:outcome`
    #[arg(long, value_name = "NAME")]
    pub(crate) entity: Option<String>,
    /// A condition over outcomes, such as `home_margin > 3.5`; every leg must hold
    #[arg(long = "leg", value_name = "EXPR", required = true)]
    pub(crate) legs: Vec<String>,
    /// Count only the worlds in which this holds: a condition over outcomes, or a moment of the entity's game such as
    /// 'at q3 8:00 ±60, score 14-10 ±3, possession home'. May be given more than once
    #[arg(long, value_name = "EXPR")]
    pub(crate) given: Vec<String>,
    /// Refuse to answer from fewer matching worlds than this
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) min_worlds: usize,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// What `outcome` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct OutcomeArgs {
    /// The ensemble
    pub(crate) ensemble: String,
    /// Whose outcome; may be given more than once
    #[arg(long = "entity", value_name = "NAME", required = true)]
    pub(crate) entities: Vec<String>,
    /// Which outcome; may be given more than once
    #[arg(long = "outcome", value_name = "NAME", required = true)]
    pub(crate) outcomes: Vec<String>,
    /// List every value with the share of the worlds that do not exceed it
    #[arg(long)]
    pub(crate) cdf: bool,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// What `correlate` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct CorrelateArgs {
    /// The ensemble
    pub(crate) ensemble: String,
    /// Whose outcomes
    #[arg(long, value_name = "NAME")]
    pub(crate) entity: String,
    /// Which outcomes [default: all]; may be given more than once
    #[arg(long = "outcome", value_name = "NAME")]
    pub(crate) outcomes: Vec<String>,
    /// Pairs to list in a table of many outcomes, the strongest first
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// What `plays` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct PlaysArgs {
    /// The ensemble
    pub(crate) ensemble: String,
    /// Whose events
    #[arg(long, value_name = "NAME")]
    pub(crate) entity: String,
    /// In which world
    #[arg(long, value_name = "W")]
    pub(crate) world: u32,
    /// Only events of this player, such as `home_wr1`, or `wr1` of either side
    #[arg(long, value_name = "NAME")]
    pub(crate) player: Option<String>,
    /// Only events of this drive
    #[arg(long, value_name = "N")]
    pub(crate) drive: Option<i32>,
    /// Only events whose column meets this, such as `down>=3` or `play_type=pass`; may be given more than once
    #[arg(long = "where", value_name = "COND")]
    pub(crate) conditions: Vec<String>,
    /// Show the box score instead of the plays
    #[arg(long = "box")]
    pub(crate) box_score: bool,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// What `sql` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct SqlArgs {
    /// One statement over the tables outcomes, events and ensembles, the functions worlds('ensemble', 'entity') and
    /// plays('ensemble', 'entity', worlds), and the tables that rows were inserted into
    pub(crate) query: String,
    /// Also tell on stderr what was read: bytes, row groups, segments
    #[arg(long)]
    pub(crate) stats: bool,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// What becomes of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Events {
    /// Every event is a row
    Store,
    /// Nothing is kept; any slice is played again from the seed
    Replay,
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or_else(|| format!("{text:?} is not of the form name=value"))?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

/// What can be done to a table.
#[derive(Debug, Subcommand)]
pub(crate) enum TableTask {
    /// Insert the rows of files, batch by batch, each durable when it is done; makes the table first
    Insert(Box<TableInsertArgs>),
    /// List the tables
    List {
        #[command(flatten)]
        data: DataArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Show how a table is stored, and what each column costs
    Inspect(TableArgs),
    /// Remove a table and its files
    Drop(TableArgs),
    /// Put the rows of a clustered table in such an order that those alike in its clustering columns lie together
    Cluster(TableClusterArgs),
    /// Merge small files into large ones
    Compact(TableCompactArgs),
    /// Write all rows anew, in another layout or with other options; what is not named stays
    Rewrite(TableRewriteArgs),
    /// Remove the rows that meet a condition; only tells what would go unless told to --apply
    Delete(TableDeleteArgs),
    /// Remove old rows; only tells what would go unless told to --apply
    Trim(TableTrimArgs),
    /// Remove files that no version of the table needs; only tells what would go unless told to --apply
    Vacuum(TableVacuumArgs),
}

/// Which table.
#[derive(Debug, clap::Args)]
pub(crate) struct TableArgs {
    /// The table: NAME, or DATABASE.NAME
    pub(crate) name: TableName,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

impl TableArgs {
    /// Its folder.
    pub(crate) fn folder(&self) -> PathBuf {
        self.name.folder(&self.data.data)
    }
}

/// What `table insert` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct TableInsertArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Files of rows: .csv with a header, .jsonl (or .ndjson, .json) of one object a line, .parquet or .arrow
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// How rows are stored: row, column, pruned or clustered [default: pruned; clustered with --cluster]
    #[arg(long, value_name = "LAYOUT")]
    pub(crate) layout: Option<Layout>,
    /// Columns with Bloom filters, for questions by equality
    #[arg(long, value_name = "COLUMN,..", value_delimiter = ',')]
    pub(crate) bloom: Vec<String>,
    /// Columns with a look-up beside every segment, for questions by equality, by a list and by a range
    #[arg(long, value_name = "COLUMN,..", value_delimiter = ',')]
    pub(crate) lookup: Vec<String>,
    /// Columns that `table cluster` orders the rows by
    #[arg(long, value_name = "COLUMN,..", value_delimiter = ',')]
    pub(crate) cluster: Vec<String>,
    /// Along which curve: hilbert, zorder or lexical [default: hilbert]
    #[arg(long, value_name = "CURVE", requires = "cluster")]
    pub(crate) curve: Option<Curve>,
    /// What compresses pages: none, snappy, lz4, gzip or zstd:LEVEL [default: zstd:1]
    #[arg(long, value_name = "CODEC")]
    pub(crate) codec: Option<Codec>,
    /// Rows of a batch, each of which is one segment and one commit
    #[arg(long, value_name = "N", default_value_t = 500_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) batch_rows: u32,
    /// Insert rows again that were inserted from the same files before
    #[arg(long)]
    pub(crate) again: bool,
}

/// What `table cluster` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct TableClusterArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Cluster by these columns from now on [default: those that the table was made with]
    #[arg(long, value_name = "COLUMN,..", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,
    /// Order the rows along this curve from now on: hilbert, zorder or lexical [default: as before]
    #[arg(long, value_name = "CURVE")]
    pub(crate) curve: Option<Curve>,
    /// Memory for rows that are being moved, in MB; more are put aside on disk
    #[arg(long, value_name = "MB", default_value_t = table::cluster::MEMORY >> 20)]
    pub(crate) memory: usize,
    /// Take up rows that are clustered already, too
    #[arg(long)]
    pub(crate) all: bool,
}

/// What `table compact` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct TableCompactArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
}

/// What `table rewrite` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct TableRewriteArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// How rows are stored from now on: row, column, pruned or clustered
    #[arg(long, value_name = "LAYOUT")]
    pub(crate) layout: Option<Layout>,
    /// Columns with Bloom filters, for questions by equality; '' leaves none
    #[arg(long, value_name = "COLUMN,..", value_delimiter = ',')]
    pub(crate) bloom: Option<Vec<String>>,
    /// Columns that the rows are ordered by, in layout clustered
    #[arg(long, value_name = "COLUMN,..", value_delimiter = ',')]
    pub(crate) cluster: Option<Vec<String>>,
    /// Along which curve: hilbert, zorder or lexical
    #[arg(long, value_name = "CURVE")]
    pub(crate) curve: Option<Curve>,
    /// What compresses pages: none, snappy, lz4, gzip or zstd:LEVEL
    #[arg(long, value_name = "CODEC")]
    pub(crate) codec: Option<Codec>,
    /// Memory for rows that are being ordered, in MB; more are put aside on disk
    #[arg(long, value_name = "MB", default_value_t = table::cluster::MEMORY >> 20)]
    pub(crate) memory: usize,
}

/// What `table delete` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct TableDeleteArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Remove the rows for which this is true, an SQL condition such as "tower < 10 AND note IS NULL"; rows for which it
    /// is false or NULL stay
    #[arg(long = "where", value_name = "EXPR")]
    pub(crate) condition: String,
    /// Do it
    #[arg(long)]
    pub(crate) apply: bool,
}

/// What `table trim` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct TableTrimArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Remove the rows before this time, such as 2025-10-01 or 2025-10-01T12:00:00Z; rows without a time stay
    #[arg(long, value_name = "TIME", conflicts_with = "keep_bytes")]
    pub(crate) before: Option<String>,
    /// Remove the oldest files, so that the others have so many bytes at most
    #[arg(long, value_name = "N")]
    pub(crate) keep_bytes: Option<u64>,
    /// The column that says a row's time [default: the first one that holds times, or dates]
    #[arg(long, value_name = "NAME")]
    pub(crate) column: Option<String>,
    /// Do it
    #[arg(long)]
    pub(crate) apply: bool,
}

/// What `table vacuum` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct TableVacuumArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Keep the files of versions that were current within so many hours
    #[arg(long, value_name = "HOURS", default_value_t = 168)]
    pub(crate) retain: u64,
    /// Do it
    #[arg(long)]
    pub(crate) apply: bool,
}
