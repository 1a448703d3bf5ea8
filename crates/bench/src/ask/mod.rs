//! Questions about events: load them, ask in fresh processes, append, then do all at once.
//!
//! Enters: a program and an [`AskWorkload`]. Leaves: an [`Ask`] with the time and memory of each process, compared with
//! DuckDB if installed. Every answer is compared with counts made with the events.

pub(crate) mod baseline;
pub(crate) mod events;
pub(crate) mod expected;
mod mixed_load;
pub(crate) mod questions;
mod report;
mod run;

pub use mixed_load::{MixedLoad, MixedLoadPlan};
pub use run::{Ask, AskRow, AskWorkload, ask};
