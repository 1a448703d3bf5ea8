//! A thread that claims ranges and plays them into files.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ensemble::{Encoders, WrittenRange};
use run::{Phase, RunError, Times};
use table::ErrorKind;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::assignment::{Assignment, Played};
use crate::halt::Halt;
use crate::inbox::Inbox;
use crate::ranges::Ranges;
use crate::retry::Pauses;

/// Longest single sleep of a slowed-down worker, so that it notices a request to end.
const STEP: Duration = Duration::from_millis(200);

/// Takes ranges from the inbox, and sends on played ones.
#[derive(Clone)]
pub(crate) struct PlayerThread {
    pub(crate) ranges: Arc<Ranges>,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) played: mpsc::Sender<Played>,
    /// Sleep per played world.
    pub(crate) world_pause: Duration,
    /// The runtime for claims and notes of failures.
    pub(crate) handle: Handle,
}

impl PlayerThread {
    /// Plays until the inbox is closed.
    pub(crate) fn run(&self) {
        let Self { ranges, handle, .. } = self;
        let mut encoders: Option<(i64, Encoders)> = None;
        let mut pauses = Pauses::new();
        while let Some(assignment) = self.inbox.take() {
            let mut times = Times::default();
            times.add(Phase::Dispatch, assignment.dispatch);
            times.add(Phase::Wait, assignment.arrived.elapsed());
            let claiming = Instant::now();
            if !handle.block_on(ranges.claim(&assignment)) {
                continue;
            }
            times.add(Phase::Claim, claiming.elapsed());
            assignment.progress.begins(assignment.job.player.model.has_helpers());
            let fit = encoders
                .take_if(|(job, _)| *job == assignment.job.id)
                .map_or_else(|| assignment.job.player.encoders(), |(_, encoders)| Ok(encoders));
            let result = fit.and_then(|mut fit| {
                let result = self.play(&assignment, &mut fit);
                encoders = Some((assignment.job.id, fit));
                result
            });
            assignment.progress.ends();
            match result {
                Ok(Some(written)) => {
                    pauses = Pauses::new();
                    ranges.retry.set_trouble(None);
                    times.add_played(&written.times);
                    ranges.meter.spent(&times);
                    if self.played.blocking_send(Played { assignment, written, times }).is_err() {
                        return;
                    }
                }
                Ok(None) => handle.block_on(ranges.give_back(&assignment)),
                Err(RunError::Table(error)) if error.kind() == ErrorKind::Environment => {
                    // Another worker may have disk space; this one tries again later.
                    tracing::warn!(%error, range = %assignment.range, "cannot write here");
                    ranges.retry.set_trouble(Some(error.to_string()));
                    handle.block_on(async {
                        ranges.give_back(&assignment).await;
                        ranges.halt.rest(pauses.next(), Halt::Drain).await;
                    });
                }
                Err(error) => handle.block_on(ranges.fail(&assignment, &error.to_string())),
            }
        }
    }

    /// Plays a range, then sleeps as asked. `None` if the worker must drop everything.
    fn play(&self, assignment: &Assignment, encoders: &mut Encoders) -> Result<Option<WrittenRange>, RunError> {
        let range = assignment.range;
        let stop = || {
            assignment.progress.moves();
            self.ranges.halt.drops_all()
        };
        let mut written = assignment.job.player.play(range, encoders, &stop)?;
        if let Some(written) = &mut written {
            let pause = self.world_pause * range.count() as u32;
            let mut paused = Duration::ZERO;
            while paused < pause && !stop() {
                let some = pause.saturating_sub(paused).min(STEP);
                std::thread::sleep(some);
                paused += some;
            }
            written.times.simulate += paused;
        }
        Ok(written)
    }
}
