//! Models that are programs in any language.
//!
//! Enters: a command line that the user typed. Leaves: a [`Plugin`](::model::Plugin) whose worlds the program plays. The
//! program describes itself in its first line on standard output. Then it reads one JSON line for each range of worlds
//! from standard input, and answers with an Arrow IPC stream or with lines of JSON; `docs/program.md` has the protocol.
//!
//! Guarantees
//! - An answer becomes blocks only if it has every world of every entity once, with all outcomes, in their kinds, and
//!   every event has all columns of the catalogue.
//! - Each thread has a process of its own, which serves range after range. A process that breaks the protocol, or takes
//!   too long, ends; the next range starts another.
//! - No process outlives this one or its model, even if it ignores the end of its input, or this process is killed.
//! - Memory is bounded: a line, an answer and the kept end of standard error have limits.
//! - Names and parameters from stored data start nothing: only [`plugin`] takes a command line.
//!
//! Knows no terminal, and no meaning of an outcome.

mod answer;
mod command;
mod description;
mod error;
mod events;
mod grid;
mod layout;
mod model;
mod numbers;
mod process;
mod request;
#[cfg(test)]
mod tests;

pub use error::ProgramError;
pub use model::{Limits, PREFIX, find, plugin};
