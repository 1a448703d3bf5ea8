//! Workers in the ledger.

use uuid::Uuid;
use world::WorldRange;

use super::{Ledger, Result};

/// Seconds of silence after which a worker counts as dead.
pub(super) const GONE_S: f64 = 10.0;

#[derive(Debug, Clone)]
pub(crate) struct Introduction {
    pub(crate) id: Uuid,
    pub(crate) host: String,
    pub(crate) pid: u32,
    pub(crate) threads: usize,
}

impl Ledger {
    /// Notes that a worker is alive, its current trouble, and which ranges made progress.
    pub(crate) async fn see(
        &self,
        worker: &Introduction,
        trouble: Option<&str>,
        moving: &[(i64, WorldRange)],
    ) -> Result<()> {
        let sql = "INSERT INTO workers (id, host, pid, threads, program, trouble) VALUES ($1, $2, $3, $4, $5, $6) \
                   ON CONFLICT (id) DO UPDATE SET seen_at = now(), trouble = $6";
        let seen = sqlx::query(sql)
            .bind(worker.id)
            .bind(&worker.host)
            .bind(worker.pid as i32)
            .bind(worker.threads as i32)
            .bind(concat!("manyworlds ", env!("CARGO_PKG_VERSION")))
            .bind(trouble);
        self.execute("note a worker", seen).await?;
        if moving.is_empty() {
            return Ok(());
        }
        let (ensembles, firsts): (Vec<i64>, Vec<i64>) =
            moving.iter().map(|(ensemble, range)| (*ensemble, i64::from(range.first().0))).unzip();
        let sql = "UPDATE ranges r SET progress_at = now() FROM unnest($2::bigint[], $3::bigint[]) AS m (ensemble, first) \
                   WHERE r.ensemble = m.ensemble AND r.first_world = m.first AND r.worker = $1 AND r.state = 'queued'";
        let moved = sqlx::query(sql).bind(worker.id).bind(ensembles).bind(firsts);
        self.execute("note progress", moved).await.map(drop)
    }

    /// Notes a worker's end.
    pub(crate) async fn dismiss(&self, worker: Uuid) -> Result<()> {
        let sql = "UPDATE workers SET seen_at = now(), ended_at = now() WHERE id = $1";
        self.execute("note that a worker ends", sqlx::query(sql).bind(worker)).await.map(drop)
    }
}
