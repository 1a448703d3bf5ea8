//! Benchmarks: workloads, measurements and their reports.
//!
//! Enters: an empty data folder and a workload: a [`Workload`] of seasons with the program to run, a
//! [`cdr::CdrWorkload`] of call records, an [`ingest::IngestWorkload`] with the program that serves, an
//! [`ask::AskWorkload`] of events with the program that answers, a [`fleet::FleetWorkload`] with the program that plays
//! alone and as a fleet, or a [`siege::SiegeWorkload`] with the program under siege. Leaves: a [`Season`], a
//! [`cdr::Cdr`], an [`ingest::Ingest`], an [`ask::Ask`], a [`fleet::Fleet`] or a [`siege::Siege`]. Each has all its
//! figures as JSON and a report as Markdown; all except the siege also have one HTML page with plots.
//!
//! Guarantees
//! - each writer is measured in a separate process, so that its peak memory is its own;
//! - runs that must store the same worlds are compared by content hash ([`Season::hashes`]);
//! - only checked answers are timed: prices against brute force, reads beside a writer against idle reads.
//!
//! Reports measurements beside the bars and never fails because a machine is slow. Knows no SQL engine: the caller
//! passes one as [`Sql`].

pub mod ask;
mod bars;
mod bench;
pub mod cdr;
mod child;
mod error;
pub mod fleet;
mod http;
pub mod ingest;
mod launch;
mod machine;
mod questions;
mod reads;
pub mod report;
mod room;
mod scaling;
mod season;
mod server;
pub mod siege;
mod statistics;
mod sweeps;
mod writes;

pub use bars::{Bar, Mark, Verdict, bars};
pub use bench::Bench;
pub use child::Used;
pub use error::BenchError;
pub use machine::Machine;
pub use reads::{Comparison, Limit, Read, Reads, Sql, SqlError};
pub use scaling::{Growth, Scaling, scaling};
pub use season::{Season, Workload, season};
pub use statistics::{Latency, median, percentile};
pub use sweeps::{Setting, Sweep, SweepKind, SweepPoint};
pub use writes::{HashCheck, Hashes, Write};
