//! What an import found and stored.

use ensemble::StoredEnsemble;
use serde::Serialize;
use world::ContentHash;

use crate::catalogue::{Described, Description, shown};
use crate::error::Result;
use crate::options::Form;
use crate::read::Content;

/// An import, and its ensemble after it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    pub ensemble: String,
    pub version: u64,
    pub form: Form,
    /// Stored worlds.
    pub worlds: usize,
    /// Worlds of this import.
    pub imported: usize,
    /// Names of the entities.
    pub entities: Vec<String>,
    /// Names of their kinds: entities of one kind have the same outcomes.
    pub kinds: Vec<String>,
    pub outcomes: Vec<ImportedOutcome>,
    /// Values of this import.
    pub values: u64,
    /// Bytes of all stored outcomes.
    pub bytes: u64,
    /// Content hash of all stored outcomes.
    pub hash: String,
}

/// One outcome of all entities that have it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImportedOutcome {
    pub name: String,
    /// `flag`, `number`, `number in steps of 1/100`, `code` or `real`.
    pub kind: String,
    /// Smallest and largest imported value that is a number; `None` for texts, and if all are NaN.
    pub bounds: Option<[f64; 2]>,
    /// The text of each code.
    pub labels: Vec<String>,
    /// Imported values that are NaN or infinite.
    pub not_finite: u64,
}

pub(crate) fn report(stored: &StoredEnsemble, content: &Content, description: &Description) -> Result<Report> {
    let catalogue = &description.catalogue;
    let mut hash = ContentHash::default();
    for range in stored.open_outcomes()? {
        hash += range.metadata().hash;
    }
    let outcomes = description.outcomes.iter().map(|Described { outcome, id, .. }| {
        let seen = &content.seen[*id as usize];
        ImportedOutcome {
            name: outcome.name.clone(),
            kind: shown(outcome),
            bounds: (seen.min <= seen.max).then_some([seen.min, seen.max]),
            labels: outcome.labels.clone(),
            not_finite: seen.not_finite,
        }
    });
    let imported = content.grid.end(0);
    Ok(Report {
        ensemble: stored.plan.name.clone(),
        version: stored.version,
        form: content.form,
        worlds: stored.worlds(),
        imported,
        entities: catalogue.entities.iter().map(|entity| entity.name.clone()).collect(),
        kinds: catalogue.kinds.iter().map(|kind| kind.name.clone()).collect(),
        outcomes: outcomes.collect(),
        values: (imported * catalogue.values_per_world()) as u64,
        bytes: stored.bytes().0,
        hash: hash.to_string(),
    })
}
