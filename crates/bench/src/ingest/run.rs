//! Runs the benchmark; each case has its own server.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::{Disk, RealDisk};
use serde::Serialize;
use table::{Table, TableName};

use super::bars::{IngestBar, bars};
use super::cases::{Case, cases};
use super::load::{LoadFigures, Pace, load};
use super::row::IngestRow;
use super::target::Target;
use super::workload::IngestWorkload;
use crate::error::BenchError;
use crate::harness::bench::Bench;
use crate::harness::machine::Machine;
use crate::harness::server::RunningServer;

/// Everything that was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ingest {
    pub machine: Machine,
    pub workload: IngestWorkload,
    pub rows: Vec<IngestRow>,
    pub bars: Vec<IngestBar>,
}

impl Ingest {
    /// Whether every case stored all acknowledged records.
    pub fn is_stored(&self) -> bool {
        self.rows.iter().all(IngestRow::is_stored)
    }
}

/// Measures the cases one after another. Empties the folder at the end.
///
/// # Errors
/// If a server does not start, answer or end, or the user asks to stop. Missing or doubled rows are a result, in
/// [`Ingest::is_stored`].
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

/// Bytes of all tables after small segments are merged.
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
        // A server that did not start has no folder.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(BenchError::io("remove", folder)),
    }
}
