//! The ledger in PostgreSQL: submitted ensembles, their ranges and progress, and the workers.

mod changes;
mod ensembles;
mod ranges;
mod totals;
mod workers;

use std::io::ErrorKind;
use std::str::FromStr as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::postgres::{PgArguments, PgConnectOptions, PgPoolOptions, PgRow};
use sqlx::query::Query;
use sqlx::{Connection as _, PgConnection, PgPool, Postgres, SqlSafeStr as _};
use uuid::Uuid;

pub use changes::Changes;
pub use ensembles::State;
pub(crate) use ensembles::{Submission, Submitted};
pub(crate) use ranges::{Claim, NoteTimes, Verdict};
pub use totals::{EnsembleStatus, PhaseTotals, UntilStatus, WorkerStatus};
pub(crate) use totals::{Rates, Totals};
pub(crate) use workers::Introduction;

use crate::error::FleetError;

type Result<T> = std::result::Result<T, FleetError>;

/// Pooled connections of a process, at most; the listener has one more.
const CONNECTIONS_MAX: u32 = 4;
/// Time limit to get a connection.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time limit of a query, including that for a connection.
const ANSWER: Duration = Duration::from_secs(30);
/// Time limit to make or change the tables, and to wait for another process that does.
const MIGRATION: Duration = Duration::from_mins(1);
/// The schema of a fleet's tables.
const SCHEMA: &str = "manyworlds";

#[derive(Debug, Clone)]
pub struct Ledger {
    /// Replaced after a timeout: the pool's connections may be dead without a sign.
    pool: Arc<Mutex<PgPool>>,
    address: String,
    fleet: Uuid,
}

impl Ledger {
    /// Opens the ledger at an address such as `postgres://user:password@host:port/database`, and creates missing
    /// tables.
    ///
    /// # Errors
    /// If the address is invalid, the ledger is unreachable or refuses, or a newer program version created it.
    pub async fn open(url: &str) -> Result<Self> {
        const EXAMPLE: &str = "postgres://user:password@host:5432/database";
        let no_address = || FleetError::address("ledger", url, EXAMPLE);
        if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
            return Err(no_address());
        }
        let options = PgConnectOptions::from_str(url).map_err(|_| no_address())?.options([("search_path", SCHEMA)]);
        let address = format!("{}:{}", options.get_host(), options.get_port());
        let fail = |doing| {
            let address = address.clone();
            move |cause| FleetError::Ledger { doing, address, cause }
        };
        // A pool would retry, and hide the reason of a refusal.
        let connecting = in_time(PgConnection::connect_with(&options));
        let mut first = connecting.await.map_err(fail("be reached"))?;
        let late = |_| Err(MigrateError::Execute(sqlx::Error::Io(ErrorKind::TimedOut.into())));
        let migrated = tokio::time::timeout(MIGRATION, migrate(&mut first)).await.unwrap_or_else(late);
        migrated.map_err(|error| match error {
            MigrateError::Execute(cause) => fail("make its tables")(cause),
            cause => FleetError::Migration { address: address.clone(), cause },
        })?;
        let fleet = in_time(identity(&mut first)).await.map_err(fail("name itself"))?;
        in_time(first.close()).await.map_err(fail("close a connection"))?;
        Ok(Self { pool: Arc::new(Mutex::new(pool_of(options))), address, fleet })
    }

    fn pool(&self) -> PgPool {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Awaits an answer with a time limit.
    async fn within<T>(
        &self,
        asked: impl Future<Output = std::result::Result<T, sqlx::Error>>,
    ) -> std::result::Result<T, sqlx::Error> {
        let answer = in_time(asked).await;
        let has_stalled = matches!(&answer, Err(sqlx::Error::Io(error)) if error.kind() == ErrorKind::TimedOut);
        if has_stalled || matches!(answer, Err(sqlx::Error::PoolTimedOut)) {
            let fresh = pool_of((*self.pool().connect_options()).clone());
            *self.pool.lock().unwrap_or_else(PoisonError::into_inner) = fresh;
        }
        answer
    }

    /// Runs a statement; returns the number of changed rows.
    async fn execute(&self, doing: &'static str, statement: Query<'_, Postgres, PgArguments>) -> Result<u64> {
        let done = self.within(statement.execute(&self.pool())).await;
        Ok(done.map_err(self.fail(doing))?.rows_affected())
    }

    /// The rows of a query.
    async fn rows<T>(
        &self,
        doing: &'static str,
        query: Query<'_, Postgres, PgArguments>,
        read: impl Fn(&PgRow) -> std::result::Result<T, sqlx::Error>,
    ) -> Result<Vec<T>> {
        let rows = self.within(query.fetch_all(&self.pool())).await;
        rows.and_then(|rows| rows.iter().map(read).collect()).map_err(self.fail(doing))
    }

    /// The fleet's number, part of its queues' names.
    pub(crate) fn fleet(&self) -> Uuid {
        self.fleet
    }

    fn fail(&self, doing: &'static str) -> impl Fn(sqlx::Error) -> FleetError + use<> {
        let address = self.address.clone();
        move |cause| FleetError::Ledger { doing, address: address.clone(), cause }
    }
}

fn pool_of(options: PgConnectOptions) -> PgPool {
    PgPoolOptions::new().max_connections(CONNECTIONS_MAX).acquire_timeout(PATIENCE).connect_lazy_with(options)
}

/// An answer, or a timeout.
async fn in_time<T>(
    asked: impl Future<Output = std::result::Result<T, sqlx::Error>>,
) -> std::result::Result<T, sqlx::Error> {
    let late = |_| Err(sqlx::Error::Io(ErrorKind::TimedOut.into()));
    tokio::time::timeout(ANSWER, asked).await.unwrap_or_else(late)
}

/// The error for a ledger value that this version cannot read.
fn undecodable(error: impl std::error::Error + Send + Sync + 'static) -> sqlx::Error {
    sqlx::Error::Decode(Box::new(error))
}

/// The migrations of the ledger's tables. A released migration never changes.
fn migrations() -> Vec<Migration> {
    let steps = [
        ("fleet", include_str!("../../migrations/0001_fleet.sql")),
        ("changes", include_str!("../../migrations/0002_changes.sql")),
        ("progress", include_str!("../../migrations/0003_progress.sql")),
        ("encodings", include_str!("../../migrations/0004_encodings.sql")),
    ];
    let step = |(version, (description, sql)): (i64, (&'static str, &'static str))| {
        Migration::new(version, description.into(), MigrationType::Simple, sql.into_sql_str(), false)
    };
    (1..).zip(steps).map(step).collect()
}

async fn migrate(connection: &mut PgConnection) -> std::result::Result<(), MigrateError> {
    // Two processes that create the schema at once would conflict in the system catalogue.
    sqlx::query("SELECT pg_advisory_lock(hashtext($1))").bind(SCHEMA).execute(&mut *connection).await?;
    sqlx::query(sqlx::AssertSqlSafe(format!("CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))).execute(&mut *connection).await?;
    let migrated = Migrator::with_migrations(migrations()).run(&mut *connection).await;
    sqlx::query("SELECT pg_advisory_unlock(hashtext($1))").bind(SCHEMA).execute(connection).await?;
    migrated
}

async fn identity(connection: &mut PgConnection) -> std::result::Result<Uuid, sqlx::Error> {
    sqlx::query("INSERT INTO fleet (id) VALUES ($1) ON CONFLICT DO NOTHING")
        .bind(Uuid::new_v4())
        .execute(&mut *connection)
        .await?;
    sqlx::query_scalar("SELECT id FROM fleet").fetch_one(connection).await
}
