//! What can be typed.

mod append;
mod ask;
mod bench;
mod bingo;
mod export;
mod fleet;
mod load;
mod place;
mod run;
mod serve;
mod table;

pub(crate) use append::{AppendArgs, InputFormat, OnConflict};
pub(crate) use ask::AskArgs;
pub(crate) use bench::{
    BenchAskArgs, BenchCdrArgs, BenchFleetArgs, BenchIngestArgs, BenchSeasonArgs, BenchSiegeArgs, BenchWorkload,
};
pub(crate) use bingo::{BingoTask, Example};
use clap::{Parser, Subcommand, ValueEnum};
pub(crate) use export::{ExportArgs, FileFormat};
pub(crate) use fleet::{FleetArgs, LedgerArgs, StatusArgs, SubmitArgs, SubmittedArgs, WorkerArgs};
pub(crate) use load::LoadArgs;
pub(crate) use place::{DataArgs, Place, PlaceArgs};
pub(crate) use run::{PlanArgs, PlayArgs, RunArgs, UntilArgs};
pub(crate) use serve::{Durability, Partition, ServeArgs, TokenTask, Unique};
pub(crate) use table::{
    RebuildArgs, TableArgs, TableClusterArgs, TableCompactArgs, TableDeleteArgs, TableInsertArgs, TableRewriteArgs,
    TableTask, TableTrimArgs, TableVacuumArgs, VacuumTarget,
};

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
    /// Submit an ensemble to a fleet: any number of workers play it
    Submit(Box<SubmitArgs>),
    /// Play ranges of what is submitted to a fleet, until stopped
    Worker(WorkerArgs),
    /// Show how far a fleet is
    Status(StatusArgs),
    /// Let nobody take up more of an ensemble until it is resumed
    Pause(SubmittedArgs),
    /// Let a paused ensemble go on
    Resume(SubmittedArgs),
    /// Let nobody take up more of an ensemble; what is stored stays
    Cancel(SubmittedArgs),
    /// Let an ensemble that failed or was cancelled go on
    Retry(SubmittedArgs),
    /// List the models, or one model's parameters
    Models {
        /// The model whose parameters to list
        model: Option<String>,
    },
    /// Check the events that the model bingo plays, or write one to begin with
    Bingo {
        #[command(subcommand)]
        task: BingoTask,
    },
    /// Measure a model against the real thing it models
    Calibrate(CalibrateArgs),
    /// List the stored ensembles
    Ensembles {
        #[command(flatten)]
        data: PlaceArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Price a bet: the probability that all its legs hold in the same world
    Price(PriceArgs),
    /// Show how an outcome is distributed over the worlds
    Outcome(OutcomeArgs),
    /// Compare an outcome in two ensembles, world by world: of one seed, they share their random numbers
    Compare(CompareArgs),
    /// Correlate the outcomes of one entity
    Correlate(CorrelateArgs),
    /// Show what happened in one world: its plays and its box score
    Plays(PlaysArgs),
    /// Check an ensemble: hashes, identities, and outcomes counted again from the events
    Verify {
        /// The ensemble
        ensemble: String,
        #[command(flatten)]
        data: PlaceArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Append rows to a table, of stdin or of files, without declaring a schema; durable once it returns
    Append(Box<AppendArgs>),
    /// Turn what was appended to a table into column segments
    Digest(TableArgs),
    /// Ask about events: groups, counts, quantiles, histograms, time series
    Ask(Box<AskArgs>),
    /// Ask in SQL, one statement or at a prompt
    Sql(SqlArgs),
    /// Take rows in and answer questions over HTTP; answer clients of PostgreSQL too, with --pg
    Serve(Box<ServeArgs>),
    /// Answer questions of a server that started this process
    #[command(hide = true)]
    QuestionProcess,
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
        data: PlaceArgs,
        /// The ledger of the fleet that plays or played it, which forgets it too
        #[arg(long, value_name = "URL", env = "MANYWORLDS_LEDGER", hide_env_values = true)]
        ledger: Option<String>,
    },
    /// List the tables of rows
    Tables {
        #[command(flatten)]
        data: DataArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Tell what is in a table: its columns, their types and bounds, and what is commonest
    Info(TableArgs),
    /// Write a table's rows as Parquet, CSV or JSON
    Export(ExportArgs),
    /// Show how a table is stored, and what each column costs
    Inspect(TableArgs),
    /// Remove a table's old rows; only tells what would go unless told to --apply
    Trim(TableTrimArgs),
    /// Read every row of a table, set aside what cannot be read, and merge small files; only tells unless told to --apply
    Rebuild(RebuildArgs),
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
    pub(crate) data: PlaceArgs,
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
    pub(crate) data: PlaceArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// What `compare` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// An ensemble
    pub(crate) first: String,
    /// Another: differences are its values less those of the first
    pub(crate) second: String,
    /// What to compare, as ENTITY:OUTCOME; may be given more than once
    #[arg(long = "outcome", value_name = "NAME", required = true)]
    pub(crate) outcomes: Vec<String>,
    #[command(flatten)]
    pub(crate) data: PlaceArgs,
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
    pub(crate) data: PlaceArgs,
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
    /// Only events that meet a condition, such as `down >= 3 AND play_type IN ('pass', 'sack')`; repeatable
    #[arg(long = "where", value_name = "COND")]
    pub(crate) conditions: Vec<String>,
    /// Show the box score instead of the plays
    #[arg(long = "box")]
    pub(crate) box_score: bool,
    #[command(flatten)]
    pub(crate) data: PlaceArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// What `sql` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct SqlArgs {
    /// One statement over the tables outcomes, events and ensembles, the functions worlds('ensemble', 'entity') and
    /// plays('ensemble', 'entity', worlds), and the tables that rows were inserted into [default: those of stdin, each
    /// ended by `;`; at a terminal there is a prompt for them]
    pub(crate) query: Option<String>,
    /// Also tell on stderr what was read: bytes, row groups, segments
    #[arg(long)]
    pub(crate) stats: bool,
    #[command(flatten)]
    pub(crate) data: PlaceArgs,
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
