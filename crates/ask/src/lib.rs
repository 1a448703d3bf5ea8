//! Aggregate questions about the rows of a table: which rows, in which groups, and which measures.
//!
//! Enters: a [`snapshot::Snapshot`] of a table and a [`Question`]. Leaves: an [`Answer`], or a [`Partial`] answer to
//! merge with those of other machines.
//!
//! Guarantees
//! - Answers are exact; otherwise their notes say why. Sums of integers are exact, quantiles are values of the
//!   column, distinct values are counted individually, and top groups are selected from all groups. Sums of real
//!   numbers have about twice the digits of a real number.
//! - Statistics, filters and secondary indexes never exclude a matching row.
//! - Memory is bounded: a question over its limit fails with [`AskError::Memory`].
//!
//! The crate depends on no SQL engine and no wire format, and never writes rows to a table.

mod answer;
mod cache;
mod coder;
mod column;
mod error;
mod expression;
mod partial;
mod plan;
mod prune;
mod question;
mod reading;
mod request;
mod run;
mod samples;
mod segment;
mod sql;
mod state;

pub use answer::Answer;
pub use cache::Cache;
pub use column::Kind;
pub use error::AskError;
pub use partial::Partial;
pub use question::{Bucket, Measure, Order, Quantile, Question, Replacement, Samples, moment};
pub use reading::{Reading, Skipped};
pub use request::Request;
pub use run::{Options, answer, partial};
pub use sql::sql;
