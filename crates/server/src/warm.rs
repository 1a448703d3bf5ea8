//! Caches ensembles between queries.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use axum::http::StatusCode;
use disk::RealDisk;
use ensemble::{Columns, EnsembleError, ReadRows, Store, StoredEnsemble, open_columns};
use sql::{Ensembles, QueryError};

use crate::error::Refusal;
use crate::questions::broken;

/// Maximum ensembles with cached columns, and the memory limit of each in bytes.
const OPEN_MAX: usize = 4;
const COLUMN_BYTES_MAX: usize = 64 << 20;

/// Ensembles cached between queries.
#[derive(Default)]
pub(crate) struct Warm {
    known: tokio::sync::Mutex<Known>,
    /// Least recently used first.
    open: Mutex<Vec<Arc<Columns>>>,
}

#[derive(Default)]
struct Known {
    /// The ensembles, with the tables' last commit times before the read.
    ensembles: Option<(Commits, Ensembles)>,
    rows: ReadRows,
}

/// Last commit time of each ensemble table.
pub(crate) type Commits = [Option<SystemTime>; 3];

/// Whether a later commit would change the time. File systems count time in steps of some milliseconds.
pub(crate) fn is_settled(commits: &Commits) -> bool {
    const STEPS: Duration = Duration::from_millis(100);
    commits.iter().flatten().all(|at| at.elapsed().is_ok_and(|since| since > STEPS))
}

impl Warm {
    /// The current ensembles; reads them again after a commit.
    pub(crate) async fn ensembles(&self, data: &Path) -> Result<Ensembles, QueryError> {
        // One query reads them; the others wait.
        let mut known = self.known.lock().await;
        // Taken before the tables are read, so that a commit in between triggers another read.
        let commits = Store::committed_at(data);
        if let Some((before, ensembles)) = &known.ensembles
            && *before == commits
        {
            return Ok(ensembles.clone());
        }
        let settled = is_settled(&commits);
        let store = Store::open(data, Arc::new(RealDisk)).await?;
        let ensembles = Ensembles::read(store.as_ref(), &mut known.rows).await?;
        // An unreadable ensemble may become readable without a commit.
        let keep = settled && ensembles.iter().all(|(_, found)| found.is_ok());
        known.ensembles = keep.then(|| (commits, ensembles.clone()));
        Ok(ensembles)
    }

    /// The current version of an ensemble.
    pub(crate) async fn ensemble(&self, data: &Path, name: &str) -> Result<Arc<StoredEnsemble>, Refusal> {
        let ensembles = self.ensembles(data).await?;
        let Some((_, found)) = ensembles.iter().find(|(other, _)| *other == name) else {
            let have = ensembles.iter().map(|(name, _)| name.to_owned()).collect();
            return Err(EnsembleError::Unknown { name: name.to_owned(), data: data.to_owned(), have }.into());
        };
        Ok(found.map_err(|error| Refusal::from(&**error))?.clone())
    }

    /// The columns of an ensemble's current version, cached if unchanged.
    pub(crate) async fn columns(&self, data: &Path, name: &str) -> Result<Arc<Columns>, Refusal> {
        let stored = self.ensemble(data, name).await?;
        if let Some(columns) = self.find(&stored) {
            return Ok(columns);
        }
        let stored = StoredEnsemble::clone(&stored);
        let opened = tokio::task::spawn_blocking(move || open_columns(stored, COLUMN_BYTES_MAX)).await;
        let columns = Arc::new(opened.map_err(|e| broken(&e))??);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|c| c.ensemble().plan.name != name);
        if open.len() == OPEN_MAX {
            open.remove(0);
        }
        open.push(columns.clone());
        Ok(columns)
    }

    /// Why a question about ensembles failed: their files go right after their rows when they are dropped.
    pub(crate) async fn reason(&self, data: &Path, names: &[String], failed: Refusal) -> Refusal {
        for name in names {
            if let Err(unknown) = self.ensemble(data, name).await
                && unknown.status() == StatusCode::NOT_FOUND
            {
                return unknown;
            }
        }
        failed
    }

    /// Cached columns of exactly these ranges.
    fn find(&self, stored: &StoredEnsemble) -> Option<Arc<Columns>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |c: &Arc<Columns>| {
            let known = c.ensemble();
            known.plan.name == stored.plan.name
                && known.version == stored.version
                && known.outcomes == stored.outcomes
                && known.events == stored.events
        };
        let place = open.iter().position(same)?;
        open[place..].rotate_left(1);
        open.last().cloned()
    }
}

#[cfg(test)]
mod tests {
    use ensemble::{EventMode, Plan};
    use model::Catalogue;
    use world::{Seed, World, WorldRange};

    use super::*;

    #[tokio::test]
    async fn question_fails_for_want_of_an_ensemble_once_it_is_dropped() {
        let data = tempfile::tempdir().unwrap();
        let mut store = Store::open_or_create(data.path(), Arc::new(RealDisk)).await.unwrap();
        let plan = Plan {
            name: "season".to_owned(),
            model: "walk".to_owned(),
            parameters: "{}".to_owned(),
            seed: Seed(1),
            worlds: WorldRange::new(World(0), 10).unwrap(),
            range_worlds: 10,
            events: EventMode::Replay,
            catalogue: Catalogue { kinds: Vec::new(), entities: Vec::new(), events: Vec::new() },
        };
        store.register(plan, false).await.unwrap();
        let warm = Warm::default();
        let reason = async || {
            let no_file = Refusal::internal("cannot open a file: it does not exist");
            warm.reason(data.path(), &["season".to_owned()], no_file).await.status()
        };
        assert_eq!(reason().await, StatusCode::INTERNAL_SERVER_ERROR);
        store.drop_ensemble("season").await.unwrap();
        assert_eq!(reason().await, StatusCode::NOT_FOUND);
    }
}
