//! File paths of ensembles in a data folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use table::{ColumnStatistics, Segment, WrittenSegment};
use world::WorldRange;

/// The tables of ensembles in the folder [`table::SIM`].
pub(crate) const TABLES: [&str; 3] = ["outcomes", "events", "ensembles"];

/// File paths of one version of an ensemble.
#[derive(Debug, Clone)]
pub struct RangePaths {
    pub(crate) outcomes: PathBuf,
    pub(crate) events: PathBuf,
    pub(crate) folder: String,
    pub(crate) partition: BTreeMap<String, String>,
}

impl RangePaths {
    pub fn outcomes(&self, range: WorldRange) -> PathBuf {
        self.outcomes.join(&self.folder).join(file_name(range))
    }

    pub fn events(&self, range: WorldRange) -> PathBuf {
        self.events.join(&self.folder).join(file_name(range))
    }

    pub(crate) fn segment(&self, range: WorldRange, written: &WrittenSegment, world_column: &str) -> Segment {
        let (first, last) = (i64::from(range.first().0), i64::from(range.end()) - 1);
        let last = if world_column == "world" { last } else { first };
        Segment {
            path: format!("{}/{}", self.folder, file_name(range)),
            bytes: written.bytes,
            rows: written.rows,
            partition: self.partition.clone(),
            columns: [(world_column.to_owned(), ColumnStatistics::between(first, last))].into(),
            tags: BTreeMap::new(),
        }
    }
}

fn file_name(range: WorldRange) -> String {
    format!("{range}.parquet")
}

pub(crate) fn range_of(segment: &Segment) -> Option<WorldRange> {
    segment.path.rsplit('/').next()?.strip_suffix(".parquet")?.parse().ok()
}

pub(crate) fn version_of(segment: &Segment) -> u64 {
    segment.partition.get("version").and_then(|v| v.parse().ok()).unwrap_or(0)
}

pub(crate) fn is_of(segment: &Segment, name: &str) -> bool {
    segment.partition.get("ensemble").is_some_and(|e| e == name)
}

pub(crate) fn table_folder(data: &Path, table: &str) -> PathBuf {
    data.join(table::SIM).join(table)
}

pub(crate) fn partition(name: &str, version: u64) -> BTreeMap<String, String> {
    [("ensemble".to_owned(), name.to_owned()), ("version".to_owned(), version.to_string())].into()
}
