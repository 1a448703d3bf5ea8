//! How far a fleet is.

use ensemble::KnownOutcome;
use run::Until;
use serde::Serialize;
use world::WorldRange;

use crate::error::FleetError;
use crate::ledger::{Ledger, Part, RATE_S, State, Totals};

/// How far an ensemble is.
#[derive(Debug, Clone, Serialize)]
pub struct EnsembleStatus {
    /// Its name.
    pub name: String,
    /// Its version in the tables.
    pub version: i64,
    /// Its model.
    pub model: String,
    /// What is being done about it.
    pub state: State,
    /// Worlds in all, done, and of ranges that were given up.
    pub worlds: i64,
    /// Worlds that are stored.
    pub worlds_done: i64,
    /// Worlds of ranges that were given up.
    pub worlds_failed: i64,
    /// Ranges in all.
    pub ranges: i64,
    /// Ranges that are stored.
    pub ranges_done: i64,
    /// Ranges that were given up.
    pub ranges_failed: i64,
    /// When it was submitted, as RFC 3339 has it.
    pub submitted_at: String,
    /// Seconds from its submission to its end, or until now.
    pub elapsed_s: f64,
    /// Worlds a second: lately while it is played, over all of it when it has ended.
    pub worlds_per_s: f64,
    /// Seconds that it will take still, at this rate.
    pub left_s: Option<f64>,
    /// Where the time went.
    pub phases: PhaseTotals,
    /// Who plays it, or did.
    pub workers: Vec<WorkerStatus>,
    /// What is known of the outcomes that are followed.
    pub outcomes: Vec<KnownOutcome>,
    /// What of them is to be known, and how well, where fewer worlds than planned may be enough.
    pub until: Option<UntilStatus>,
    /// What went wrong with ranges, the first twenty.
    pub failures: Vec<Failure>,
}

/// The outcome that is to be known, and how well it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UntilStatus {
    /// As `ENTITY:OUTCOME`.
    pub outcome: String,
    /// How narrow its confidence interval is to be: as `0.5%`, or in its unit.
    pub goal: String,
    /// What is known of it.
    pub known: Option<KnownOutcome>,
}

/// Where the time of an ensemble went, in seconds; those of ranges are summed over all that are done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct PhaseTotals {
    /// Submitting it.
    pub submit_s: f64,
    /// From its submission until the first range was taken up.
    pub first_s: Option<f64>,
    /// From the making of messages to their arrival at workers.
    pub dispatch_s: f64,
    /// From there until a thread was free.
    pub wait_s: f64,
    /// Asking the ledger for ranges.
    pub claim_s: f64,
    /// Playing worlds.
    pub simulate_s: f64,
    /// Encoding, compressing and hashing.
    pub encode_s: f64,
    /// Writing and syncing files.
    pub write_s: f64,
    /// Committing to the tables.
    pub commit_s: f64,
    /// Noting in the ledger what is committed.
    pub note_s: f64,
    /// Telling the broker.
    pub acknowledge_s: f64,
}

/// A worker's part in an ensemble.
#[derive(Debug, Clone, Serialize)]
pub struct WorkerStatus {
    /// Names it.
    pub id: String,
    /// The machine that it runs on.
    pub host: String,
    /// Its process there.
    pub pid: i32,
    /// Ranges that it plays at once.
    pub threads: i32,
    /// Whether it is there.
    pub is_there: bool,
    /// Worlds that it has played.
    pub worlds_done: i64,
    /// Worlds a second: of an ensemble lately while it is played, over all of it when it has ended.
    pub worlds_per_s: f64,
    /// What keeps it from playing.
    pub trouble: Option<String>,
}

/// What went wrong with a range.
#[derive(Debug, Clone, Serialize)]
pub struct Failure {
    /// The worlds, as `00000000-00004999`.
    pub range: String,
    /// Whether it is not tried again.
    pub is_given_up: bool,
    /// What.
    pub reason: String,
}

/// How far the newest ensembles are, the newest first.
///
/// # Errors
/// Where the ledger does not answer.
pub async fn status(ledger: &Ledger) -> Result<Vec<EnsembleStatus>, FleetError> {
    const MOST: i64 = 20;
    let mut all = Vec::new();
    for totals in ledger.totals(None, MOST).await? {
        all.push(tell(ledger, &totals).await?);
    }
    Ok(all)
}

/// How far the newest ensemble of a name is.
///
/// # Errors
/// Where there is none of the name, and where the ledger does not answer.
pub async fn status_of(ledger: &Ledger, name: &str) -> Result<EnsembleStatus, FleetError> {
    match ledger.totals(Some(name), 1).await?.first() {
        Some(totals) => tell(ledger, totals).await,
        None => Err(ledger.unknown(name).await?),
    }
}

async fn tell(ledger: &Ledger, totals: &Totals) -> Result<EnsembleStatus, FleetError> {
    Ok(told(totals, ledger.parts(totals.id).await?, ledger.failures(totals.id).await?))
}

/// What is being done about the newest ensemble of a name: much less to ask for than all that [`status_of`] tells.
///
/// # Errors
/// Where there is none of the name, and where the ledger does not answer.
pub async fn state(ledger: &Ledger, name: &str) -> Result<State, FleetError> {
    Ok(ledger.find(name).await?.state)
}

/// The workers that are there, with what they did of all ensembles and how fast they were lately.
///
/// # Errors
/// Where the ledger does not answer.
pub async fn workers(ledger: &Ledger) -> Result<Vec<WorkerStatus>, FleetError> {
    let of = |part: Part| {
        let rate = part.worlds_lately as f64 / f64::from(RATE_S);
        worker(part, rate)
    };
    Ok(ledger.present().await?.into_iter().map(of).collect())
}

/// What a worker does, and how fast.
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

fn told(totals: &Totals, parts: Vec<Part>, failures: Vec<(WorldRange, bool, String)>) -> EnsembleStatus {
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
