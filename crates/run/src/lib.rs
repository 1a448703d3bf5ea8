//! Plays an ensemble in one process: ranges, worker threads, commits, summary.
//!
//! [`Request`] makes the plan of an ensemble from a user's wishes, for every face.
//!
//! Enters: a model, or [`Players`] that play ranges in other processes; a registered ensemble; the number of threads.
//! Leaves: committed ranges, and a [`Summary`].
//!
//! Guarantees
//! - memory is one entity's block per thread, whatever the number of worlds;
//! - the stored content does not depend on threads, order or range size, and survives errors and interruptions;
//! - the first request to stop finishes the current ranges; the second drops them.
//!
//! [`check`] plays worlds of any model again in other ways, to find what breaks the promise that a world depends on the
//! parameters, the seed and its number alone.
//!
//! Knows no model and no terminal.

mod check;
mod control;
mod error;
mod execute;
mod meter;
mod player;
mod probe;
mod request;
mod summary;
mod sweep;
mod usage;

pub use check::{Promise, PromiseCheck, check};
pub use control::Control;
pub use error::{ElsewhereError, RunError};
pub use execute::{Options, Until, play, play_by};
pub use meter::{Meter, PHASES, Phase, Reading, Times};
pub use player::{PlayElsewhere, Player, Players};
pub use probe::{Probe, play_first_world};
pub use request::{Request, RequestError, Sizing, defined, outcome_of};
pub use summary::{EventTotals, OutcomeTotals, Phases, Summary};
pub use usage::Usage;
