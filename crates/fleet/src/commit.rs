//! Commits what a worker's threads have played: what is ready together in one go, so that they do not get in each other's
//! way.

use std::sync::Arc;
use std::time::Instant;

use ensemble::{Store, WrittenRange};
use run::{Phase, Until};
use tokio::sync::mpsc;

use crate::error::FleetError;
use crate::job::{Job, open_store};
use crate::ledger::{State, Told};
use crate::worker::{Played, Worker};

/// Ranges that are committed together, at most.
const TOGETHER_MAX: usize = 64;

/// Commits ranges until there are no more to come. A range is in the tables, then in the ledger, then gone from the broker.
pub(crate) async fn commit_all(worker: Arc<Worker>, mut played: mpsc::Receiver<Played>) {
    let mut ready = Vec::new();
    while played.recv_many(&mut ready, TOGETHER_MAX).await > 0 {
        ready.sort_by_key(|played: &Played| played.assignment.job.id);
        while let Some(job) = ready.first().map(|played| played.assignment.job.clone()) {
            let others = ready.iter().position(|played| played.assignment.job.id != job.id).unwrap_or(ready.len());
            let group: Vec<Played> = ready.drain(..others).collect();
            let ranges: Vec<_> = group.iter().map(|played| played.assignment.range).collect();
            commit_group(&worker, &job, group).await;
            ranges.into_iter().for_each(|range| worker.claims.release(job.id, range));
        }
    }
}

/// Commits ranges of one ensemble, together or, where one of them cannot be committed, one by one.
async fn commit_group(worker: &Worker, job: &Arc<Job>, group: Vec<Played>) {
    let committing = Instant::now();
    group.iter().for_each(|played| played.assignment.progress.moves());
    // What replaces an older version is committed all at once, when it is complete.
    let committed =
        if job.replaces { Some(Ok(())) } else { worker.patiently(|| commit_to_tables(worker, job, &group)).await };
    let each = committing.elapsed() / group.len().max(1) as u32;
    match committed {
        Some(Ok(())) => {
            let mut told = Vec::new();
            for mut played in group {
                worker.options.meter.add(Phase::Commit, each);
                played.times.add(Phase::Commit, each);
                told.extend(note(worker, job, &played).await);
            }
            if let Err(error) = worker.ledger.told(job.id, &told).await {
                tracing::debug!(%error, "the ledger does not know how long it took to tell it");
            }
            settle(worker, job).await;
        }
        None => {
            for played in group {
                played.assignment.requeue().await;
            }
        }
        Some(Err(_)) if group.len() > 1 => {
            for played in group {
                Box::pin(commit_group(worker, job, vec![played])).await;
            }
        }
        Some(Err(error)) => {
            for played in group {
                worker.fail(&played.assignment, &error.to_string()).await;
            }
        }
    }
}

async fn commit_to_tables(worker: &Worker, job: &Job, group: &[Played]) -> Result<(), FleetError> {
    let mut store = worker.store.lock().await;
    let mut open = match store.take() {
        Some(open) => open,
        None => store_of(worker, job).await?,
    };
    let written: Vec<&WrittenRange> = group.iter().map(|played| &played.written).collect();
    open.commit_ranges(job.player.ensemble(), &written).await?;
    // What refused once is opened anew.
    *store = Some(open);
    Ok(())
}

async fn store_of(worker: &Worker, job: &Job) -> Result<Store, FleetError> {
    open_store(&job.player.ensemble().plan.name, &worker.options.data, &worker.options.disk).await
}

/// Notes in the ledger that a range is committed, then tells the broker; how long both took, where both were told.
async fn note(worker: &Worker, job: &Job, played: &Played) -> Option<Told> {
    let meter = &worker.options.meter;
    let (range, times, aggregates) = (played.assignment.range, played.times, &played.written.aggregates);
    let noting = Instant::now();
    let finished = worker.patiently(|| worker.ledger.finish(job.id, range, worker.me.id, &times, aggregates)).await;
    match finished {
        Some(Ok(known)) => {
            let note = noting.elapsed();
            let acknowledging = Instant::now();
            played.assignment.acknowledge().await;
            let acknowledge = acknowledging.elapsed();
            meter.add(Phase::Note, note);
            meter.add(Phase::Acknowledge, acknowledge);
            meter.done(range.count());
            if let Some((until, known)) = job.until.zip(known)
                && until.is_met(&known)
            {
                stop_with_enough(worker, job, until).await;
            }
            return Some(Told { range, note, acknowledge });
        }
        // It is in the tables: whoever gets the message again finds it there.
        Some(Err(error)) => {
            tracing::error!(%error, %range, "the ledger does not note it");
            played.assignment.requeue().await;
        }
        None => played.assignment.requeue().await,
    }
    None
}

/// Lets nobody take up more of an ensemble of which what was to be known is known well enough. The tables say so first: the
/// ledger is never ahead of them.
async fn stop_with_enough(worker: &Worker, job: &Job, until: Until) {
    let ensemble = job.player.ensemble();
    let told = until.told(&ensemble.plan.catalogue);
    let note = || async {
        let mut store = store_of(worker, job).await?;
        Ok(store.note_enough(&ensemble.plan.name, ensemble.version, Some(&told)).await?)
    };
    match worker.patiently(note).await {
        Some(Ok(())) => {}
        // The next range that is done tries again.
        None => return,
        Some(Err(error)) => {
            tracing::warn!(%error, ensemble = ensemble.plan.name, "could not note that it is enough");
            return;
        }
    }
    if let Err(error) = worker.ledger.turn(job.id, &[State::Running, State::Paused], State::Enough).await {
        // The next range that is done tries again.
        tracing::warn!(%error, ensemble = job.player.ensemble().plan.name, "could not end it");
    }
}

/// Ends an ensemble of which no range is left: one that replaces an older version takes its place, and the queue goes.
/// Whoever finds that it has ended does so; twice does no harm.
pub(crate) async fn settle(worker: &Worker, job: &Job) {
    if let Err(error) = try_to_settle(worker, job).await {
        // The next look at the ledger tries again.
        tracing::warn!(%error, ensemble = job.player.ensemble().plan.name, "could not end it");
    }
}

async fn try_to_settle(worker: &Worker, job: &Job) -> Result<(), FleetError> {
    let Some(end) = worker.ledger.ended_as(job.id).await? else {
        return Ok(());
    };
    if end == State::Complete && job.replaces {
        store_of(worker, job).await?.switch(job.player.ensemble()).await?;
    }
    if worker.ledger.turn(job.id, &[State::Running, State::Paused], end).await? {
        tracing::info!(ensemble = job.player.ensemble().plan.name, state = end.word(), "ended");
    }
    Ok(())
}
