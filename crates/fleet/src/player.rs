//! A player thread: takes up ranges, and plays them into files.

use std::time::{Duration, Instant};

use ensemble::{Encoders, WrittenRange};
use run::{Phase, RunError, Times};
use table::ErrorKind;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::inbox::Assignment;
use crate::job::Job;
use crate::ledger::Claim;
use crate::worker::{Halt, Pauses, Played, Worker};

/// How long a range of a paused ensemble is held before it is given back, so that it does not come again at once.
const PAUSED: Duration = Duration::from_millis(200);

/// Takes up ranges until there are no more to come.
pub(crate) fn play_all(worker: &Worker, played: &mpsc::Sender<Played>, handle: &Handle) {
    let mut encoders: Option<(i64, Encoders)> = None;
    let mut pauses = Pauses::new();
    while let Some(assignment) = worker.inbox.take() {
        let mut times = Times::default();
        times.add(Phase::Dispatch, assignment.dispatch);
        times.add(Phase::Wait, assignment.arrived.elapsed());
        let claiming = Instant::now();
        if !handle.block_on(claim(worker, &assignment)) {
            continue;
        }
        times.add(Phase::Claim, claiming.elapsed());
        worker.claims.hold(assignment.job.id, assignment.range, &assignment.progress);
        assignment.progress.begins();
        let fit = encoders
            .take_if(|(job, _)| *job == assignment.job.id)
            .map_or_else(|| assignment.job.player.encoders(), |(_, encoders)| Ok(encoders));
        let result = fit.and_then(|mut fit| {
            let result = play(worker, &assignment, &mut fit);
            encoders = Some((assignment.job.id, fit));
            result
        });
        assignment.progress.ends();
        match result {
            Ok(Some(written)) => {
                pauses = Pauses::new();
                worker.set_trouble(None);
                times.add_played(&written.times);
                worker.options.meter.spent(&times);
                if played.blocking_send(Played { assignment, written, times }).is_err() {
                    return;
                }
            }
            Ok(None) => handle.block_on(worker.give_back(&assignment)),
            Err(RunError::Table(error)) if error.kind() == ErrorKind::Environment => {
                // Another worker may have room; this one tries again in a while.
                tracing::warn!(%error, range = %assignment.range, "cannot be written here");
                worker.set_trouble(Some(error.to_string()));
                handle.block_on(async {
                    worker.give_back(&assignment).await;
                    worker.rest(pauses.next(), Halt::Drain).await;
                });
            }
            Err(error) => handle.block_on(worker.fail(&assignment, &error.to_string())),
        }
    }
}

/// Asks the ledger for a range; where it is not to be played, or not now, the broker is told so.
async fn claim(worker: &Worker, assignment: &Assignment) -> bool {
    let (Job { id, .. }, range) = (&*assignment.job, assignment.range);
    match worker.patiently(|| worker.ledger.claim(*id, range, worker.me.id)).await {
        Some(Ok(Claim::Play)) => return true,
        Some(Ok(Claim::Settled)) => assignment.acknowledge().await,
        Some(Ok(Claim::Later)) => {
            worker.rest(PAUSED, Halt::Drain).await;
            assignment.requeue().await;
        }
        Some(Err(error)) => {
            tracing::error!(%error, %range, "the ledger does not hand it out");
            assignment.requeue().await;
        }
        // The broker gets it back with the connection's end.
        None => {}
    }
    false
}

/// Plays a range, as slowly as the worker was told to; `None` where it is to drop everything.
fn play(worker: &Worker, assignment: &Assignment, encoders: &mut Encoders) -> Result<Option<WrittenRange>, RunError> {
    let range = assignment.range;
    let stop = || {
        assignment.progress.moves();
        worker.drops_all()
    };
    let mut written = assignment.job.player.play(range, encoders, &stop)?;
    if let Some(written) = &mut written {
        let pause = worker.options.world_pause * range.count() as u32;
        let mut paused = Duration::ZERO;
        while paused < pause && !stop() {
            let some = pause.saturating_sub(paused).min(PAUSED);
            std::thread::sleep(some);
            paused += some;
        }
        written.times.simulate += paused;
    }
    Ok(written)
}
