//! A look at a model before a run: how long its worlds take, and how many events they have.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use model::{Catalogue, EventBlock, Model, OutcomeBlock, Sink, Stop, Wanted};
use world::{Seed, World, WorldRange};

/// What a few worlds of a model showed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Probe {
    /// Time that a world takes on one thread, without encoding.
    pub world: Duration,
    /// Events of the entity that has most of them, a world.
    pub events: u64,
}

/// Worlds of a range where nothing else is said: enough to compress well, few enough to keep memory small.
const RANGE_WORLDS: u32 = 5_000;
/// Events of one entity in a range, about: they are in memory together.
const RANGE_EVENTS: u64 = 2_000_000;
/// Time after which enough was seen.
const LONG_ENOUGH: Duration = Duration::from_millis(20);

impl Probe {
    /// Plays some worlds; nothing of them is kept. A model that panics shows nothing here, and its worlds when they are played.
    pub fn of(model: &dyn Model, seed: Seed, events: bool) -> Self {
        let mut seen = Seen::default();
        let started = Instant::now();
        let mut worlds = 0;
        while started.elapsed() < LONG_ENOUGH && worlds < 1 << 16 {
            // Twice as many each time: what a range costs besides its worlds is not to be measured.
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

    /// Worlds of a range that any of many workers plays: long enough that what a range costs besides its worlds does not
    /// count, and short enough that all workers are done at about the same time.
    pub fn fleet_range_worlds(self, worlds: u32, catalogue: &Catalogue) -> u32 {
        /// Ranges that let some workers share the work evenly.
        const RANGES: u32 = 64;
        /// What a page of outcomes costs, whatever its worlds, and the part of a range's time that this may be.
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

    /// Worlds of a range that one process plays: its events fit in memory.
    pub fn range_worlds(self) -> u32 {
        self.fitting().clamp(1, RANGE_WORLDS)
    }

    /// Worlds whose events fit in memory.
    fn fitting(self) -> u32 {
        let fitting = RANGE_EVENTS.checked_div(self.events).and_then(|worlds| u32::try_from(worlds).ok());
        fitting.unwrap_or(u32::MAX)
    }
}

/// A few more ranges than these, so that as many workers as may be share them without a rest: 2, 3, 4, 6, 8, 12 and 24 where
/// there are many ranges, fewer where there are few.
fn shared_evenly(ranges: u32) -> u32 {
    let share = [24, 12, 6, 4, 2].into_iter().find(|share| *share <= ranges).unwrap_or(1);
    ranges.next_multiple_of(share)
}

/// Counts events.
#[derive(Default)]
struct Seen {
    /// Events so far of each entity, and of the one that has most.
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
