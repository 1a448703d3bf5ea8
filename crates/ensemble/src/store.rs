//! The data folder: its three tables, their ensembles, and registered versions.

mod commit;
mod newest;
mod registry;
mod remove;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use disk::Disk;
use table::{ErrorKind, Segment, Table};
use world::WorldRange;

use crate::error::EnsembleError;
use crate::needs::Access;
use crate::paths::{RangePaths, TABLES, is_of, partition, range_of, table_folder, version_of};
use crate::plan::{EventMode, Plan};
use crate::range_reader::RangeReader;
use crate::schema::{ensembles_table, event_fields, events_table, outcomes_table};
use crate::stored::{RangeFile, StoredEnsemble, damaged, fetch};
pub use newest::{Newest, ReadRows};
use registry::Described;

type Result<T> = std::result::Result<T, EnsembleError>;

/// The tables of ensembles in one data folder.
pub struct Store {
    data: PathBuf,
    disk: Arc<dyn Disk>,
    outcomes: Table,
    events: Table,
    ensembles: Table,
}

/// A version of an ensemble in progress.
#[derive(Debug, Clone)]
pub struct Registered {
    pub plan: Plan,
    /// Its version: the commit of `sim.ensembles` that registered it, so that numbers are never reused.
    pub version: u64,
    pub paths: RangePaths,
    pub done: Vec<WorldRange>,
    /// Whether it replaces an older version once complete; it is invisible until then.
    pub replaces: bool,
}

impl Store {
    /// The last commit time of each of the three tables of a data folder, without opening them.
    pub fn committed_at(data: &Path) -> [Option<SystemTime>; 3] {
        TABLES.map(|name| Table::committed_at(&table_folder(data, name)))
    }

    /// Opens the data folder for reading; `None` if it has no ensembles.
    pub async fn open(data: &Path, disk: Arc<dyn Disk>) -> Result<Option<Self>> {
        let open = async |name: &str| Table::open(&table_folder(data, name), disk.clone()).await;
        // Outcomes first; see `settle`.
        Ok(match (open("outcomes").await?, open("events").await?, open("ensembles").await?) {
            (Some(outcomes), Some(events), Some(ensembles)) => {
                let mut store = Self { data: data.to_owned(), disk, outcomes, events, ensembles };
                store.settle().await?;
                Some(store)
            }
            _ => None,
        })
    }

    /// Opens the data folder, creating missing tables.
    pub async fn open_or_create(data: &Path, disk: Arc<dyn Disk>) -> Result<Self> {
        let make = |name: &str| table_folder(data, name);
        let outcomes = Table::open_or_create(&make("outcomes"), disk.clone(), &outcomes_table()).await?;
        let events = Table::open_or_create(&make("events"), disk.clone(), &events_table()).await?;
        let ensembles = Table::open_or_create(&make("ensembles"), disk.clone(), &ensembles_table()).await?;
        let mut store = Self { data: data.to_owned(), disk, outcomes, events, ensembles };
        store.settle().await?;
        Ok(store)
    }

    /// The data folder.
    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    pub fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    pub async fn names(&self) -> Result<Vec<String>> {
        let segments = self.ensembles.segments().await?;
        let mut names: Vec<String> =
            segments.into_iter().filter_map(|s| s.partition.get("ensemble").cloned()).collect();
        names.dedup();
        Ok(names)
    }

    /// All ensembles by name: the current version, or why it cannot be read. Reads only the rows that `read` lacks.
    pub async fn ensembles(&self, read: &mut ReadRows) -> Result<Vec<(String, Result<StoredEnsemble>)>> {
        let rows = self.ensembles.segments().await?;
        let plans: Vec<_> = rows.iter().map(|row| (self.ensembles.root().join(&row.path), Some(row.bytes))).collect();
        // Reading its ensemble reports a missing file.
        match fetch(&*self.disk, plans.iter().map(|(path, bytes)| (path.as_path(), *bytes))) {
            Err(error) if error.kind() == ErrorKind::Environment => return Err(error.into()),
            _ => {}
        }
        let (outcomes, events) = (self.outcomes.segments().await?, self.events.segments().await?);
        let (mut outcomes, mut events) = (by_name(&outcomes), by_name(&events));
        let mut all = Vec::new();
        for (name, rows) in by_name(&rows) {
            let (outcomes, events) = (outcomes.remove(name), events.remove(name));
            let current = self.current(name, &rows, outcomes.unwrap_or_default(), events.unwrap_or_default(), read);
            all.push((name.to_owned(), current));
        }
        read.keep(&rows);
        Ok(all)
    }

