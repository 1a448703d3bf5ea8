//! What an ensemble is: everything that fixes its worlds.

use std::error::Error;
use std::sync::Arc;

use model::{Catalogue, Model};
use serde::{Deserialize, Serialize};
use world::{Seed, WorldRange};

/// Whether events are kept or played again when they are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventMode {
    /// Every event is a row of `sim.events`.
    Store,
    /// Nothing is kept; any slice is played again from the seed.
    Replay,
}

impl EventMode {
    /// The word for it on the command line and in the tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Replay => "replay",
        }
    }
}

/// One version of an ensemble, as it was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The ensemble's name.
    pub name: String,
    /// The model's name.
    pub model: String,
    /// The parameters as a JSON object.
    pub parameters: String,
    /// The seed.
    pub seed: Seed,
    /// All worlds.
    pub worlds: WorldRange,
    /// Worlds of a range (the last may have fewer).
    pub range_worlds: u32,
    /// What becomes of events.
    pub events: EventMode,
    /// Everything the model emits.
    pub catalogue: Catalogue,
}

/// Why a model could not be made.
pub type ModelError = Box<dyn Error + Send + Sync>;

/// Makes the model that a stored plan was played by.
pub type MakeModel = Arc<dyn Fn(&Plan) -> Result<Arc<dyn Model>, ModelError> + Send + Sync>;

impl Plan {
    /// The ranges, in order.
    pub fn ranges(&self) -> Vec<WorldRange> {
        self.worlds.split(self.range_worlds)
    }

    /// What differs from another plan that would make its worlds differ, in words; `None` where nothing does.
    pub fn difference(&self, other: &Self) -> Option<String> {
        const SHOWN_MAX: usize = 1000;
        let pairs = [
            ("model", self.model.clone(), other.model.clone()),
            ("parameters", self.parameters.clone(), other.parameters.clone()),
            ("seed", self.seed.0.to_string(), other.seed.0.to_string()),
            ("worlds", self.worlds.count().to_string(), other.worlds.count().to_string()),
            ("events", self.events.word().to_owned(), other.events.word().to_owned()),
        ];
        pairs.into_iter().find(|(_, a, b)| a != b).map(|(what, a, b)| match a.len() + b.len() {
            // What a model plays may be defined in thousands of words.
            SHOWN_MAX.. => format!("other {what}"),
            _ => format!("{what} {a}, not {b}"),
        })
    }
}

/// Why a name cannot be an ensemble's.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "{0:?} cannot name an ensemble: use 1 to 64 lower-case letters, digits, '-', '_' and '.', beginning with a letter or digit"
)]
pub struct NameError(pub String);

/// Checks that a name can be an ensemble's: it becomes part of file names.
pub fn check_name(name: &str) -> Result<(), NameError> {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
    let first = name.chars().next().is_some_and(|c| c.is_ascii_alphanumeric());
    if first && name.len() <= 64 && name.chars().all(good) { Ok(()) } else { Err(NameError(name.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_cannot_be_files_are_refused() {
        for good in ["a", "season-1", "2026_w3.v2", &"x".repeat(64)] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
        for bad in ["", ".", "..", "-x", "A", "a/b", "a b", "é", &"x".repeat(65)] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
