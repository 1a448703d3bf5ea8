//! Workers in the ledger.

use uuid::Uuid;

use super::{Ledger, Result};

/// Who a worker is.
#[derive(Debug, Clone)]
pub(crate) struct Introduction {
    pub(crate) id: Uuid,
    pub(crate) host: String,
    pub(crate) pid: u32,
    pub(crate) threads: usize,
}

impl Ledger {
    /// Notes that a worker is there, and what keeps it from playing, if anything does.
    pub(crate) async fn see(&self, worker: &Introduction, trouble: Option<&str>) -> Result<()> {
        let sql = "INSERT INTO workers (id, host, pid, threads, program, trouble) VALUES ($1, $2, $3, $4, $5, $6) \
                   ON CONFLICT (id) DO UPDATE SET seen_at = now(), trouble = $6";
        let done = sqlx::query(sql)
            .bind(worker.id)
            .bind(&worker.host)
            .bind(worker.pid as i32)
            .bind(worker.threads as i32)
            .bind(concat!("manyworlds ", env!("CARGO_PKG_VERSION")))
            .bind(trouble)
            .execute(&self.pool)
            .await;
        done.map(drop).map_err(self.fail("note a worker"))
    }

    /// Notes that a worker ends.
    pub(crate) async fn dismiss(&self, worker: Uuid) -> Result<()> {
        let sql = "UPDATE workers SET seen_at = now(), ended_at = now() WHERE id = $1";
        let done = sqlx::query(sql).bind(worker).execute(&self.pool).await;
        done.map(drop).map_err(self.fail("note that a worker ends"))
    }
}