    /// The current version of an ensemble.
    pub async fn ensemble(&self, name: &str) -> Result<StoredEnsemble> {
        let rows = self.rows_of(name).await?;
        let (outcomes, events) = (self.outcomes.segments().await?, self.events.segments().await?);
        let (rows, outcomes, events) = (rows.iter().collect::<Vec<_>>(), of(&outcomes, name), of(&events, name));
        self.current(name, &rows, outcomes, events, &mut ReadRows::default())
    }

    /// The current version of an ensemble: its rows of `sim.ensembles`, and its segments of outcomes and events.
    fn current(
        &self,
        name: &str,
        rows: &[&Segment],
        outcomes: Vec<&Segment>,
        events: Vec<&Segment>,
        read: &mut ReadRows,
    ) -> Result<StoredEnsemble> {
        // A worker unaware of a dropped version may have committed a range of it since.
        let is_registered = |version: &u64| rows.iter().any(|row| version_of(row) == *version);
        let current = outcomes.iter().map(|s| version_of(s)).filter(is_registered).max();
        // Until a range is complete, an ensemble's oldest version is the current one.
        let row = match current {
            Some(version) => rows.iter().find(|s| version_of(s) == version),
            None => rows.iter().min_by_key(|s| version_of(s)),
        };
        let row = row.ok_or_else(|| damaged(name, "its outcomes belong to no registered version"))?;
        let version = version_of(row);
        let described = self.read_row(name, row, read)?;
        let outcomes = ranges(&self.outcomes, name, version, outcomes)?;
        let mut events = ranges(&self.events, name, version, events)?;
        events.retain(|(range, _, _)| outcomes.iter().any(|(done, _, _)| done == range));
        Ok(StoredEnsemble {
            plan: described.plan.clone(),
            version,
            created: described.created.clone(),
            enough: described.enough.clone(),
            outcomes,
            events,
            disk: self.disk.clone(),
        })
    }

    /// The stored ranges of one version.
    async fn done(&self, name: &str, version: u64) -> Result<Vec<WorldRange>> {
        let outcomes = self.outcomes.segments().await?;
        let stored = ranges(&self.outcomes, name, version, of(&outcomes, name))?;
        Ok(stored.into_iter().map(|(range, _, _)| range).collect())
    }

    async fn rows_of(&self, name: &str) -> Result<Vec<Segment>> {
        let rows: Vec<Segment> = self.ensembles.segments().await?.into_iter().filter(|s| is_of(s, name)).collect();
        if rows.is_empty() { Err(self.unknown(name).await?) } else { Ok(rows) }
    }

    async fn unknown(&self, name: &str) -> Result<EnsembleError> {
        let (data, have) = (self.disk.shown(&self.data), self.names().await?);
        Ok(EnsembleError::Unknown { name: name.to_owned(), data, have })
    }

    /// Registers a new ensemble, or a new version of one.
    ///
    /// # Errors
    /// When the name is taken and `replace` is false, the catalogue is faulty or lacks expectations for compact events, or
    /// the tables have an event column of another type.
    pub async fn register(&mut self, mut plan: Plan, replace: bool) -> Result<Registered> {
        if let Some(reason) = plan.catalogue.fault() {
            return Err(EnsembleError::Catalogue { name: plan.name, reason });
        }
        if plan.events != EventMode::Compact {
            plan.catalogue = plan.catalogue.without_expectations();
        } else if !plan.catalogue.has_expectations() {
            return Err(EnsembleError::NotCompact { name: plan.name, model: plan.model });
        }
        loop {
            self.refresh().await?;
            let taken = self.names().await?.contains(&plan.name);
            if taken && !replace {
                return Err(EnsembleError::Taken { name: plan.name });
            }
            self.events.check_columns(&event_fields(&plan.catalogue))?;
            if let Some(version) = self.commit_plan(&plan).await? {
                return Ok(self.registered(plan, version, Vec::new(), taken));
            }
        }
    }

    /// Resumes the newest version of an ensemble.
    pub async fn resume(&mut self, name: &str) -> Result<Registered> {
        self.refresh().await?;
        let rows = self.rows_of(name).await?;
        let newest = rows.iter().max_by_key(|s| version_of(s)).ok_or_else(|| damaged(name, "it has no version"))?;
        self.take_up_row(name, newest, rows.len()).await
    }

