//! Finds a damaged entry in an unreadable log.

use std::fs;
use std::path::Path;

use serde::de::IgnoredAny;

use crate::error::TableError;
use crate::store::LOG_FOLDER;

/// Returns the first log entry of the table in `root` with a line that is not a JSON object; `None` if all entries
/// are intact or the log cannot be listed.
pub(super) fn damaged_entry(root: &Path) -> Option<TableError> {
    let entries = fs::read_dir(root.join(LOG_FOLDER)).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut entries: Vec<_> = entries.filter(|path| path.extension().is_some_and(|e| e == "json")).collect();
    entries.sort_unstable();
    entries.into_iter().find_map(|entry| {
        let text = fs::read(&entry).ok()?;
        let line = text.trim_ascii_end().split(|byte| *byte == b'\n').position(|line| !is_object(line))? + 1;
        Some(TableError::DamagedLog { path: root.to_owned(), entry, line })
    })
}

fn is_object(line: &[u8]) -> bool {
    line.first() == Some(&b'{') && serde_json::from_slice::<IgnoredAny>(line).is_ok()
}
