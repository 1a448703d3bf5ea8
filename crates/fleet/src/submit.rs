//! Submits ensembles, and changes the state of submitted ones.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use disk::Disk;
use ensemble::{EnsembleError, Plan, Store};
use run::Until;
use table::PageFormat;

use crate::broker::Broker;
use crate::error::FleetError;
use crate::ledger::{Ledger, State, Submission, Submitted};

type Result<T> = std::result::Result<T, FleetError>;

/// How to play a submitted ensemble.
#[derive(Debug, Clone, Copy, Default)]
pub struct SubmitOptions {
    pub format: PageFormat,
    /// Replace an ensemble of the same name; the old version stays readable until the new one is complete.
    pub replace: bool,
    /// A goal that may end the ensemble early.
    pub until: Option<Until>,
}

/// Registers an ensemble in the tables, enters it in the ledger, and publishes its ranges. Returns its number in the
/// ledger. Once the ledger has the ensemble, any worker completes an interrupted submission.
///
/// # Errors
/// If the name is taken and `replace` is not set, or tables, ledger or broker refuse.
pub async fn submit(
    ledger: &Ledger,
    broker: &Broker,
    data: &Path,
    disk: Arc<dyn Disk>,
    plan: Plan,
    options: SubmitOptions,
) -> Result<i64> {
    let started = Instant::now();
    // Connect first, so that an unreachable broker leaves nothing registered.
    let connection = broker.connect().await?;
    let channel = broker.channel(&connection).await?;
    let mut store = Store::open_or_create(data, disk).await?;
    let registered = store.register(plan, options.replace).await?;
    let ranges = registered.plan.ranges();
    let catalogue = serde_json::to_string(&registered.plan.catalogue)
        .map_err(|e| EnsembleError::Description { name: registered.plan.name.clone(), reason: e.to_string() })?;
    let entered = ledger
        .enter(&Submission {
            name: &registered.plan.name,
            version: registered.version,
            model: &registered.plan.model,
            codec: options.format.codec.to_string(),
            encodings: options.format.encodings.to_string(),
            replaces: registered.replaces,
            range_worlds: registered.plan.range_worlds,
            worlds: registered.plan.worlds.count(),
            ranges: &ranges,
            until: options.until,
            catalogue,
        })
        .await?;
    broker.declare(&channel, entered.id).await?;
    broker.publish(&channel, entered.id, &ranges).await?;
    ledger.note_published(entered.id, &ranges).await?;
    ledger.release(entered.id, started.elapsed().as_nanos() as i64).await?;
    if let Err(error) = broker.answer("close a connection", connection.close(200, "done".into())).await {
        tracing::debug!(%error, "could not close the connection to the broker");
    }
    Ok(entered.id)
}

/// Pauses an ensemble.
///
/// # Errors
/// If no ensemble has the name, or it is not running.
pub async fn pause(ledger: &Ledger, name: &str) -> Result<()> {
    change(ledger, name, &[State::Running], State::Paused, "only a running ensemble can be paused").await
}

/// Resumes a paused ensemble.
///
/// # Errors
/// If no ensemble has the name, or it is not paused.
pub async fn resume(ledger: &Ledger, name: &str) -> Result<()> {
    change(ledger, name, &[State::Paused], State::Running, "only a paused ensemble can be resumed").await
}

/// Cancels an ensemble. Its stored ranges stay readable.
///
/// # Errors
/// If no ensemble has the name, or it has ended.
pub async fn cancel(ledger: &Ledger, name: &str) -> Result<()> {
    let from = [State::Submitting, State::Running, State::Paused];
    change(ledger, name, &from, State::Cancelled, "an ensemble that has ended cannot be cancelled").await
}

/// Continues a failed or cancelled ensemble. Returns the number of failed ranges.
///
/// # Errors
/// If no ensemble has the name, or it neither failed nor was cancelled.
pub async fn retry(ledger: &Ledger, name: &str) -> Result<u64> {
    let ensemble = ledger.find(name).await?;
    let from = [State::Failed, State::Cancelled];
    if !from.contains(&ensemble.state) {
        return Err(refused(&ensemble, "only an ensemble that failed or was cancelled can be retried"));
    }
    let forgiven = ledger.forgive(ensemble.id).await?;
    // The queue was removed at the end: workers recreate it and publish all messages.
    ledger.unpublish(ensemble.id).await?;
    ledger.turn(ensemble.id, &from, State::Running).await?;
    Ok(forgiven)
}

async fn change(ledger: &Ledger, name: &str, from: &[State], to: State, reason: &'static str) -> Result<()> {
    let ensemble = ledger.find(name).await?;
    if ledger.turn(ensemble.id, from, to).await? { Ok(()) } else { Err(refused(&ensemble, reason)) }
}

fn refused(ensemble: &Submitted, reason: &'static str) -> FleetError {
    FleetError::State { name: ensemble.name.clone(), state: ensemble.state.into_str(), reason }
}
