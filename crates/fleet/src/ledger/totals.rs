//! What the ledger tells of ensembles, their ranges and workers together.

use chrono::{DateTime, Utc};
use ensemble::Aggregates;
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::ranges::decoded;
use super::{Ledger, Result, State};

/// Seconds over which a rate is taken.
pub(crate) const RATE_S: i32 = 10;
/// Seconds after which a worker that was not seen is taken for dead.
pub(super) const GONE_S: f64 = 10.0;
/// Failures that are told, at most.
const FAILURES_SHOWN: i64 = 20;

/// One ensemble.
#[derive(Debug, Clone)]
pub(crate) struct Totals {
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) version: i64,
    pub(crate) model: String,
    pub(crate) state: State,
    pub(crate) submitted_at: DateTime<Utc>,
    pub(crate) started_at: Option<DateTime<Utc>>,
    pub(crate) finished_at: Option<DateTime<Utc>>,
    pub(crate) submit_ns: i64,
    pub(crate) worlds: i64,
    pub(crate) worlds_done: i64,
    pub(crate) worlds_failed: i64,
    /// Worlds done in the last [`RATE_S`] seconds.
    pub(crate) worlds_lately: i64,
    pub(crate) ranges: i64,
    pub(crate) ranges_done: i64,
    pub(crate) ranges_failed: i64,
    /// The [`PHASES`] of all ranges that are done, in nanoseconds.
    pub(crate) phases: [i64; PHASES.len()],
    /// What is known of the outcomes that are followed.
    pub(crate) aggregates: Aggregates,
    /// Everything the model emits, by name, as JSON.
    pub(crate) catalogue: String,
    /// When the ledger was asked, by its clock.
    pub(crate) now: DateTime<Utc>,
}

/// One worker's part in an ensemble.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) worker: Uuid,
    pub(crate) host: String,
    pub(crate) pid: i32,
    pub(crate) threads: i32,
    pub(crate) is_there: bool,
    pub(crate) trouble: Option<String>,
    pub(crate) worlds_done: i64,
    pub(crate) worlds_lately: i64,
}

const PHASES: [&str; 9] = [
    "dispatch_ns",
    "wait_ns",
    "claim_ns",
    "simulate_ns",
    "encode_ns",
    "write_ns",
    "commit_ns",
    "note_ns",
    "acknowledge_ns",
];

fn totals(row: &PgRow) -> std::result::Result<Totals, sqlx::Error> {
    let aggregates: Option<&[u8]> = row.get("aggregates");
    Ok(Totals {
        id: row.get("id"),
        name: row.get("name"),
        version: row.get("version"),
        model: row.get("model"),
        state: State::parse(row.get("state")),
        submitted_at: row.get("submitted_at"),
        started_at: row.get("started_at"),
        finished_at: row.get("finished_at"),
        submit_ns: row.get("submit_ns"),
        worlds: row.get("worlds"),
        worlds_done: row.get("worlds_done"),
        worlds_failed: row.get("worlds_failed"),
        worlds_lately: row.get("worlds_lately"),
        ranges: row.get("ranges"),
        ranges_done: row.get("ranges_done"),
        ranges_failed: row.get("ranges_failed"),
        phases: PHASES.map(|phase| row.get(phase)),
        aggregates: aggregates.map(decoded).transpose()?.unwrap_or_default(),
        catalogue: row.get("catalogue"),
        now: row.get("now"),
    })
}

fn part(row: &PgRow) -> Part {
    Part {
        worker: row.get("id"),
        host: row.get("host"),
        pid: row.get("pid"),
        threads: row.get("threads"),
        is_there: row.get("is_there"),
        trouble: row.get("trouble"),
        worlds_done: row.get("worlds_done"),
        worlds_lately: row.get("worlds_lately"),
    }
}

