//! Workloads that are measured, and the reports of what was found.
//!
//! Enters: an empty data folder and a workload: a [`Workload`] of seasons with the program to run, a
//! [`cdr::CdrWorkload`] of call records, an [`ingest::IngestWorkload`] with the program whose server is loaded, an
//! [`ask::AskWorkload`] of events with the program that is asked, a [`fleet::FleetWorkload`] with the program that works
//! alone and as a fleet, or a [`siege::SiegeWorkload`] with the program that is besieged. Leaves: a [`Season`], a
//! [`cdr::Cdr`], an [`ingest::Ingest`], an [`ask::Ask`], a [`fleet::Fleet`] or a [`siege::Siege`], every figure of which can
//! be had as JSON, and reports of them as Markdown and, but for the siege, as one HTML page with plots.
//!
//! Promises
//! - whatever writes is measured in a process of its own, so that its peak memory is its own;
//! - runs that must store the same worlds are held against each other by their content hash ([`Season::hashes`]);
//! - an answer is timed only where it was checked: prices against brute force, reads beside a writer against idle ones.
//!
//! Says what was measured and how it compares with the bars; it never fails because a machine is slow. Knows no SQL
//! engine: whoever has one hands it in as [`Sql`].

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
