//! What `bench ask` takes.

use std::path::PathBuf;

use bench::ask::{AskWorkload, MixedLoadPlan};

use crate::args::FormatArgs;

/// What `bench ask` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchAskArgs {
    /// Events
    #[arg(long, value_name = "N", default_value_t = 9_043_968)]
    events: usize,
    /// How often to ask each question; medians count
    #[arg(long, value_name = "R", default_value_t = 7)]
    repeat: usize,
    /// Appends of ten events
    #[arg(long, value_name = "N", default_value_t = 300)]
    appends: usize,
    /// How long to append 5,000 events a second, digest each 10 s and ask each 2 s, all at once; 0 leaves it out
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    storm_seconds: f64,
    /// Seed of the events
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// DuckDB's command line, which is asked the same where it is installed
    #[arg(long, value_name = "PROGRAM", default_value = "duckdb")]
    duckdb: PathBuf,
    /// Also write the report into this folder, as ask.md and ask.html
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
    /// Keep the events' table in DIR/store; DIR must be empty [default: a temporary folder, removed afterwards]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

impl BenchAskArgs {
    /// What to measure.
    pub(crate) fn workload(&self) -> AskWorkload {
        AskWorkload {
            events: self.events,
            seed: self.seed,
            repeat: self.repeat,
            appends: self.appends,
            mixed_load: MixedLoadPlan { seconds: self.storm_seconds, ..MixedLoadPlan::default() },
            duckdb: self.duckdb.clone(),
        }
    }
}
