//! What runs, and what can be done with it: from the processes, the tables, the records and the ledger.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::fleet::{EnsembleStatus, State, WorkerStatus};
use ensemble::{EnsembleError, Newest, is_played};
use model::NO_MODEL;
use serde::Serialize;

use super::record::{Outcome, Record};
use super::table::{Active, Phase};
use super::{Fleet, Runs, Stored};

/// How old a status may be that several clients share.
const SHARED_FOR: Duration = Duration::from_millis(80);

/// Who plays an ensemble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum By {
    /// A process of this server.
    Process,
    Fleet,
    /// A shell or another machine; or nobody any more.
    Elsewhere,
}

/// A thing to do with a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Action {
    Pause,
    Resume,
    Cancel,
    Retry,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Run {
    pub(crate) ensemble: String,
    /// `None` until it is registered.
    pub(crate) version: Option<u64>,
    pub(crate) by: By,
    pub(crate) state: &'static str,
    pub(crate) worlds: u64,
    /// Worlds that are played, perhaps not stored yet.
    pub(crate) worlds_done: u64,
    /// Worlds that can be read.
    pub(crate) worlds_stored: u64,
    pub(crate) worlds_per_s: f64,
    pub(crate) left_s: Option<f64>,
    pub(crate) started: String,
    pub(crate) model: String,
    pub(crate) error: Option<String>,
    pub(crate) can: Vec<Action>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) workers: Vec<Member>,
}

/// A worker of a fleet.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Member {
    id: String,
    host: String,
    pid: i32,
    threads: i32,
    is_there: bool,
    worlds_done: i64,
    worlds_per_s: f64,
    trouble: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Status {
    pub(crate) runs: Vec<Run>,
    pub(crate) workers: Vec<Member>,
    /// Why the ledger of the fleet does not answer.
    pub(crate) fleet_error: Option<String>,
    /// Counts changes of the list of ensembles.
    #[serde(skip)]
    pub(crate) lists: u64,
}

/// Computes the status, once for all who ask at about the same time.
pub(crate) struct Watch {
    pub(crate) data: std::path::PathBuf,
    pub(crate) runs: Arc<Runs>,
    pub(crate) stored: Stored,
    pub(crate) fleet: Option<Arc<Fleet>>,
    known: tokio::sync::Mutex<Option<(Instant, u64, Arc<Status>)>>,
}

impl Watch {
    pub(crate) fn new(data: std::path::PathBuf, runs: Arc<Runs>, fleet: Option<Arc<Fleet>>) -> Self {
        Self { data, runs, stored: Stored::default(), fleet, known: tokio::sync::Mutex::default() }
    }

    /// The current status.
    ///
    /// # Errors
    /// If the tables cannot be read.
    pub(crate) async fn status(&self) -> Result<Arc<Status>, EnsembleError> {
        let mut known = self.known.lock().await;
        let changes = *self.runs.changes().borrow();
        if let Some((at, seen, status)) = &*known
            && (at.elapsed() < SHARED_FOR && *seen == changes)
        {
            return Ok(status.clone());
        }
        let status = Arc::new(self.compute().await?);
        *known = Some((Instant::now(), changes, status.clone()));
        Ok(status)
    }

    /// Has the next status read everything again.
    pub(crate) async fn renew(&self) {
        self.stored.renew().await;
        *self.known.lock().await = None;
    }

    async fn compute(&self) -> Result<Status, EnsembleError> {
        let fleet = match &self.fleet {
            Some(fleet) => Some(fleet.view().await),
            None => None,
        };
        // The tables first: a run that ends meanwhile is then in the records, and what it stored last is looked for.
        let (tables, (active, records)) = loop {
            let ended = self.runs.ended();
            let tables = self.stored.look(&self.data, ended).await?;
            let runs = self.runs.all();
            if self.runs.ended() == ended {
                break (tables, runs);
            }
        };
        let mut runs: BTreeMap<String, Run> = BTreeMap::new();
        for newest in &*tables.newest {
            let growth = tables.growing.get(&newest.name).copied();
            let record = records.get(&newest.name).filter(|record| record.version == newest.version);
            let mut submitted = fleet.iter().flat_map(|view| view.ensembles.iter());
            let submitted = submitted.find(|one| one.name == newest.name && one.version as u64 == newest.version);
            let run = match submitted {
                Some(submitted) if record.is_none() => Some(of_fleet(submitted)),
                _ => {
                    let is_played = !newest.is_complete() && is_played(&self.data, &newest.name);
                    of_tables(newest, record, is_played, growth)
                }
            };
            runs.extend(run.map(|run| (newest.name.clone(), run)));
        }
        runs.extend(active.iter().map(|(name, active)| (name.clone(), of_process(name, active))));
        let workers = fleet.iter().flat_map(|view| view.workers.iter().map(member)).collect();
        let fleet_error = fleet.and_then(|view| view.error);
        Ok(Status { runs: runs.into_values().collect(), workers, fleet_error, lists: tables.lists })
    }
}

