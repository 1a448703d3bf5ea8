//! The progress of ensembles and workers, in the ledger.

use chrono::{DateTime, Utc};
use ensemble::{Aggregates, KnownOutcome};
use model::Catalogue;
use run::Until;
use serde::Serialize;
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::ensembles::until;
use super::ranges::{columns, decoded, range};
use super::workers::GONE_S;
use super::{Ledger, Result, State, undecodable};

/// Seconds over which rates are measured.
const RATE_S: f64 = 10.0;
/// Failures returned, at most.
const FAILURES_SHOWN: i64 = 20;

/// An ensemble's progress, without its workers and failures.
#[derive(Debug)]
pub(crate) struct Totals {
    pub(crate) id: i64,
    pub(crate) rates: Rates,
    pub(crate) status: EnsembleStatus,
}

/// The span over which worlds per second are counted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rates {
    /// Whether only worlds of the last [`RATE_S`] seconds count.
    are_recent: bool,
    seconds: f64,
}

impl Rates {
    pub(crate) const LATELY: Self = Self { are_recent: true, seconds: RATE_S };

    fn worlds_per_s(self, row: &PgRow) -> f64 {
        let worlds: i64 = row.get(if self.are_recent { "worlds_lately" } else { "worlds_done" });
        worlds as f64 / self.seconds
    }
}

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

fn since(from: DateTime<Utc>, to: DateTime<Utc>) -> f64 {
    (to - from).num_microseconds().unwrap_or(0).max(0) as f64 / 1e6
}

fn totals(row: &PgRow) -> std::result::Result<Totals, sqlx::Error> {
    let (submitted_at, now): (DateTime<Utc>, DateTime<Utc>) = (row.get("submitted_at"), row.get("now"));
    let (started_at, finished_at): (Option<DateTime<Utc>>, Option<_>) = (row.get("started_at"), row.get("finished_at"));
    let end = finished_at.unwrap_or(now);
    let playing = started_at.map_or(0.0, |started| since(started, end));
    let state = State::parse(row.get("state"))?;
    let are_recent = state == State::Running;
    let rates = Rates { are_recent, seconds: if are_recent { RATE_S.min(playing) } else { playing }.max(0.001) };
    let [worlds, worlds_done, worlds_failed] =
        ["worlds", "worlds_done", "worlds_failed"].map(|column| row.get::<i64, _>(column));
    let worlds_per_s = rates.worlds_per_s(row);
    let left = worlds - worlds_done - worlds_failed;
    let seconds = |column: &str| row.get::<i64, _>(column) as f64 / 1e9;
    let aggregates: Option<&[u8]> = row.get("aggregates");
    let aggregates = aggregates.map(decoded).transpose()?.unwrap_or_default();
    let catalogue: Catalogue = serde_json::from_str(row.get("catalogue")).map_err(undecodable)?;
    let status = EnsembleStatus {
        name: row.get("name"),
        version: row.get("version"),
        model: row.get("model"),
        state,
        worlds,
        worlds_done,
        worlds_failed,
        ranges: row.get("ranges"),
        ranges_done: row.get("ranges_done"),
        ranges_failed: row.get("ranges_failed"),
        submitted_at: submitted_at.to_rfc3339(),
        elapsed_s: since(submitted_at, end),
        worlds_per_s,
        left_s: (are_recent && worlds_per_s > 0.0).then(|| left as f64 / worlds_per_s),
        phases: PhaseTotals {
            submit_s: seconds("submit_ns"),
            first_s: started_at.map(|started| since(submitted_at, started)),
            dispatch_s: seconds("dispatch_ns"),
            wait_s: seconds("wait_ns"),
            claim_s: seconds("claim_ns"),
            simulate_s: seconds("simulate_ns"),
            encode_s: seconds("encode_ns"),
            write_s: seconds("write_ns"),
            commit_s: seconds("commit_ns"),
            note_s: seconds("note_ns"),
            acknowledge_s: seconds("acknowledge_ns"),
        },
        workers: Vec::new(),
        outcomes: aggregates.all_known(&catalogue),
        until: until(row)?.and_then(|until| until_status(until, &aggregates, &catalogue)),
        failures: Vec::new(),
    };
    Ok(Totals { id: row.get("id"), rates, status })
}

