//! Errors of ensembles.

use std::path::PathBuf;

use model::{ConditionError, UnknownName};
use table::TableError;
use world::{World, WorldRange};

use crate::given::TooFew;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum EnsembleError {
    /// A table could not be read or written.
    #[error(transparent)]
    Table(#[from] TableError),
    /// No ensemble has the name.
    #[error("unknown ensemble {name:?} in {}{}", data.display(), suggest(have))]
    Unknown {
        /// The requested name.
        name: String,
        /// The data folder.
        data: PathBuf,
        /// The existing ensembles.
        have: Vec<String>,
    },
    /// The ensemble is at another version.
    #[error("ensemble {name:?} has no version {version}: it was replaced or dropped")]
    Version {
        /// The ensemble.
        name: String,
        /// The requested version.
        version: u64,
    },
    /// The name is in use.
    #[error("ensemble {name:?} exists already")]
    Taken {
        /// The requested name.
        name: String,
    },
    /// A world is not stored.
    #[error("ensemble {name:?} does not store world {}: of {planned} worlds it stores {}", world.0, stored_worlds(stored))]
    World {
        /// The ensemble.
        name: String,
        /// The requested world.
        world: World,
        /// Planned number of worlds of the ensemble.
        planned: usize,
        /// The completed ranges, in order.
        stored: Vec<WorldRange>,
    },
    /// An ensemble's description cannot be serialised.
    #[error("cannot write the description of ensemble {name:?}: {reason}")]
    Description {
        /// The ensemble.
        name: String,
        /// The defect.
        reason: String,
    },
    /// A query needs too much memory.
    #[error("the question needs more than {} MB for outcomes: name fewer outcomes", limit >> 20)]
    Memory {
        /// The limit in bytes.
        limit: usize,
    },
    /// The entity has no events.
    #[error("{entity} has no events: only the entities that are played have")]
    NoEvents {
        /// The entity.
        entity: String,
    },
    /// The model to replay worlds is missing or failed.
    #[error("worlds of ensemble {ensemble:?} cannot be played again: {reason}")]
    Replay {
        /// The ensemble.
        ensemble: String,
        /// Why.
        reason: String,
    },
    /// The stored data of an ensemble is unreadable or inconsistent. Other ensembles are not affected.
    #[error("ensemble {name:?} is damaged: {reason}")]
    Damaged {
        /// The ensemble.
        name: String,
        /// The defect.
        reason: String,
    },
}

/// Why a query has no answer.
#[derive(Debug, thiserror::Error)]
pub enum QuestionError {
    /// Stored outcomes or events could not be read.
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    /// Unknown name.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// A leg or condition is invalid.
    #[error(transparent)]
    Expression(#[from] expr::Error),
    /// The query has too many parts.
    #[error("{count} {what} in one question are too many, {max} at most: ask several questions")]
    TooMany {
        /// The kind of part.
        what: &'static str,
        /// The number asked for.
        count: usize,
        /// The limit.
        max: usize,
    },
    /// The caller no longer waits for the answer.
    #[error("the question was given up")]
    GivenUp,
    /// A condition in the model's own words is invalid.
    #[error(transparent)]
    Words(#[from] ConditionError),
    /// A condition is not an expression, and the model is not available to check its own words.
    #[error("{error}\n(its model, which may know these words, cannot be asked: {reason})")]
    NoModel {
        /// Why it is not an expression.
        error: expr::Error,
        /// Why the model is missing.
        reason: String,
    },
    /// Too few worlds meet the conditions.
    #[error(transparent)]
    TooFew(#[from] TooFew),
    /// The query has no legs.
    #[error("no condition: give at least one")]
    NoLegs,
    /// A condition in the model's own words lacks an entity.
    #[error("{text:?} needs an entity: write it as \"ENTITY: {text}\"")]
    NoEntity {
        /// The condition.
        text: String,
    },
    /// No world is complete yet.
    #[error("ensemble {ensemble:?} has no completed worlds yet")]
    NoWorlds {
        /// The ensemble.
        ensemble: String,
    },
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

fn suggest(have: &[String]) -> String {
    if have.is_empty() {
        ": no ensemble is stored there yet".to_owned()
    } else {
        format!(" (stored: {})", have.join(", "))
    }
}
