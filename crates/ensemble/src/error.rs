//! What can go wrong with an ensemble.

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
        /// The name asked for.
        name: String,
        /// The data folder.
        data: PathBuf,
        /// The ensembles there are.
        have: Vec<String>,
    },
    /// The ensemble has another version.
    #[error("ensemble {name:?} has no version {version}: it was replaced or dropped")]
    Version {
        /// The ensemble.
        name: String,
        /// The version asked for.
        version: u64,
    },
    /// The name is in use.
    #[error("ensemble {name:?} exists already")]
    Taken {
        /// The name asked for.
        name: String,
    },
    /// A world is not stored.
    #[error("ensemble {name:?} does not store world {}: of {planned} worlds it stores {}", world.0, stored_worlds(stored))]
    World {
        /// The ensemble.
        name: String,
        /// The world asked for.
        world: World,
        /// How many worlds the ensemble is to have.
        planned: usize,
        /// The completed ranges, in order.
        stored: Vec<WorldRange>,
    },
    /// An ensemble's description cannot be put in writing.
    #[error("cannot write the description of ensemble {name:?}: {reason}")]
    Description {
        /// The ensemble.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A question needs too much memory.
    #[error("the question needs more than {} MB for outcomes: name fewer outcomes", limit >> 20)]
    Memory {
        /// Bytes that it may have.
        limit: usize,
    },
    /// The entity is not played.
    #[error("{entity} has no events: only the entities that are played have")]
    NoEvents {
        /// The entity.
        entity: String,
    },
    /// The model that plays worlds again is not there, or failed.
    #[error("worlds of ensemble {ensemble:?} cannot be played again: {reason}")]
    Replay {
        /// The ensemble.
        ensemble: String,
        /// Why not.
        reason: String,
    },
    /// What is stored of an ensemble does not read back, or does not fit together. Others are not concerned.
    #[error("ensemble {name:?} is damaged: {reason}")]
    Damaged {
        /// The ensemble.
        name: String,
        /// What is wrong.
        reason: String,
    },
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum QuestionError {
    /// Stored outcomes or events could not be read.
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    /// A name stands for nothing.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// A leg or condition makes no sense.
    #[error(transparent)]
    Expression(#[from] expr::Error),
    /// The question has too many parts.
    #[error("{count} {what} in one question are too many, {max} at most: ask several questions")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How much.
        count: usize,
        /// How much there may be.
        max: usize,
    },
    /// Whoever asked does not wait for the answer.
    #[error("the question was given up")]
    GivenUp,
    /// A condition in the model's own words makes no sense.
    #[error(transparent)]
    Words(#[from] ConditionError),
    /// A condition is no expression, and the model cannot be asked whether it is in words of its own.
    #[error("{error}\n(its model, which may know these words, cannot be asked: {reason})")]
    NoModel {
        /// Why it is no expression.
        error: expr::Error,
        /// Why there is no model.
        reason: String,
    },
    /// Too few worlds meet the conditions.
    #[error(transparent)]
    TooFew(#[from] TooFew),
    /// Nothing was asked.
    #[error("no condition: give at least one")]
    NoLegs,
    /// A condition in the model's own words, and no entity.
    #[error("{text:?} needs an entity: write it as \"ENTITY: {text}\"")]
    NoEntity {
        /// The condition.
        text: String,
    },
    /// No world can answer yet.
    #[error("ensemble {ensemble:?} has no completed worlds yet")]
    NoWorlds {
        /// The ensemble.
        ensemble: String,
    },
}

/// Which worlds are stored, neighbouring ranges as one: `0 to 499, 1000 to 1499`.
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
