//! The bars, with measured figures.

use serde::Serialize;

use super::format::{BodyCodec, WireFormat};
use super::row::IngestRow;
use super::workload::IngestSweep;
use crate::harness::bars::Verdict;

/// A required figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IngestBar {
    /// The measured quantity.
    pub what: &'static str,
    pub unit: &'static str,
    /// The figure of the reference system.
    pub reference: f64,
    /// The required figure.
    pub bar: f64,
    /// The desired figure.
    pub aim: f64,
    pub measured: Option<f64>,
    /// Whether the bar is met; `None` without a measured figure.
    pub met: Option<bool>,
}

/// The bars with the measured figures.
pub(super) fn bars(rows: &[IngestRow]) -> Vec<IngestBar> {
    let of = |sweep, pick: fn(&IngestRow) -> bool| rows.iter().find(move |row| row.sweep == sweep && pick(row));
    let format = |format| rows.iter().find(|row| row.sweep == IngestSweep::Formats && row.format == format);
    let per_cpu = |row: Option<&IngestRow>| row.map(|row| row.records_per_server_cpu_s / 1e6);
    let zstd = of(IngestSweep::Bodies, |row| row.compression == BodyCodec::Zstd);
    let columnar = format(WireFormat::Columnar);
    let at_rate = of(IngestSweep::Rate, |row| row.rate == Some(500_000.0));
    let overload = of(IngestSweep::Overload, |_| true);
    let gigabytes = overload.map(|row| row.peak_rss_bytes as f64 / 1e9);
    let millions = "M a server CPU-s";
    vec![
        bar("columnar, sync", millions, [1.43, 2.5, 4.0], per_cpu(columnar)),
        bar("columnar zstd bodies, sync", millions, [1.08, 1.8, 3.0], per_cpu(zstd)),
        bar("rows MessagePack, sync", millions, [0.177, 0.7, 1.2], per_cpu(format(WireFormat::Rows))),
        bar("line protocol, sync", millions, [0.208, 0.9, 1.5], per_cpu(format(WireFormat::Lp))),
        bar("p99 at 500K records/s, columnar, sync", "ms", [40.0, 30.0, 15.0], at_rate.map(|row| row.p99_ms)),
        bar("p99 of a closed loop, columnar, sync", "ms", [43.0, 40.0, 20.0], columnar.map(|row| row.p99_ms)),
        bar("peak memory under overload", "GB", [3.8, 0.6, 0.4], gigabytes),
        bar(
            "a record stored, after compaction",
            "bytes",
            [8.0, 8.0, 7.2],
            columnar.and_then(|row| row.compacted_bytes_per_record),
        ),
    ]
}

fn bar(what: &'static str, unit: &'static str, limits: [f64; 3], measured: Option<f64>) -> IngestBar {
    let [reference, bar, aim] = limits;
    let met = measured.map(|figure| Verdict::of(Some(figure), [bar, aim]) != Verdict::Missed);
    IngestBar { what, unit, reference, bar, aim, measured, met }
}