fn until_status(until: Until, aggregates: &Aggregates, catalogue: &Catalogue) -> Option<UntilStatus> {
    let Until { entity, outcome, goal } = until;
    let name = &catalogue.entities.get(entity)?.name;
    let known = aggregates.known(catalogue, entity, outcome);
    let outcome = &catalogue.kind_of(entity).outcomes.get(outcome)?.name;
    Some(UntilStatus { outcome: format!("{name}:{outcome}"), goal: goal.to_string(), known })
}

fn worker(row: &PgRow, rates: Rates) -> WorkerStatus {
    let is_there: bool = row.get("is_there");
    WorkerStatus {
        id: row.get::<Uuid, _>("id").to_string(),
        host: row.get("host"),
        pid: row.get("pid"),
        threads: row.get("threads"),
        is_there,
        worlds_done: row.get("worlds_done"),
        worlds_per_s: rates.worlds_per_s(row),
        trouble: row.get::<Option<String>, _>("trouble").filter(|_| is_there),
    }
}

impl Ledger {
    /// The newest ensembles, at most `most`, optionally only those named `name`.
    pub(crate) async fn totals(&self, name: Option<&str>, most: i64) -> Result<Vec<Totals>> {
        let sums: Vec<String> =
            columns().map(|phase| format!("coalesce(sum({phase}), 0)::bigint AS {phase}")).collect();
        let sql = format!(
            "SELECT e.*, r.*, now() AS now FROM \
             (SELECT id, name, version, model, state, submitted_at, started_at, finished_at, submit_ns, worlds, \
                 aggregates, catalogue, until_entity, until_outcome, until_goal FROM ensembles WHERE $1::text IS NULL OR name = $1 ORDER BY id DESC LIMIT $2) e \
             CROSS JOIN LATERAL (SELECT \
                 coalesce(sum(worlds) FILTER (WHERE state = 'done'), 0)::bigint AS worlds_done, \
                 coalesce(sum(worlds) FILTER (WHERE state = 'failed'), 0)::bigint AS worlds_failed, \
                 coalesce(sum(worlds) FILTER (WHERE state = 'done' \
                     AND finished_at > now() - make_interval(secs => $3)), 0)::bigint AS worlds_lately, \
                 count(*) AS ranges, \
                 count(*) FILTER (WHERE state = 'done') AS ranges_done, \
                 count(*) FILTER (WHERE state = 'failed') AS ranges_failed, {} \
                 FROM ranges WHERE ensemble = e.id) r \
             ORDER BY e.id DESC",
            sums.join(", ")
        );
        let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(name).bind(most).bind(RATE_S);
        self.rows("summarise ensembles", query, totals).await
    }

    /// The workers that played an ensemble, or all of them, and all live ones.
    pub(crate) async fn crew(&self, ensemble: Option<i64>, rates: Rates) -> Result<Vec<WorkerStatus>> {
        let sql = "SELECT w.id, w.host, w.pid, w.threads, w.trouble, \
                   w.ended_at IS NULL AND w.seen_at > now() - make_interval(secs => $3) AS is_there, \
                   coalesce(sum(r.worlds), 0)::bigint AS worlds_done, \
                   coalesce(sum(r.worlds) FILTER (WHERE r.finished_at > now() - make_interval(secs => $2)), 0)::bigint \
                       AS worlds_lately \
                   FROM workers w LEFT JOIN ranges r ON r.worker = w.id AND r.state = 'done' \
                       AND ($1::bigint IS NULL OR r.ensemble = $1) \
                   GROUP BY w.id HAVING count(r.*) > 0 \
                       OR (w.ended_at IS NULL AND w.seen_at > now() - make_interval(secs => $3)) \
                   ORDER BY w.started_at";
        let query = sqlx::query(sql).bind(ensemble).bind(RATE_S).bind(GONE_S);
        self.rows("list workers", query, |row| Ok(worker(row, rates))).await
    }

    /// Failed ranges of an ensemble.
    pub(crate) async fn failures(&self, ensemble: i64) -> Result<Vec<Failure>> {
        let sql = "SELECT first_world, worlds, state = 'failed', error FROM ranges \
                   WHERE ensemble = $1 AND error IS NOT NULL ORDER BY first_world LIMIT $2";
        let failure = |row: &PgRow| {
            Ok(Failure { range: range(row)?.to_string(), is_given_up: row.try_get(2)?, reason: row.try_get(3)? })
        };
        self.rows("list failures", sqlx::query(sql).bind(ensemble).bind(FAILURES_SHOWN), failure).await
    }
}
