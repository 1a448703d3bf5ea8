//! A siege: every kind of load at once against one data folder, with a server that is killed repeatedly.
//!
//! Enters: a program and a [`SiegeWorkload`]. Leaves: a [`Siege`]. Its [`Figures`] count lost, doubled and changed
//! rows, wrong answers, unexpected deaths of processes, and seconds of silence. All but the silence must be zero
//! ([`Figures::holds`]).
//!
//! The seed fixes the plan: the settings of each server, actions, full disks, steps of the clock, and kills. The
//! progress of each actor depends on the machine.

mod actors;
mod askers;
mod check;
mod clock;
mod counts;
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
mod upkeep;
mod watch;
mod worlds;
mod writers;

pub use findings::{Figures, Finding};
pub use run::{Injected, Siege, SiegeWorkload, siege};

#[cfg(test)]
mod tests;
