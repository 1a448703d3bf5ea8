//! Removes temporary files of crashed writers.

use std::path::Path;
use std::time::Duration;

use disk::TEMPORARY_SUFFIX;

/// Age since the last write after which a temporary file counts as abandoned.
const ABANDONED_AFTER: Duration = Duration::from_mins(10);

/// Removes abandoned temporary files in `folder`, which may not exist.
pub(crate) fn sweep(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let temporary = entry.file_name().to_string_lossy().ends_with(TEMPORARY_SUFFIX);
        let age = entry.metadata().and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
        if temporary && age.is_some_and(|age| age >= ABANDONED_AFTER) {
            match std::fs::remove_file(entry.path()) {
                Ok(()) => {
                    tracing::info!(path = %entry.path().display(), "removed a temporary file of a crashed writer");
                }
                Err(error) => {
                    tracing::warn!(path = %entry.path().display(), %error, "could not remove a temporary file of a crashed writer");
                }
            }
        }
    }
}
