//! Whether a world costs the same however many there are.

use serde::Serialize;

use crate::writes::Write;

/// Growth of processor time a world that is measurement noise.
const PASS_MOST: f64 = 1.10;
/// The step of the system's clock of processor time.
const TICK_MS: f64 = 10.0;
/// Growth beyond this is something that grows faster than the worlds.
const WARN_MOST: f64 = 1.25;

/// Whether the largest scale costs more a world than a smaller one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Growth {
    /// No.
    Pass,
    /// A little.
    Warn,
    /// Yes.
    Fail,
}

impl Growth {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Warn => "WARN",
            Self::Fail => "FAIL",
        }
    }
}

/// One scale against the largest.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Scaling {
    /// The scale.
    pub worlds: u32,
    /// The largest scale.
    pub largest: u32,
    /// Whether plays were stored.
    pub plays: bool,
    /// Processor time a world at this scale.
    pub cpu_ms_per_world: f64,
    /// Processor time a world at the largest scale by that at this one: 1 where the cost is linear, less where this
    /// scale still carries fixed costs, more where something grows faster than the worlds.
    pub growth: f64,
    /// What that says.
    pub verdict: Growth,
}

/// Each scale but the largest against the largest, with and without plays.
pub fn scaling(writes: &[Write]) -> Vec<Scaling> {
    let against = |w: &Write| {
        let largest = writes.iter().filter(|l| l.plays == w.plays).max_by_key(|l| l.worlds)?;
        if largest.worlds == w.worlds {
            return None;
        }
        // What took less than the system's clock can tell took at most a tick.
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

fn verdict(growth: f64) -> Growth {
    match growth {
        g if g <= PASS_MOST => Growth::Pass,
        g if g <= WARN_MOST => Growth::Warn,
        _ => Growth::Fail,
    }
}
