//! The progress of ensembles and workers.

use ensemble::KnownOutcome;
use run::Until;
use serde::Serialize;
use world::WorldRange;

use crate::error::FleetError;
use crate::ledger::{Ledger, Part, RATE_S, State, Totals};

#[derive(Debug, Clone, Serialize)]
pub struct EnsembleStatus {
    pub name: String,
    /// Its version in the tables.
    pub version: i64,
    pub model: String,
    pub state: State,
    pub worlds: i64,
    /// Stored worlds.
    pub worlds_done: i64,
    /// Worlds of ranges that were given up.
    pub worlds_failed: i64,
    pub ranges: i64,
    /// Stored ranges.
    pub ranges_done: i64,
    /// Ranges that were given up.
    pub ranges_failed: i64,
    /// When it was submitted, in the format of RFC 3339.
    pub submitted_at: String,
    /// Seconds from its submission to its end, or until now.
    pub elapsed_s: f64,
    /// Worlds per second: recently while it runs, on average once it has ended.
    pub worlds_per_s: f64,
    /// Remaining seconds at this rate.
    pub left_s: Option<f64>,
    pub phases: PhaseTotals,
    /// The workers that played it, and all live ones.
    pub workers: Vec<WorkerStatus>,
    /// Summaries of the followed outcomes.
    pub outcomes: Vec<KnownOutcome>,
    /// The goal that may end the ensemble early.
    pub until: Option<UntilStatus>,
    /// The first twenty failures.
    pub failures: Vec<Failure>,
}

/// A goal, and the progress towards it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UntilStatus {
    /// The outcome, as `ENTITY:OUTCOME`.
    pub outcome: String,
    /// The required half width of its confidence interval: `0.5%`, or a number in the outcome's unit.
    pub goal: String,
    /// A summary of the outcome so far.
    pub known: Option<KnownOutcome>,
}

/// Time of an ensemble by phase, in seconds. Phases of ranges are summed over all finished ranges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct PhaseTotals {
    pub submit_s: f64,
    /// From its submission until the first range was claimed.
    pub first_s: Option<f64>,
    /// From publishing messages to their arrival at workers.
    pub dispatch_s: f64,
    /// Waiting for a thread.
    pub wait_s: f64,
    /// Claiming ranges in the ledger.
    pub claim_s: f64,
    pub simulate_s: f64,
    /// Encoding, compressing and hashing.
    pub encode_s: f64,
    /// Writing and syncing files.
    pub write_s: f64,
    pub commit_s: f64,
    /// Noting committed ranges in the ledger.
    pub note_s: f64,
    pub acknowledge_s: f64,
}

/// A worker and its share of the work.
#[derive(Debug, Clone, Serialize)]
pub struct WorkerStatus {
    pub id: String,
    pub host: String,
    pub pid: i32,
    /// Ranges that it plays at once.
    pub threads: i32,
    /// Whether it is alive.
    pub is_there: bool,
    pub worlds_done: i64,
    /// Worlds per second: recently while the ensemble runs, on average once it has ended.
    pub worlds_per_s: f64,
    /// What keeps it from playing.
    pub trouble: Option<String>,
}

/// A failure of a range.
#[derive(Debug, Clone, Serialize)]
pub struct Failure {
    /// The worlds, as `00000000-00004999`.
    pub range: String,
    pub is_given_up: bool,
    pub reason: String,
}

/// The progress of the newest ensembles, newest first.
///
/// # Errors
/// If the ledger does not answer.
pub async fn status(ledger: &Ledger) -> Result<Vec<EnsembleStatus>, FleetError> {
    const MOST: i64 = 20;
    let mut all = Vec::new();
    for totals in ledger.totals(None, MOST).await? {
        all.push(complete(ledger, &totals).await?);
    }
    Ok(all)
}

/// The progress of the newest ensemble with a name.
///
/// # Errors
/// If no ensemble has the name, or the ledger does not answer.
pub async fn status_of(ledger: &Ledger, name: &str) -> Result<EnsembleStatus, FleetError> {
    match ledger.totals(Some(name), 1).await?.first() {
        Some(totals) => complete(ledger, totals).await,
        None => Err(ledger.unknown(name).await?),
    }
}

async fn complete(ledger: &Ledger, totals: &Totals) -> Result<EnsembleStatus, FleetError> {
    Ok(status_from(totals, ledger.parts(totals.id).await?, ledger.failures(totals.id).await?))
}

