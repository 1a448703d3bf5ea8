//! The peers: what each is, and what it promises while it is measured.

use clap::ValueEnum;
use serde::Serialize;

use super::work::Work;

/// Another program that does such work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Peer {
    Questdb,
    Victoriametrics,
    Influxdb,
    Arc,
    Duckdb,
    /// The command line of DuckDB
    DuckdbCli,
    Chdb,
    Polars,
    Datafusion,
    Numpy,
    Sybil,
}

/// What this program promises, for each work.
pub(super) fn our_promise(work: Work) -> &'static str {
    match work {
        Work::Ingest => "synced before the reply",
        Work::Ask => "exact; the load is synced",
        Work::Calls => "each batch synced",
        Work::Joint => "exact",
        Work::Appends => "synced before the process ends",
    }
}

impl Peer {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Questdb => "QuestDB",
            Self::Victoriametrics => "VictoriaMetrics",
            Self::Influxdb => "InfluxDB",
            Self::Arc => "Arc",
            Self::Duckdb => "DuckDB",
            Self::DuckdbCli => "DuckDB, command line",
            Self::Chdb => "chDB",
            Self::Polars => "Polars",
            Self::Datafusion => "DataFusion",
            Self::Numpy => "NumPy",
            Self::Sybil => "Sybil",
        }
    }

    /// The Python package that it is.
    pub(super) fn package(self) -> Option<&'static str> {
        match self {
            Self::Duckdb => Some("duckdb"),
            Self::Chdb => Some("chdb"),
            Self::Polars => Some("polars"),
            Self::Datafusion => Some("datafusion"),
            Self::Numpy => Some("numpy"),
            _ => None,
        }
    }

    /// The works that it can do.
    pub(super) fn works(self) -> &'static [Work] {
        match self {
            Self::Questdb | Self::Victoriametrics | Self::Influxdb | Self::Arc => &[Work::Ingest],
            Self::Duckdb => &[Work::Ask, Work::Calls, Work::Joint, Work::Appends],
            Self::Chdb => &[Work::Ask, Work::Calls, Work::Appends],
            Self::DuckdbCli | Self::Sybil => &[Work::Ask, Work::Appends],
            Self::Polars | Self::Datafusion => &[Work::Ask],
            Self::Numpy => &[Work::Joint],
        }
    }

    /// What it promises while it does a work.
    pub(super) fn promise(self, work: Work) -> &'static str {
        match (self, work) {
            (Self::Questdb, _) => "not synced; a written row is visible later",
            (Self::Victoriametrics, _) => "not synced; up to some seconds only in memory; times cut to milliseconds",
            (Self::Influxdb, _) => "log synced before the reply; one row for each series and time",
            (Self::Arc, _) => "not synced, no log; up to some time only in memory",
            (Self::Duckdb | Self::DuckdbCli, Work::Ask | Work::Joint) => "exact; the load is synced",
            (Self::Duckdb | Self::DuckdbCli, _) => "each insert synced",
            (Self::Chdb, Work::Ask) => "exact; the load is not synced",
            (Self::Polars | Self::Datafusion | Self::Numpy, _) => "exact; written files are not synced",
            (Self::Sybil, Work::Ask) => "answers may be wrong; the load is not synced",
            (Self::Chdb | Self::Sybil, _) => "not synced",
        }
    }
}