impl Ledger {
    /// The newest ensembles, at most so many; only those of one name where one is given.
    pub(crate) async fn totals(&self, name: Option<&str>, most: i64) -> Result<Vec<Totals>> {
        let sums: Vec<String> =
            PHASES.iter().map(|phase| format!("coalesce(sum(r.{phase}), 0)::bigint AS {phase}")).collect();
        let sql = format!(
            "SELECT e.*, now() AS now, \
                 (SELECT aggregates FROM ensembles f WHERE f.id = e.id) AS aggregates, \
                 (SELECT catalogue FROM ensembles f WHERE f.id = e.id) AS catalogue, \
             coalesce(sum(r.worlds) FILTER (WHERE r.state = 'done'), 0)::bigint AS worlds_done, \
             coalesce(sum(r.worlds) FILTER (WHERE r.state = 'failed'), 0)::bigint AS worlds_failed, \
             coalesce(sum(r.worlds) FILTER (WHERE r.state = 'done' \
                 AND r.finished_at > now() - make_interval(secs => $3)), 0)::bigint AS worlds_lately, \
             count(r.*) AS ranges, \
             count(r.*) FILTER (WHERE r.state = 'done') AS ranges_done, \
             count(r.*) FILTER (WHERE r.state = 'failed') AS ranges_failed, {} \
             FROM (SELECT id, name, version, model, worlds, state, submitted_at, started_at, finished_at, submit_ns \
                 FROM ensembles WHERE $1::text IS NULL OR name = $1 ORDER BY id DESC LIMIT $2) e \
             LEFT JOIN ranges r ON r.ensemble = e.id \
             GROUP BY e.id, e.name, e.version, e.model, e.worlds, e.state, e.submitted_at, e.started_at, e.finished_at, e.submit_ns ORDER BY e.id DESC",
            sums.join(", ")
        );
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(name).bind(most).bind(f64::from(RATE_S));
        let rows = rows.fetch_all(&self.pool).await;
        let totals = rows.and_then(|rows| rows.iter().map(totals).collect());
        totals.map_err(self.fail("tell how far it is"))
    }

    /// The workers that did ranges of an ensemble, and those that are there and may.
    pub(crate) async fn parts(&self, ensemble: i64) -> Result<Vec<Part>> {
        let sql = "SELECT w.id, w.host, w.pid, w.threads, w.trouble, \
                   w.ended_at IS NULL AND w.seen_at > now() - make_interval(secs => $3) AS is_there, \
                   coalesce(sum(r.worlds), 0)::bigint AS worlds_done, \
                   coalesce(sum(r.worlds) FILTER (WHERE r.finished_at > now() - make_interval(secs => $2)), 0)::bigint \
                       AS worlds_lately \
                   FROM workers w LEFT JOIN ranges r ON r.worker = w.id AND r.ensemble = $1 AND r.state = 'done' \
                   GROUP BY w.id HAVING count(r.*) > 0 \
                       OR (w.ended_at IS NULL AND w.seen_at > now() - make_interval(secs => $3)) \
                   ORDER BY w.started_at";
        let rows = sqlx::query(sql).bind(ensemble).bind(f64::from(RATE_S)).bind(GONE_S).fetch_all(&self.pool).await;
        Ok(rows.map_err(self.fail("list workers"))?.iter().map(part).collect())
    }

    /// The workers that are there.
    pub(crate) async fn present(&self) -> Result<Vec<Part>> {
        let sql = "SELECT id, host, pid, threads, trouble, true AS is_there, 0::bigint AS worlds_done, \
                   0::bigint AS worlds_lately FROM workers WHERE ended_at IS NULL \
                   AND seen_at > now() - make_interval(secs => $1) ORDER BY started_at";
        let rows = sqlx::query(sql).bind(GONE_S).fetch_all(&self.pool).await;
        Ok(rows.map_err(self.fail("list workers"))?.iter().map(part).collect())
    }

    /// What went wrong with ranges of an ensemble: first world, worlds, whether it was given up, and why.
    pub(crate) async fn failures(&self, ensemble: i64) -> Result<Vec<(i64, i64, bool, String)>> {
        let sql = "SELECT first_world, worlds, state = 'failed', error FROM ranges \
                   WHERE ensemble = $1 AND error IS NOT NULL ORDER BY first_world LIMIT $2";
        let rows = sqlx::query_as(sql).bind(ensemble).bind(FAILURES_SHOWN).fetch_all(&self.pool).await;
        rows.map_err(self.fail("list failures"))
    }
}
