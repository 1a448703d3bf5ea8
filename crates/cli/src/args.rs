//! Commands and flags.
//!
//! A short help is a verb phrase of at most eight words. Details come after an empty line, and only `--help` shows them.
//!
//! The flags of a command are built once it is asked for: those of all commands take half of the time that a start takes.
//! So the comments of a command are those of [`Command`], and a doc comment on its flags would replace them.

#![allow(clippy::doc_markdown, reason = "a terminal shows these comments, and knows no Markdown")]

mod append;
mod ask;
mod bench;
mod bingo;
mod export;
mod fleet;
mod football;
mod import;
mod loadgen;
mod overview;
mod place;
mod questions;
mod run;
mod serve;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use append::{AppendArgs, InputFormat, OnConflict, extension};
pub(crate) use ask::AskArgs;
pub(crate) use bench::{BenchArgs, BenchSiegeArgs, BenchWorkload};
pub(crate) use bingo::{BingoTask, Example};
use clap::{Parser, Subcommand, ValueEnum};
pub(crate) use export::{ExportArgs, FileFormat, InfoArgs, NamedArgs};
pub(crate) use fleet::{FleetArgs, LedgerArgs, StatusArgs, SubmitArgs, SubmittedArgs, WorkerArgs};
pub(crate) use football::FootballTask;
pub(crate) use import::{Form as ImportForm, ImportArgs};
pub(crate) use loadgen::LoadgenArgs;
pub(crate) use overview::command;
pub(crate) use place::{DataArgs, PlaceArgs};
pub(crate) use questions::{
    BookArgs, CompareArgs, CorrelateArgs, EventsArgs, LeverageArgs, OutcomeArgs, ProbabilityArgs,
};
pub(crate) use run::{
    CalibrateArgs, CheckArgs, ModelArgs, PlanArgs, PlayArgs, PlayedByArgs, ProgramArgs, ProgramLimitArgs, RunArgs,
    UntilArgs,
};
pub(crate) use serve::{Durability, Partition, ServeArgs, TokenTask, UiArgs, Unique};
pub(crate) use table::{
    RebuildArgs, TableArgs, TableClusterArgs, TableDeleteArgs, TableInsertArgs, TableRewriteArgs, TableTask,
    TableTrimArgs, TableVacuumArgs, VacuumTarget,
};

