//! Call detail records: the day of telephone traffic that the storage bench streams into tables.
//!
//! Enters: a seed, a number of batches, a scale. Leaves: the day's [`Traffic`] (how many records come in which batch),
//! the [`Records`] of each batch as Arrow record batches of the 18 columns of [`schema`], and three dimension tables
//! ([`towers`], [`rate_plans`], [`termination_codes`]).
//!
//! Promises: a record is a pure function of (seed, batch, row), to the byte, however its batch is cut into chunks, in
//! any order and on any thread; `call_id` is unique and `sequence_number` dense over a day; memory is one chunk.
//! Never does I/O, reads no clock, knows nothing of tables, and answers no questions: who asks some counts himself.
//!
//! Schema, traffic and distributions are those of a public call-record benchmark for streaming inserts, as it draws them
//! and not as its comments say: where it tests nested conditions with a fresh random number each, the shares here are
//! the effective ones. Unlike it, a seed makes the same records again. Subscribers, places and plans are invented.
//!
//! ```
//! use telecom::{CHUNK, Dates, Records, Traffic};
//! use world::Seed;
//!
//! let traffic = Traffic::new(24, 0.001, Seed(7))?;
//! for batch in traffic.batches() {
//!     let records = Records::new(Seed(7), *batch, Dates::Reference);
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
pub use records::{CHUNK, Dates, Records};
pub use schema::{COLUMNS, schema};
pub use shares::{RATE_PLANS, TOWERS};
pub use traffic::{BATCHES, BATCHES_MAX, Batch, SCALE_MAX, Traffic, TrafficError};
