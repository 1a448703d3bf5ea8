//! A readable ensemble: its current version, completed ranges and segments.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::Disk;
use table::TableError;
use world::{World, WorldRange};

use crate::error::EnsembleError;
use crate::plan::Plan;
use crate::range_reader::RangeReader;

type Result<T> = std::result::Result<T, EnsembleError>;

/// A segment of a range: its worlds, path, and bytes.
pub type RangeFile = (WorldRange, PathBuf, u64);

/// The current version of an ensemble: the completed ranges and their segments.
#[derive(Debug, Clone)]
pub struct StoredEnsemble {
    pub plan: Plan,
    pub version: u64,
    /// Registration time.
    pub created: String,
    /// The goal that the ensemble met: it stopped early and needs no more worlds.
    pub enough: Option<String>,
    /// Completed ranges in order, with their outcome segments.
    pub outcomes: Vec<RangeFile>,
    /// The event segments of the completed ranges, if events are stored.
    pub events: Vec<RangeFile>,
    pub(crate) disk: Arc<dyn Disk>,
}

impl StoredEnsemble {
    /// Completed worlds.
    pub fn worlds(&self) -> usize {
        self.outcomes.iter().map(|(range, _, _)| range.count()).sum()
    }

    /// The completed range that contains a world, and the column index of its first world.
    pub(crate) fn range_with(&self, world: World) -> Result<(WorldRange, usize)> {
        let mut before = 0;
        for (range, _, _) in &self.outcomes {
            if range.contains(world) {
                return Ok((*range, before));
            }
            before += range.count();
        }
        let stored = self.outcomes.iter().map(|(range, _, _)| *range).collect();
        let (name, planned) = (self.plan.name.clone(), self.plan.worlds.count());
        Err(EnsembleError::World { name, world, planned, stored })
    }

    /// The column index of a world; columns hold stored worlds only.
    ///
    /// # Errors
    /// When the world is not stored.
    pub fn place(&self, world: World) -> Result<usize> {
        let (range, before) = self.range_with(world)?;
        Ok(before + (world.0 - range.first().0) as usize)
    }

    /// The numbers of the stored worlds, in column order.
    pub fn world_numbers(&self) -> impl Iterator<Item = World> {
        self.outcomes.iter().flat_map(|(range, _, _)| range.worlds())
    }

    /// The segments with the events of some worlds, in order; empty if the ensemble stores no events.
    ///
    /// # Errors
    /// When one of the worlds is not stored, or its events are missing.
    pub fn event_segments(&self, worlds: WorldRange) -> Result<Vec<&RangeFile>> {
        let mut segments = Vec::new();
        let mut next = worlds.first();
        while next.0 < worlds.end() {
            let (range, _) = self.range_with(next)?;
            if self.plan.events.is_stored() {
                let missing = || damaged(&self.plan.name, &format!("the events of worlds {range} are missing"));
                segments.push(self.events.iter().find(|(of, _, _)| *of == range).ok_or_else(missing)?);
            }
            next = World(range.end());
        }
        Ok(segments)
    }

    /// Whether every range is complete.
    pub fn is_complete(&self) -> bool {
        self.worlds() == self.plan.worlds.count()
    }

    /// The keyword for its progress.
    pub fn state(&self) -> &'static str {
        match (self.is_complete(), &self.enough) {
            (true, _) => "complete",
            (false, Some(_)) => "enough",
            (false, None) => "incomplete",
        }
    }

    /// Bytes of the outcome segments and of the event segments.
    pub fn bytes(&self) -> (u64, u64) {
        let sum = |segments: &[RangeFile]| segments.iter().map(|(_, _, bytes)| bytes).sum();
        (sum(&self.outcomes), sum(&self.events))
    }

    /// Opens the outcome segments, in world order.
    pub fn open_outcomes(&self) -> Result<Vec<RangeReader>> {
        self.fetch(&self.outcomes)?;
        self.outcomes.iter().map(|segment| Ok(self.open(segment)?)).collect()
    }

    /// Opens one of its segments.
    pub fn open(&self, (_, path, bytes): &RangeFile) -> std::result::Result<RangeReader, TableError> {
        RangeReader::open(&*self.disk, path, Some(*bytes))
    }

    /// Makes segments readable on this machine, several at a time. Call it before many of them are opened.
    pub fn fetch<'a>(&self, segments: impl IntoIterator<Item = &'a RangeFile>) -> std::result::Result<(), TableError> {
        fetch(&*self.disk, segments.into_iter().map(|(_, path, bytes)| (path.as_path(), Some(*bytes))))
    }
}

pub(crate) fn damaged(name: &str, reason: &str) -> EnsembleError {
    EnsembleError::Damaged { name: name.to_owned(), reason: reason.to_owned() }
}

pub(crate) fn fetch<'a>(
    disk: &dyn Disk,
    files: impl IntoIterator<Item = (&'a Path, Option<u64>)>,
) -> std::result::Result<(), TableError> {
    let files: Vec<_> = files.into_iter().collect();
    let first = files.first().map(|(path, _)| path.to_path_buf()).unwrap_or_default();
    disk.fetch(&files).map_err(|cause| TableError::Io { doing: "open", path: first, cause })
}
