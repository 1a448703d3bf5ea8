//! The measurements of one case.

use serde::Serialize;

use super::format::{BodyCodec, WireFormat};
use super::workload::IngestSweep;
use crate::harness::report::number::{bytes, count, ms};

/// The figures of one case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IngestRow {
    pub sweep: IngestSweep,
    /// The setting that differs from other cases.
    pub setting: String,
    pub format: WireFormat,
    /// Compression of bodies.
    pub compression: BodyCodec,
    /// When the server acknowledges rows.
    pub durability: String,
    /// Compression of segments.
    pub codec: String,
    /// Rows of a segment, at most.
    pub flush_rows: u64,
    /// Segments encoded at once.
    pub flushes: u64,
    /// Megabytes of unflushed rows, at most.
    pub memory_mb: u64,
    pub tables: usize,
    pub connections: usize,
    /// `max` for as fast as the server answers, or `rate`.
    pub mode: &'static str,
    /// The fixed rate in records per second, if any.
    pub rate: Option<f64>,
    pub elapsed_s: f64,
    /// Acknowledged records per second.
    pub records_per_s: f64,
    /// Records that the server counted after the load.
    pub stored: u64,
    /// Records in segments after the server ended.
    pub in_segments: u64,
    /// Acknowledged records.
    pub acknowledged: u64,
    /// Records of failed requests; the server may have stored them.
    pub uncertain: u64,
    /// Requests refused for lack of memory.
    pub refused_requests: u64,
    /// Due requests that were never sent.
    pub unsent_requests: u64,
    /// Median latency of acknowledged requests.
    pub p50_ms: f64,
    pub p95_ms: f64,
    pub p99_ms: f64,
    /// User and system time of the server, until it has ended.
    pub server_cpu_s: f64,
    /// Stored records per second of the server's processor time.
    pub records_per_server_cpu_s: f64,
    /// Peak memory of the server.
    pub peak_rss_bytes: u64,
    pub load_cpu_s: f64,
    pub wire_bytes_per_record: f64,
    /// Bytes per record in segments after the server ended.
    pub bytes_per_record: f64,
    /// Bytes per record in segments after compaction.
    pub compacted_bytes_per_record: Option<f64>,
}

impl IngestRow {
    /// Whether every acknowledged record is stored exactly once, by the server's count and in segments.
    pub fn is_stored(&self) -> bool {
        let right = self.acknowledged..=self.acknowledged + self.uncertain;
        right.contains(&self.stored) && self.in_segments == self.stored
    }

    pub(super) fn in_brief(&self) -> String {
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
