//! What was read of ensembles and stays in memory from one question to the next.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use disk::RealDisk;
use ensemble::{Columns, EnsembleError, Store, StoredEnsemble, open_columns};
use sql::{Ensembles, QueryError};

use crate::error::Refusal;
use crate::questions::broken;

/// Ensembles whose columns are kept open, and the memory that each may hold.
const OPEN_MAX: usize = 4;
const COLUMN_BYTES_MAX: usize = 64 << 20;

/// What was read of ensembles and stays in memory from one question to the next.
#[derive(Default)]
pub(crate) struct Warm {
    /// What there is, and when the tables were committed to last before it was read.
    known: tokio::sync::Mutex<Option<(Commits, Ensembles)>>,
    /// The last one asked about last.
    open: Mutex<Vec<Arc<Columns>>>,
}

/// When each table of the ensembles was committed to last.
type Commits = [Option<SystemTime>; 3];

/// Whether another commit would be seen by its time: file systems count time in steps of some milliseconds.
fn is_settled(commits: &Commits) -> bool {
    const STEPS: Duration = Duration::from_millis(100);
    commits.iter().flatten().all(|at| at.elapsed().is_ok_and(|since| since > STEPS))
}

impl Warm {
    /// The ensembles as they are now: those that were read before, where nothing was committed since.
    pub(crate) async fn ensembles(&self, data: &Path) -> Result<Ensembles, QueryError> {
        // One question reads them, and others wait for it.
        let mut known = self.known.lock().await;
        // Taken before the tables are read: a commit in between makes the next question read them again.
        let commits = Store::committed_at(data);
        if let Some((before, ensembles)) = &*known
            && *before == commits
        {
            return Ok(ensembles.clone());
        }
        let settled = is_settled(&commits);
        let store = Store::open(data, Arc::new(RealDisk)).await?;
        let ensembles = Ensembles::read(store.as_ref()).await?;
        // What cannot be read may be the next time, without a commit.
        let keep = settled && ensembles.iter().all(|(_, found)| found.is_ok());
        *known = keep.then(|| (commits, ensembles.clone()));
        Ok(ensembles)
    }

    /// The columns of the current version of an ensemble: those that are open, where it has not changed since.
    pub(crate) async fn columns(&self, data: &Path, name: &str) -> Result<Arc<Columns>, Refusal> {
        let ensembles = self.ensembles(data).await?;
        let Some((_, found)) = ensembles.iter().find(|(other, _)| *other == name) else {
            let have = ensembles.iter().map(|(name, _)| name.to_owned()).collect();
            return Err(EnsembleError::Unknown { name: name.to_owned(), data: data.to_owned(), have }.into());
        };
        let stored = found.map_err(|error| Refusal::from(&**error))?;
        if let Some(columns) = self.find(stored) {
            return Ok(columns);
        }
        let stored = StoredEnsemble::clone(stored);
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

    /// Open columns of the very same ranges.
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
