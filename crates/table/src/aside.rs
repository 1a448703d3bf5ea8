//! Work that would keep tasks waiting.

use crate::error::TableError;

/// Does what keeps a processor or the disk busy on a thread of its own, so that other tasks go on meanwhile.
///
/// # Errors
/// Those of the work, and where it panicked.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, TableError> + Send + 'static,
) -> Result<T, TableError> {
    tokio::task::spawn_blocking(work).await.map_err(|e| TableError::Unexpected(e.to_string()))?
}
