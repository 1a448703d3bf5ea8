//! Medians and percentiles of repeated measurements.

use std::time::{Duration, Instant};

use serde::Serialize;

/// The middle value, or the mean of the two middle ones; 0 for no values.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// The smallest value that at least `share` (0 to 1) of the values do not exceed; 0 for no values.
pub(crate) fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or(0.0)
}

/// Times of repeated measurements.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Latency {
    pub repeats: usize,
    pub p50_ms: f64,
    /// The 99th percentile; the longest time if there are fewer than 100 repeats.
    pub p99_ms: f64,
}

impl Latency {
    pub fn of(times: &[Duration]) -> Self {
        let ms: Vec<f64> = times.iter().map(|t| t.as_secs_f64() * 1e3).collect();
        Self { repeats: ms.len(), p50_ms: percentile(&ms, 0.5), p99_ms: percentile(&ms, 0.99) }
    }
}

/// Repeats a measurement until `budget` has passed or `most` times, but at least five times. `once` gets the number of
/// the repeat, from 0, and returns the time to count.
pub(crate) fn repeat<E>(
    budget: Duration,
    most: usize,
    mut once: impl FnMut(usize) -> Result<Duration, E>,
) -> Result<Latency, E> {
    const LEAST: usize = 5;
    let started = Instant::now();
    let mut times = Vec::new();
    while times.len() < LEAST || (times.len() < most && started.elapsed() < budget) {
        times.push(once(times.len())?);
    }
    Ok(Latency::of(&times))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!([median(&[]), median(&[3.0]), median(&[9.0, 1.0, 2.0]), median(&[4.0, 1.0])], [0.0, 3.0, 2.0, 2.5]);
    }

    #[test]
    fn percentiles_are_values_that_occurred() {
        let hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        let at = |share| percentile(&hundred, share);
        assert_eq!([at(0.0), at(0.5), at(0.99), at(0.991), at(1.0)], [1.0, 50.0, 99.0, 100.0, 100.0]);
        assert_eq!(
            [percentile(&[7.0, 5.0], 0.99), percentile(&[7.0, 5.0], 0.5), percentile(&[], 0.5)],
            [7.0, 5.0, 0.0]
        );
    }

    #[test]
    fn at_least_five_and_at_most_as_many_repeats_as_asked_for() {
        let count = |budget, most| {
            let once = |_| Ok::<_, ()>(Duration::from_millis(2));
            repeat(budget, most, once).map(|l| (l.repeats, l.p50_ms, l.p99_ms))
        };
        assert_eq!(count(Duration::ZERO, 100), Ok((5, 2.0, 2.0)));
        assert_eq!(count(Duration::from_mins(1), 12), Ok((12, 2.0, 2.0)));
    }
}
