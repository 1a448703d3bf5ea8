//! Runs the benchmark; each case has its own server.

use std::path::Path;
use std::sync::Arc;

use disk::RealDisk;
use serde::Serialize;
use table::Table;

use super::bars::bars;
use super::cases::{Case, cases};
use super::load::{Pace, load};
use super::row::IngestRow;
use super::target::Target;
use super::workload::IngestWorkload;
use crate::error::BenchError;
use crate::harness::bars::Bar;
use crate::harness::bench::Bench;
use crate::harness::disk_space::remove_folder;
use crate::harness::machine::Machine;
use crate::harness::server::RunningServer;

/// Everything that was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ingest {
    pub machine: Machine,
    pub workload: IngestWorkload,
    pub rows: Vec<IngestRow>,
    pub bars: Vec<Bar>,
}

/// Measures the cases one after another. Empties the folder at the end.
///
/// # Errors
/// If a server does not start, answer or end, or the user asks to stop. Missing or doubled rows are a result, in
/// [`IngestRow::is_stored`].
pub async fn ingest(bench: &Bench<'_, IngestWorkload>) -> Result<Ingest, BenchError> {
    bench.check_empty()?;
    let machine = Machine::here();
    let mut workload = bench.workload.clone();
    workload.overload_seconds.get_or_insert(workload.seconds);
    let cases = cases(&workload);
    let mut rows: Vec<IngestRow> = Vec::new();
    for (place, case) in cases.iter().enumerate() {
        bench.check_stop(&format!("{} of {}: {}", place + 1, cases.len(), case.setting))?;
        let folder = bench.data.join(format!("case-{}", place + 1));
        let measured = bench.measure(case, &folder).await;
        remove_folder(&folder)?;
        let row = measured?;
        (bench.note)(&row.in_brief());
        rows.push(row);
    }
    Ok(Ingest { machine, workload, bars: bars(&rows), rows })
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
        Ok(IngestRow {
            sweep: case.sweep,
            setting: case.setting.clone(),
            server: case.server.clone(),
            plan: case.load.clone(),
            mode: if case.load.pace == Pace::Max { "max" } else { "rate" },
            rate: if let Pace::Rate(rate) = case.load.pace { Some(rate) } else { None },
            in_segments,
            server_cpu_s: usage.cpu_s,
            records_per_server_cpu_s: loaded.stored as f64 / usage.cpu_s.max(1e-6),
            peak_rss_bytes: usage.peak_rss_bytes,
            bytes_per_record: each(size),
            compacted_bytes_per_record: compacted,
            load: loaded,
        })
    }
}

/// Rows and bytes of the segments of all tables.
async fn segments(data: &Path) -> Result<(u64, u64), BenchError> {
    let (mut rows, mut size) = (0, 0);
    for name in table::tables(data)? {
        let table = Table::open(&name.folder(data), Arc::new(RealDisk)).await?;
        for segment in table.ok_or_else(|| BenchError::Missing(format!("table {name}")))?.segments().await? {
            rows += segment.rows;
            size += segment.bytes;
        }
    }
    Ok((rows, size))
}

/// Bytes of all tables after small segments are merged.
async fn compact(data: &Path) -> Result<u64, BenchError> {
    for name in table::tables(data)? {
        table::upkeep::compact(&name.folder(data), Arc::new(RealDisk), None).await?;
    }
    Ok(segments(data).await?.1)
}
