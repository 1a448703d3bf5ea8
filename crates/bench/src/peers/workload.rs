//! The settings of the benchmark.

use std::path::PathBuf;

use clap::ValueEnum;
use serde::Serialize;

use super::peer::Peer;
use crate::error::BenchError;

#[derive(Debug, Clone, PartialEq, Serialize, clap::Args)]
pub struct PeersWorkload {
    /// Compare only this work
    #[arg(long, value_name = "WORK,..", value_delimiter = ',')]
    pub only: Vec<Work>,
    /// Compare only with these peers
    #[arg(long, value_name = "PEER,..", value_delimiter = ',')]
    pub peers: Vec<Peer>,
    /// Repeat each measurement and report medians
    #[arg(long, value_name = "R", default_value_t = 3)]
    pub rounds: usize,
    /// Multiply the amount of work
    ///
    /// At 1 a server stores a million records, and questions are asked of 1.5 million events.
    #[arg(long, value_name = "F", default_value_t = 1.0)]
    pub scale: f64,
    /// Seed of the generated data
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Look for peers in this folder
    ///
    /// `scripts/peers.sh` installs them there. Programs that it lacks are taken from PATH.
    #[arg(long, value_name = "DIR", default_value = ".venv-peers")]
    pub installed: PathBuf,
    /// Build Arc from this checkout, with Go
    #[arg(long, value_name = "DIR")]
    pub arc: Option<PathBuf>,
    /// Build Sybil from this checkout, with Go
    #[arg(long, value_name = "DIR")]
    pub sybil: Option<PathBuf>,
}

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
                 and a fresh process is asked about three hours and 101 towers.",
            ],
            Self::Joint => [
                "Joint probability",
                "In how many stored worlds several conditions hold at once; asked in a fresh process. NumPy reads a file \
                 for each outcome, DuckDB a Parquet file.",
            ],
            Self::Appends => ["Small appends", "Ten events at a time, each time in a fresh process."],
        }
    }
}

impl PeersWorkload {
    pub(super) fn check(&self) -> Result<(), BenchError> {
        BenchError::require((1..=100).contains(&self.rounds), "rounds", "give a number from 1 to 100")?;
        BenchError::require((0.001..=100.0).contains(&self.scale), "scale", "give a number from 0.001 to 100")
    }

    pub(super) fn is_wanted(&self, work: Work) -> bool {
        self.only.is_empty() || self.only.contains(&work)
    }

    /// An amount of work at this scale, at least `least`.
    pub(super) fn scaled(&self, at_1: f64, least: usize) -> usize {
        ((at_1 * self.scale) as usize).max(least)
    }
}
