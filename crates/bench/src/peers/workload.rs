//! The settings of the benchmark.

use std::path::PathBuf;

use clap::ValueEnum;
use serde::Serialize;

use super::peer::Peer;
use super::work::Work;
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

impl PeersWorkload {
    pub(super) fn check(&self) -> Result<(), BenchError> {
        BenchError::require((1..=100).contains(&self.rounds), "rounds", "give a number from 1 to 100")?;
        BenchError::require((0.001..=100.0).contains(&self.scale), "scale", "give a number from 0.001 to 100")?;
        let idle = self.peers.iter().find(|peer| !peer.works().iter().any(|work| self.is_wanted(*work)));
        idle.map_or(Ok(()), |peer| {
            let works = peer.works().iter().filter_map(ValueEnum::to_possible_value);
            let works: Vec<String> = works.map(|work| work.get_name().to_owned()).collect();
            let reason = format!("{} is compared only in {}", peer.name(), works.join(", "));
            Err(BenchError::Workload { setting: "peers", reason })
        })
    }

    pub(super) fn is_wanted(&self, work: Work) -> bool {
        self.only.is_empty() || self.only.contains(&work)
    }

    /// An amount of work at this scale, at least `least`.
    pub(super) fn scaled(&self, at_1: f64, least: usize) -> usize {
        ((at_1 * self.scale) as usize).max(least)
    }
}
