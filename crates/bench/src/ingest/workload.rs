//! The bench of a server that takes rows in: every case with a server of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use table::disk::{Disk, RealDisk};
use table::{Table, TableName};

use super::bars::{IngestBar, bars};
use super::cases::{Case, IngestSweep, cases};
use super::load::{LoadFigures, Pace, load};
use super::payload::{BodyCodec, WireFormat};
use super::target::Target;
use crate::bench::Bench;
use crate::error::BenchError;
use crate::machine::Machine;
use crate::report::number::{bytes, count, ms};
use crate::server::RunningServer;

/// What is measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IngestWorkload {
    /// Which settings are compared.
    pub sweeps: Vec<IngestSweep>,
    /// How long each case is loaded.
    pub seconds: f64,
    /// How long the case of overload is.
    pub overload_seconds: f64,
    /// Connections, where they are not what is compared.
    pub connections: usize,
    /// Records a second of the case at a rate.
    pub rate: f64,
    /// Seed of the values.
    pub seed: u64,
}

/// Everything that was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ingest {
    /// Where.
    pub machine: Machine,
    /// What.
    pub workload: IngestWorkload,
    /// One a case.
    pub rows: Vec<IngestRow>,
    /// The bars, and what was measured.
    pub bars: Vec<IngestBar>,
}

/// What one case came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IngestRow {
    /// Which settings it belongs to.
    pub sweep: IngestSweep,
    /// What is special about it.
    pub setting: String,
    /// What bodies were written in.
    pub format: WireFormat,
    /// What compressed bodies.
    pub compression: BodyCodec,
    /// When the server acknowledged.
    pub durability: String,
    /// What compressed segments.
    pub codec: String,
    /// Rows of a segment at most.
    pub flush_rows: u64,
    /// Segments encoded at once.
    pub flushes: u64,
    /// Megabytes of rows that might wait.
    pub memory_mb: u64,
    /// Tables written to.
    pub tables: usize,
    /// Connections.
    pub connections: usize,
    /// As fast as answered, or at a rate.
    pub mode: &'static str,
    /// Records a second that were due, where a rate was kept.
    pub rate: Option<f64>,
    /// How long was loaded.
    pub elapsed_s: f64,
    /// Records acknowledged a second.
    pub records_per_s: f64,
    /// Records that the server counted at the end of the load.
    pub stored: u64,
    /// Records in segments once it had ended.
    pub in_segments: u64,
    /// Records acknowledged.
    pub acknowledged: u64,
    /// Records of requests that the server failed on: stored or not.
    pub uncertain: u64,
    /// Requests refused for want of room.
    pub refused_requests: u64,
    /// Requests due and never sent.
    pub unsent_requests: u64,
    /// Half of the acknowledged requests took no longer.
    pub p50_ms: f64,
    /// 95 of 100 took no longer.
    pub p95_ms: f64,
    /// 99 of 100 took no longer.
    pub p99_ms: f64,
    /// User and system time of the server, from its start to its clean end.
    pub server_cpu_s: f64,
    /// Records stored for each second of it.
    pub records_per_server_cpu_s: f64,
    /// The most memory that the server had at once.
    pub peak_rss_bytes: u64,
    /// Processor time of the load.
    pub load_cpu_s: f64,
    /// Bytes of a record in a body as sent.
    pub wire_bytes_per_record: f64,
    /// Bytes of a record in segments once the server had ended.
    pub bytes_per_record: f64,
    /// Bytes of a record in segments after `table compact`.
    pub compacted_bytes_per_record: Option<f64>,
}

impl IngestRow {
    /// Whether all that was acknowledged was there once, in the server's answer and in segments.
    pub fn is_stored(&self) -> bool {
        let right = self.acknowledged..=self.acknowledged + self.uncertain;
        right.contains(&self.stored) && self.in_segments == self.stored
    }
}

impl Ingest {
    /// Whether every case stored what it acknowledged.
    pub fn is_stored(&self) -> bool {
        self.rows.iter().all(IngestRow::is_stored)
    }
}

/// Measures the cases one after the other. The folder is empty again at the end.
///
/// # Errors
/// Where a server does not start, answer or end, and where asked to stop. That one has other rows than it acknowledged is
/// no error but a result, in [`Ingest::is_stored`].
pub async fn ingest(bench: &Bench<'_, IngestWorkload>) -> Result<Ingest, BenchError> {
    bench.check_empty()?;
    let machine = Machine::here();
    let cases = cases(bench.workload);
    let mut rows: Vec<IngestRow> = Vec::new();
    for (place, case) in cases.iter().enumerate() {
        bench.check_stop(&format!("{} of {}: {}", place + 1, cases.len(), case.setting))?;
        let folder = bench.data.join(format!("case-{}", place + 1));
        let measured = bench.measure(case, &folder).await;
        remove(&folder)?;
        let row = measured?;
        (bench.note)(&row.in_brief());
        rows.push(row);
    }
    Ok(Ingest { machine, workload: bench.workload.clone(), bars: bars(&rows), rows })
}

