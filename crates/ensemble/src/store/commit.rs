//! Commits ranges and versions to the tables, in a safe order.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use table::{Change, Segment, SegmentReader, TableError, TransactionId, WrittenSegment};
use world::WorldRange;

use super::{Registered, Result, Store};
use crate::paths::{is_of, version_of};
use crate::range_writer::WrittenRange;
use crate::schema::event_fields;
use crate::stored::fetch;

impl Store {
    /// Commits a written range, unless it is already: its events, then the outcomes that complete it.
    pub async fn commit_range(&mut self, ensemble: &Registered, range: &WrittenRange) -> Result<()> {
        self.commit_ranges(ensemble, &[range]).await
    }

    /// Commits written ranges together, except those already committed: the events of all, then the outcomes of all.
    pub async fn commit_ranges(&mut self, ensemble: &Registered, ranges: &[&WrittenRange]) -> Result<()> {
        let name = |range: WorldRange| {
            Some(TransactionId::once(format!("{}/{}/{range}", ensemble.plan.name, ensemble.version)))
        };
        let of_events = |range: &&WrittenRange| {
            range.events.as_ref().map(|events| Change {
                add: vec![ensemble.paths.segment(range.range, events, "world")],
                columns: event_fields(&ensemble.plan.catalogue),
                transaction: name(range.range),
                ..Change::default()
            })
        };
        let of_outcomes = |range: &&WrittenRange| Change {
            add: vec![ensemble.paths.segment(range.range, &range.outcomes, "first_world")],
            transaction: name(range.range),
            ..Change::default()
        };
        let events: Vec<Change> = ranges.iter().filter_map(of_events).collect();
        if !events.is_empty() {
            self.events.commit_all(&events).await?;
        }
        self.outcomes.commit_all(&ranges.iter().map(of_outcomes).collect::<Vec<_>>()).await?;
        Ok(())
    }

    /// Replaces the old version with a complete new one: readers switch at the commit to `outcomes`.
    pub async fn switch(&mut self, ensemble: &Registered) -> Result<()> {
        self.refresh().await?;
        let name = &ensemble.plan.name;
        let ranges = ensemble.plan.ranges();
        let old = |s: &Segment| is_of(s, name) && version_of(s) < ensemble.version;
        let old_events: Vec<Segment> = self.events.segments().await?.into_iter().filter(old).collect();
        if ensemble.plan.events.is_stored() {
            let add = self.staged_segments(ensemble, &ranges, "world")?;
            let columns = event_fields(&ensemble.plan.catalogue);
            let transaction = Some(TransactionId::once(format!("{name}/{}/switch", ensemble.version)));
            self.events.commit(&Change { add, columns, transaction, ..Change::default() }).await?;
        }
        let add = self.staged_segments(ensemble, &ranges, "first_world")?;
        let remove = self.outcomes.segments().await?.into_iter().filter(old).collect();
        let transaction = Some(TransactionId::once(format!("{name}/{}/switch", ensemble.version)));
        self.outcomes.commit(&Change { add, remove, transaction, ..Change::default() }).await?;
        self.forget(name, ensemble.version, old_events).await
    }

    /// Removes the rows of versions before `version` from the other two tables.
    async fn forget(&mut self, name: &str, version: u64, old_events: Vec<Segment>) -> Result<()> {
        if !old_events.is_empty() {
            self.events.commit(&Change { remove: old_events, ..Change::default() }).await?;
        }
        let rows = self.ensembles.segments().await?;
        let remove: Vec<Segment> = rows.into_iter().filter(|s| is_of(s, name) && version_of(s) < version).collect();
        if !remove.is_empty() {
            self.ensembles.commit(&Change { remove, ..Change::default() }).await?;
        }
        Ok(())
    }

    fn staged_segments(&self, ensemble: &Registered, ranges: &[WorldRange], column: &str) -> Result<Vec<Segment>> {
        let paths = &ensemble.paths;
        let path_of = |range| if column == "world" { paths.events(range) } else { paths.outcomes(range) };
        let files: Vec<PathBuf> = ranges.iter().map(|range| path_of(*range)).collect();
        fetch(&*self.disk, files.iter().map(|path| (path.as_path(), None)))?;
        // A killed process may have named some of them without syncing the names.
        let folders: BTreeSet<&Path> = files.iter().filter_map(|path| path.parent()).collect();
        for folder in folders {
            self.disk.sync_dir(folder).map_err(|cause| TableError::Io { doing: "sync", path: folder.into(), cause })?;
        }
        let of = |(range, path): (WorldRange, PathBuf)| -> Result<Segment> {
            let reader = SegmentReader::open(&path)?;
            let rows = (0..reader.row_groups()).map(|g| reader.rows(g) as u64).sum();
            let bytes =
                path.metadata().map_err(|cause| TableError::Io { doing: "look at", path: path.clone(), cause })?.len();
            Ok(paths.segment(range, &WrittenSegment { path, bytes, rows }, column))
        };
        ranges.iter().copied().zip(files).map(of).collect()
    }
}
