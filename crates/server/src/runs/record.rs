//! What the tables do not say about a run: how it ended, and how to continue it. Kept in the data folder, so that a
//! restarted server shows the same.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use disk::{RealDisk, create_dirs, write_file};
use serde::{Deserialize, Serialize};

use super::message::Goal;

/// The folder of records in a data folder.
const FOLDER: &str = ".manyworlds.runs";

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    Paused,
    Failed,
    Cancelled,
    Complete,
    Enough,
}

/// A run of an ensemble by this server, or by one before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The ensemble's version; of another version it says nothing.
    pub(crate) version: u64,
    pub(crate) started: String,
    pub(crate) threads: Option<usize>,
    pub(crate) until: Option<Goal>,
    /// `None`: it runs, or the server ended before the run did.
    pub(crate) outcome: Option<Outcome>,
    pub(crate) error: Option<String>,
}

/// The records in a data folder, by name of the ensemble.
pub(crate) fn read(data: &Path) -> io::Result<BTreeMap<String, Record>> {
    let entries = match fs::read_dir(data.join(FOLDER)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
        entries => entries?,
    };
    let mut records = BTreeMap::new();
    for entry in entries {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".json")) else { continue };
        match serde_json::from_slice(&fs::read(&path)?) {
            Ok(record) => _ = records.insert(name.to_owned(), record),
            // The tables have the worlds; without its record, the run counts as paused.
            Err(error) => tracing::error!(%error, path = %path.display(), "cannot read the record of a run"),
        }
    }
    Ok(records)
}

/// Durably writes a record, or removes it.
pub(crate) fn write(data: &Path, name: &str, record: Option<&Record>) -> io::Result<()> {
    let folder = data.join(FOLDER);
    let path: PathBuf = folder.join(format!("{name}.json"));
    let Some(record) = record else {
        return match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
    };
    create_dirs(&RealDisk, &folder)?;
    write_file(&RealDisk, &path, &serde_json::to_vec(record)?)
}
