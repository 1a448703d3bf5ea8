//! Questions about events: loading, asking in fresh processes, appending, and all at once.
//!
//! Enters: a program and an [`AskWorkload`]. Leaves: an [`Ask`] with the time and memory of each process, beside DuckDB where
//! it is installed. Every answer is checked against counts that are made with the events.

mod baseline;
mod events;
mod facts;
mod mixed_load;
mod questions;
mod report;
mod run;

pub use mixed_load::{MixedLoad, MixedLoadPlan};
pub use report::{html, markdown};
pub use run::{Ask, AskRow, AskWorkload, ask};
