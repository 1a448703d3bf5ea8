//! Questions about events: which rows of a table, in which groups, and what is told of each group.
//!
//! Enters: a [`snapshot::Snapshot`] of a table and a [`Question`].
//! Leaves: an [`Answer`], or a [`Partial`] one, to be merged with those of other machines.
//!
//! Promises
//! - answers are exact, or say in what they are not: integers are added up without loss, quantiles are values that
//!   occur, different values are counted one by one, and what is at the top of many groups is so of all of them. Sums of
//!   real numbers are kept to twice their digits;
//! - what is known of rows without reading them never leaves out a row that meets the conditions;
//! - memory is bounded: a question that needs more says so.
//!
//! Knows nothing of SQL engines, of wire formats, or of how rows come into tables.

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
