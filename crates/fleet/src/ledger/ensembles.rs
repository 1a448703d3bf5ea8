//! Ensembles in the ledger.

use run::Until;
use serde::Serialize;
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use strum::{EnumString, IntoStaticStr};
use world::WorldRange;

use super::{Ledger, Result};
use crate::error::FleetError;

/// The state of an ensemble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum State {
    /// Its messages are being published.
    Submitting,
    /// Workers play its ranges.
    Running,
    /// Workers claim no ranges until it is resumed.
    Paused,
    /// Workers claim no more ranges.
    Cancelled,
    /// Some ranges failed; all others are done.
    Failed,
    /// Its goal is met; the remaining ranges are not played.
    Enough,
    /// All ranges are stored.
    Complete,
}

impl State {
    /// Whether ranges may be played, now or later.
    pub fn may_go_on(self) -> bool {
        matches!(self, Self::Submitting | Self::Running | Self::Paused)
    }

    pub(super) fn parse(word: &str) -> std::result::Result<Self, sqlx::Error> {
        let unknown = |_| sqlx::Error::Decode(format!("unknown state {word:?} of an ensemble").into());
        word.parse().map_err(unknown)
    }
}

/// An ensemble to enter.
pub(crate) struct Submission<'a> {
    pub(crate) name: &'a str,
    pub(crate) version: u64,
    pub(crate) model: &'a str,
    pub(crate) codec: String,
    pub(crate) encodings: String,
    pub(crate) replaces: bool,
    pub(crate) range_worlds: u32,
    pub(crate) worlds: usize,
    pub(crate) ranges: &'a [WorldRange],
    pub(crate) until: Option<Until>,
    pub(crate) catalogue: String,
}

/// An ensemble in the ledger.
#[derive(Debug, Clone)]
pub(crate) struct Submitted {
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) version: u64,
    pub(crate) state: State,
    pub(crate) codec: String,
    pub(crate) encodings: String,
    pub(crate) replaces: bool,
    pub(crate) until: Option<Until>,
}

const COLUMNS: &str = "id, name, version, state, codec, encodings, replaces, until_entity, until_outcome, until_goal";

fn submitted(row: &PgRow) -> std::result::Result<Submitted, sqlx::Error> {
    Ok(Submitted {
        id: row.get("id"),
        name: row.get("name"),
        version: row.get::<i64, _>("version") as u64,
        state: State::parse(row.get("state"))?,
        codec: row.get("codec"),
        encodings: row.get("encodings"),
        replaces: row.get("replaces"),
        until: until(row)?,
    })
}

pub(super) fn until(row: &PgRow) -> std::result::Result<Option<Until>, sqlx::Error> {
    let place = |column| row.get::<Option<i64>, _>(column).map(|place| place as usize);
    let (entity, outcome, goal) =
        (place("until_entity"), place("until_outcome"), row.get::<Option<&str>, _>("until_goal"));
    let (Some(entity), Some(outcome), Some(goal)) = (entity, outcome, goal) else { return Ok(None) };
    Ok(Some(Until { entity, outcome, goal: goal.parse().map_err(|error: String| sqlx::Error::Decode(error.into()))? }))
}

impl Ledger {
    /// Enters an ensemble and its ranges, and cancels older versions of it, in one transaction.
    pub(crate) async fn enter(&self, submission: &Submission<'_>) -> Result<Submitted> {
        let enter = async {
            let mut transaction = self.pool().begin().await?;
            let older = "UPDATE ensembles SET state = 'cancelled', finished_at = now() \
                 WHERE name = $1 AND version < $2 AND state IN ('submitting', 'running', 'paused')";
            let older = sqlx::query(older).bind(submission.name).bind(submission.version as i64);
            older.execute(&mut *transaction).await?;
            let sql = format!(
                "INSERT INTO ensembles (name, version, model, worlds, range_worlds, codec, encodings, replaces, \
                     until_entity, until_outcome, until_goal, catalogue) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING {COLUMNS}"
            );
            let row = sqlx::query(sqlx::AssertSqlSafe(sql))
                .bind(submission.name)
                .bind(submission.version as i64)
                .bind(submission.model)
                .bind(submission.worlds as i64)
                .bind(i64::from(submission.range_worlds))
                .bind(&submission.codec)
                .bind(&submission.encodings)
                .bind(submission.replaces)
                .bind(submission.until.map(|until| until.entity as i64))
                .bind(submission.until.map(|until| until.outcome as i64))
                .bind(submission.until.map(|until| until.goal.to_string()))
                .bind(&submission.catalogue)
                .fetch_one(&mut *transaction)
                .await?;
            let entered = submitted(&row)?;
            let (first, worlds): (Vec<i64>, Vec<i64>) =
                submission.ranges.iter().map(|r| (i64::from(r.first().0), r.count() as i64)).unzip();
            sqlx::query(
                "INSERT INTO ranges (ensemble, first_world, worlds) \
                 SELECT $1, * FROM unnest($2::bigint[], $3::bigint[])",
            )
            .bind(entered.id)
            .bind(first)
            .bind(worlds)
            .execute(&mut *transaction)
            .await?;
            transaction.commit().await?;
            Ok(entered)
        };
        self.within(enter).await.map_err(self.fail("enter an ensemble"))
    }

