//! Arguments of `bench ingest`.

use std::path::PathBuf;

use bench::ingest::IngestSweep;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::args::FormatArgs;

/// The comparisons of `bench ingest`: one or all.
#[derive(Debug, Clone)]
pub(crate) struct Compared(Vec<IngestSweep>);

fn compared() -> impl TypedValueParser<Value = Compared> {
    let all = PossibleValue::new("all").help("All of these");
    let one = |sweep: IngestSweep| PossibleValue::new(sweep.name()).help(sweep.title());
    PossibleValuesParser::new([all].into_iter().chain(IngestSweep::ALL.map(one))).map(|name| {
        let named = |sweep: &IngestSweep| name == "all" || name == sweep.name();
        Compared(IngestSweep::ALL.into_iter().filter(named).collect())
    })
}

/// Arguments of `bench ingest`.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchIngestArgs {
    /// Choose what to compare
    #[arg(long, value_name = "WHAT,..", value_parser = compared(), value_delimiter = ',', default_value = "all")]
    pub(crate) sweep: Vec<Compared>,
    /// Load each server for this many seconds
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    pub(crate) seconds: f64,
    /// Overload a server for this many seconds
    ///
    /// It has too little memory. Default: the value of --seconds.
    #[arg(long, value_name = "S")]
    pub(crate) overload_seconds: Option<f64>,
    /// Open this many connections
    ///
    /// Except in the comparison of connections.
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) connections: usize,
    /// Send this many records per second
    ///
    /// In comparisons at a fixed rate.
    #[arg(long, value_name = "N", default_value_t = 500_000.0)]
    pub(crate) rate: f64,
    /// Seed of the generated values
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Write the report to this folder
    ///
    /// As ingest.md and ingest.html.
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
    /// Keep the data in this empty folder
    ///
    /// Default: a temporary folder, removed at the end.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

impl BenchIngestArgs {
    /// The chosen comparisons.
    pub(crate) fn sweeps(&self) -> Vec<IngestSweep> {
        self.sweep.iter().flat_map(|compared| compared.0.clone()).collect()
    }
}
