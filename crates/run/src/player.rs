//! Plays ranges of one ensemble into files.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use disk::Disk;
use ensemble::{Encoders, Follow, RangeWriter, Registered, Unwritten, WrittenRange};
use model::{EventBlock, Model, OutcomeBlock, Sink, Stop, Wanted};
use table::PageFormat;
use world::WorldRange;

use crate::error::{ElsewhereError, RunError};

/// Who plays the ranges of a run.
pub enum Players {
    /// The run's own threads.
    Here(Arc<dyn Model>),
    /// Other processes.
    Elsewhere(Arc<dyn PlayElsewhere>),
}

/// Has ranges played in other processes, by a [`Player`] in each. Each thread of a run waits for one range at a time.
pub trait PlayElsewhere: Send + Sync {
    /// Has a range of this version of the ensemble played into its files, without committing them. `None` if the range
    /// was interrupted because the run ends.
    ///
    /// # Errors
    /// If the process cannot play the range, or ends.
    fn play(&self, version: u64, range: WorldRange) -> Result<Option<WrittenRange>, ElsewhereError>;
}

/// Plays ranges of one ensemble; any number of threads may share it.
pub struct Player {
    /// The model that the ensemble was planned with.
    pub model: Arc<dyn Model>,
    pub ensemble: Registered,
    pub disk: Arc<dyn Disk>,
    pub format: PageFormat,
    pub follow: Follow,
}

impl Player {
    /// Encoders of one thread, reused for all its ranges.
    ///
    /// # Errors
    /// If the model's columns cannot be stored.
    pub fn encoders(&self) -> Result<Encoders, RunError> {
        Ok(Encoders::new(Arc::new(self.ensemble.plan.catalogue.clone()), self.format, self.follow.clone())?)
    }

    /// Plays a range into its files, without committing them. `None` once `stop`, polled at intervals, returns true.
    ///
    /// # Errors
    /// If the files cannot be written, or the model fails; names the world on which it panics.
    pub fn play(
        &self,
        range: WorldRange,
        encoders: &mut Encoders,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<WrittenRange>, RunError> {
        let played = catch_unwind(AssertUnwindSafe(|| self.play_into_files(range, encoders, stop)));
        played.unwrap_or_else(|panic| Err(self.panicked(range, &*panic)))
    }

    fn play_into_files(
        &self,
        range: WorldRange,
        encoders: &mut Encoders,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<WrittenRange>, RunError> {
        let plan = &self.ensemble.plan;
        let store_events = plan.events.is_stored();
        let mut writer = RangeWriter::create(&self.disk, &self.ensemble.paths, range, store_events, encoders, stop)?;
        let wanted = Wanted { events: store_events, entity: None };
        let played = self.model.simulate(plan.seed, range, wanted, &mut writer);
        match writer.finish(played) {
            Ok(written) => Ok(Some(written)),
            Err(Unwritten::Interrupted) => Ok(None),
            Err(Unwritten::Table(error)) => Err(RunError::Table(error)),
            Err(Unwritten::Stopped(stop)) => Err(RunError::Model { range, reason: stop.reason(&plan.model) }),
            Err(Unwritten::Undeclared(reason)) => Err(RunError::Model { range, reason }),
        }
    }

    /// Halves the range until one panicking world is left.
    fn panicked(&self, range: WorldRange, panic: &(dyn Any + Send)) -> RunError {
        let mut reason = panic_message(panic).to_owned();
        let mut suspects = range;
        while suspects.count() > 1 {
            let halves = suspects.split((suspects.count() as u32).div_ceil(2));
            let Some((half, message)) = halves.into_iter().find_map(|half| Some((half, self.panics_on(half)?))) else {
                break;
            };
            (suspects, reason) = (half, message);
        }
        let reason = match suspects.count() {
            1 => format!("the model panicked on world {}: {reason}", suspects.first()),
            // No half panics alone: the model wrongly keeps state.
            _ => format!("the model panicked on worlds {suspects}: {reason}"),
        };
        RunError::Model { range, reason }
    }

    fn panics_on(&self, range: WorldRange) -> Option<String> {
        let wanted = Wanted { events: self.ensemble.plan.events.is_stored(), entity: None };
        let seed = self.ensemble.plan.seed;
        let played = catch_unwind(AssertUnwindSafe(|| self.model.simulate(seed, range, wanted, &mut Nothing)));
        played.err().map(|panic| panic_message(&*panic).to_owned())
    }
}

/// Drops all blocks.
struct Nothing;

impl Sink for Nothing {
    fn outcomes(&mut self, _: OutcomeBlock<'_>) -> Result<(), Stop> {
        Ok(())
    }

    fn events(&mut self, _: EventBlock<'_>) -> Result<(), Stop> {
        Ok(())
    }
}

pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}
