//! The same ensembles played by one process, and by a fleet of workers.

mod crew;
mod report;
mod run;

pub use report::{html, markdown};
pub use run::{Experiment, Fleet, FleetRow, FleetWorkload, fleet};
