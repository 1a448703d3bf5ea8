//! What an engine answers from: the ensembles as they were when it was opened.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use ensemble::{Columns, Plan, Store, StoredEnsemble};
use model::Model;

use crate::error::QueryError;

/// Why a model could not be made.
pub type ModelError = Box<dyn Error + Send + Sync>;

/// Makes the model that a stored plan was played by.
pub type MakeModel = Arc<dyn Fn(&Plan) -> Result<Arc<dyn Model>, ModelError> + Send + Sync>;

/// Ensembles whose columns are kept open, and the memory each may hold of them between questions.
const OPEN_MAX: usize = 4;
const COLUMN_BYTES_MAX: usize = 128 << 20;

pub(crate) struct Snapshot {
    ensembles: Vec<Arc<StoredEnsemble>>,
    make_model: MakeModel,
    /// The most recently opened last.
    open: Mutex<Vec<Arc<Columns>>>,
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").field("ensembles", &self.ensembles.len()).finish_non_exhaustive()
    }
}

impl Snapshot {
    pub(crate) async fn take(store: &Store, make_model: MakeModel) -> Result<Self, QueryError> {
        let mut names = store.names().await?;
        names.sort_unstable();
        names.dedup();
        let mut ensembles = Vec::with_capacity(names.len());
        for name in names {
            ensembles.push(Arc::new(store.ensemble(&name).await?));
        }
        Ok(Self { ensembles, make_model, open: Mutex::default() })
    }

    /// The ensembles, in the order of their names.
    pub(crate) fn ensembles(&self) -> &[Arc<StoredEnsemble>] {
        &self.ensembles
    }

    pub(crate) fn ensemble(&self, name: &str) -> Result<&Arc<StoredEnsemble>, QueryError> {
        let found = self.ensembles.iter().find(|e| e.plan.name == name);
        let names = self.ensembles.iter().map(|e| e.plan.name.as_str());
        found.ok_or_else(|| QueryError::unknown("ensemble", name, names))
    }

    /// The columns of an ensemble, which keep what was read of them for the next question.
    pub(crate) fn columns(&self, ensemble: &StoredEnsemble) -> Result<Arc<Columns>, QueryError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = open.iter().find(|c| c.ensemble().plan.name == ensemble.plan.name) {
            return Ok(found.clone());
        }
        let columns = Arc::new(Columns::open(ensemble.clone(), COLUMN_BYTES_MAX)?);
        if open.len() == OPEN_MAX {
            open.remove(0);
        }
        open.push(columns.clone());
        Ok(columns)
    }

    pub(crate) fn model(&self, ensemble: &StoredEnsemble) -> Result<Arc<dyn Model>, QueryError> {
        (self.make_model)(&ensemble.plan)
            .map_err(|e| QueryError::Replay { ensemble: ensemble.plan.name.clone(), reason: e.to_string() })
    }
}

/// The place of an entity in an ensemble's catalogue.
pub(crate) fn find_entity(ensemble: &StoredEnsemble, name: &str) -> Result<usize, QueryError> {
    let catalogue = &ensemble.plan.catalogue;
    let names = catalogue.entities.iter().map(|e| e.name.as_str());
    catalogue.entity(name).ok_or_else(|| QueryError::unknown("entity", name, names))
}
