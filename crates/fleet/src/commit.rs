//! Commits played ranges in groups.

use std::sync::Arc;
use std::time::Instant;

use ensemble::WrittenRange;
use run::{Phase, Until};
use tokio::sync::mpsc;

use crate::assignment::Played;
use crate::job::Job;
use crate::ledger::{NoteTimes, State};
use crate::ranges::Ranges;

/// Ranges of one commit, at most.
const TOGETHER_MAX: usize = 64;

/// Commits ranges until the channel closes: to the tables first, then to the ledger; the message is acknowledged last.
pub(crate) async fn commit_all(ranges: Arc<Ranges>, mut played: mpsc::Receiver<Played>) {
    let mut ready = Vec::new();
    while played.recv_many(&mut ready, TOGETHER_MAX).await > 0 {
        ready.sort_by_key(|played: &Played| played.assignment.job.id);
        while let Some(job) = ready.first().map(|played| played.assignment.job.clone()) {
            let others = ready.iter().position(|played| played.assignment.job.id != job.id).unwrap_or(ready.len());
            let group: Vec<Played> = ready.drain(..others).collect();
            let claimed: Vec<_> = group.iter().map(|played| played.assignment.range).collect();
            commit_group(&ranges, &job, group).await;
            claimed.into_iter().for_each(|range| ranges.claims.release(job.id, range));
        }
    }
}

/// Commits ranges of one ensemble together, or one by one if that fails.
async fn commit_group(ranges: &Ranges, job: &Arc<Job>, group: Vec<Played>) {
    let committing = Instant::now();
    group.iter().for_each(|played| played.assignment.progress.moves());
    let written: Vec<&WrittenRange> = group.iter().map(|played| &played.written).collect();
    // A version that replaces another is committed as a whole at the end.
    let committed = if job.replaces {
        Some(Ok(()))
    } else {
        ranges.retry.run(|| ranges.tables.commit(&job.player.ensemble, &written)).await
    };
    let each = committing.elapsed() / group.len().max(1) as u32;
    match committed {
        Some(Ok(())) => {
            let mut times = Vec::new();
            for mut played in group {
                ranges.meter.add(Phase::Commit, each);
                played.times.add(Phase::Commit, each);
                times.extend(note(ranges, job, &played).await);
            }
            if let Err(error) = ranges.ledger.note_times(job.id, &times).await {
                tracing::debug!(%error, "could not note times");
            }
            ranges.settle(job).await;
        }
        None => {
            for played in group {
                played.assignment.requeue().await;
            }
        }
        Some(Err(_)) if group.len() > 1 => {
            for played in group {
                Box::pin(commit_group(ranges, job, vec![played])).await;
            }
        }
        Some(Err(error)) => {
            for played in group {
                ranges.fail(&played.assignment, &error.to_string()).await;
            }
        }
    }
}

/// Notes a committed range in the ledger, then acknowledges its message. Returns the time of both, if both worked.
async fn note(ranges: &Ranges, job: &Job, played: &Played) -> Option<NoteTimes> {
    let (range, times, aggregates) = (played.assignment.range, played.times, &played.written.aggregates);
    let noting = Instant::now();
    let finished = ranges.retry.run(|| ranges.ledger.finish(job.id, range, ranges.worker, &times, aggregates)).await;
    match finished {
        Some(Ok(known)) => {
            let note = noting.elapsed();
            let acknowledging = Instant::now();
            played.assignment.acknowledge().await;
            let acknowledge = acknowledging.elapsed();
            ranges.meter.add(Phase::Note, note);
            ranges.meter.add(Phase::Acknowledge, acknowledge);
            ranges.meter.done(range.count());
            if let Some((until, known)) = job.until.zip(known)
                && until.is_met(&known)
            {
                stop_with_enough(ranges, job, until).await;
            }
            return Some(NoteTimes { range, note, acknowledge });
        }
        // The range is in the tables: the next worker to get its message finds it there.
        Some(Err(error)) => {
            tracing::error!(%error, %range, "could not note a range");
            played.assignment.requeue().await;
        }
        None => played.assignment.requeue().await,
    }
    None
}

/// Ends an ensemble at its goal. Updates the tables first, because the ledger is never ahead of them.
async fn stop_with_enough(ranges: &Ranges, job: &Job, until: Until) {
    let ensemble = &job.player.ensemble;
    let goal = until.to_text(&ensemble.plan.catalogue);
    let note = || async {
        let mut store = ranges.tables.open(job.name()).await?;
        Ok(store.note_enough(job.name(), ensemble.version, Some(&goal)).await?)
    };
    // After a failure, the next finished range tries again.
    match ranges.retry.run(note).await {
        Some(Ok(())) => {}
        None => return,
        Some(Err(error)) => {
            tracing::warn!(%error, ensemble = job.name(), "could not note that the goal is met");
            return;
        }
    }
    if let Err(error) = ranges.ledger.turn(job.id, &[State::Running, State::Paused], State::Enough).await {
        tracing::warn!(%error, ensemble = job.name(), "could not end an ensemble");
    }
}