/// Simulate what could happen. Ingest what did. Query both.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// A command.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// List the models or one model's parameters
    #[command(after_long_help = "Example:\n  manyworlds models football")]
    Models {
        /// Model whose parameters to list
        model: Option<String>,
        #[command(flatten)]
        program: ProgramArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Check that worlds depend on their seed alone
    ///
    /// Plays the same worlds again in other ways and compares every outcome: another time, started anew, cut into other
    /// ranges, one entity alone, and with another seed. Says in plain words what breaks the promise, and exits with
    /// code 1 if something does. Stores nothing.
    #[command(after_long_help = "Example:\n  manyworlds check --program './sim --fast'")]
    Check(CheckArgs),
    /// Play an ensemble of worlds
    ///
    /// Stores every outcome and event in open tables. The same model, parameters and seed give the same worlds on any
    /// machine and any number of threads. Stop it with Ctrl-C and continue it with --resume.
    #[command(after_long_help = "Example:\n  manyworlds run football --worlds 10000 --name season")]
    Run(Box<RunArgs>),
    /// Import numbers computed elsewhere as an ensemble
    ///
    /// Reads Parquet, CSV, Arrow and NumPy files (.npz, .npy), one after another. A row is a world, or a world and an
    /// entity, with a column for each outcome (wide); or a single value, with columns world, entity, outcome and value
    /// (long). Nothing is stored unless all of it can be.
    #[command(after_long_help = "Example:\n  manyworlds import queue draws.parquet --kind late=flag")]
    Import(Box<ImportArgs>),
    /// Check or write an event for bingo
    #[command(after_long_help = "Example:\n  manyworlds bingo example > event.toml")]
    Bingo {
        #[command(subcommand)]
        task: BingoTask,
    },
    /// Check or write a league for football
    #[command(after_long_help = "Example:\n  manyworlds football example > league.toml")]
    Football {
        #[command(subcommand)]
        task: FootballTask,
    },
    /// Compare a model with real statistics
    ///
    /// Exits with code 1 if a statistic is outside its tolerance.
    #[command(after_long_help = "Example:\n  manyworlds calibrate football --games 5760")]
    Calibrate(CalibrateArgs),
    /// List the stored ensembles
    #[command(after_long_help = "Example:\n  manyworlds ensembles --format json")]
    Ensembles {
        #[command(flatten)]
        data: PlaceArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Show how outcomes are distributed
    ///
    /// Prints the mean with its 95% confidence interval, quantiles and a histogram, of outcomes and of expressions.
    #[command(after_long_help = "Example:\n  manyworlds outcome season game-017 'home_points + away_points'")]
    Outcome(OutcomeArgs),
    /// Estimate the probability that all conditions hold
    ///
    /// Counts the worlds in which every condition holds, and prints their share with its 95% confidence interval. `price`
    /// prints the same with fair odds.
    #[command(after_long_help = "Example:\n  \
        manyworlds probability season --entity game-017 --condition 'home_margin > 3.5' --given 'home_margin_h1 > 0'")]
    Probability(ProbabilityArgs),
    /// Price conditions with fair odds
    ///
    /// Prints what `probability` prints, and decimal odds without margin: 1 / probability.
    #[command(after_long_help = "Example:\n  \
        manyworlds price season --entity game-017 --condition 'home_margin > 3.5' --condition 'total_points > 44.5'")]
    Price(ProbabilityArgs),
    /// Measure the risk of a book of bets
    ///
    /// Prints how profit and loss are distributed over the worlds, value at risk and expected shortfall with their 95%
    /// confidence intervals, the worst worlds, and what each bet adds to the risk.
    #[command(after_long_help = "Example:\n  manyworlds book season --file bets.csv")]
    Book(BookArgs),
    /// Correlate outcomes
    #[command(after_long_help = "Example:\n  \
        manyworlds correlate season --entity game-017 --outcome home_points --outcome away_points")]
    Correlate(CorrelateArgs),
    /// Find the events that move a probability most
    ///
    /// An event is a flag, one label of a code, or a number above the value that splits the worlds most evenly. Once it is
    /// decided, the probability moves by `movement` percentage points on average. Every number is an exact share of the
    /// stored worlds.
    #[command(after_long_help = "Example:\n  \
        manyworlds leverage season --condition team-01:made_playoffs --outcome home_won")]
    Leverage(LeverageArgs),
    /// Compare outcomes of two ensembles
    ///
    /// Ensembles with the same seed share their random numbers. They are compared world by world, which narrows the
    /// confidence interval of the difference.
    #[command(after_long_help = "Example:\n  manyworlds compare season windy --outcome game-017:total_points")]
    Compare(CompareArgs),
    /// Show the events of one world
    ///
    /// Shows the events of one entity in one world, or the model's summary of that world.
    #[command(
        alias = "plays",
        after_long_help = "Example:\n  manyworlds events season --entity game-017 --world 3 --where 'down >= 3'"
    )]
    Events(EventsArgs),
    /// Check an ensemble for damage
    ///
    /// Recomputes the content hashes and recounts the outcomes from the events. Exits with code 1 if a check fails.
    #[command(after_long_help = "Example:\n  manyworlds verify season")]
    Verify {
        /// Ensemble to check
        ensemble: String,
        /// Play all worlds again and compare them
        ///
        /// Takes as long as playing them. --program implies it.
        #[arg(long)]
        replay: bool,
        #[command(flatten)]
        played_by: PlayedByArgs,
        #[command(flatten)]
        data: PlaceArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Remove an ensemble and its files
    #[command(after_long_help = "Example:\n  manyworlds drop season")]
    Drop {
        /// Ensemble to remove
        ensemble: String,
        #[command(flatten)]
        data: PlaceArgs,
        /// Ledger that forgets the ensemble too
        ///
        /// Name it if a fleet plays or played the ensemble, as postgres://USER:PASSWORD@HOST:PORT/DATABASE.
        #[arg(long, value_name = "URL", env = "MANYWORLDS_LEDGER", hide_env_values = true)]
        ledger: Option<String>,
    },
    /// Submit an ensemble to a fleet of workers
    ///
    /// Any number of workers on any number of machines plays its ranges.
    #[command(after_long_help = "Example:\n  \
        manyworlds submit football --worlds 1000000 --ledger postgres://localhost/fleet --broker amqp://localhost")]
    Submit(Box<SubmitArgs>),
    /// Play ranges of submitted ensembles
    ///
    /// Runs until it is stopped. The first Ctrl-C finishes the ranges in progress, the second one drops them.
    #[command(after_long_help = "Example:\n  \
        manyworlds worker --ledger postgres://localhost/fleet --broker amqp://localhost")]
    Worker(WorkerArgs),
    /// Show the progress of a fleet
    #[command(after_long_help = "Example:\n  manyworlds status season --watch --ledger postgres://localhost/fleet")]
    Status(StatusArgs),
    /// Pause an ensemble
    ///
    /// Workers finish the ranges that they play and start no others.
    #[command(after_long_help = "Example:\n  manyworlds pause season --ledger postgres://localhost/fleet")]
    Pause(SubmittedArgs),
    /// Resume a paused ensemble
    #[command(after_long_help = "Example:\n  manyworlds resume season --ledger postgres://localhost/fleet")]
    Resume(SubmittedArgs),
    /// Cancel an ensemble and keep its stored worlds
    #[command(after_long_help = "Example:\n  manyworlds cancel season --ledger postgres://localhost/fleet")]
    Cancel(SubmittedArgs),
    /// Retry a failed or cancelled ensemble
    #[command(after_long_help = "Example:\n  manyworlds retry season --ledger postgres://localhost/fleet")]
    Retry(SubmittedArgs),
    /// Append rows to a table without a schema
    ///
    /// Reads stdin or files, and creates the table and its columns as needed. Rows are durable when the command returns.
    #[command(after_long_help = "Example:\n  echo '{\"host\": \"a\", \"ping\": 12}' | manyworlds append visits")]
    Append(Box<AppendArgs>),
    /// Aggregate rows by group and time
    ///
    /// Computes counts, sums, means, quantiles, distinct counts and histograms, also of rows that are not flushed yet.
    #[command(after_long_help = "Example:\n  manyworlds ask visits --group host --quantiles ping --since 7d")]
    Ask(Box<AskArgs>),
    /// Query in SQL, once or at a prompt
    ///
    /// Queries the tables `outcomes`, `events` and `ensembles`, the functions worlds('ensemble', 'entity') and
    /// events('ensemble', 'entity', worlds), and all tables of rows.
    #[command(after_long_help = "Example:\n  manyworlds sql \"SELECT host, avg(ping) FROM visits GROUP BY host\"")]
    Sql(SqlArgs),
    /// Describe a table's columns, or an ensemble
    ///
    /// Prints the type, bounds, NULLs, mean and most frequent values of each column of a table; the worlds, entities,
    /// outcomes, model and hash of an ensemble.
    #[command(after_long_help = "Example:\n  manyworlds info visits")]
    Info(InfoArgs),
    /// Export a table or an ensemble
    ///
    /// Writes Parquet, CSV, JSON or Arrow. The outcomes of an ensemble have the wide form that `import` reads.
    #[command(after_long_help = "Example:\n  manyworlds export visits --to visits.parquet")]
    Export(ExportArgs),
    /// Flush a table's log into column segments
    ///
    /// Appended rows can be queried before that. Segments make queries faster and files smaller. A running server
    /// flushes by itself.
    #[command(alias = "digest", after_long_help = "Example:\n  manyworlds flush visits")]
    Flush(TableArgs),
    /// Create, inspect and maintain tables
    #[command(after_long_help = "Example:\n  manyworlds table list")]
    Table {
        #[command(subcommand)]
        task: TableTask,
    },
    /// Serve ingest and queries over HTTP
    ///
    /// With --pg it serves PostgreSQL clients too. Stop it with Ctrl-C: it flushes all rows first.
    #[command(after_long_help = "Example:\n  manyworlds serve --listen 127.0.0.1:8080 --pg 127.0.0.1:5432")]
    Serve(Box<ServeArgs>),
    /// Open the page in a browser
    ///
    /// Starts a server with the flags of `serve`, unless one listens on the address already. Opens the page with
    /// $BROWSER or xdg-open.
    #[command(after_long_help = "Example:\n  manyworlds ui --data ./data")]
    Ui(Box<UiArgs>),
    /// Print the effective settings of `serve`
    ///
    /// Takes the flags of `serve`, and prints each setting with its source in the form of a settings file.
    #[command(after_long_help = "Example:\n  manyworlds config --flush-seconds 5 > settings.toml")]
    Config(Box<ServeArgs>),
    /// Create, list and revoke access tokens
    #[command(after_long_help = "Example:\n  manyworlds token create reporting --read --token-file tokens.toml")]
    Token {
        #[command(subcommand)]
        task: TokenTask,
    },
    /// Generate write load for a server
    ///
    /// Sends rows as fast as the server answers or at a fixed rate, and checks that the server stores each acknowledged
    /// row. Exits with code 1 if rows are missing.
    #[command(
        alias = "load",
        after_long_help = "Example:\n  manyworlds loadgen http://127.0.0.1:8080 --rate 100000 --seconds 30"
    )]
    Loadgen(LoadgenArgs),
    /// Benchmark this program on this machine
    #[command(after_long_help = "Example:\n  manyworlds bench season --scales 10,100")]
    Bench {
        #[command(subcommand)]
        workload: BenchWorkload,
    },

    /// Answer queries of the server that started this process
    #[command(hide = true)]
    QuestionProcess,
    /// Play a run of the server that started this process
    #[command(hide = true)]
    RunProcess,
    /// List the tables: see `table list`
    #[command(hide = true)]
    Tables {
        #[command(flatten)]
        data: DataArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Show a table's storage: see `table inspect`
    #[command(hide = true)]
    Inspect(TableArgs),
    /// Remove old rows: see `table trim`
    #[command(hide = true)]
    Trim(TableTrimArgs),
    /// Repair a table: see `table rebuild`
    #[command(hide = true)]
    Rebuild(RebuildArgs),
}

// How results are written.
#[derive(Debug, clap::Args)]
pub(crate) struct FormatArgs {
    /// Choose the output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// A way to write results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned table
    Table,
    /// JSON
    Json,
    /// Comma-separated values with a header
    Csv,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SqlArgs {
    /// Statement to run
    ///
    /// Without it, `sql` runs the statements of stdin, each ended by `;`. At a terminal it opens a prompt.
    pub(crate) query: Option<String>,
    /// Print what was read to stderr
    ///
    /// Counts the bytes, segments, row groups and pages.
    #[arg(long)]
    pub(crate) stats: bool,
    #[command(flatten)]
    pub(crate) played_by: PlayedByArgs,
    #[command(flatten)]
    pub(crate) data: PlaceArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or_else(|| format!("{text:?} is not of the form NAME=VALUE"))?;
    Ok((key.trim().to_owned(), value.to_owned()))
}
