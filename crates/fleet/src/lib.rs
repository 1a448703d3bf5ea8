//! Plays one ensemble with any number of workers on any number of machines.
//!
//! Enters: a plan, a ledger (PostgreSQL), a broker (RabbitMQ), and a folder of tables that all workers share. Leaves:
//! the rows, hash and files that a single process would write.
//!
//! [`submit`] registers an ensemble in the tables, enters it in the ledger, and publishes a message for each range. A
//! worker that has [`join`]ed claims a range, plays it, commits it to the tables, notes it in the ledger, and only then
//! acknowledges its message.
//!
//! Guarantees
//! - The tables hold each world once, through crashes, restarts and repeated deliveries: a range has the same files
//!   from any worker, and its commit has a name.
//! - A failing range does not stop the others: workers retry it a few times, then give it up.
//! - A worker survives outages of the ledger and the broker, limits every wait for an answer, and loses ranges on which
//!   it makes no progress.
//! - The ledger may be behind the tables, never ahead of them.
//!
//! Knows no model and no terminal.
//!
//! Layers of a worker, top down: `worker` starts it; `session` receives ranges, `player` plays them, `commit` commits
//! them; `ranges` moves a range between broker, ledger and tables; `retry` and `halt` limit every wait.

mod assignment;
mod broker;
mod commit;
mod error;
mod halt;
mod inbox;
mod job;
mod ledger;
mod player;
mod processor;
mod progress;
mod ranges;
mod retry;
mod session;
mod status;
mod submit;
mod tables;
mod worker;

pub use broker::Broker;
pub use error::FleetError;
pub use halt::Halt;
pub use ledger::{Changes, EnsembleStatus, Ledger, PhaseTotals, State, UntilStatus, WorkerStatus};
pub use status::{state, status, status_of, workers};
pub use submit::{SubmitOptions, cancel, pause, resume, retry, submit};
pub use worker::{Member, WorkerOptions, join};