    /// Starts an ensemble after its messages are published; notes the time of the submission in nanoseconds.
    pub(crate) async fn release(&self, ensemble: i64, ns: i64) -> Result<()> {
        let sql = "UPDATE ensembles SET submit_ns = $2, state = CASE state WHEN 'submitting' THEN 'running' ELSE state END \
                   WHERE id = $1";
        self.execute("note an ensemble", sqlx::query(sql).bind(ensemble).bind(ns)).await.map(drop)
    }

    /// The newest ensemble with a name.
    ///
    /// # Errors
    /// If no ensemble has the name.
    pub(crate) async fn find(&self, name: &str) -> Result<Submitted> {
        let sql = format!("SELECT {COLUMNS} FROM ensembles WHERE name = $1 ORDER BY id DESC LIMIT 1");
        let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(name);
        match self.rows("find an ensemble", query, submitted).await?.pop() {
            Some(found) => Ok(found),
            None => Err(self.unknown(name).await?),
        }
    }

    /// The error for an unknown name.
    pub(crate) async fn unknown(&self, name: &str) -> Result<FleetError> {
        let names = sqlx::query("SELECT name FROM ensembles GROUP BY name ORDER BY max(id) DESC LIMIT 12");
        let have = self.rows("list its ensembles", names, |row| row.try_get(0)).await?;
        Ok(FleetError::Unknown { name: name.to_owned(), have })
    }

    /// Starts ensembles whose submitter died midway.
    pub(crate) async fn adopt(&self) -> Result<()> {
        const LATE_S: f64 = 30.0;
        let sql = "UPDATE ensembles SET state = 'running' WHERE state = 'submitting' \
                   AND submitted_at < now() - make_interval(secs => $1)";
        self.execute("take over an ensemble", sqlx::query(sql).bind(LATE_S)).await.map(drop)
    }

    /// The state of an ensemble; `None` once it is dropped.
    pub(crate) async fn state(&self, ensemble: i64) -> Result<Option<State>> {
        let sql = "SELECT state FROM ensembles WHERE id = $1";
        let state = |row: &PgRow| State::parse(row.try_get(0)?);
        Ok(self.rows("find an ensemble", sqlx::query(sql).bind(ensemble), state).await?.pop())
    }

    /// Removes a dropped ensemble's versions up to `version`, or all; returns their number.
    ///
    /// # Errors
    /// If the ledger does not answer.
    pub async fn forget(&self, name: &str, version: Option<u64>) -> Result<u64> {
        let sql = "DELETE FROM ensembles WHERE name = $1 AND version <= coalesce($2, version)";
        let version = version.map(|version| version as i64);
        self.execute("forget an ensemble", sqlx::query(sql).bind(name).bind(version)).await
    }

    /// Running ensembles, oldest first.
    pub(crate) async fn running(&self) -> Result<Vec<Submitted>> {
        let sql = format!("SELECT {COLUMNS} FROM ensembles WHERE state = 'running' ORDER BY id");
        self.rows("list its ensembles", sqlx::query(sqlx::AssertSqlSafe(sql)), submitted).await
    }

    /// Changes the state of an ensemble in one of the states `from`; returns whether it did.
    pub(crate) async fn turn(&self, ensemble: i64, from: &[State], to: State) -> Result<bool> {
        let from: Vec<&str> = from.iter().map(State::into_str).collect();
        let sql = "UPDATE ensembles SET state = $3, finished_at = CASE WHEN $3 IN ('running', 'paused') THEN NULL \
                   ELSE now() END WHERE id = $1 AND state = ANY($2)";
        let statement = sqlx::query(sql).bind(ensemble).bind(from).bind(to.into_str());
        Ok(self.execute("change an ensemble's state", statement).await? > 0)
    }

    /// The final state of an ensemble; `None` while ranges remain.
    pub(crate) async fn ended_as(&self, ensemble: i64) -> Result<Option<State>> {
        // A dropped ensemble has no ranges and no final state.
        let sql = "SELECT NOT EXISTS (SELECT FROM ensembles WHERE id = $1) \
                       OR EXISTS (SELECT FROM ranges WHERE ensemble = $1 AND state = 'queued'), \
                   EXISTS (SELECT FROM ranges WHERE ensemble = $1 AND state = 'failed')";
        let both = |row: &PgRow| Ok((row.try_get(0)?, row.try_get(1)?));
        Ok(match self.rows("look for ranges", sqlx::query(sql).bind(ensemble), both).await?[..] {
            [(false, true)] => Some(State::Failed),
            [(false, false)] => Some(State::Complete),
            _ => None,
        })
    }
}
