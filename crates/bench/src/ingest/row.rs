//! What one case measured.

use serde::Serialize;

use super::format::{BodyCodec, WireFormat};
use super::workload::IngestSweep;
use crate::harness::report::number::{bytes, count, ms};

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

    /// The figures in one line.
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