impl Bench<'_, IngestWorkload> {
    async fn measure(&self, case: &Case, folder: &Path) -> Result<IngestRow, BenchError> {
        let server = RunningServer::start(case.server.command(self.program, folder))?;
        let target = Target::new(&format!("http://{}", server.address), false, table::DATABASE, None)?;
        let loaded = load(&target, &case.load, self.note, self.stop)?;
        if (self.stop)() {
            return Err(BenchError::Stopped);
        }
        let usage = server.stop()?;
        let (in_segments, size) = segments(folder).await?;
        let each = |bytes: u64| bytes as f64 / in_segments.max(1) as f64;
        let compacted = if case.compact { Some(each(compact(folder).await?)) } else { None };
        let LoadFigures { acknowledged, stored, uncertain, .. } = loaded;
        Ok(IngestRow {
            sweep: case.sweep,
            setting: case.setting.clone(),
            format: case.load.format,
            compression: case.load.compression,
            durability: case.server.durability.to_string(),
            codec: case.server.codec.to_string(),
            flush_rows: case.server.flush_rows,
            flushes: case.server.flushes,
            memory_mb: case.server.memory_mb,
            tables: case.load.tables,
            connections: case.load.connections,
            mode: if case.load.pace == Pace::Max { "max" } else { "rate" },
            rate: if let Pace::Rate(rate) = case.load.pace { Some(rate) } else { None },
            elapsed_s: loaded.elapsed_s,
            records_per_s: loaded.records_per_s,
            stored,
            in_segments,
            acknowledged,
            uncertain,
            refused_requests: loaded.refused_requests,
            unsent_requests: loaded.unsent_requests,
            p50_ms: loaded.p50_ms,
            p95_ms: loaded.p95_ms,
            p99_ms: loaded.p99_ms,
            server_cpu_s: usage.cpu_s,
            records_per_server_cpu_s: stored as f64 / usage.cpu_s.max(1e-6),
            peak_rss_bytes: usage.peak_rss_bytes,
            load_cpu_s: loaded.load_cpu_s,
            wire_bytes_per_record: loaded.wire_bytes_per_record,
            bytes_per_record: each(size),
            compacted_bytes_per_record: compacted,
        })
    }
}

impl IngestRow {
    fn in_brief(&self) -> String {
        format!(
            "{}: {} records/s, {} a server CPU-second, p99 {}, peak {}{}",
            self.setting,
            count(self.records_per_s.round() as u64),
            count(self.records_per_server_cpu_s.round() as u64),
            ms(self.p99_ms),
            bytes(self.peak_rss_bytes),
            if self.is_stored() { "" } else { ": NOT STORED AS ACKNOWLEDGED" }
        )
    }
}

/// Rows and bytes of the segments of all tables.
async fn segments(data: &Path) -> Result<(u64, u64), BenchError> {
    let (mut rows, mut size) = (0, 0);
    for (name, root) in tables(data)? {
        let table = Table::open(&root, disk()).await?.ok_or_else(|| BenchError::Missing(format!("table {name}")))?;
        for segment in table.segments().await? {
            rows += segment.rows;
            size += segment.bytes;
        }
    }
    Ok((rows, size))
}

/// Bytes of all tables once small segments are merged.
async fn compact(data: &Path) -> Result<u64, BenchError> {
    for (_, root) in tables(data)? {
        table::upkeep::compact(&root, disk(), None).await?;
    }
    Ok(segments(data).await?.1)
}

fn tables(data: &Path) -> Result<Vec<(TableName, PathBuf)>, BenchError> {
    let folder = |name: TableName| {
        let root = name.folder(data);
        (name, root)
    };
    Ok(table::tables(data)?.into_iter().map(folder).collect())
}

fn disk() -> Arc<dyn Disk> {
    Arc::new(RealDisk)
}

fn remove(folder: &Path) -> Result<(), BenchError> {
    match fs::remove_dir_all(folder) {
        // A server that did not start has made none.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(|source| BenchError::Io { doing: "remove", path: folder.to_owned(), source }),
    }
}
