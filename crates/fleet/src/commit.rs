//! Commits what a worker's threads have played: one range after the other, so that they do not get in each other's way.

use std::sync::Arc;
use std::time::Instant;

use ensemble::{EnsembleError, Store};
use tokio::sync::mpsc;

use crate::error::FleetError;
use crate::job::Job;
use crate::ledger::State;
use crate::worker::{Played, Worker, acknowledge, fail, requeue};

/// Commits ranges until there are no more to come. A range is in the tables, then in the ledger, then gone from the broker.
pub(crate) async fn commit_all(worker: Arc<Worker>, mut played: mpsc::Receiver<Played>) {
    let mut store: Option<Store> = None;
    while let Some(played) = played.recv().await {
        commit(&worker, &mut store, played).await;
    }
}

async fn commit(worker: &Worker, store: &mut Option<Store>, mut played: Played) {
    let committing = Instant::now();
    let job = played.assignment.job.clone();
    if !job.replaces {
        let mut pause = std::time::Duration::from_millis(100);
        loop {
            let Err(error) = commit_to_tables(worker, store, &job, &played).await else { break };
            *store = None;
            if !error.is_passing() {
                return fail(worker, played.assignment, &error.to_string()).await;
            }
            tracing::warn!(%error, "committing again");
            worker.set_trouble(Some(error.to_string()));
            let mut halt = worker.halt.clone();
            let asked = halt.wait_for(|halt| *halt == crate::worker::Halt::Now);
            if tokio::time::timeout(pause, asked).await.is_ok() {
                return requeue(&played.assignment).await;
            }
            pause = (pause * 2).min(std::time::Duration::from_secs(15));
        }
    }
    played.times.commit = committing.elapsed().as_nanos() as i64;
    let (range, times) = (played.assignment.range, played.times);
    let noted = worker.patiently(|| worker.ledger.finish(job.id, range, worker.me.id, &times)).await;
    match noted {
        Some(Ok(())) => {
            acknowledge(&played.assignment).await;
            settle(worker, &job).await;
        }
        // It is in the tables: whoever gets the message again finds it there.
        Some(Err(error)) => {
            tracing::error!(%error, %range, "the ledger does not note it");
            requeue(&played.assignment).await;
        }
        None => requeue(&played.assignment).await,
    }
}

async fn commit_to_tables(
    worker: &Worker,
    store: &mut Option<Store>,
    job: &Job,
    played: &Played,
) -> Result<(), FleetError> {
    let open = match store {
        Some(open) => open,
        None => store.insert(open_store(worker, job).await?),
    };
    Ok(open.commit_range(job.player.ensemble(), &played.written).await?)
}

async fn open_store(worker: &Worker, job: &Job) -> Result<Store, FleetError> {
    let (data, disk) = (&worker.options.data, worker.options.disk.clone());
    let unknown = || EnsembleError::Unknown {
        name: job.player.ensemble().plan.name.clone(),
        data: worker.options.disk.shown(data),
        have: Vec::new(),
    };
    Ok(Store::open(data, disk).await?.ok_or_else(unknown)?)
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
        open_store(worker, job).await?.switch(job.player.ensemble()).await?;
    }
    if worker.ledger.turn(job.id, &[State::Running, State::Paused], end).await? {
        tracing::info!(ensemble = job.player.ensemble().plan.name, state = end.word(), "ended");
    }
    Ok(())
}
