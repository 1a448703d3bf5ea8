//! Removes what crashed writers left: files that never got their final name.

use std::path::Path;
use std::time::Duration;

use table::disk::TEMPORARY_SUFFIX;

/// A temporary file that was not written to for this long is nobody's.
const ABANDONED_AFTER: Duration = Duration::from_mins(10);

/// Removes abandoned temporary files of `folder`, if there is such a folder.
pub(crate) fn sweep(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let temporary = entry.file_name().to_string_lossy().ends_with(TEMPORARY_SUFFIX);
        let age = entry.metadata().and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
        if temporary && age.is_some_and(|age| age >= ABANDONED_AFTER) {
            match std::fs::remove_file(entry.path()) {
                Ok(()) => tracing::info!(path = %entry.path().display(), "removed what a crashed writer left"),
                Err(error) => tracing::warn!(path = %entry.path().display(), %error, "could not remove an orphan"),
            }
        }
    }
}
