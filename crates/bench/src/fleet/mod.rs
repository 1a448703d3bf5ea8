//! `bench fleet`: the same ensembles played by one process, and by workers over a broker and a ledger.

mod crew;
mod report;
mod run;

pub use report::{html, markdown};
pub use run::{Experiment, Fleet, FleetRow, FleetWorkload, fleet};
