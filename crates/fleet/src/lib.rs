//! Plays an ensemble with any number of workers, on any number of machines.
//!
//! Enters: a plan, a ledger (PostgreSQL), a broker (RabbitMQ), a shared folder of tables. Leaves: the same rows, hash
//! and files as one process.
//!
//! [`submit`] registers an ensemble in the tables, enters it in the ledger, and publishes its ranges as messages. A
//! worker that has [`join`]ed plays a range, commits it to the tables, notes it in the ledger, and only then
//! acknowledges its message.
//!
//! Guarantees
//! - a world is in the tables once, even if workers die, restart or receive a message twice: every worker writes the
//!   same bytes for a range, and its commit has a name;
//! - a failing range affects no other: it is retried a few times and then given up;
//! - a worker waits for a missing ledger or broker and continues when it is back. It waits for no single answer for
//!   ever, and keeps a range only while it makes progress.
//!
//! The ledger never claims more than the tables hold. Knows no model and no terminal.

mod broker;
mod commit;
mod error;
mod inbox;
mod job;
mod ledger;
mod player;
mod progress;
mod session;
mod status;
mod submit;
mod worker;

pub use broker::Broker;
pub use error::FleetError;
pub use ledger::{Changes, Ledger, State};
pub use status::{EnsembleStatus, PhaseTotals, UntilStatus, WorkerStatus, state, status, status_of, workers};
pub use submit::{SubmitOptions, cancel, forget, pause, resume, retry, submit};
pub use worker::{Halt, Member, WorkerOptions, join};
