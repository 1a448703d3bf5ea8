//! Summaries of ensembles, their ranges and workers.

use chrono::{DateTime, Utc};
use ensemble::Aggregates;
use model::Catalogue;
use run::{PHASES, Until};
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use uuid::Uuid;
use world::WorldRange;

use super::ensembles::until;
use super::ranges::{columns, decoded, range};
use super::workers::GONE_S;
use super::{Ledger, Result, State, undecodable};

/// Seconds over which rates are measured.
pub(crate) const RATE_S: i32 = 10;
/// Failures returned, at most.
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
    /// Nanoseconds per phase, summed over finished ranges.
    pub(crate) phases: [i64; PHASES.len()],
    /// Aggregates of the followed outcomes.
    pub(crate) aggregates: Aggregates,
    pub(crate) until: Option<Until>,
    pub(crate) catalogue: Catalogue,
    /// The query's time by the ledger's clock.
    pub(crate) now: DateTime<Utc>,
}

/// One worker's share of an ensemble.
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

fn totals(row: &PgRow) -> std::result::Result<Totals, sqlx::Error> {
    let mut phases = [0; PHASES.len()];
    phases.iter_mut().zip(columns()).for_each(|(ns, column)| *ns = row.get(column.as_str()));
    let aggregates: Option<&[u8]> = row.get("aggregates");
    Ok(Totals {
        id: row.get("id"),
        name: row.get("name"),
        version: row.get("version"),
        model: row.get("model"),
        state: State::parse(row.get("state"))?,
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
        phases,
        aggregates: aggregates.map(decoded).transpose()?.unwrap_or_default(),
        until: until(row)?,
        catalogue: serde_json::from_str(row.get("catalogue")).map_err(undecodable)?,
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
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(name).bind(most).bind(f64::from(RATE_S));
        let rows = self.within(rows.fetch_all(&self.pool())).await;
        let totals = rows.and_then(|rows| rows.iter().map(totals).collect());
        totals.map_err(self.fail("summarise ensembles"))
    }

    /// The workers that played an ensemble, and all live ones.
    pub(crate) async fn parts(&self, ensemble: i64) -> Result<Vec<Part>> {
        self.crew(Some(ensemble)).await
    }

    /// The live workers, with their share of all ensembles.
    pub(crate) async fn present(&self) -> Result<Vec<Part>> {
        Ok(self.crew(None).await?.into_iter().filter(|part| part.is_there).collect())
    }

    async fn crew(&self, ensemble: Option<i64>) -> Result<Vec<Part>> {
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
        let rows = self
            .within(sqlx::query(sql).bind(ensemble).bind(f64::from(RATE_S)).bind(GONE_S).fetch_all(&self.pool()))
            .await;
        Ok(rows.map_err(self.fail("list workers"))?.iter().map(part).collect())
    }

    /// Failed ranges of an ensemble: range, whether it is given up, reason.
    pub(crate) async fn failures(&self, ensemble: i64) -> Result<Vec<(WorldRange, bool, String)>> {
        let sql = "SELECT first_world, worlds, state = 'failed', error FROM ranges \
                   WHERE ensemble = $1 AND error IS NOT NULL ORDER BY first_world LIMIT $2";
        let rows = self.within(sqlx::query_as(sql).bind(ensemble).bind(FAILURES_SHOWN).fetch_all(&self.pool())).await;
        let failures = rows.and_then(|rows: Vec<(i64, i64, bool, String)>| {
            rows.into_iter()
                .map(|(first, worlds, is_given_up, why)| Ok((range(first, worlds)?, is_given_up, why)))
                .collect()
        });
        failures.map_err(self.fail("list failures"))
    }
}
