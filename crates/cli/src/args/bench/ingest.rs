//! What `bench ingest` takes.

use std::path::PathBuf;

use bench::ingest::IngestSweep;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::args::FormatArgs;

/// What `bench ingest` compares: one thing, or all.
#[derive(Debug, Clone)]
pub(crate) struct Compared(Vec<IngestSweep>);

fn compared() -> impl TypedValueParser<Value = Compared> {
    let all = PossibleValue::new("all").help("All of the others");
    let one = |sweep: IngestSweep| PossibleValue::new(sweep.name()).help(sweep.title());
    PossibleValuesParser::new([all].into_iter().chain(IngestSweep::ALL.map(one))).map(|name| {
        let named = |sweep: &IngestSweep| name == "all" || name == sweep.name();
        Compared(IngestSweep::ALL.into_iter().filter(named).collect())
    })
}

/// What `bench ingest` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchIngestArgs {
    /// What to compare
    #[arg(long, value_name = "WHAT,..", value_parser = compared(), value_delimiter = ',', default_value = "all")]
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
        self.sweep.iter().flat_map(|compared| compared.0.clone()).collect()
    }
}
