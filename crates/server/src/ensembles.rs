//! Questions about ensembles, answered from columns that stay in memory from one request to the next.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, State};
use ensemble::{
    Columns, EnsembleError, OutcomeQuestion, Price, PriceQuestion, QuestionError, Store, StoredEnsemble, open_columns,
};
use query::{Ensembles, QueryError};
use serde_json::{Value, json};
use table::SIM;
use table::disk::RealDisk;

use crate::access::Access;
use crate::app::App;
use crate::error::Refusal;
use crate::questions::{Place, broken};

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
    async fn columns(&self, data: &Path, name: &str) -> Result<Arc<Columns>, Refusal> {
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

/// What `manyworlds ensembles --format json` prints.
pub(crate) async fn ensembles(
    State(app): State<App>,
    Extension(access): Extension<Access>,
) -> Result<Json<Vec<Value>>, Refusal> {
    access.may_read_of(SIM)?;
    let ensembles = app.warm.ensembles(&app.settings.data).await?;
    let found = ensembles.iter().map(|(name, found)| match found {
        Ok(ensemble) => ensemble.to_json(),
        Err(error) => json!({"ensemble": name, "state": "unreadable", "error": error.to_string()}),
    });
    Ok(Json(found.collect()))
}

/// What `manyworlds price --format json` prints.
pub(crate) async fn price(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    body: Body,
) -> Result<Json<Price>, Refusal> {
    access.may_read_of(SIM)?;
    let question: PriceQuestion = app.question(body).await?;
    let (name, make_model) = (question.ensemble.clone(), app.make_model.clone());
    app.ask_of(&access, name, move |columns, place| question.answer(columns, &make_model, &|| !place.is_given_up()))
        .await
}

/// What `manyworlds outcome --format json` prints.
pub(crate) async fn outcome(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    body: Body,
) -> Result<Json<Vec<Value>>, Refusal> {
    access.may_read_of(SIM)?;
    let question: OutcomeQuestion = app.question(body).await?;
    let name = question.ensemble.clone();
    app.ask_of(&access, name, move |columns, place| {
        let answers = question.answer(columns, &|| !place.is_given_up())?;
        Ok(answers.iter().map(|a| a.to_json(question.cdf)).collect())
    })
    .await
}

impl App {
    /// Answers a question about an ensemble.
    async fn ask_of<T: Send + 'static>(
        &self,
        access: &Access,
        name: String,
        answer: impl FnOnce(&Columns, &Place) -> Result<T, QuestionError> + Send + 'static,
    ) -> Result<Json<T>, Refusal> {
        self.metrics.asked();
        let app = self.clone();
        let answered = self.questions.ask(access, |place| async move {
            let columns = app.warm.columns(&app.settings.data, &name).await?;
            let answered = tokio::task::spawn_blocking(move || answer(&columns, &place));
            Ok(answered.await.map_err(|e| broken(&e))??)
        });
        Ok(Json(answered.await?))
    }
}
