//! The progress of ensembles and workers.

use crate::error::FleetError;
use crate::ledger::{EnsembleStatus, Ledger, Rates, State, Totals, WorkerStatus};

/// The progress of the newest ensembles, newest first.
///
/// # Errors
/// If the ledger does not answer.
pub async fn status(ledger: &Ledger) -> Result<Vec<EnsembleStatus>, FleetError> {
    const MOST: i64 = 20;
    let mut all = Vec::new();
    for totals in ledger.totals(None, MOST).await? {
        all.push(complete(ledger, totals).await?);
    }
    Ok(all)
}

/// The progress of the newest ensemble with a name.
///
/// # Errors
/// If no ensemble has the name, or the ledger does not answer.
pub async fn status_of(ledger: &Ledger, name: &str) -> Result<EnsembleStatus, FleetError> {
    match ledger.totals(Some(name), 1).await?.pop() {
        Some(totals) => complete(ledger, totals).await,
        None => Err(ledger.unknown(name).await?),
    }
}

async fn complete(ledger: &Ledger, totals: Totals) -> Result<EnsembleStatus, FleetError> {
    let Totals { id, rates, mut status } = totals;
    status.workers = ledger.crew(Some(id), rates).await?;
    status.failures = ledger.failures(id).await?;
    Ok(status)
}

/// The state of the newest ensemble with a name: much cheaper than [`status_of`].
///
/// # Errors
/// If no ensemble has the name, or the ledger does not answer.
pub async fn state(ledger: &Ledger, name: &str) -> Result<State, FleetError> {
    Ok(ledger.find(name).await?.state)
}

/// The live workers, with their share of all ensembles and their recent speed.
///
/// # Errors
/// If the ledger does not answer.
pub async fn workers(ledger: &Ledger) -> Result<Vec<WorkerStatus>, FleetError> {
    let all = ledger.crew(None, Rates::LATELY).await?;
    Ok(all.into_iter().filter(|worker| worker.is_there).collect())
}
