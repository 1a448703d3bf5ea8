//! Ranges in the ledger.

use std::time::Duration;

use ensemble::Aggregates;
use run::{PHASES, Times};
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use uuid::Uuid;
use world::{World, WorldRange};

use super::workers::GONE_S;
use super::{Ledger, Result, undecodable};

/// Failures after which a range is given up.
const FAILURES_MAX: i32 = 5;
/// Starts without an end after which a range is given up: each worker died.
const CUT_SHORT_MAX: i32 = 20;

/// The ledger's answer to a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    Play,
    /// The range is done, given up or no longer needed.
    Settled,
    /// The ensemble is paused.
    Later,
}

/// The consequence of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The range is retried.
    Again,
    GivenUp,
}

/// Time to note a finished range in the ledger and to acknowledge its message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoteTimes {
    pub(crate) range: WorldRange,
    pub(crate) note: Duration,
    pub(crate) acknowledge: Duration,
}

fn encoded(aggregates: &Aggregates) -> std::result::Result<Vec<u8>, sqlx::Error> {
    postcard::to_stdvec(aggregates).map_err(|error| sqlx::Error::Encode(Box::new(error)))
}

pub(super) fn decoded(bytes: &[u8]) -> std::result::Result<Aggregates, sqlx::Error> {
    postcard::from_bytes(bytes).map_err(undecodable)
}

/// The columns of the phases, in order.
pub(super) fn columns() -> impl Iterator<Item = String> {
    PHASES.iter().map(|phase| format!("{phase}_ns"))
}

/// Condition for a range without progress by a live worker. $2 is the limit of a worker's silence, $3 that of a range's
/// time without progress, both in seconds.
const IDLE: &str = "ensemble = $1 AND state = 'queued' AND published \
                    AND (r.progress_at < now() - make_interval(secs => $3) \
                        OR NOT EXISTS (SELECT FROM workers w WHERE w.id = r.worker AND w.ended_at IS NULL \
                            AND w.seen_at > now() - make_interval(secs => $2)))";
/// Seconds without progress after which another worker may claim a range: longer than any time limit of an answer.
const STALLED_S: f64 = 45.0;

/// The range of a row that begins with its first world and its worlds.
pub(super) fn range(row: &PgRow) -> std::result::Result<WorldRange, sqlx::Error> {
    let number = |place: usize| u32::try_from(row.try_get::<i64, _>(place)?).map_err(undecodable);
    WorldRange::new(World(number(0)?), number(1)?).map_err(undecodable)
}

fn first(range: WorldRange) -> i64 {
    i64::from(range.first().0)
}

impl Ledger {
    pub(crate) async fn claim(&self, ensemble: i64, range: WorldRange, worker: Uuid) -> Result<Claim> {
        let claim = async {
            let sql = "UPDATE ranges r SET starts = starts + 1, worker = $3, started_at = now(), progress_at = now(), \
                       state = CASE WHEN starts - failures >= $4 THEN 'failed' ELSE r.state END, \
                       error = CASE WHEN starts - failures >= $4 \
                           THEN 'worker after worker died while playing it' ELSE error END \
                       FROM ensembles e WHERE r.ensemble = $1 AND r.first_world = $2 AND e.id = r.ensemble \
                       AND r.state = 'queued' AND e.state = 'running' RETURNING r.state";
            let taken: Option<String> = self
                .within(
                    sqlx::query_scalar(sql)
                        .bind(ensemble)
                        .bind(first(range))
                        .bind(worker)
                        .bind(CUT_SHORT_MAX)
                        .fetch_optional(&self.pool()),
                )
                .await?;
            match taken.as_deref() {
                Some("queued") => {}
                Some(_) => return Ok(Claim::Settled),
                None => {
                    let sql = "SELECT e.state = 'paused' AND r.state = 'queued' FROM ranges r \
                               JOIN ensembles e ON e.id = r.ensemble WHERE r.ensemble = $1 AND r.first_world = $2";
                    let waits: Option<bool> = self
                        .within(sqlx::query_scalar(sql).bind(ensemble).bind(first(range)).fetch_optional(&self.pool()))
                        .await?;
                    return Ok(if waits == Some(true) { Claim::Later } else { Claim::Settled });
                }
            }
            let sql = "UPDATE ensembles SET started_at = now() WHERE id = $1 AND started_at IS NULL";
            self.within(sqlx::query(sql).bind(ensemble).execute(&self.pool())).await?;
            Ok(Claim::Play)
        };
        self.within(claim).await.map_err(self.fail("hand out a range"))
    }

    /// Notes that a range is committed, and merges its aggregates into the ensemble's, once even if repeated. Returns
    /// the merged aggregates, or `None` on a repeat.
    pub(crate) async fn finish(
        &self,
        ensemble: i64,
        range: WorldRange,
        worker: Uuid,
        times: &Times,
        aggregates: &Aggregates,
    ) -> Result<Option<Aggregates>> {
        let finish = async {
            let mut transaction = self.pool().begin().await?;
            let ns = times.ns();
            let set: Vec<String> = columns().zip(4..).map(|(column, place)| format!("{column} = ${place}")).collect();
            let sql = format!(
                "UPDATE ranges SET state = 'done', worker = $3, finished_at = now(), error = NULL, {} \
                 WHERE ensemble = $1 AND first_world = $2 AND state <> 'done'",
                set.join(", ")
            );
            let note = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(ensemble).bind(first(range)).bind(worker);
            let note = ns.into_iter().fold(note, |note, ns| note.bind(ns as i64));
            let noted = note.execute(&mut *transaction).await?;
            if noted.rows_affected() == 0 {
                transaction.rollback().await?;
                return Ok(None);
            }
            let sql = "SELECT aggregates FROM ensembles WHERE id = $1 FOR UPDATE";
            let before: Option<Vec<u8>> = sqlx::query_scalar(sql).bind(ensemble).fetch_one(&mut *transaction).await?;
            let mut all = before.map(|bytes| decoded(&bytes)).transpose()?.unwrap_or_default();
            all.merge(aggregates);
            let sql = "UPDATE ensembles SET aggregates = $2 WHERE id = $1";
            sqlx::query(sql).bind(ensemble).bind(encoded(&all)?).execute(&mut *transaction).await?;
            transaction.commit().await?;
            Ok(Some(all))
        };
        self.within(finish).await.map_err(self.fail("note a range"))
    }

