//! Runs the experiments.

use serde::Serialize;

use super::bars::bars;
use super::disk_space;
use super::reads::{Reads, read_all};
use super::scaling::{Scaling, scaling};
use super::sweeps::{Sweep, sweep_all};
use super::workload::SeasonWorkload;
use super::writes::{HashCheck, Hashes, Write, write_matrix};
use crate::error::BenchError;
use crate::harness::bars::Bar;
use crate::harness::bench::{Ask, Bench};
use crate::harness::disk_space::free;
use crate::harness::machine::Machine;

/// Everything that was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Season {
    pub machine: Machine,
    pub workload: SeasonWorkload,
    pub writes: Vec<Write>,
    /// How the cost per world grows with the number of worlds.
    pub scaling: Vec<Scaling>,
    /// Sweeps over threads, range sizes and codecs.
    pub sweeps: Vec<Sweep>,
    pub reads: Reads,
    /// Whether runs of the same worlds stored the same content.
    pub hashes: Vec<HashCheck>,
    pub bars: Vec<Bar>,
}

impl Season {
    /// Whether all runs of the same worlds stored the same content.
    pub fn is_deterministic(&self) -> bool {
        self.hashes.iter().all(|h| h.different.is_empty())
    }
}

/// Runs the experiments. Keeps the data folder of the largest season.
///
/// # Errors
/// If a run fails or an answer is wrong. Differing content is a result, in [`Season::hashes`].
pub async fn season(bench: &Bench<'_, SeasonWorkload>, sql: Ask<'_>) -> Result<Season, BenchError> {
    bench.workload.check()?;
    bench.check_empty()?;
    let machine = Machine::here();
    let needed = disk_space::needed(bench.workload, machine.cores);
    bench.check_stop(&disk_space::check(bench.data, needed, free(bench.data)?)?)?;
    let mut hashes = Hashes::default();
    // Sweeps go first, because the largest seasons need the whole disk.
    let sweeps = sweep_all(bench, &mut hashes)?;
    let writes = write_matrix(bench, &mut hashes)?;
    let reads = read_all(bench, sql).await?;
    Ok(Season {
        machine,
        workload: bench.workload.clone(),
        scaling: scaling(&writes),
        bars: bars(&writes, &sweeps, &reads),
        hashes: hashes.check(),
        writes,
        sweeps,
        reads,
    })
}
