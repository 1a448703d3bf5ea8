//! Benchmarks of the program, and their reports.
//!
//! Enters: the program, an empty folder and a workload. Leaves: all figures as data for JSON, and reports as Markdown and
//! HTML.
//!
//! | benchmark | measures |
//! |---|---|
//! | [`season`] | football seasons: writing at several scales, varied settings, reading |
//! | [`cdr`] | call records streamed into every layout of a table |
//! | [`ingest`] | a server under a load of rows |
//! | [`ask`] | events that are loaded, asked and appended |
//! | [`fleet`] | the same ensembles in one process and by several workers |
//! | [`siege`] | a server and a data folder under everything at once, with kills |
//!
//! Guarantees
//! - writers run in processes of their own, so that their peak memory is their own;
//! - answers are checked before their time counts;
//! - runs that must store the same content are compared by their hashes;
//! - a missed bar is a result, never an error, because machines differ.
//!
//! Knows no SQL engine: the caller hands one in.

pub mod ask;
pub mod cdr;
mod error;
pub mod fleet;
mod harness;
pub mod ingest;
pub mod season;
pub mod siege;

pub use error::{BenchError, SqlError};
pub use harness::bars::{Mark, Verdict};
pub use harness::bench::Bench;
pub use harness::child::Used;
pub use harness::machine::Machine;
pub use harness::statistics::{Latency, median, percentile};
