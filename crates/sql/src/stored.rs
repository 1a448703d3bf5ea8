//! The ensembles that an engine reads: a snapshot from when it was opened.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use ensemble::{Columns, EnsembleError, MakeModel, ReadRows, Store, StoredEnsemble};
use futures::future::BoxFuture;
use model::{Model, UnknownName};

use crate::error::QueryError;
use crate::filter::Conditions;

/// Maximum ensembles with open columns, and the memory limit of each for cached columns.
const OPEN_MAX: usize = 4;
const COLUMN_BYTES_MAX: usize = 128 << 20;

/// An ensemble, or the error of reading it. The error fails only queries that need the ensemble.
type Found = Result<Arc<StoredEnsemble>, Arc<EnsembleError>>;

/// A snapshot of the ensembles of a data folder, shared by any number of engines.
#[derive(Debug, Clone)]
pub struct Ensembles(Arc<[(String, Found)]>);

impl Default for Ensembles {
    /// No ensembles.
    fn default() -> Self {
        Self(Arc::new([]))
    }
}

impl From<StoredEnsemble> for Ensembles {
    /// One ensemble alone.
    fn from(ensemble: StoredEnsemble) -> Self {
        Self([(ensemble.plan.name.clone(), Ok(Arc::new(ensemble)))].into())
    }
}

impl Ensembles {
    /// Reads the ensembles of `store`; none for `None`. Reads only the rows of `sim.ensembles` that `read` lacks.
    ///
    /// # Errors
    /// If the tables cannot be read. An unreadable ensemble is listed with its error.
    pub fn read<'s>(store: Option<&'s Store>, read: &'s mut ReadRows) -> BoxFuture<'s, Result<Self, QueryError>> {
        Box::pin(async move {
            let Some(store) = store else { return Ok(Self::default()) };
            let found = store.ensembles(read).await?.into_iter();
            let mut found: Vec<_> = found.map(|(name, found)| (name, found.map(Arc::new).map_err(Arc::new))).collect();
            found.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
            Ok(Self(found.into()))
        })
    }

    /// All ensembles, ordered by name: the ensemble, or the error of reading it.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Result<&Arc<StoredEnsemble>, &Arc<EnsembleError>>)> {
        self.0.iter().map(|(name, found)| (name.as_str(), found.as_ref()))
    }
}

pub(crate) struct EnsembleSnapshot {
    ensembles: Ensembles,
    make_model: MakeModel,
    /// The most recently opened columns come last.
    open: Mutex<Vec<Arc<Columns>>>,
}

impl fmt::Debug for EnsembleSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnsembleSnapshot").field("ensembles", &self.ensembles.0.len()).finish_non_exhaustive()
    }
}

impl EnsembleSnapshot {
    pub(crate) fn new(ensembles: Ensembles, make_model: MakeModel) -> Self {
        Self { ensembles, make_model, open: Mutex::default() }
    }

    /// All ensembles, ordered by name.
    pub(crate) fn ensembles(&self) -> &[(String, Found)] {
        &self.ensembles.0
    }

    /// The ensembles that match the conditions.
    pub(crate) fn wanted(&self, conditions: &Conditions<'_>) -> Result<Vec<&Arc<StoredEnsemble>>, QueryError> {
        let places = conditions.names("ensemble", self.names())?;
        places.into_iter().map(|place| readable(&self.ensembles.0[place].1)).collect()
    }

    pub(crate) fn ensemble(&self, name: &str) -> Result<&Arc<StoredEnsemble>, QueryError> {
        match self.ensembles.0.iter().find(|(n, _)| n == name) {
            Some((_, found)) => readable(found),
            None => Err(UnknownName::new("no ensemble", name, self.names()).into()),
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.ensembles.0.iter().map(|(name, _)| name.as_str())
    }

    /// The columns of an ensemble. They cache the data read for the next query.
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

    /// The model that replays the events of an ensemble; `None` if they are stored.
    pub(crate) fn replayer(&self, ensemble: &StoredEnsemble) -> Result<Option<Arc<dyn Model>>, QueryError> {
        Ok(ensemble.replayer(|| (self.make_model)(&ensemble.plan))?)
    }
}

fn readable(found: &Found) -> Result<&Arc<StoredEnsemble>, QueryError> {
    found.as_ref().map_err(|error| QueryError::Unreadable(error.clone()))
}
