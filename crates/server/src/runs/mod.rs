//! Runs that are started over HTTP. Each is a process of the server's own program, so that a model that fails, or takes
//! the processor, does not affect ingest and queries.
//!
//! [`Runs`] starts, stops and queues the processes. [`message`] is the protocol, [`process`] the server's side and
//! [`child`] the process's side. [`status`] combines what the processes report with the tables ([`stored`]), the
//! records of earlier runs ([`record`]) and the ledger of a fleet ([`fleet`]).
//!
//! A run ends with its server, at the end of the ranges in progress. All stored worlds stay, so it can be resumed.

mod child;
pub(crate) mod fleet;
pub(crate) mod message;
mod process;
mod record;
pub(crate) mod refuse;
pub(crate) mod status;
mod stored;
pub(crate) mod table;
pub(crate) mod wish;

pub use child::play_run;
pub(crate) use fleet::Fleet;
pub(crate) use stored::Stored;
pub(crate) use table::Runs;
