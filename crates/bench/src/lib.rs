//! Benchmarks of the program, with reports.
//!
//! Enters: the program, an empty folder and a workload. Leaves: all figures as data for JSON, and reports as Markdown
//! and HTML.
//!
//! | benchmark | measures |
//! |---|---|
//! | [`season`] | football seasons: writes at several scales, varied settings, reads |
//! | [`cdr`] | call records streamed into Avro files and every layout of a table |
//! | [`ingest`] | a server under a load of rows |
//! | [`ask`] | events: loading, questions, appends |
//! | [`fleet`] | the same ensembles in one process and with several workers |
//! | [`peers`] | the same work on this program and on other programs, in turns |
//! | [`siege`] | a server and a data folder under every kind of load at once, with kills |
//!
//! Guarantees
//! - Each writer runs in its own process, so that its peak memory is measured alone.
//! - A latency counts only if the answer is correct.
//! - Runs that must store the same content are compared by hash.
//! - A missed bar is a result, not an error, because machines differ.
//!
//! The caller of [`season`] provides its SQL engine.

pub mod ask;
pub mod cdr;
mod error;
pub mod fleet;
mod harness;
pub mod ingest;
pub mod peers;
pub mod season;
pub mod siege;

pub use error::{BenchError, SqlError};
pub use harness::bars::{Bar, Grade, Reference, Scale, Verdict};
pub use harness::bench::{Ask, Bench, Measured};
pub use harness::child::Used;
pub use harness::machine::Machine;
pub use harness::report::Report;
pub use harness::statistics::Latency;
