//! An ensemble played by any number of workers, anywhere.
//!
//! Enters: a plan, a ledger (PostgreSQL), a broker (RabbitMQ), a folder of tables that all share. Leaves: the same rows, hash
//! and files as one process would leave.
//!
//! An ensemble is [`submit`]ted: registered in the tables, entered in the ledger, its ranges published as messages. A worker
//! that has [`join`]ed plays a range, commits it to the tables, notes it in the ledger, and only then acknowledges its message.
//!
//! Promises
//! - a world is in the tables once, whoever died, restarted or was told twice meanwhile: a range's files are the same bytes
//!   whoever writes them, and its commit has a name;
//! - a range that fails does so for itself: it is tried again some times, then given up, and the others go on;
//! - a worker waits for a ledger or a broker that is gone, and goes on when it is back; it waits for no single answer for ever,
//!   and keeps a range only as long as it gets on with it.
//!
//! Never does the ledger say more than the tables do. Knows no model, and no terminal.

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
