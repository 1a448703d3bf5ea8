//! The newest version of each ensemble, complete or not: what a watcher of runs needs to know.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::sync::Arc;

use table::Segment;
use world::WorldRange;

use super::{Described, Result, Store, by_name};
use crate::paths::{range_of, version_of};

/// The newest version of an ensemble.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Newest {
    pub name: String,
    pub version: u64,
    pub model: String,
    /// Registration time.
    pub created: String,
    pub planned: usize,
    /// Worlds of its complete ranges.
    pub stored: usize,
    /// Whether a goal was met, so that it needs no more worlds.
    pub is_enough: bool,
    /// Whether it replaces an older version, which readers see until this one is complete.
    pub replaces: bool,
}

impl Newest {
    pub fn is_complete(&self) -> bool {
        self.is_enough || (!self.replaces && self.stored == self.planned)
    }
}

/// Rows of `sim.ensembles` that were read before: a row never changes under its path.
#[derive(Default)]
pub struct ReadRows(HashMap<String, Arc<Described>>);

impl ReadRows {
    /// Forgets all rows but these.
    pub(super) fn keep(&mut self, rows: &[Segment]) {
        let kept: HashSet<&str> = rows.iter().map(|row| row.path.as_str()).collect();
        self.0.retain(|path, _| kept.contains(path.as_str()));
    }
}

impl Store {
    /// The newest version of each readable ensemble, by name. Reads only the rows that `read` lacks.
    pub async fn newest(&self, read: &mut ReadRows) -> Result<Vec<Newest>> {
        let outcomes = self.outcomes.segments().await?;
        let mut worlds: BTreeMap<(&str, u64), usize> = BTreeMap::new();
        for segment in &outcomes {
            if let (Some(name), Some(range)) = (segment.partition.get("ensemble"), range_of(segment)) {
                *worlds.entry((name, version_of(segment))).or_default() += range.count();
            }
        }
        let rows = self.ensembles.segments().await?;
        let mut all = Vec::new();
        for (name, rows) in by_name(&rows) {
            let Some(row) = rows.iter().max_by_key(|row| version_of(row)) else { continue };
            // Other routes report an unreadable row.
            let Ok(described) = self.read_row(name, row, read) else { continue };
            let version = version_of(row);
            let replaces = rows.len() > 1 || worlds.range((name, 0)..(name, version)).next().is_some();
            let stored = if replaces {
                self.staged_worlds(name, version)
            } else {
                worlds.get(&(name, version)).copied().unwrap_or(0)
            };
            all.push(Newest {
                name: name.to_owned(),
                version,
                model: described.plan.model.clone(),
                created: described.created.clone(),
                planned: described.plan.worlds.count(),
                stored,
                is_enough: described.enough.is_some(),
                replaces,
            });
        }
        read.keep(&rows);
        Ok(all)
    }

    /// The content of a row of `sim.ensembles`.
    pub(super) fn read_row(&self, name: &str, row: &Segment, read: &mut ReadRows) -> Result<Arc<Described>> {
        if let Some(described) = read.0.get(&row.path) {
            return Ok(described.clone());
        }
        let described = Arc::new(self.read_plan(name, row)?);
        read.0.insert(row.path.clone(), described.clone());
        Ok(described)
    }

    /// Worlds of a version that is not committed yet. Its files have their final names once they are whole.
    fn staged_worlds(&self, name: &str, version: u64) -> usize {
        let folder = self.outcomes.root().join(format!("ensemble={name}/version={version}"));
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        let ranges =
            files.filter_map(|file| file.file_name().to_str()?.strip_suffix(".parquet")?.parse::<WorldRange>().ok());
        ranges.map(WorldRange::count).sum()
    }
}
