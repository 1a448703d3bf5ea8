//! Plays an ensemble on one machine: plan, ranges, worker threads, commits, summary.
//!
//! Enters: a model, a registered ensemble, the number of threads. Leaves: committed ranges, and a [`Summary`].
//!
//! Guarantees
//! - memory is one entity's block a thread, whatever the number of worlds;
//! - committed data does not depend on threads, order or range size, and no error or interruption loses it;
//! - the first request to stop finishes the ranges in progress; the second drops them.
//!
//! Knows neither the model it plays nor terminals.

mod control;
mod execute;
mod meter;
mod player;
mod probe;
mod summary;
mod sweep;
mod usage;

pub use control::Control;
pub use execute::{Options, RunError, Until, play};
pub use meter::{Meter, PHASES, Phase, Reading, Times};
pub use player::Player;
pub use probe::Probe;
pub use summary::{EventTotals, OutcomeTotals, Phases, Summary};
pub use usage::Usage;
