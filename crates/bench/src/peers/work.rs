//! The kinds of work.

use clap::ValueEnum;
use serde::Serialize;

/// A kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Work {
    /// Store rows that come over HTTP
    Ingest,
    /// Load events and ask questions about them
    Ask,
    /// Store and query call records
    Calls,
    /// Count worlds that meet several conditions
    Joint,
    /// Append few rows at a time
    Appends,
}

impl Work {
    /// Its title and its description in reports.
    pub(super) fn texts(self) -> [&'static str; 2] {
        match self {
            Self::Ingest => [
                "Ingest over HTTP",
                "Eight connections send requests of 1,000 fresh records (time, one of 1,000 hosts, three values of two \
                 decimals) for three tables. CPU time is the server's, from when it listens until it has stored \
                 everything and ended cleanly.",
            ],
            Self::Ask => [
                "Questions about events",
                "Each question is asked in a fresh process. Ours includes its start. The engines that Python drives count \
                 from after Python's start and imports; \"start\" has those. Memory includes Python.",
            ],
            Self::Calls => [
                "Call records",
                "Batches of a day are inserted by one process, one commit each. Then the rows are ordered by hour and tower, \
                 once, and a fresh process is asked about three hours and 101 towers.",
            ],
            Self::Joint => [
                "Joint probability",
                "A fresh process counts the stored worlds that meet several conditions at once. NumPy reads a file for \
                 each outcome, DuckDB a Parquet file.",
            ],
            Self::Appends => ["Small appends", "Ten events at a time, each time in a fresh process."],
        }
    }
}
