//! Errors of ensembles.

use std::path::PathBuf;

use model::{ConditionError, UnknownName};
use table::TableError;
use world::{World, WorldRange};

use crate::given::TooFew;

#[derive(Debug, thiserror::Error)]
pub enum EnsembleError {
    #[error(transparent)]
    Table(#[from] TableError),
    #[error("unknown ensemble {name:?} in {}{}", data.display(), suggest(name, have))]
    Unknown { name: String, data: PathBuf, have: Vec<String> },
    #[error("ensemble {name:?} has no version {version}: it was replaced or dropped")]
    Version { name: String, version: u64 },
    #[error("ensemble {name:?} exists already")]
    Taken { name: String },
    #[error("ensemble {name:?} is being played: cancel its run, or wait for its end, then drop it")]
    Played { name: String },
    /// An ensemble that is not complete cannot be extended.
    #[error("ensemble {name:?} cannot be extended before it is complete: it stores {stored} of {planned} worlds")]
    Incomplete { name: String, stored: usize, planned: usize },
    /// An extension would change the stored worlds.
    #[error("ensemble {name:?} cannot be extended: {reason}")]
    Extension { name: String, reason: String },
    #[error("ensemble {name:?} does not store world {}: of {planned} worlds it stores {}", world.0, stored_worlds(stored))]
    World {
        name: String,
        world: World,
        planned: usize,
        /// The completed ranges, in order.
        stored: Vec<WorldRange>,
    },
    /// An ensemble's description cannot be serialised.
    #[error("cannot write the description of ensemble {name:?}: {reason}")]
    Description { name: String, reason: String },
    #[error("the question needs more than {} MB for outcomes: name fewer outcomes", limit >> 20)]
    Memory { limit: usize },
    #[error("{entity} has no events: the model records none for it")]
    NoEvents { entity: String },
    /// The model's catalogue has a fault.
    #[error("ensemble {name:?} cannot be stored: its model declares its outputs wrongly: {reason}")]
    Catalogue { name: String, reason: String },
    /// The model says of no event column what to expect.
    #[error(
        "ensemble {name:?} cannot store compact events: model {model} declares no expected values of event \
             columns; store the events as they are"
    )]
    NotCompact { name: String, model: String },
    /// The model to play the ensemble is missing or refuses its parameters.
    #[error("ensemble {ensemble:?} cannot be played here: {reason}")]
    NoModel { ensemble: String, reason: String },
    /// The model to replay worlds is missing or failed.
    #[error("worlds of ensemble {ensemble:?} cannot be played again: {reason}")]
    Replay { ensemble: String, reason: String },
    /// A newer program stored the ensemble.
    #[error(
        "cannot {action} ensemble {name:?}: a newer version of this program stored it with {}, which this version does not \
         know; update this program",
        lacks.join(" and ")
    )]
    Newer {
        name: String,
        /// `read` or `change`.
        action: &'static str,
        /// What this program does not know.
        lacks: Vec<String>,
    },
    /// The stored data of an ensemble is unreadable or inconsistent. Other ensembles are not affected.
    #[error("ensemble {name:?} is damaged: {reason}")]
    Damaged { name: String, reason: String },
}

/// Why a query has no answer.
#[derive(Debug, thiserror::Error)]
pub enum QuestionError {
    /// Stored outcomes or events could not be read.
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// A leg or condition is invalid.
    #[error(transparent)]
    Expression(#[from] expr::Error),
    /// An expression that divides by 0, or overflows.
    #[error("{expression:?} has no finite value in {count} of {worlds} worlds, first in world {}: it divides by 0 or \
             exceeds the real numbers; keep a divisor above 0 with max(1, ...)", first.0)]
    NotFinite {
        expression: String,
        count: usize,
        worlds: usize,
        /// The first of the worlds.
        first: World,
    },
    #[error("{count} {what} in one question are too many, {max} at most: ask several questions")]
    TooMany { what: &'static str, count: usize, max: usize },
    /// The caller no longer waits for the answer.
    #[error("the question was cancelled")]
    GivenUp,
    /// A condition in the model's own words is invalid.
    #[error(transparent)]
    Words(#[from] ConditionError),
    /// A condition is not an expression, and the model is not available to check its own words.
    #[error("{error}\n(its model, which may know these words, cannot be asked: {reason})")]
    NoModel { error: expr::Error, reason: String },
    #[error(transparent)]
    TooFew(#[from] TooFew),
    #[error("no condition: give at least one")]
    NoLegs,
    /// A bet of a book is invalid.
    #[error("bet {}, {field}: {reason}", place + 1)]
    Bet {
        /// Its place in the book, from 0.
        place: usize,
        /// The part of the bet: `legs`, `entity`, `stake` or `odds`.
        field: String,
        reason: String,
    },
    #[error("a histogram needs at least one bin")]
    NoBins,
    #[error("the quantile {share} is not from 0 to 1: for 95% give 0.95")]
    Quantile { share: f64 },
    #[error("the book has no bets: give at least one")]
    NoBets,
    #[error("the level {level} is not between 0 and 1: for 95% give 0.95")]
    Level { level: String },
    #[error("the stakes and wins of the book add up to more than 9 quadrillion: split the book")]
    BookAmounts,
    #[error("the bets of the book need more than {} MB of memory: split the book", limit >> 20)]
    BookMemory { limit: usize },
    #[error("no outcome and no entity: give at least one of them")]
    NoOutcomes,
    /// A condition in the model's own words lacks an entity.
    #[error("{text:?} needs an entity: write it as \"ENTITY: {text}\"")]
    NoEntity { text: String },
    #[error("ensemble {ensemble:?} has no completed worlds yet")]
    NoWorlds { ensemble: String },
}

/// The stored worlds, with adjacent ranges merged: `0 to 499, 1000 to 1499`.
fn stored_worlds(ranges: &[WorldRange]) -> String {
    const SHOWN_MAX: usize = 8;
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for range in ranges {
        match runs.last_mut() {
            Some((_, end)) if *end == range.first().0 => *end = range.end(),
            _ => runs.push((range.first().0, range.end())),
        }
    }
    let run = |(first, end): &(u32, u32)| format!("{first} to {}", end - 1);
    let mut shown: Vec<String> = runs.iter().take(SHOWN_MAX).map(run).collect();
    if runs.len() > SHOWN_MAX {
        shown.push(format!("{} more runs", runs.len() - SHOWN_MAX));
    }
    if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
}

fn suggest(name: &str, have: &[String]) -> String {
    if have.is_empty() {
        return ": no ensemble is stored there yet".to_owned();
    }
    UnknownName::new("", name, have.iter().map(String::as_str)).advice()
}
