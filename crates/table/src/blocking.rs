//! Runs blocking work outside async tasks.

use crate::error::TableError;

/// Runs work that blocks the processor or the disk on its own thread. Fails if the work fails or panics.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, TableError> + Send + 'static,
) -> Result<T, TableError> {
    tokio::task::spawn_blocking(work).await.map_err(|e| TableError::Unexpected(e.to_string()))?
}
