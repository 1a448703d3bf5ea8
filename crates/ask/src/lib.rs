//! Answers questions about one table's rows: filter, group, aggregate.
//!
//! Enters: a [`snapshot::Snapshot`] of a table and a [`Question`]. Leaves: an [`Answer`], or a [`Partial`] one to merge
//! with those of other machines.
//!
//! Guarantees
//! - answers are exact, or say where they are not: integers are summed without loss, quantiles are values that occur,
//!   distinct values are counted one by one, and the first of many groups are the first of all groups. Sums of real
//!   numbers keep twice their digits;
//! - pruning never skips a row that meets the conditions;
//! - memory is bounded: a question that needs more returns an error.
//!
//! Knows no SQL engine, no wire format, and no writer of rows.

mod answer;
mod cache;
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
mod words;

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
