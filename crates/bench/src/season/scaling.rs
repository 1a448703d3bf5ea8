//! How the cost per world grows with the number of worlds.

use serde::Serialize;

use super::writes::Write;
use crate::harness::bars::Grade;

/// Growth up to this is measurement noise.
const PASS_MOST: f64 = 1.10;
/// Resolution of processor times.
const TICK_MS: f64 = 10.0;
/// Growth up to this gets a warning.
const WARN_MOST: f64 = 1.25;

/// One scale compared with the largest.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Scaling {
    /// The scale.
    pub worlds: u32,
    pub largest: u32,
    /// Whether plays were stored.
    pub plays: bool,
    /// Processor time per world at this scale.
    pub cpu_ms_per_world: f64,
    /// Processor time per world at the largest scale divided by that at this scale. 1 means linear cost. Below 1, fixed
    /// costs still matter at this scale. Above 1, the cost grows faster than the number of worlds.
    pub growth: f64,
    /// Whether a world costs more at the largest scale: no, a little, or yes.
    pub verdict: Grade,
}

/// Compares each scale with the largest, with and without plays.
pub(super) fn scaling(writes: &[Write]) -> Vec<Scaling> {
    let against = |w: &Write| {
        let largest = writes.iter().filter(|l| l.plays == w.plays).max_by_key(|l| l.worlds)?;
        if largest.worlds == w.worlds {
            return None;
        }
        // A time below the resolution counts as one tick.
        let growth = largest.cpu_ms_per_world / w.cpu_ms_per_world.max(TICK_MS / f64::from(w.worlds));
        Some(Scaling {
            worlds: w.worlds,
            largest: largest.worlds,
            plays: w.plays,
            cpu_ms_per_world: w.cpu_ms_per_world,
            growth,
            verdict: verdict(growth),
        })
    };
    writes.iter().filter_map(against).collect()
}

fn verdict(growth: f64) -> Grade {
    match growth {
        g if g <= PASS_MOST => Grade::Pass,
        g if g <= WARN_MOST => Grade::Warn,
        _ => Grade::Fail,
    }
}
