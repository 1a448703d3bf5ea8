//! Ensembles in tables: blocks of outcomes and events on their way to segments, and back.
//!
//! Enters: a model's blocks, range by range. Leaves: three tables in the folder `sim`: `outcomes` (one row an
//! entity, outcome and range, its values a list over the worlds), `events` (one row an event) and `ensembles` (one
//! row an ensemble's version: model, parameters, seed, catalogue).
//!
//! Promises
//! - a range is in the tables whole or not at all, and once: its files have fixed names, and its events are committed
//!   before the outcomes that complete it;
//! - readers see completed ranges of one version of an ensemble only;
//! - the content hash of what is on disk does not depend on how the worlds were cut into ranges.
//!
//! Questions about worlds are answered here too: [`Columns`] holds outcomes in memory, [`Expression`] selects worlds,
//! [`price`] gives joint probabilities.
//!
//! Knows nothing of SQL, or of what any outcome means.

mod aggregate;
mod column;
mod columns;
mod compare;
mod correlation;
mod declared;
mod distribution;
mod error;
mod event_filter;
mod event_reader;
mod event_source;
mod expression;
mod given;
mod interval;
mod known;
mod model_words;
mod paths;
mod plan;
mod price;
mod questions;
mod range_reader;
mod range_writer;
mod schema;
mod store;
mod stored;
mod verify;

pub use aggregate::{Aggregate, Aggregates, FOLLOWED_MAX, Follow, Goal};
pub use column::{Column, Narrow};
pub use columns::Columns;
pub use compare::{Comparison, compare};
pub use correlation::correlation;
pub use distribution::Distribution;
pub use error::{EnsembleError, QuestionError};
pub use event_filter::EventFilter;
pub use event_reader::{EventRows, OwnedEventValues};
pub use event_source::EventSource;
pub use expr::Error as ExpressionError;
pub use expression::{BitSet, Expression, OutcomeRef};
pub use given::{Given, TooFew, Wider};
pub use interval::Interval;
pub use known::KnownOutcome;
pub use paths::RangePaths;
pub use plan::{EventMode, MakeModel, ModelError, NameError, Plan, check_name};
pub use price::{LegPrice, Price, price};
pub use questions::{OutcomeAnswer, OutcomeQuestion, PriceQuestion, open_columns};
pub use range_reader::{RangeFacts, RangeReader};
pub use range_writer::{Encoders, PhaseTimes, RangeWriter, Unwritten, WrittenRange};
pub use schema::{event_fields, outcome_fields};
pub use store::{Registered, Store};
pub use stored::{RangeFile, StoredEnsemble};
pub use verify::{Check, Verification, verify};