/// The state of the newest ensemble with a name: much cheaper than [`status_of`].
///
/// # Errors
/// If no ensemble has the name, or the ledger does not answer.
pub async fn state(ledger: &Ledger, name: &str) -> Result<State, FleetError> {
    Ok(ledger.find(name).await?.state)
}

/// The live workers, with their share of all ensembles and their recent speed.
///
/// # Errors
/// If the ledger does not answer.
pub async fn workers(ledger: &Ledger) -> Result<Vec<WorkerStatus>, FleetError> {
    let of = |part: Part| {
        let rate = part.worlds_lately as f64 / f64::from(RATE_S);
        worker(part, rate)
    };
    Ok(ledger.present().await?.into_iter().map(of).collect())
}

fn worker(part: Part, worlds_per_s: f64) -> WorkerStatus {
    WorkerStatus {
        id: part.worker.to_string(),
        host: part.host,
        pid: part.pid,
        threads: part.threads,
        is_there: part.is_there,
        worlds_done: part.worlds_done,
        worlds_per_s,
        trouble: part.trouble.filter(|_| part.is_there),
    }
}

fn status_from(totals: &Totals, parts: Vec<Part>, failures: Vec<(WorldRange, bool, String)>) -> EnsembleStatus {
    let s = |ns: i64| ns as f64 / 1e9;
    let since = |from: chrono::DateTime<chrono::Utc>, to: chrono::DateTime<chrono::Utc>| {
        (to - from).num_microseconds().unwrap_or(0).max(0) as f64 / 1e6
    };
    let end = totals.finished_at.unwrap_or(totals.now);
    let playing = totals.started_at.map_or(0.0, |started| since(started, end));
    let lately = f64::from(RATE_S).min(playing).max(0.001);
    let is_running = totals.state == State::Running;
    let rate_of = |worlds: i64, worlds_lately: i64| {
        let (worlds, seconds) = if is_running { (worlds_lately, lately) } else { (worlds, playing.max(0.001)) };
        worlds as f64 / seconds
    };
    let rate = rate_of(totals.worlds_done, totals.worlds_lately);
    let of_worker = |part: Part| {
        let rate = rate_of(part.worlds_done, part.worlds_lately);
        worker(part, rate)
    };
    let left = totals.worlds - totals.worlds_done - totals.worlds_failed;
    let [dispatch, wait, claim, simulate, encode, write, commit, note, acknowledge] = totals.phases;
    let failure = |(range, is_given_up, reason): (WorldRange, bool, String)| Failure {
        range: range.to_string(),
        is_given_up,
        reason,
    };
    EnsembleStatus {
        name: totals.name.clone(),
        version: totals.version,
        model: totals.model.clone(),
        state: totals.state,
        worlds: totals.worlds,
        worlds_done: totals.worlds_done,
        worlds_failed: totals.worlds_failed,
        ranges: totals.ranges,
        ranges_done: totals.ranges_done,
        ranges_failed: totals.ranges_failed,
        submitted_at: totals.submitted_at.to_rfc3339(),
        elapsed_s: since(totals.submitted_at, end),
        worlds_per_s: rate,
        left_s: (is_running && rate > 0.0).then(|| left as f64 / rate),
        phases: PhaseTotals {
            submit_s: s(totals.submit_ns),
            first_s: totals.started_at.map(|started| since(totals.submitted_at, started)),
            dispatch_s: s(dispatch),
            wait_s: s(wait),
            claim_s: s(claim),
            simulate_s: s(simulate),
            encode_s: s(encode),
            write_s: s(write),
            commit_s: s(commit),
            note_s: s(note),
            acknowledge_s: s(acknowledge),
        },
        workers: parts.into_iter().map(of_worker).collect(),
        outcomes: totals.aggregates.all_known(&totals.catalogue),
        until: until(totals),
        failures: failures.into_iter().map(failure).collect(),
    }
}

fn until(totals: &Totals) -> Option<UntilStatus> {
    let Until { entity, outcome, goal } = totals.until?;
    let name = &totals.catalogue.entities.get(entity)?.name;
    let known = totals.aggregates.known(&totals.catalogue, entity, outcome);
    let outcome = &totals.catalogue.kind_of(entity).outcomes.get(outcome)?.name;
    Some(UntilStatus { outcome: format!("{name}:{outcome}"), goal: goal.to_string(), known })
}
