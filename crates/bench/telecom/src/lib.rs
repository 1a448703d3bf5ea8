//! Generates call detail records: the day of telephone traffic that the storage benchmark inserts into tables.
//!
//! Enters: a seed, a number of batches, a scale. Leaves: the day's [`Traffic`] (the number of records of each batch),
//! the [`Records`] of each batch as Arrow record batches with the 18 columns of [`schema`], and three dimension tables
//! ([`towers`], [`rate_plans`], [`termination_codes`]).
//!
//! Guarantees: a record is a pure function of (seed, batch, row), to the byte, for any chunks, order and threads.
//! `call_id` is unique, and `sequence_number` has no gaps within a day. Memory holds one chunk. The crate does no I/O,
//! reads no clock, and depends on no table; callers count their own expected answers.
//!
//! Schema, traffic and distributions are those of a public call-record benchmark for streaming inserts. They follow its
//! code rather than its comments: its nested conditions draw a new random number each, so the shares here are the
//! effective ones. Unlike that benchmark, a seed reproduces its records. Subscribers, places and plans are invented.
//!
//! ```
//! use telecom::{CHUNK, Records, Traffic};
//! use world::Seed;
//!
//! let traffic = Traffic::new(24, 0.001, Seed(7))?;
//! for batch in traffic.batches() {
//!     let records = Records::new(Seed(7), *batch);
//!     let rows: usize = records.chunks(CHUNK).map(|chunk| chunk.num_rows()).sum();
//!     assert_eq!(rows, batch.rows);
//! }
//! # Ok::<(), telecom::TrafficError>(())
//! ```

mod dimensions;
mod draws;
mod records;
mod schema;
mod shares;
#[cfg(test)]
mod tests;
mod text;
mod traffic;

pub use dimensions::{TERMINATION_CODES, rate_plans, termination_codes, towers};
pub use records::{CHUNK, Records};
pub use schema::{COLUMNS, schema};
pub use shares::{RATE_PLANS, TOWERS};
pub use traffic::{BATCHES, BATCHES_MAX, Batch, SCALE_MAX, Traffic, TrafficError};
