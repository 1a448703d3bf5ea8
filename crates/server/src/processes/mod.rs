//! Questions in SQL are answered in processes of their own, so that whatever one does (overflow its stack, take memory
//! that nobody counts, never end) costs that process and nothing else.
//!
//! A [`Pool`] keeps some of them warm. Each answers one question at a time, reads the data folder as a shell does, and
//! has a limit on its memory that the system enforces. One whose question is given up, or that fails in any way, is
//! killed, and the next question has another.
//!
//! [`message`] is what both sides say; [`pool`] and [`process`] are the server's side; [`child`], [`body`] and [`memory`] the other.

mod body;
mod child;
mod code;
mod memory;
pub(crate) mod message;
mod pool;
mod process;

pub use child::answer_questions;
pub(crate) use message::{Ask, Failure, Format, Part, Question, Sql, Wanted};
pub(crate) use pool::{Answering, Pool};
