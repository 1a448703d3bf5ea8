//! Questions about ensembles, answered from columns that stay in memory from one request to the next.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use ensemble::{
    Columns, EnsembleError, OutcomeQuestion, Price, PriceQuestion, QuestionError, Store, StoredEnsemble, open_columns,
};
use query::QueryError;
use serde_json::{Value, json};
use table::SIM;
use table::disk::RealDisk;

use crate::access::Access;
use crate::app::App;
use crate::error::Refusal;

/// Ensembles that are kept open, and the memory that each may hold.
const OPEN_MAX: usize = 4;
const COLUMN_BYTES_MAX: usize = 64 << 20;

/// Ensembles that were asked about, the last one asked about last.
#[derive(Default)]
pub(crate) struct Warm(Mutex<Vec<Entry>>);

struct Entry {
    name: String,
    state: Commits,
    columns: Arc<Columns>,
}

/// When each table of the ensembles was committed to last.
type Commits = [Option<SystemTime>; 3];

/// Whether another commit would be seen by its time: file systems count time in steps of some milliseconds.
fn is_settled(state: &Commits) -> bool {
    const STEPS: Duration = Duration::from_millis(100);
    state.iter().flatten().all(|at| at.elapsed().is_ok_and(|since| since > STEPS))
}

impl Warm {
    /// The columns of the current version of an ensemble: those that are open, where nothing was committed since.
    async fn columns(&self, data: &Path, name: &str) -> Result<Arc<Columns>, Refusal> {
        // Taken before the tables are read: a commit in between makes the next question read them again.
        let state = Store::committed_at(data);
        if let Some(columns) = self.find(name, &state) {
            return Ok(columns);
        }
        let unknown = || EnsembleError::Unknown { name: name.to_owned(), data: data.to_owned(), have: Vec::new() };
        let store = Store::open(data, Arc::new(RealDisk)).await?.ok_or_else(unknown)?;
        let stored = store.ensemble(name).await?;
        let columns = if let Some(columns) = self.same(&stored) {
            columns
        } else {
            let opened = tokio::task::spawn_blocking(move || open_columns(stored, COLUMN_BYTES_MAX)).await;
            Arc::new(opened.map_err(|e| broken(&e))??)
        };
        if !is_settled(&state) {
            return Ok(columns);
        }
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|e| e.name != name);
        if open.len() == OPEN_MAX {
            open.remove(0);
        }
        open.push(Entry { name: name.to_owned(), state, columns: columns.clone() });
        Ok(columns)
    }

    /// Open columns of the very same ranges: a commit may have been another ensemble's.
    fn same(&self, stored: &StoredEnsemble) -> Option<Arc<Columns>> {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut columns = open.iter().map(|e| &e.columns);
        let same = |c: &&Arc<Columns>| {
            let known = c.ensemble();
            known.plan.name == stored.plan.name
                && known.version == stored.version
                && known.outcomes == stored.outcomes
                && known.events == stored.events
        };
        columns.find(same).cloned()
    }

    fn find(&self, name: &str, state: &Commits) -> Option<Arc<Columns>> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = open.iter().position(|e| e.name == name && e.state == *state)?;
        open[place..].rotate_left(1);
        open.last().map(|e| e.columns.clone())
    }
}

fn broken(error: &tokio::task::JoinError) -> Refusal {
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, format!("the question broke off: {error}"))
}

type Asked<Q> = Result<Json<Q>, JsonRejection>;

fn question<Q>(asked: Asked<Q>) -> Result<Q, Refusal> {
    Ok(asked.map_err(|e| Refusal::bad(e.body_text()))?.0)
}

/// What `manyworlds ensembles --format json` prints.
pub(crate) async fn ensembles(
    State(app): State<App>,
    Extension(access): Extension<Access>,
) -> Result<Json<Vec<Value>>, Refusal> {
    access.may_read_of(SIM)?;
    let Some(store) = Store::open(&app.settings.data, Arc::new(RealDisk)).await? else {
        return Ok(Json(Vec::new()));
    };
    let found = store.ensembles().await?.into_iter().map(|(name, found)| match found {
        Ok(ensemble) => ensemble.to_json(),
        Err(error) => json!({"ensemble": name, "state": "unreadable", "error": error.to_string()}),
    });
    Ok(Json(found.collect()))
}

/// What `manyworlds price --format json` prints.
pub(crate) async fn price(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    asked: Asked<PriceQuestion>,
) -> Result<Json<Price>, Refusal> {
    access.may_read_of(SIM)?;
    let question = question(asked)?;
    let columns = app.warm.columns(&app.settings.data, &question.ensemble).await?;
    let _room = app.room().await?;
    app.metrics.asked();
    let make_model = app.make_model.clone();
    let answered = tokio::task::spawn_blocking(move || question.answer(&columns, &make_model)).await;
    Ok(Json(answered.map_err(|e| broken(&e))??))
}

/// What `manyworlds outcome --format json` prints.
pub(crate) async fn outcome(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    asked: Asked<OutcomeQuestion>,
) -> Result<Json<Vec<Value>>, Refusal> {
    access.may_read_of(SIM)?;
    let question = question(asked)?;
    let columns = app.warm.columns(&app.settings.data, &question.ensemble).await?;
    let _room = app.room().await?;
    app.metrics.asked();
    let answered = tokio::task::spawn_blocking(move || {
        let answers = question.answer(&columns)?;
        Ok::<_, QuestionError>(answers.iter().map(|a| a.to_json(question.cdf)).collect::<Vec<_>>())
    });
    Ok(Json(answered.await.map_err(|e| broken(&e))??))
}

impl From<QuestionError> for Refusal {
    fn from(error: QuestionError) -> Self {
        match error {
            QuestionError::Ensemble(error) => error.into(),
            QuestionError::Replay { .. } => Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
            other => Self::bad(other.to_string()),
        }
    }
}

impl From<EnsembleError> for Refusal {
    fn from(error: EnsembleError) -> Self {
        match error {
            EnsembleError::Unknown { .. } => Self::new(StatusCode::NOT_FOUND, error.to_string()),
            EnsembleError::Table(error) => error.into(),
            other => QueryError::from(other).into(),
        }
    }
}
