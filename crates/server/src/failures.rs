//! Failed logins, slowed down.
//!
//! A token is 256 random bits, which nobody guesses at any speed; what is slowed down are clients with an old token that
//! try without end, and whoever tries what people choose. Only failures wait: a valid token is never slower, whoever
//! else fails at its address. Memory is constant, and only some failures wait at once, so that waiting takes no
//! connections away from others.

use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

/// Addresses share so many counts: two that share one slow each other's failures down.
const COUNTS: usize = 1024;
/// The wait after the first failure. Each one more doubles it, up to the longest.
const FIRST: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_secs(1);
/// Failures are forgotten after so long without one.
const FORGOTTEN: Duration = Duration::from_mins(5);
/// Failures that wait at once.
const WAITING_MAX: usize = 64;

/// How often logins failed lately.
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
    /// Notes a failed login of an address and waits before it is answered. `false`: too many wait already, and this one
    /// is better told to come back later.
    pub(crate) async fn slow_down(&self, address: IpAddr) -> bool {
        let (count, wait) = self.note(address, Instant::now());
        // Once for each doubling: a log is not for those who fail to fill.
        if count.is_power_of_two() {
            tracing::warn!(%address, count, "failed login: unknown token");
        }
        let Ok(_waiting) = self.room.try_acquire() else { return false };
        tokio::time::sleep(wait).await;
        true
    }

    /// Failures of an address with this one, and how long its answer waits.
    fn note(&self, address: IpAddr, now: Instant) -> (u32, Duration) {
        // Whoever has one address of IPv6 has all 2^64 of its network.
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
        // Each with counts of its own: two networks may share one.
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
