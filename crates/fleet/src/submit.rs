//! Submitting an ensemble, and what can be said about one afterwards.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use ensemble::{EnsembleError, Plan, Store};
use run::Until;
use table::PageFormat;
use table::disk::Disk;

use crate::broker::Broker;
use crate::error::FleetError;
use crate::ledger::{Ledger, State, Submission, Submitted};

type Result<T> = std::result::Result<T, FleetError>;

/// How to play what is submitted.
#[derive(Debug, Clone, Copy, Default)]
pub struct SubmitOptions {
    /// How stored pages are written.
    pub format: PageFormat,
    /// Play it anew; the old version stays readable until the new one is complete.
    pub replace: bool,
    /// When fewer worlds than planned are enough.
    pub until: Option<Until>,
}

/// Registers an ensemble in the tables of a folder, enters it in the ledger, and publishes its ranges. Tells its number in
/// the ledger. A submission that dies on the way is completed by any worker once the ledger has it.
///
/// # Errors
/// Where the name is taken and it is not to be replaced, and where tables, ledger or broker refuse.
pub async fn submit(
    ledger: &Ledger,
    broker: &Broker,
    data: &Path,
    disk: Arc<dyn Disk>,
    plan: Plan,
    options: SubmitOptions,
) -> Result<i64> {
    let started = Instant::now();
    // Before anything is registered: a broker that cannot be reached is told at once.
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
    if let Err(error) = broker.answer("say good-bye", connection.close(200, "done".into())).await {
        tracing::debug!(%error, "the broker did not say good-bye");
    }
    Ok(entered.id)
}

/// Lets nobody take up more ranges of an ensemble until it is resumed.
///
/// # Errors
/// Where there is none of the name, or it is not running.
pub async fn pause(ledger: &Ledger, name: &str) -> Result<()> {
    change(ledger, name, &[State::Running], State::Paused, "only what is running can be paused").await
}

/// Lets a paused ensemble go on.
///
/// # Errors
/// Where there is none of the name, or it is not paused.
pub async fn resume(ledger: &Ledger, name: &str) -> Result<()> {
    change(ledger, name, &[State::Paused], State::Running, "only what is paused can be resumed").await
}

/// Lets nobody take up more ranges of an ensemble. Those that are stored stay readable.
///
/// # Errors
/// Where there is none of the name, or it has ended.
pub async fn cancel(ledger: &Ledger, name: &str) -> Result<()> {
    let from = [State::Submitting, State::Running, State::Paused];
    change(ledger, name, &from, State::Cancelled, "what has ended cannot be cancelled").await
}

/// Lets an ensemble that failed or was cancelled go on: what is not stored is played. Tells how many ranges had failed.
///
/// # Errors
/// Where there is none of the name, or it is complete, or runs.
pub async fn retry(ledger: &Ledger, name: &str) -> Result<u64> {
    let ensemble = ledger.find(name).await?;
    let from = [State::Failed, State::Cancelled];
    if !from.contains(&ensemble.state) {
        return Err(refused(&ensemble, "only what failed or was cancelled can be tried again"));
    }
    let forgiven = ledger.forgive(ensemble.id).await?;
    // The queue went when it ended: workers make it anew, and all the messages.
    ledger.unpublish(ensemble.id).await?;
    ledger.turn(ensemble.id, &from, State::Running).await?;
    Ok(forgiven)
}

/// Removes an ensemble that was dropped from the tables: all versions up to one, or all of them. Tells how many there were.
///
/// # Errors
/// Where the ledger does not answer.
pub async fn forget(ledger: &Ledger, name: &str, version: Option<u64>) -> Result<u64> {
    ledger.forget(name, version).await
}

async fn change(ledger: &Ledger, name: &str, from: &[State], to: State, reason: &'static str) -> Result<()> {
    let ensemble = ledger.find(name).await?;
    if ledger.turn(ensemble.id, from, to).await? { Ok(()) } else { Err(refused(&ensemble, reason)) }
}

fn refused(ensemble: &Submitted, reason: &'static str) -> FleetError {
    FleetError::State { name: ensemble.name.clone(), state: ensemble.state.word(), reason }
}
