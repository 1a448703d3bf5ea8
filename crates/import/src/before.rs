//! An ensemble that gets more worlds.

use std::collections::BTreeMap;

use ensemble::StoredEnsemble;
use model::{Catalogue, Outcome, OutcomeKind};

use crate::error::{ImportError, Result};
use crate::options::Kind;

/// The model of imported ensembles: a name that no model can have.
pub use model::NO_MODEL as MODEL;

/// The stored part of an ensemble.
#[derive(Debug)]
pub(crate) struct Before {
    pub(crate) version: u64,
    /// Stored worlds, from 0 on.
    pub(crate) worlds: u32,
    pub(crate) catalogue: Catalogue,
    pub(crate) stored: StoredEnsemble,
}

impl Before {
    pub(crate) fn of(stored: StoredEnsemble) -> Result<Self> {
        let plan = &stored.plan;
        let refuse = |reason: String| Err(ImportError::Append { name: plan.name.clone(), reason });
        if plan.model != MODEL {
            return refuse(format!(
                "model {} played its worlds, and only imported ensembles can be appended to",
                plan.model
            ));
        }
        let mut worlds = 0;
        for (range, _, _) in &stored.outcomes {
            if range.first().0 != worlds {
                return refuse(format!("it lacks world {worlds}"));
            }
            worlds = range.end();
        }
        if worlds == 0 {
            return Err(ImportError::Interrupted { name: plan.name.clone() });
        }
        Ok(Self { version: stored.version, worlds, catalogue: plan.catalogue.clone(), stored })
    }

    /// Checks that declared kinds are the stored ones.
    pub(crate) fn check_kinds(&self, name: &str, declared: &BTreeMap<String, Kind>) -> Result<()> {
        let differs = |(outcome, kind): (&String, &Kind)| match (self.kind(outcome)?, *kind) {
            (Kind::Number { .. }, Kind::Number { scale: None }) => None,
            (stored, kind) if stored == kind => None,
            (stored, kind) => Some(format!("outcome {outcome:?} is stored as {stored}, not as {kind}")),
        };
        match declared.iter().find_map(differs) {
            Some(reason) => Err(ImportError::Append { name: name.to_owned(), reason }),
            None => Ok(()),
        }
    }

    fn outcome(&self, name: &str) -> Option<&Outcome> {
        self.catalogue.kinds.iter().flat_map(|kind| &kind.outcomes).find(|known| known.name == name)
    }

    /// The text of each code of an outcome; none if its codes have no texts.
    pub(crate) fn labels(&self, outcome: &str) -> &[String] {
        self.outcome(outcome).map_or(&[], |outcome| &outcome.labels)
    }

    /// The stored kind of an outcome, which new values must fit; `None` for an unknown outcome.
    pub(crate) fn kind(&self, outcome: &str) -> Option<Kind> {
        self.outcome(outcome).map(|Outcome { kind, scale, .. }| match kind {
            OutcomeKind::Number => Kind::Number { scale: Some(*scale) },
            OutcomeKind::Flag => Kind::Flag,
            OutcomeKind::Code => Kind::Code,
            OutcomeKind::Real => Kind::Real,
        })
    }
}

/// Checks that the names of new entities or outcomes are those that the ensemble `name` stores.
pub(crate) fn check_names<'n>(name: &str, what: &str, stored: &[&'n str], new: &[&'n str]) -> Result<()> {
    let lacks = |one: &[&'n str], other: &[&'n str]| other.iter().copied().find(|name| !one.contains(name));
    let reason = match (lacks(new, stored), lacks(stored, new)) {
        (Some(missing), _) => format!("the input lacks {what} {missing:?}"),
        (_, Some(unknown)) => format!("it has no {what} {unknown:?}, which the input has"),
        (None, None) => return Ok(()),
    };
    Err(ImportError::Append { name: name.to_owned(), reason })
}
