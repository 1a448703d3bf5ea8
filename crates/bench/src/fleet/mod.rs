//! Plays the same ensembles in one process and with a fleet of workers.

mod crew;
mod report;
mod run;

pub use report::{html, markdown};
pub use run::{Experiment, Fleet, FleetRow, FleetWorkload, fleet};
