//! Football seasons: written at several scales and with varied settings, then read in every way.
//!
//! Enters: a program and a [`SeasonWorkload`]. Leaves: a [`Season`] and its reports.

mod bars;
mod disk_space;
mod launch;
mod questions;
mod reads;
mod report;
mod run;
mod scaling;
mod sweeps;
mod workload;
mod writes;

pub use reads::{Comparison, Limit, Read, Reads};
pub use run::{Season, season};
pub use scaling::Scaling;
pub use sweeps::{Setting, Sweep, SweepKind, SweepPoint};
pub use workload::SeasonWorkload;
pub use writes::{HashCheck, Hashes, Write};

#[cfg(test)]
pub(crate) mod tests;
