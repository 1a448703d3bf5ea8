//! Reads the log of a table without the Delta library.
//!
//! The library reads every log, on threads of its own. That takes several milliseconds a table, most of the time of a
//! short command. Most logs are some entries without a checkpoint and need no feature: those are read here, and all
//! others by the library.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use deltalake::kernel::{Add, Remove, StructType, Transaction};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::actions::to_segment;
use super::{COLUMN_MAPPING, Segment};
use crate::store::LOG_FOLDER;

/// The only version of the protocol for readers that needs no feature.
const READER_VERSION: i32 = 1;
/// Lets transactions expire.
const RETENTION: &str = "delta.setTransactionRetentionDuration";

/// A table at one version.
#[derive(Debug)]
pub(super) struct Replayed {
    pub(super) version: u64,
    pub(super) writer_version: i32,
    pub(super) schema: Arc<StructType>,
    pub(super) partition_columns: Vec<String>,
    pub(super) properties: HashMap<String, String>,
    /// The highest version of each transaction.
    pub(super) transactions: HashMap<String, u64>,
    /// By path, with the write time in milliseconds since 1970.
    pub(super) segments: BTreeMap<String, (i64, Segment)>,
}

/// A line of an entry. Only the library knows other actions.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Line {
    add: Option<Add>,
    remove: Option<Remove>,
    meta_data: Option<Metadata>,
    protocol: Option<Protocol>,
    txn: Option<Transaction>,
    #[serde(rename = "commitInfo")]
    _commit_info: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    schema_string: String,
    partition_columns: Vec<String>,
    #[serde(default)]
    configuration: HashMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Protocol {
    min_reader_version: i32,
    min_writer_version: i32,
}

/// What the entries read so far say.
#[derive(Default)]
struct Reading {
    protocol: Option<Protocol>,
    metadata: Option<Metadata>,
    transactions: HashMap<String, u64>,
    segments: BTreeMap<String, (i64, Segment)>,
}

impl Replayed {
    /// Reads the newest version of the table in the folder `root`; `None` if the library has to: it then also says
    /// what is wrong with a log.
    pub(super) fn read(root: &Path) -> Option<Self> {
        let log = root.join(LOG_FOLDER);
        let entries = entries(&log)?;
        let mut reading = Reading::default();
        for version in 0..entries {
            reading.entry(&fs::read(log.join(entry_name(version))).ok()?)?;
        }
        let Reading { protocol, metadata, transactions, segments } = reading;
        let (protocol, metadata) = (protocol?, metadata?);
        let is_plain = ![COLUMN_MAPPING, RETENTION].iter().any(|key| metadata.configuration.contains_key(*key));
        (protocol.min_reader_version == READER_VERSION && is_plain).then_some(())?;
        Some(Self {
            version: entries.checked_sub(1)?,
            writer_version: protocol.min_writer_version,
            schema: Arc::new(serde_json::from_str(&metadata.schema_string).ok()?),
            partition_columns: metadata.partition_columns,
            properties: metadata.configuration,
            transactions,
            segments,
        })
    }
}

impl Reading {
    /// Applies an entry; `None` if the library has to.
    fn entry(&mut self, bytes: &[u8]) -> Option<()> {
        // The order of actions in an entry means nothing, so none may contradict another.
        let mut paths = HashSet::new();
        for line in bytes.trim_ascii_end().split(|byte| *byte == b'\n') {
            let line: Line = serde_json::from_slice(line).ok()?;
            if let Some(add) = line.add {
                let (time, segment) = (add.modification_time, to_segment(add)?);
                paths.insert(segment.path.clone()).then_some(())?;
                self.segments.insert(segment.path.clone(), (time, segment));
            }
            if let Some(remove) = line.remove {
                (paths.insert(remove.path.clone()) && remove.deletion_vector.is_none()).then_some(())?;
                self.segments.remove(&remove.path);
            }
            if let Some(transaction) = line.txn {
                self.transactions.insert(transaction.app_id, transaction.version as u64);
            }
            self.protocol = line.protocol.or(self.protocol.take());
            self.metadata = line.meta_data.or(self.metadata.take());
        }
        Some(())
    }
}

/// The number of entries in a log, which begin with version 0; `None` if some are missing or in a checkpoint.
fn entries(log: &Path) -> Option<u64> {
    let (mut entries, mut newest) = (0, 0);
    for file in fs::read_dir(log).ok()? {
        let name = file.ok()?.file_name().into_string().ok()?;
        if name.contains("checkpoint") {
            return None;
        }
        let version = name.strip_suffix(".json").filter(|digits| digits.len() == 20).map(str::parse::<u64>);
        if let Some(Ok(version)) = version {
            (entries, newest) = (entries + 1, version.max(newest));
        }
    }
    (newest.checked_add(1)? == entries).then_some(entries)
}

pub(super) fn entry_name(version: u64) -> String {
    format!("{version:020}.json")
}

#[cfg(test)]
mod tests;
