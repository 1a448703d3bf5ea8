//! A siege: everything at once against one server and one data folder, which is killed again and again.
//!
//! Enters: a program and a [`SiegeWorkload`]. Leaves: a [`Siege`], whose [`Figures`] say what was lost, doubled, changed,
//! answered wrongly, how often a process died that was not killed, and how long nobody answered. All of them but the last
//! must be zero; [`Siege::holds`] says whether they are.
//!
//! The seed fixes the plan: settings of each server, what each actor does, when the disk is full, the clock steps, and
//! the server is killed. How far each actor comes depends on the machine.

mod actors;
mod askers;
mod check;
mod clock;
mod disk;
mod findings;
mod front;
mod hostile;
mod known;
mod ledger;
mod messy;
mod postgres;
mod report;
mod rows;
mod run;
mod shell;
mod tallies;
mod upkeep;
mod watch;
mod worlds;
mod writers;

pub use findings::{Figures, Finding};
pub use report::markdown;
pub use run::{Siege, SiegeWorkload, siege};

#[cfg(test)]
mod tests;
