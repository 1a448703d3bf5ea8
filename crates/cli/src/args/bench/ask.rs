//! Arguments of `bench ask`.

use std::path::PathBuf;

use bench::ask::{AskWorkload, MixedLoadPlan};

use crate::args::FormatArgs;

/// Arguments of `bench ask`.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchAskArgs {
    /// Load this many events
    #[arg(long, value_name = "N", default_value_t = 9_043_968)]
    events: usize,
    /// Repeat each query and report medians
    #[arg(long, value_name = "R", default_value_t = 7)]
    repeat: usize,
    /// Append ten events this many times
    #[arg(long, value_name = "N", default_value_t = 300)]
    appends: usize,
    /// Mix all work for this many seconds
    ///
    /// Appends 5,000 events per second, flushes every 10 s and queries every 2 s. 0 skips it.
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    storm_seconds: f64,
    /// Seed of the events
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Compare with this DuckDB program
    ///
    /// Skipped if it is not installed.
    #[arg(long, value_name = "PROGRAM", default_value = "duckdb")]
    duckdb: PathBuf,
    /// Write the report to this folder
    ///
    /// As ask.md and ask.html.
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
    /// Keep the table in this empty folder
    ///
    /// In DIR/store. Default: a temporary folder, removed at the end.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

impl BenchAskArgs {
    /// The settings of the benchmark.
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
