//! Why the rows of a table cannot be written, noted beside its log, so that other processes can tell.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use table::Appender;

const NAME: &str = "failing";

/// Notes the reason beside the log of the table in the folder `root`.
pub(crate) fn note(root: &Path, reason: &str) {
    // Whoever may not write here is told by the server all the same.
    if let Err(error) = fs::write(root.join(Appender::LOG_FOLDER).join(NAME), reason) {
        tracing::debug!(table = %root.display(), %error, "the reason could not be noted");
    }
}

/// Takes the note away, if there is one.
pub(crate) fn forget(root: &Path) {
    match fs::remove_file(root.join(Appender::LOG_FOLDER).join(NAME)) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            tracing::debug!(table = %root.display(), %error, "a note could not be removed");
        }
        _ => {}
    }
}

/// Why the rows in the log of the table in the folder `root` could not be written when that was last tried; `None` where
/// they were.
pub fn failing(root: &Path) -> Option<String> {
    fs::read_to_string(root.join(Appender::LOG_FOLDER).join(NAME)).ok()
}
