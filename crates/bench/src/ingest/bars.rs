//! The bars, with measured figures.

use super::format::{BodyCodec, WireFormat};
use super::row::IngestRow;
use super::workload::IngestSweep;
use crate::harness::bars::Bar;

/// The bars with the measured figures and those of the reference system.
pub(super) fn bars(rows: &[IngestRow]) -> Vec<Bar> {
    let of = |sweep, pick: fn(&IngestRow) -> bool| rows.iter().find(move |row| row.sweep == sweep && pick(row));
    let format = |format| rows.iter().find(|row| row.sweep == IngestSweep::Formats && row.plan.format == format);
    let per_cpu = |row: Option<&IngestRow>| row.map(|row| row.records_per_server_cpu_s / 1e6);
    let zstd = of(IngestSweep::Bodies, |row| row.plan.compression == BodyCodec::Zstd);
    let columnar = format(WireFormat::Columnar);
    let at_rate = of(IngestSweep::Rate, |row| row.rate == Some(500_000.0)).map(|row| row.load.p99_ms);
    let gigabytes = of(IngestSweep::Overload, |_| true).map(|row| row.peak_rss_bytes as f64 / 1e9);
    let compacted = columnar.and_then(|row| row.compacted_bytes_per_record);
    let millions = "M a server CPU-s";
    let bar =
        |what: &str, unit, reference, goals, measured| Bar::new(what, unit, goals, measured).with_reference(reference);
    vec![
        bar("columnar, sync", millions, 1.43, [2.5, 4.0], per_cpu(columnar)),
        bar("columnar zstd bodies, sync", millions, 1.08, [1.8, 3.0], per_cpu(zstd)),
        bar("rows MessagePack, sync", millions, 0.177, [0.7, 1.2], per_cpu(format(WireFormat::Rows))),
        bar("line protocol, sync", millions, 0.208, [0.9, 1.5], per_cpu(format(WireFormat::Lp))),
        bar("p99 at 500K records/s, columnar, sync", "ms", 40.0, [30.0, 15.0], at_rate),
        bar("p99 of a closed loop, columnar, sync", "ms", 43.0, [40.0, 20.0], columnar.map(|row| row.load.p99_ms)),
        bar("peak memory under overload", "GB", 3.8, [0.6, 0.4], gigabytes),
        bar("a record stored, after compaction", "bytes", 8.0, [8.0, 7.2], compacted),
    ]
}
