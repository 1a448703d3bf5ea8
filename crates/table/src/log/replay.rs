//! Reads the log of a table without the Delta library.
//!
//! The library reads every log, on threads of its own. That takes several milliseconds a table, most of the time of a
//! short command. Most logs need no feature and begin with version 0 or a checkpoint of one file: those are read here,
//! and all others by the library.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow::json::WriterBuilder;
use arrow::json::writer::LineDelimited;
use deltalake::kernel::{Add, Remove, StructType, Transaction};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
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

/// A line of an entry, or a row of a checkpoint. Only the library knows other actions.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Line {
    add: Option<Add>,
    remove: Option<Remove>,
    meta_data: Option<Metadata>,
    protocol: Option<Protocol>,
    txn: Option<Transaction>,
    domain_metadata: Option<IgnoredAny>,
    sidecar: Option<IgnoredAny>,
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

/// What the part of the log that was read so far says.
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
        let versions = Versions::of(&log)?;
        let mut reading = Reading::default();
        if let Some(version) = versions.checkpoint {
            reading.checkpoint(&log.join(checkpoint_name(version)))?;
        }
        for version in versions.entries.clone() {
            reading.entry(&fs::read(log.join(entry_name(version))).ok()?)?;
        }
        let Reading { protocol, metadata, transactions, segments } = reading;
        let (protocol, metadata) = (protocol?, metadata?);
        let is_plain = ![COLUMN_MAPPING, RETENTION].iter().any(|key| metadata.configuration.contains_key(*key));
        (protocol.min_reader_version == READER_VERSION && is_plain).then_some(())?;
        Some(Self {
            version: versions.entries.end.checked_sub(1)?,
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
    /// Applies a checkpoint; `None` if the library has to.
    fn checkpoint(&mut self, path: &Path) -> Option<()> {
        let file = ParquetRecordBatchReaderBuilder::try_new(File::open(path).ok()?).ok()?;
        let actions = file.parquet_schema().root_schema().get_fields();
        // Removed files are not part of the table.
        let kept = (0..actions.len()).filter(|place| actions[*place].name() != "remove");
        let kept = ProjectionMask::roots(file.parquet_schema(), kept);
        for rows in file.with_projection(kept).build().ok()? {
            let mut lines = WriterBuilder::new().with_explicit_nulls(true).build::<_, LineDelimited>(Vec::new());
            lines.write(&rows.ok()?).ok()?;
            self.entry(&lines.into_inner())?;
        }
        Some(())
    }

    /// Applies an entry; `None` if the library has to.
    fn entry(&mut self, bytes: &[u8]) -> Option<()> {
        // The order of actions in an entry means nothing, so none may contradict another.
        let mut paths = HashSet::new();
        for line in bytes.trim_ascii_end().split(|byte| *byte == b'\n') {
            let line: Line = serde_json::from_slice(line).ok()?;
            (line.domain_metadata.is_none() && line.sidecar.is_none()).then_some(())?;
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

/// Versions to read: a checkpoint, if any, and the entries after it.
struct Versions {
    checkpoint: Option<u64>,
    entries: Range<u64>,
}

impl Versions {
    /// Lists a log; `None` if entries are missing, or a checkpoint has several files.
    fn of(log: &Path) -> Option<Self> {
        let (mut checkpoint, mut entries) = (None, Vec::new());
        for file in fs::read_dir(log).ok()? {
            let name = file.ok()?.file_name().into_string().ok()?;
            let version = |digits: &str| if digits.len() == 20 { digits.parse::<u64>().ok() } else { None };
            if let Some(rest) = name.strip_suffix(CHECKPOINT_SUFFIX) {
                checkpoint = checkpoint.max(Some(version(rest)?));
            } else if name.contains("checkpoint") && name != "_last_checkpoint" {
                return None;
            } else {
                entries.extend(name.strip_suffix(".json").and_then(version));
            }
        }
        let first = checkpoint.map_or(0, |version| version + 1);
        let end = entries.iter().max()?.checked_add(1)?.max(first);
        let after = entries.iter().filter(|version| **version >= first).count() as u64;
        (after == end - first).then_some(Self { checkpoint, entries: first..end })
    }
}

const CHECKPOINT_SUFFIX: &str = ".checkpoint.parquet";

fn checkpoint_name(version: u64) -> String {
    format!("{version:020}{CHECKPOINT_SUFFIX}")
}

pub(super) fn entry_name(version: u64) -> String {
    format!("{version:020}.json")
}

#[cfg(test)]
mod tests;
