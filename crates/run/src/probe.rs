//! Measures a model before a run: time and events per world.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use model::{Catalogue, EventBlock, Model, OutcomeBlock, Sink, Stop, Wanted};
use world::{Seed, World, WorldRange};

use crate::error::RunError;

/// Measurements of a few worlds of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Probe {
    /// Time per world on one thread, without encoding.
    pub world: Duration,
    /// Events per world of the entity with the most events.
    pub events: u64,
}

/// Worlds of a range unless events limit it: enough to compress well, few enough to keep memory small.
const RANGE_WORLDS: u32 = 5_000;
/// Target events of one entity in a range, which memory holds together.
const RANGE_EVENTS: u64 = 2_000_000;
/// Minimum time of a measurement.
const LONG_ENOUGH: Duration = Duration::from_millis(20);

/// Plays the first world of a model and drops it, to find a model that fails before its ensemble takes a name.
///
/// # Errors
/// [`RunError::Model`] if the model fails. A panic is left to the run, which reports it.
pub fn play_first_world(model: &dyn Model, name: &str, seed: Seed) -> Result<(), RunError> {
    let Ok(range) = WorldRange::new(World(0), 1) else { return Ok(()) };
    let play = || model.simulate(seed, range, Wanted::default(), &mut Seen::default());
    match catch_unwind(AssertUnwindSafe(play)) {
        Ok(Err(stop)) => Err(RunError::Model { range, reason: stop.reason(name) }),
        _ => Ok(()),
    }
}

impl Probe {
    /// Plays some worlds and drops them. All zero if the model fails: the run then reports the error.
    pub fn of(model: &dyn Model, seed: Seed, events: bool) -> Self {
        let mut seen = Seen::default();
        let started = Instant::now();
        let mut worlds = 0;
        while started.elapsed() < LONG_ENOUGH && worlds < 1 << 16 {
            // Double each time, so that the fixed cost of a range does not count.
            let Ok(range) = WorldRange::new(World(worlds), (worlds + 1).next_power_of_two()) else { break };
            let wanted = Wanted { events, entity: None };
            let played = catch_unwind(AssertUnwindSafe(|| model.simulate(seed, range, wanted, &mut seen)));
            if !matches!(played, Ok(Ok(()))) {
                return Self::default();
            }
            worlds = range.end();
        }
        Self { world: started.elapsed() / worlds.max(1), events: seen.largest.div_ceil(u64::from(worlds.max(1))) }
    }

    /// Range size for many workers: large enough to hide the fixed cost of a range, small enough that all workers
    /// finish together.
    pub fn fleet_range_worlds(self, worlds: u32, catalogue: &Catalogue) -> u32 {
        /// Ranges that a few workers can share evenly.
        const RANGES: u32 = 64;
        /// Fixed cost of a page of outcomes, and the largest fraction of a range's time for it.
        const PAGE: Duration = Duration::from_micros(3);
        const PAGES_PART: u32 = 10;
        const VALUES_MAX: usize = 8_000_000;
        let pages = catalogue.values_per_world();
        let even = (self.world * worlds / RANGES).clamp(Duration::from_millis(200), Duration::from_secs(2));
        let time = even.max(PAGE * pages as u32 * PAGES_PART);
        let timely = (time.as_nanos() / self.world.as_nanos().max(1)).min(u128::from(worlds)) as u32;
        let most = timely.min(self.fitting()).min((VALUES_MAX / pages.max(1)) as u32).clamp(1, worlds.max(1));
        worlds.div_ceil(shared_evenly(worlds.div_ceil(most))).max(1)
    }

    /// Range size for the threads of one process: as large as memory allows, and all threads play equally many.
    pub fn range_worlds(self, worlds: u32, threads: usize) -> u32 {
        let threads = u32::try_from(threads).unwrap_or(u32::MAX).max(1);
        let most = self.fitting().clamp(1, RANGE_WORLDS);
        let rounds = worlds.div_ceil(threads.saturating_mul(most)).max(1);
        worlds.div_ceil(threads.saturating_mul(rounds)).max(1)
    }

    /// Worlds that are played well within a time limit.
    pub(crate) fn worlds_within(self, limit: Duration) -> u32 {
        const PART: u32 = 4;
        let worlds = (limit / PART).as_nanos().checked_div(self.world.as_nanos()).unwrap_or(u128::MAX);
        u32::try_from(worlds).unwrap_or(u32::MAX).max(1)
    }

    /// Worlds whose events fit in memory.
    fn fitting(self) -> u32 {
        let fitting = RANGE_EVENTS.checked_div(self.events).and_then(|worlds| u32::try_from(worlds).ok());
        fitting.unwrap_or(u32::MAX)
    }
}

/// Rounds up to a multiple of 24, so that 2, 3, 4, 6, 8, 12 or 24 workers get equal shares. Small numbers round up to a
/// multiple of 12, 6, 4 or 2.
fn shared_evenly(ranges: u32) -> u32 {
    let share = [24, 12, 6, 4, 2].into_iter().find(|share| *share <= ranges).unwrap_or(1);
    ranges.next_multiple_of(share)
}

/// Counts events.
#[derive(Default)]
struct Seen {
    /// Events of each entity so far, and of the largest.
    of_entity: Vec<u64>,
    largest: u64,
}

impl Sink for Seen {
    fn outcomes(&mut self, _: OutcomeBlock<'_>) -> Result<(), Stop> {
        Ok(())
    }

    fn events(&mut self, block: EventBlock<'_>) -> Result<(), Stop> {
        let rows: u64 = block.rows.iter().map(|&rows| u64::from(rows)).sum();
        self.of_entity.resize(self.of_entity.len().max(block.entity + 1), 0);
        self.of_entity[block.entity] += rows;
        self.largest = self.largest.max(self.of_entity[block.entity]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ranges of a run of so many worlds on so many threads.
    fn ranges(events: u64, worlds: u32, threads: usize) -> Vec<usize> {
        let size = Probe { world: Duration::ZERO, events }.range_worlds(worlds, threads);
        WorldRange::new(World(0), worlds).unwrap().split(size).into_iter().map(WorldRange::count).collect()
    }

    #[test]
    fn threads_play_equally_many_ranges() {
        assert_eq!(ranges(0, 100_000, 16), [3_125; 32]);
        assert_eq!(ranges(0, 100_000, 2), [5_000; 20]);
        assert_eq!(ranges(0, 1_000, 2), [500; 2]);
        assert_eq!(ranges(0, 10_001, 2), [2_501, 2_501, 2_501, 2_498]);
        assert_eq!(ranges(0, 3, 16), [1; 3]);
        assert_eq!(ranges(1_000, 20_000, 2), [2_000; 10], "memory holds the events of 2,000 worlds");
        assert_eq!(ranges(u64::MAX, 3, 2), [1; 3], "a world that does not fit");
    }
}
