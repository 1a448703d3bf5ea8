//! An ensemble's life on one machine: plan, ranges, worker threads, commits, summary.
//!
//! Enters: a model, a registered ensemble, how many threads. Leaves: committed ranges, and a [`Summary`].
//!
//! Promises
//! - memory is one entity's block a thread, whatever the number of worlds;
//! - what is committed does not depend on threads, order or range size, and is never lost to an error or interruption;
//! - asked to stop, it finishes the ranges under way and takes up no more; asked again, it drops them.
//!
//! Knows nothing of which model it plays, or of terminals.

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
