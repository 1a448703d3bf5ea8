//! Plays the same ensembles in one process and with a fleet of workers.

mod report;
mod run;

pub use run::{Experiment, Fleet, FleetRow, FleetWorkload, fleet};