    /// Resumes a version of an ensemble.
    ///
    /// # Errors
    /// When the ensemble does not exist, or lacks this version, for example after a newer one replaced it.
    pub async fn take_up(&mut self, name: &str, version: u64) -> Result<Registered> {
        self.refresh().await?;
        let rows = self.rows_of(name).await?;
        let row = rows.iter().find(|s| version_of(s) == version);
        let row = row.ok_or_else(|| EnsembleError::Version { name: name.to_owned(), version })?;
        self.take_up_row(name, row, rows.len()).await
    }

    async fn take_up_row(&self, name: &str, row: &Segment, versions: usize) -> Result<Registered> {
        let version = version_of(row);
        // Completed ranges are not simulated again.
        [&self.ensembles, &self.events, &self.outcomes].into_iter().try_for_each(Table::make_durable)?;
        let Described { plan, needs, .. } = self.read_plan(name, row)?;
        needs.check(name, Access::Write)?;
        let outcomes = self.outcomes.segments().await?;
        let older = |s: &Segment| is_of(s, name) && version_of(s) < version;
        let replaces = versions > 1 || outcomes.iter().any(older);
        let registered = self.registered(plan, version, Vec::new(), replaces);
        let done = if replaces { staged(&*self.disk, &registered) } else { self.done(name, version).await? };
        Ok(Registered { done, ..registered })
    }

    fn registered(&self, plan: Plan, version: u64, done: Vec<WorldRange>, replaces: bool) -> Registered {
        let paths = RangePaths {
            outcomes: self.outcomes.root().to_owned(),
            events: self.events.root().to_owned(),
            folder: format!("ensemble={}/version={version}", plan.name),
            partition: partition(&plan.name, version),
        };
        Registered { plan, version, paths, done, replaces }
    }

    /// Refreshes every table to its newest version.
    pub async fn refresh(&mut self) -> Result<()> {
        self.outcomes.refresh().await?;
        self.events.refresh().await?;
        self.ensembles.refresh().await?;
        self.settle().await
    }

    /// Makes the three open tables one consistent view. Writers commit events and registrations before the outcomes
    /// that need them; a switch removes them after those, and a drop removes the registration first. So events and
    /// registrations read after `outcomes` match it if `outcomes` has not moved meanwhile. If it has, reads them again.
    async fn settle(&mut self) -> Result<()> {
        loop {
            let version = self.outcomes.version();
            self.outcomes.refresh().await?;
            if self.outcomes.version() == version {
                return Ok(());
            }
            self.events.refresh().await?;
            self.ensembles.refresh().await?;
        }
    }
}

/// Ranges of a replacing version with complete files: these have their final names, outcomes last.
fn staged(disk: &dyn Disk, ensemble: &Registered) -> Vec<WorldRange> {
    let is_whole = |path: &Path| RangeReader::open(disk, path, None).is_ok();
    let whole = |range: &WorldRange| {
        let events = !ensemble.plan.events.is_stored() || is_whole(&ensemble.paths.events(*range));
        events && is_whole(&ensemble.paths.outcomes(*range))
    };
    ensemble.plan.ranges().into_iter().filter(whole).collect()
}

/// The segments of an ensemble.
fn of<'s>(segments: &'s [Segment], name: &str) -> Vec<&'s Segment> {
    segments.iter().filter(|segment| is_of(segment, name)).collect()
}

/// Segments by the ensemble that they belong to.
fn by_name(segments: &[Segment]) -> BTreeMap<&str, Vec<&Segment>> {
    let mut map: BTreeMap<&str, Vec<&Segment>> = BTreeMap::new();
    for segment in segments {
        if let Some(name) = segment.partition.get("ensemble") {
            map.entry(name).or_default().push(segment);
        }
    }
    map
}

/// The segments of one version in the order of their ranges.
fn ranges(table: &Table, name: &str, version: u64, segments: Vec<&Segment>) -> Result<Vec<RangeFile>> {
    let mine = segments.into_iter().filter(|segment| version_of(segment) == version);
    let file = |segment: &Segment| {
        let range = range_of(segment).ok_or_else(|| damaged(name, &format!("{} is not a range", segment.path)))?;
        Ok((range, table.root().join(&segment.path), segment.bytes))
    };
    let mut ranges: Vec<_> = mine.map(file).collect::<Result<_>>()?;
    ranges.sort_unstable_by_key(|(range, _, _)| *range);
    Ok(ranges)
}
