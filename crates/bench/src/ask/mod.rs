//! Asking events: made, appended, asked in fresh processes, and asked while more come in.
//!
//! Enters: a program and an [`AskWorkload`]. Leaves: [`Ask`]: what loading, each question, small appends and all of it at
//! once used, in processes of their own, beside DuckDB where that is installed. Every answer is checked against counts
//! that were made with the events.

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
