//! Ensembles in tables: writes blocks of outcomes and events to segments, and reads them back.
//!
//! Enters: a model's blocks, range by range. Leaves: three tables in the folder `sim`: `outcomes` (one row per entity,
//! outcome and range, its values a list over the worlds), `events` (one row per event) and `ensembles` (one row per
//! version of an ensemble: model, parameters, seed, catalogue).
//!
//! Guarantees
//! - Atomic ranges: a range is in the tables whole and once, or not at all. Its files have fixed names, and its events
//!   are committed before the outcomes that complete it.
//! - Consistent reads: readers see completed ranges of a single version of an ensemble.
//! - Stable hash: the content hash of the stored data does not depend on how worlds were split into ranges.
//!
//! The crate also answers questions about worlds: [`Columns`] caches outcomes in memory, [`Expression`] selects worlds
//! and computes numbers, [`Quantity`] is an outcome or an expression that a question names, [`WorldsQuestion`] returns
//! values of single worlds, [`price`] computes joint
//! probabilities, [`BookQuestion`] the risk of many bets.
//!
//! Knows no SQL and no meaning of any outcome.

mod aggregate;
mod book;
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
mod goal;
mod interval;
mod json;
mod known;
mod leverage;
mod model_words;
mod needs;
mod one_world;
mod paths;
mod plan;
mod playing;
mod price;
mod quantity;
mod questions;
mod range_reader;
mod range_writer;
mod replay;
mod residuals;
mod schema;
mod store;
mod stored;
mod threads;
mod verify;
mod worlds;

pub use aggregate::{Aggregate, Aggregates, FOLLOWED_MAX, Follow};
pub use book::{
    Bet, BetField, BetFile, BetFileError, BetRisk, BookAnswer, BookQuestion, Decimal, DecimalError, Share, Shortfall,
    Side, TailRisk, WorstWorld,
};
pub use column::{Column, Narrow};
pub use columns::Columns;
pub use compare::Comparison;
pub use correlation::correlation;
pub use declared::{check_events, check_outcomes};
pub use distribution::Distribution;
pub use error::{EnsembleError, QuestionError};
pub use event_filter::EventFilter;
pub use event_reader::EntityRows;
pub use event_source::EventSource;
pub use expr::Error as ExpressionError;
pub use expression::{BitSet, Expression, OutcomeRef};
pub use given::{Given, TooFew, Wider};
pub use goal::Goal;
pub use interval::Interval;
pub use known::KnownOutcome;
pub use leverage::{Leverage, LeverageAnswer, LeverageQuestion};
pub use one_world::{EventsAnswer, EventsQuestion, SummaryAnswer, SummaryQuestion};
pub use paths::RangePaths;
pub use plan::{EventMode, MakeModel, MissingModel, ModelError, NameError, Plan, check_name, make_model};
pub use playing::{Playing, is_played};
pub use price::{LegPrice, Price, price};
pub use quantity::Quantity;
pub use questions::{
    CompareQuestion, CorrelationAnswer, CorrelationQuestion, OutcomeAnswer, OutcomeQuestion, PriceQuestion,
    open_columns,
};
pub use range_reader::{RangeMetadata, RangeReader};
pub use range_writer::{Encoders, PhaseTimes, RangeWriter, Unwritten, WrittenRange};
pub use replay::verify_by_replay;
pub use schema::{event_fields, outcome_fields};
pub use store::{Newest, ReadRows, Registered, Store};
pub use stored::{RangeFile, StoredEnsemble};
pub use verify::{Check, Progress, Verification, verify, verify_with};
pub use worlds::{WorldsAnswer, WorldsColumn, WorldsQuestion};
