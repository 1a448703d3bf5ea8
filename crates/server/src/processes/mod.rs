//! Each query runs in its own process. A query that overflows its stack, takes uncounted memory or never ends affects
//! only that process.
//!
//! A [`Pool`] keeps some processes warm. Each answers one query at a time, reads the data folder like the command line,
//! and has a memory limit that the system enforces. The server kills a process after a cancelled or failed query; the
//! next query gets another one.
//!
//! [`message`] is the protocol. [`pool`] and [`process`] are the server's side; [`child`], [`body`], [`memory`] and
//! [`names`] are the process's side.

mod body;
mod child;
mod code;
mod memory;
pub(crate) mod message;
mod names;
mod pool;
mod process;
mod size;

pub use child::answer_questions;
pub(crate) use message::{Ask, Failure, Format, Names, Part, Question, Sql, Tables, Wanted};
pub(crate) use names::TABLE;
pub(crate) use pool::{Answering, Pool};
pub(crate) use process::{LAST_WORDS, Spawned, spawn};