    /// Adds the note times of finished ranges.
    pub(crate) async fn note_times(&self, ensemble: i64, times: &[NoteTimes]) -> Result<()> {
        let ns = |of: fn(&NoteTimes) -> Duration| times.iter().map(|one| of(one).as_nanos() as i64).collect::<Vec<_>>();
        let sql = "UPDATE ranges r SET note_ns = t.note, acknowledge_ns = t.acknowledge \
                   FROM unnest($2::bigint[], $3::bigint[], $4::bigint[]) AS t (first, note, acknowledge) \
                   WHERE r.ensemble = $1 AND r.first_world = t.first";
        let statement = sqlx::query(sql)
            .bind(ensemble)
            .bind(times.iter().map(|one| first(one.range)).collect::<Vec<_>>())
            .bind(ns(|one| one.note))
            .bind(ns(|one| one.acknowledge));
        self.execute("note times", statement).await.map(drop)
    }

    pub(crate) async fn note_failure(&self, ensemble: i64, range: WorldRange, reason: &str) -> Result<Verdict> {
        let sql = "UPDATE ranges SET failures = failures + 1, worker = NULL, error = $3, \
                   state = CASE WHEN failures + 1 >= $4 THEN 'failed' ELSE state END \
                   WHERE ensemble = $1 AND first_world = $2 AND state = 'queued' RETURNING state";
        let query = sqlx::query(sql).bind(ensemble).bind(first(range)).bind(reason).bind(FAILURES_MAX);
        let state: Vec<String> = self.rows("note a failure", query, |row| row.try_get(0)).await?;
        Ok(if state == ["queued"] { Verdict::Again } else { Verdict::GivenUp })
    }

    /// Releases a claim. The start does not count, because its worker did not die.
    pub(crate) async fn give_back(&self, ensemble: i64, range: WorldRange) -> Result<()> {
        let sql = "UPDATE ranges SET starts = greatest(starts - 1, 0), worker = NULL \
                   WHERE ensemble = $1 AND first_world = $2 AND state = 'queued'";
        self.execute("take a range back", sqlx::query(sql).bind(ensemble).bind(first(range))).await.map(drop)
    }

    /// Remaining ranges without a message.
    pub(crate) async fn unpublished(&self, ensemble: i64) -> Result<Vec<WorldRange>> {
        let sql = "SELECT first_world, worlds FROM ranges WHERE ensemble = $1 AND state = 'queued' \
                   AND NOT published ORDER BY first_world";
        self.rows("list ranges", sqlx::query(sql).bind(ensemble), range).await
    }

    pub(crate) async fn note_published(&self, ensemble: i64, ranges: &[WorldRange]) -> Result<()> {
        let firsts: Vec<i64> = ranges.iter().map(|range| first(*range)).collect();
        let sql = "UPDATE ranges SET published = true WHERE ensemble = $1 AND first_world = ANY($2)";
        self.execute("note messages", sqlx::query(sql).bind(ensemble).bind(firsts)).await.map(drop)
    }

    /// Marks all ranges of an ensemble as unpublished.
    pub(crate) async fn unpublish(&self, ensemble: i64) -> Result<()> {
        let sql = "UPDATE ranges SET published = false WHERE ensemble = $1 AND state = 'queued'";
        self.execute("note messages", sqlx::query(sql).bind(ensemble)).await.map(drop)
    }

    /// Marks ranges without a live worker as unpublished; returns their number.
    pub(crate) async fn unpublish_idle(&self, ensemble: i64) -> Result<u64> {
        let sql = format!("UPDATE ranges r SET published = false WHERE {IDLE}");
        let statement = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(ensemble).bind(GONE_S).bind(STALLED_S);
        self.execute("note messages", statement).await
    }

    /// Whether any range lacks a live worker.
    pub(crate) async fn has_idle(&self, ensemble: i64) -> Result<bool> {
        let sql = format!("SELECT EXISTS (SELECT FROM ranges r WHERE {IDLE})");
        let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(ensemble).bind(GONE_S).bind(STALLED_S);
        let found: Vec<bool> = self.rows("look for ranges", query, |row| row.try_get(0)).await?;
        Ok(found == [true])
    }

    /// Resets failed ranges; returns their number.
    pub(crate) async fn forgive(&self, ensemble: i64) -> Result<u64> {
        let sql = "UPDATE ranges SET state = 'queued', failures = 0, starts = 0, published = false \
                   WHERE ensemble = $1 AND state = 'failed'";
        self.execute("forgive failures", sqlx::query(sql).bind(ensemble)).await
    }
}
