//! Notes beside a log why its rows cannot be written, for other processes.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use disk::create_options;
use table::Appender;

const NAME: &str = "failing";

/// Notes the reason beside the log of the table in the folder `root`.
pub(crate) fn note(root: &Path, reason: &str) {
    // Readers without write permission still learn it from the server.
    let path = root.join(Appender::LOG_FOLDER).join(NAME);
    let opened = create_options(&path).write(true).create(true).truncate(true).open(&path);
    if let Err(error) = opened.and_then(|mut file| file.write_all(reason.as_bytes())) {
        tracing::debug!(table = %root.display(), %error, "the reason could not be noted");
    }
}

/// Removes the note, if there is one.
pub(crate) fn forget(root: &Path) {
    match fs::remove_file(root.join(Appender::LOG_FOLDER).join(NAME)) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            tracing::debug!(table = %root.display(), %error, "a note could not be removed");
        }
        _ => {}
    }
}

/// Returns why the rows in the log of the table in the folder `root` could not be written on the last try; `None` if
/// they were.
pub fn failing(root: &Path) -> Option<String> {
    fs::read_to_string(root.join(Appender::LOG_FOLDER).join(NAME)).ok()
}
