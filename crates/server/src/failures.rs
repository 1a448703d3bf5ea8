//! Slows down failed logins.
//!
//! Guessing a token of 256 random bits is hopeless at any speed. The delay slows down clients that retry an old token
//! repeatedly, and attackers who try common passwords. Only failures wait: a valid token is never slower, even from the
//! same address. Memory is constant. A limit on waiting failures keeps connections free for others.

use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

/// Size of the table of counts. Addresses that share a count slow each other's failures down.
const COUNTS: usize = 1024;
/// The wait after the first failure. Each further failure doubles it, up to [`LONGEST`].
const FIRST: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_secs(1);
/// A count restarts after this time without a failure.
const FORGOTTEN: Duration = Duration::from_mins(5);
/// Maximum number of failures that wait at once.
const WAITING_MAX: usize = 64;

/// Recent failed logins.
#[derive(Debug)]
pub(crate) struct Failures {
    places: RandomState,
    counts: Mutex<Vec<Option<(u32, Instant)>>>,
    room: Semaphore,
}

impl Default for Failures {
    fn default() -> Self {
        let counts = Mutex::new(vec![None; COUNTS]);
        Self { places: RandomState::new(), counts, room: Semaphore::new(WAITING_MAX) }
    }
}

impl Failures {
    /// Counts a failed login and delays its reply. Returns `false` if too many wait already: the client should retry
    /// later.
    pub(crate) async fn slow_down(&self, address: IpAddr) -> bool {
        let (count, wait) = self.note(address, Instant::now());
        // Log only each doubling, so that attackers cannot flood the log.
        if count.is_power_of_two() {
            tracing::warn!(%address, count, "failed login: unknown token");
        }
        let Ok(_waiting) = self.room.try_acquire() else { return false };
        tokio::time::sleep(wait).await;
        true
    }

    /// Counts a failure; returns the failures of the address so far, and the delay.
    fn note(&self, address: IpAddr, now: Instant) -> (u32, Duration) {
        // The owner of one IPv6 address has all 2^64 addresses of its network.
        let network = match address.to_canonical() {
            IpAddr::V4(address) => u128::from(address.to_bits()),
            IpAddr::V6(address) => address.to_bits() >> 64 << 64,
        };
        let place = (self.places.hash_one(network) % COUNTS as u64) as usize;
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let before =
            counts[place].filter(|(_, last)| now.duration_since(*last) < FORGOTTEN).map_or(0, |(count, _)| count);
        counts[place] = Some((before.saturating_add(1), now));
        (before.saturating_add(1), LONGEST.min(FIRST * 2_u32.saturating_pow(before.min(16))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_are_forgotten() {
        let failures = Failures::default();
        let now = Instant::now();
        let address = IpAddr::from([10, 0, 0, 1]);
        let waits: Vec<_> = (0..8).map(|_| failures.note(address, now).1.as_millis()).collect();
        assert_eq!(waits, [10, 20, 40, 80, 160, 320, 640, 1000]);
        let (count, longest) = (0..100).map(|_| failures.note(address, now)).last().unwrap();
        assert_eq!((count, longest), (108, LONGEST));
        assert_eq!(failures.note(address, now + FORGOTTEN), (1, FIRST));
    }

    #[test]
    fn memory_is_constant_for_any_number_of_addresses() {
        let failures = Failures::default();
        let now = Instant::now();
        for address in 0..100_000_u32 {
            failures.note(IpAddr::from(address.to_be_bytes()), now);
        }
        assert_eq!(failures.counts.lock().unwrap().capacity(), COUNTS);
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one() {
        // Fresh counts for each pair: two networks may share a count.
        for addresses in [["2001:db8::1", "2001:db8::ffff:2"], ["10.1.1.1", "::ffff:10.1.1.1"]] {
            let (failures, now) = (Failures::default(), Instant::now());
            assert_eq!(addresses.map(|address| failures.note(address.parse().unwrap(), now).0), [1, 2]);
        }
    }

    #[tokio::test]
    async fn only_some_failures_wait_at_once() {
        let failures = std::sync::Arc::new(Failures::default());
        let waiting = (0..2 * WAITING_MAX).map(|_| {
            let failures = failures.clone();
            tokio::spawn(async move { failures.slow_down(IpAddr::from([10, 0, 0, 1])).await })
        });
        let mut waited = 0;
        for task in waiting.collect::<Vec<_>>() {
            waited += usize::from(task.await.unwrap());
        }
        assert_eq!(waited, WAITING_MAX);
    }
}
