//! Counts replies and their latencies.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;

/// Counts of requests, and latencies of acknowledged ones.
#[derive(Debug, Clone)]
pub(super) struct LoadCounts {
    /// Microseconds from the due time, or else from sending, to the reply.
    latency: Histogram<u64>,
    pub(super) statuses: BTreeMap<u16, u64>,
    /// Acknowledged records.
    pub(super) acknowledged: u64,
    /// Records that the server may have stored.
    pub(super) uncertain: u64,
    /// Broken connections.
    pub(super) broken: u64,
    /// Bytes of acknowledged bodies.
    pub(super) body_bytes: u64,
}

impl Default for LoadCounts {
    fn default() -> Self {
        // From a microsecond to an hour, with three digits; longer latencies count as an hour.
        let latency = Histogram::new_with_bounds(1, 3_600_000_000, 3);
        #[expect(clippy::unwrap_used, reason = "bounds that the histogram's documentation allows")]
        let latency = latency.unwrap();
        Self { latency, statuses: BTreeMap::new(), acknowledged: 0, uncertain: 0, broken: 0, body_bytes: 0 }
    }
}

impl LoadCounts {
    pub(super) fn acknowledge(&mut self, records: u64, body_bytes: usize, took: Duration) {
        self.acknowledged += records;
        self.body_bytes += body_bytes as u64;
        self.latency.saturating_record(took.as_micros() as u64);
    }

    pub(super) fn status(&mut self, status: u16) {
        *self.statuses.entry(status).or_default() += 1;
    }

    /// Requests that the server refused for lack of memory.
    pub(super) fn refused(&self) -> u64 {
        self.statuses.get(&429).copied().unwrap_or(0)
    }

    pub(super) fn add(&mut self, other: &Self) {
        // Both have the same bounds, so every value of one fits in the other.
        self.latency += &other.latency;
        other.statuses.iter().for_each(|(status, count)| *self.statuses.entry(*status).or_default() += count);
        self.acknowledged += other.acknowledged;
        self.uncertain += other.uncertain;
        self.broken += other.broken;
        self.body_bytes += other.body_bytes;
    }

    /// The latency in milliseconds that `share` of the acknowledged requests did not exceed.
    pub(super) fn quantile_ms(&self, share: f64) -> f64 {
        if self.latency.is_empty() { 0.0 } else { self.latency.value_at_quantile(share) as f64 / 1e3 }
    }

    pub(super) fn max_ms(&self) -> f64 {
        self.latency.max() as f64 / 1e3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_or_counted_twice_when_taken() {
        let (mut running, mut total) = (LoadCounts::default(), LoadCounts::default());
        for request in 1..=100 {
            running.status(if request % 10 == 0 { 429 } else { 204 });
            if request % 10 != 0 {
                running.acknowledge(1_000, 46_000, Duration::from_millis(request));
            }
            if request % 7 == 0 {
                total.add(&std::mem::take(&mut running));
            }
        }
        total.add(&std::mem::take(&mut running));
        assert_eq!(
            (total.acknowledged, &total.statuses, total.refused()),
            (90_000, &BTreeMap::from([(204, 90), (429, 10)]), 10)
        );
        assert_eq!((running.acknowledged, running.statuses.len(), running.quantile_ms(0.5)), (0, 0, 0.0));
        let near = |share: f64, ms: f64| (total.quantile_ms(share) / ms - 1.0).abs() < 2e-3;
        assert!(near(0.5, 49.0) && near(0.99, 99.0) && near(1.0, 99.0), "{}", total.quantile_ms(0.5));
    }
}
