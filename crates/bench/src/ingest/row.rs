//! The measurements of one case.

use std::fmt::Display;

use ingest::Durability;
use serde::{Serialize, Serializer};
use table::Codec;

use super::load::{LoadFigures, LoadPlan};
use super::workload::IngestSweep;
use crate::harness::report::number::{bytes, count, ms};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ServerSettings {
    /// When the server acknowledges rows.
    #[serde(serialize_with = "as_text")]
    pub durability: Durability,
    /// Compression of segments.
    pub codec: Codec,
    /// Rows of a segment, at most.
    pub flush_rows: u64,
    /// Segments encoded at once.
    pub flushes: u64,
    /// Megabytes of unflushed rows, at most.
    pub memory_mb: u64,
}

fn as_text<S: Serializer>(value: &impl Display, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(value)
}

/// The figures of one case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IngestRow {
    pub sweep: IngestSweep,
    /// The setting that differs from other cases.
    pub setting: String,
    #[serde(flatten)]
    pub server: ServerSettings,
    #[serde(flatten)]
    pub plan: LoadPlan,
    /// `max` for as fast as the server answers, or `rate`.
    pub mode: &'static str,
    /// The fixed rate in records per second, if any.
    pub rate: Option<f64>,
    /// The figures of the load; `stored` counts the records before the server ended.
    #[serde(flatten)]
    pub load: LoadFigures,
    /// Records in segments after the server ended.
    pub in_segments: u64,
    /// User and system time of the server, until it has ended.
    pub server_cpu_s: f64,
    /// Stored records per second of the server's processor time.
    pub records_per_server_cpu_s: f64,
    /// Peak memory of the server.
    pub peak_rss_bytes: u64,
    /// Bytes per record in segments after the server ended.
    pub bytes_per_record: f64,
    /// Bytes per record in segments after compaction.
    pub compacted_bytes_per_record: Option<f64>,
}

impl IngestRow {
    /// Whether every acknowledged record is stored exactly once, by the server's count and in segments.
    pub fn is_stored(&self) -> bool {
        self.load.is_stored() && self.in_segments == self.load.stored
    }

    pub(super) fn in_brief(&self) -> String {
        format!(
            "{}: {} records/s, {} a server CPU-second, p99 {}, peak {}{}",
            self.setting,
            count(self.load.records_per_s.round() as u64),
            count(self.records_per_server_cpu_s.round() as u64),
            ms(self.load.p99_ms),
            bytes(self.peak_rss_bytes),
            if self.is_stored() { "" } else { ": NOT STORED AS ACKNOWLEDGED" }
        )
    }
}