fn rounded(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// Remaining seconds at a rate.
fn left_s(worlds: u64, rate: f64) -> Option<f64> {
    (rate > 0.0).then(|| rounded(worlds as f64 / rate))
}

fn of_process(name: &str, active: &Active) -> Run {
    let (state, can) = match active.phase {
        Phase::Starting => ("starting", vec![Action::Pause, Action::Cancel]),
        Phase::Queued => ("queued", vec![Action::Pause, Action::Cancel]),
        Phase::Running => ("running", vec![Action::Pause, Action::Cancel]),
        Phase::Pausing => ("pausing", vec![Action::Cancel]),
        Phase::Cancelling => ("pausing", Vec::new()),
    };
    let done = active.before + active.progress.played;
    let seconds = active.began.map_or(0.0, |began| began.elapsed().as_secs_f64());
    let rate = if seconds > 0.0 { active.progress.played as f64 / seconds } else { 0.0 };
    let is_playing = matches!(active.phase, Phase::Running);
    Run {
        ensemble: name.to_owned(),
        version: (active.version > 0).then_some(active.version),
        by: By::Process,
        state,
        worlds: active.worlds,
        worlds_done: done,
        worlds_stored: active.before + active.progress.stored,
        worlds_per_s: rounded(rate),
        left_s: left_s(active.worlds.saturating_sub(done), rate).filter(|_| is_playing),
        started: active.started.clone(),
        model: active.model.clone(),
        error: None,
        can,
        workers: Vec::new(),
    }
}

/// A version that no process of this server plays; `None` if it is complete and was played elsewhere.
fn of_tables(newest: &Newest, record: Option<&Record>, is_played: bool, growth: Option<f64>) -> Option<Run> {
    let (worlds, stored) = (newest.planned as u64, newest.stored as u64);
    if record.is_none() && (newest.is_complete() || newest.model == NO_MODEL) {
        return None;
    }
    // Growth without a mark shows that another machine plays it.
    let is_running = is_played || (growth.is_some() && record.is_none());
    let (state, can): (_, &[Action]) = match record.and_then(|record| record.outcome) {
        _ if newest.is_enough => ("enough", &[]),
        _ if newest.is_complete() => ("complete", &[]),
        _ if is_running => ("running", &[]),
        Some(Outcome::Failed) => ("failed", &[Action::Retry]),
        Some(Outcome::Cancelled) => ("cancelled", &[Action::Retry]),
        _ => ("paused", &[Action::Resume, Action::Cancel]),
    };
    let rate = growth.filter(|_| state == "running").unwrap_or_default();
    Some(Run {
        ensemble: newest.name.clone(),
        version: Some(newest.version),
        by: if record.is_some() && state != "running" { By::Process } else { By::Elsewhere },
        state,
        worlds,
        worlds_done: stored,
        worlds_stored: if newest.replaces && !newest.is_complete() { 0 } else { stored },
        worlds_per_s: rounded(rate),
        left_s: left_s(worlds.saturating_sub(stored), rate),
        started: record.map_or_else(|| newest.created.clone(), |record| record.started.clone()),
        model: newest.model.clone(),
        error: record.filter(|_| state == "failed").and_then(|record| record.error.clone()),
        can: can.to_vec(),
        workers: Vec::new(),
    })
}

fn of_fleet(one: &EnsembleStatus) -> Run {
    let (state, can): (_, &[Action]) = match one.state {
        State::Submitting => ("starting", &[Action::Cancel]),
        State::Running => ("running", &[Action::Pause, Action::Cancel]),
        State::Paused => ("paused", &[Action::Resume, Action::Cancel]),
        State::Cancelled => ("cancelled", &[Action::Retry]),
        State::Failed => ("failed", &[Action::Retry]),
        State::Enough => ("enough", &[]),
        State::Complete => ("complete", &[]),
    };
    let failure = one.failures.iter().find(|failure| failure.is_given_up);
    Run {
        ensemble: one.name.clone(),
        version: Some(one.version as u64),
        by: By::Fleet,
        state,
        worlds: one.worlds as u64,
        worlds_done: one.worlds_done as u64,
        worlds_stored: one.worlds_done as u64,
        worlds_per_s: rounded(one.worlds_per_s),
        left_s: one.left_s.map(rounded),
        started: one.submitted_at.clone(),
        model: one.model.clone(),
        error: failure.map(|failure| format!("worlds {}: {}", failure.range, failure.reason)),
        can: can.to_vec(),
        workers: one.workers.iter().map(member).collect(),
    }
}

fn member(worker: &WorkerStatus) -> Member {
    let WorkerStatus { id, host, pid, threads, is_there, worlds_done, worlds_per_s, trouble } = worker.clone();
    Member { id, host, pid, threads, is_there, worlds_done, worlds_per_s: rounded(worlds_per_s), trouble }
}
