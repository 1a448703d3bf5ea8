//! The data folder: its three tables, and what is committed to them in which order.

mod registry;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use table::disk::Disk;
use table::upkeep::{VacuumOptions, Vacuumed, vacuum_but};
use table::{
    Change, ColumnStatistics, ErrorKind, Segment, SegmentReader, Table, TableError, TransactionId, WrittenSegment,
};
use world::{World, WorldRange};

use crate::error::EnsembleError;
use crate::plan::{EventMode, Plan};
use crate::range_reader::RangeReader;
use crate::range_writer::WrittenRange;
use crate::schema::{ensembles_table, event_fields, events_table, outcomes_table};
use registry::Described;

type Result<T> = std::result::Result<T, EnsembleError>;

const TABLES: [&str; 3] = ["outcomes", "events", "ensembles"];

/// The tables of ensembles in one data folder.
pub struct Store {
    data: PathBuf,
    disk: Arc<dyn Disk>,
    outcomes: Table,
    events: Table,
    ensembles: Table,
}

/// A version of an ensemble that is being played.
#[derive(Debug, Clone)]
pub struct Registered {
    /// What it is.
    pub plan: Plan,
    /// Its version: the commit of `sim.ensembles` that registered it, so no number is ever used twice.
    pub version: u64,
    /// Its files.
    pub paths: RangePaths,
    /// Ranges that need not be played again.
    pub done: Vec<WorldRange>,
    /// Whether it takes an older version's place once it is complete, and is not visible until then.
    pub replaces: bool,
}

/// Where the files of one version of an ensemble lie.
#[derive(Debug, Clone)]
pub struct RangePaths {
    outcomes: PathBuf,
    events: PathBuf,
    folder: String,
    partition: BTreeMap<String, String>,
}

impl RangePaths {
    /// The outcome segment of a range.
    pub fn outcomes(&self, range: WorldRange) -> PathBuf {
        self.outcomes.join(&self.folder).join(file_name(range))
    }

    /// The event segment of a range.
    pub fn events(&self, range: WorldRange) -> PathBuf {
        self.events.join(&self.folder).join(file_name(range))
    }

    fn segment(&self, range: WorldRange, written: &WrittenSegment, world_column: &str) -> Segment {
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

fn range_of(segment: &Segment) -> Option<WorldRange> {
    segment.path.rsplit('/').next()?.strip_suffix(".parquet")?.parse().ok()
}

fn version_of(segment: &Segment) -> u64 {
    segment.partition.get("version").and_then(|v| v.parse().ok()).unwrap_or(0)
}

fn is_of(segment: &Segment, name: &str) -> bool {
    segment.partition.get("ensemble").is_some_and(|e| e == name)
}

/// A segment of a range: its worlds, where it is read, and its bytes.
pub type RangeFile = (WorldRange, PathBuf, u64);

/// The current version of an ensemble: the completed ranges and their segments.
#[derive(Debug, Clone)]
pub struct StoredEnsemble {
    /// What it is.
    pub plan: Plan,
    /// Its version.
    pub version: u64,
    /// When it was registered.
    pub created: String,
    /// What was to be known and is: playing ended with it, and the other worlds are not missing.
    pub enough: Option<String>,
    /// Completed ranges in order, with their outcome segments.
    pub outcomes: Vec<RangeFile>,
    /// The event segments of the completed ranges, where events are stored.
    pub events: Vec<RangeFile>,
    /// What they are read from.
    pub(crate) disk: Arc<dyn Disk>,
}

impl StoredEnsemble {
    /// Completed worlds.
    pub fn worlds(&self) -> usize {
        self.outcomes.iter().map(|(range, _, _)| range.count()).sum()
    }

    /// The completed range that holds a world, and the place of its first world in columns.
    fn range_with(&self, world: World) -> Result<(WorldRange, usize)> {
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

    /// The place of a world's values in columns, which hold the stored worlds only.
    ///
    /// # Errors
    /// Where the world is not stored.
    pub fn place(&self, world: World) -> Result<usize> {
        let (range, before) = self.range_with(world)?;
        Ok(before + (world.0 - range.first().0) as usize)
    }

    /// The numbers of the stored worlds, in the order in which columns hold them.
    pub fn world_numbers(&self) -> impl Iterator<Item = World> {
        self.outcomes.iter().flat_map(|(range, _, _)| range.worlds())
    }

    /// The segments that hold the events of some worlds, in order; empty where the ensemble stores no events.
    ///
    /// # Errors
    /// Where one of the worlds is not stored, or its events are missing.
    pub fn event_segments(&self, worlds: WorldRange) -> Result<Vec<&RangeFile>> {
        let mut segments = Vec::new();
        let mut next = worlds.first();
        while next.0 < worlds.end() {
            let (range, _) = self.range_with(next)?;
            if self.plan.events == EventMode::Store {
                let missing = || damaged(&self.plan.name, &format!("the events of worlds {range} are missing"));
                segments.push(self.events.iter().find(|(of, _, _)| *of == range).ok_or_else(missing)?);
            }
            next = World(range.end());
        }
        Ok(segments)
    }

    /// Whether every range is completed.
    pub fn is_complete(&self) -> bool {
        self.worlds() == self.plan.worlds.count()
    }

    /// The word for how far it is.
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

    /// Opens the outcome segments, in the order of their worlds.
    pub fn open_outcomes(&self) -> Result<Vec<RangeReader>> {
        self.bring(&self.outcomes)?;
        self.outcomes.iter().map(|segment| Ok(self.open(segment)?)).collect()
    }

    /// Opens one of its segments.
    pub fn open(&self, (_, path, bytes): &RangeFile) -> std::result::Result<RangeReader, TableError> {
        RangeReader::open(&*self.disk, path, Some(*bytes))
    }

    /// Sees to it that some of its segments can be read here, several at a time: for whoever opens many of them, or has
    /// others read them.
    pub fn bring<'a>(&self, segments: impl IntoIterator<Item = &'a RangeFile>) -> std::result::Result<(), TableError> {
        bring(&*self.disk, segments.into_iter().map(|(_, path, bytes)| (path.as_path(), Some(*bytes))))
    }
}

impl Store {
    /// When each of the three tables of a data folder was committed to last, without opening them.
    pub fn committed_at(data: &Path) -> [Option<SystemTime>; 3] {
        TABLES.map(|name| Table::committed_at(&table_folder(data, name)))
    }

    /// Opens the data folder for reading; `None` where nothing is stored there.
    pub async fn open(data: &Path, disk: Arc<dyn Disk>) -> Result<Option<Self>> {
        let open = async |name: &str| Table::open(&table_folder(data, name), disk.clone()).await;
        // Outcomes come first: `settle` says why.
        Ok(match (open("outcomes").await?, open("events").await?, open("ensembles").await?) {
            (Some(outcomes), Some(events), Some(ensembles)) => {
                let mut store = Self { data: data.to_owned(), disk, outcomes, events, ensembles };
                store.settle().await?;
                Some(store)
            }
            _ => None,
        })
    }

    /// Opens the data folder, making the tables that it lacks.
    pub async fn open_or_create(data: &Path, disk: Arc<dyn Disk>) -> Result<Self> {
        let make = |name: &str| table_folder(data, name);
        let outcomes = Table::open_or_create(&make("outcomes"), disk.clone(), &outcomes_table()).await?;
        let events = Table::open_or_create(&make("events"), disk.clone(), &events_table()).await?;
        let ensembles = Table::open_or_create(&make("ensembles"), disk.clone(), &ensembles_table()).await?;
        let mut store = Self { data: data.to_owned(), disk, outcomes, events, ensembles };
        store.settle().await?;
        Ok(store)
    }

    /// The disk that this store writes to.
    pub fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    /// Names of all ensembles.
    pub async fn names(&self) -> Result<Vec<String>> {
        let segments = self.ensembles.segments().await?;
        let mut names: Vec<String> =
            segments.into_iter().filter_map(|s| s.partition.get("ensemble").cloned()).collect();
        names.dedup();
        Ok(names)
    }

    /// All ensembles by name: the current version, or why it cannot be read.
    pub async fn ensembles(&self) -> Result<Vec<(String, Result<StoredEnsemble>)>> {
        let rows = self.ensembles.segments().await?;
        let plans: Vec<_> = rows.iter().map(|row| (self.ensembles.root().join(&row.path), Some(row.bytes))).collect();
        // One that is not there is told with its ensemble.
        match bring(&*self.disk, plans.iter().map(|(path, bytes)| (path.as_path(), *bytes))) {
            Err(error) if error.kind() == ErrorKind::Environment => return Err(error.into()),
            _ => {}
        }
        let mut all = Vec::new();
        for name in self.names().await? {
            let found = self.ensemble(&name).await;
            all.push((name, found));
        }
        Ok(all)
    }

    /// The current version of an ensemble.
    pub async fn ensemble(&self, name: &str) -> Result<StoredEnsemble> {
        let rows = self.rows_of(name).await?;
        let outcomes = self.outcomes.segments().await?;
        // A worker that had not heard that a version was dropped may have committed a range of it since.
        let is_registered = |version: &u64| rows.iter().any(|row| version_of(row) == *version);
        let current = outcomes.iter().filter(|s| is_of(s, name)).map(version_of).filter(is_registered).max();
        // Before its first range is complete, an ensemble's oldest version is the current one.
        let row = match current {
            Some(version) => rows.iter().find(|s| version_of(s) == version),
            None => rows.iter().min_by_key(|s| version_of(s)),
        };
        let row = row.ok_or_else(|| damaged(name, "its outcomes belong to no registered version"))?;
        let version = version_of(row);
        let Described { plan, created, enough } = self.read_plan(name, row)?;
        let outcomes = self.ranges(&self.outcomes, name, version).await?;
        let mut events = self.ranges(&self.events, name, version).await?;
        events.retain(|(range, _, _)| outcomes.iter().any(|(done, _, _)| done == range));
        Ok(StoredEnsemble { plan, version, created, enough, outcomes, events, disk: self.disk.clone() })
    }

    async fn rows_of(&self, name: &str) -> Result<Vec<Segment>> {
        let rows: Vec<Segment> = self.ensembles.segments().await?.into_iter().filter(|s| is_of(s, name)).collect();
        if rows.is_empty() {
            let (data, have) = (self.disk.shown(&self.data), self.names().await?);
            return Err(EnsembleError::Unknown { name: name.to_owned(), data, have });
        }
        Ok(rows)
    }

    async fn ranges(&self, table: &Table, name: &str, version: u64) -> Result<Vec<RangeFile>> {
        let segments = table.segments().await?;
        let mine = segments.iter().filter(|s| is_of(s, name) && version_of(s) == version);
        let mut ranges: Vec<_> = mine
            .map(|s| {
                let range = range_of(s).ok_or_else(|| damaged(name, &format!("{} is no range", s.path)))?;
                Ok((range, table.root().join(&s.path), s.bytes))
            })
            .collect::<Result<_>>()?;
        ranges.sort_unstable_by_key(|(range, _, _)| *range);
        Ok(ranges)
    }

    /// Registers a new ensemble, or a new version of one.
    ///
    /// # Errors
    /// Where the name is taken and `replace` is not set, and where the tables hold an event column of another type.
    pub async fn register(&mut self, plan: Plan, replace: bool) -> Result<Registered> {
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

    /// Takes up the newest version of an ensemble where it was left.
    pub async fn resume(&mut self, name: &str) -> Result<Registered> {
        self.refresh().await?;
        let rows = self.rows_of(name).await?;
        let newest = rows.iter().max_by_key(|s| version_of(s)).ok_or_else(|| damaged(name, "it has no version"))?;
        self.take_up_row(name, newest, rows.len()).await
    }

    /// Takes up a version of an ensemble where it was left.
    ///
    /// # Errors
    /// Where there is no such ensemble, or it has no such version, as it is when a newer one took its place.
    pub async fn take_up(&mut self, name: &str, version: u64) -> Result<Registered> {
        self.refresh().await?;
        let rows = self.rows_of(name).await?;
        let row = rows.iter().find(|s| version_of(s) == version);
        let row = row.ok_or_else(|| EnsembleError::Version { name: name.to_owned(), version })?;
        self.take_up_row(name, row, rows.len()).await
    }

    async fn take_up_row(&self, name: &str, row: &Segment, versions: usize) -> Result<Registered> {
        let version = version_of(row);
        // What is taken for done is not done again.
        [&self.ensembles, &self.events, &self.outcomes].into_iter().try_for_each(Table::make_durable)?;
        let Described { plan, .. } = self.read_plan(name, row)?;
        let outcomes = self.outcomes.segments().await?;
        let older = |s: &Segment| is_of(s, name) && version_of(s) < version;
        let replaces = versions > 1 || outcomes.iter().any(older);
        let registered = self.registered(plan, version, Vec::new(), replaces);
        let done = if replaces {
            staged(&*self.disk, &registered)
        } else {
            self.ranges(&self.outcomes, name, version).await?.into_iter().map(|(range, _, _)| range).collect()
        };
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

    /// Commits a written range: its events, then the outcomes that complete it. A range that was committed before is
    /// not committed again.
    pub async fn commit_range(&mut self, ensemble: &Registered, range: &WrittenRange) -> Result<()> {
        self.commit_ranges(ensemble, &[range]).await
    }

    /// Commits some written ranges together: the events of all, then the outcomes of all. Those that were committed before
    /// are not committed again.
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

    /// Puts a complete new version in the old one's place: readers see the old one before the commit to `outcomes`,
    /// and the new one from it on.
    pub async fn switch(&mut self, ensemble: &Registered) -> Result<()> {
        self.refresh().await?;
        let name = &ensemble.plan.name;
        let ranges = ensemble.plan.ranges();
        let old = |s: &Segment| is_of(s, name) && version_of(s) < ensemble.version;
        let old_events: Vec<Segment> = self.events.segments().await?.into_iter().filter(old).collect();
        if ensemble.plan.events == EventMode::Store {
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

    /// Takes out what a version before `version` left in the other two tables.
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
        bring(&*self.disk, files.iter().map(|path| (path.as_path(), None)))?;
        // A killed process may have named some of them without making that durable.
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

    /// Removes an ensemble and all its versions from the tables, then their files. Outcomes go first: without them no
    /// reader sees the rest. Returns its newest version.
    pub async fn drop_ensemble(&mut self, name: &str) -> Result<u64> {
        self.refresh().await?;
        let newest = self.rows_of(name).await?.iter().map(version_of).max().unwrap_or(0);
        for table in [&mut self.outcomes, &mut self.events, &mut self.ensembles] {
            let remove: Vec<Segment> = table.segments().await?.into_iter().filter(|s| is_of(s, name)).collect();
            if !remove.is_empty() {
                table.commit(&Change { remove, ..Change::default() }).await?;
            }
        }
        for table in TABLES {
            let folder = table_folder(&self.data, table).join(format!("ensemble={name}"));
            match self.disk.remove_dir(&folder) {
                Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                    return Err(TableError::Io { doing: "remove", path: folder, cause }.into());
                }
                _ => {}
            }
        }
        Ok(newest)
    }

    /// Removes the files that no version needs: those of versions that others took the place of, and what was never committed.
    /// What is written of registered versions stays: a version that replaces another commits nothing before it is complete.
    ///
    /// # Errors
    /// Where the disk refuses; what was removed until then was nobody's.
    pub async fn vacuum(&self, options: VacuumOptions) -> Result<Vacuumed> {
        let folder = |row: &Segment| row.path.rsplit_once('/').map(|(folder, _)| format!("{folder}/"));
        // A version that is registered after this writes files that are too young to be removed.
        let registered: Vec<String> = self.ensembles.segments().await?.iter().filter_map(folder).collect();
        let may_come = |file: &str| registered.iter().any(|folder| file.starts_with(folder));
        let mut vacuumed = Vacuumed::default();
        for table in TABLES {
            vacuumed += vacuum_but(&table_folder(&self.data, table), self.disk.clone(), options, may_come).await?;
        }
        Ok(vacuumed)
    }

    /// Moves on to the newest version of every table.
    pub async fn refresh(&mut self) -> Result<()> {
        self.outcomes.refresh().await?;
        self.events.refresh().await?;
        self.ensembles.refresh().await?;
        self.settle().await
    }

    /// Makes the three tables in hand one view of the store. Events and registrations are committed before the
    /// outcomes that need them, and taken out after them: so what was read of both since `outcomes` fits it, if
    /// `outcomes` has not moved meanwhile. Where it has, they are read again.
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

fn damaged(name: &str, reason: &str) -> EnsembleError {
    EnsembleError::Damaged { name: name.to_owned(), reason: reason.to_owned() }
}

fn bring<'a>(
    disk: &dyn Disk,
    files: impl IntoIterator<Item = (&'a Path, Option<u64>)>,
) -> std::result::Result<(), TableError> {
    let files: Vec<_> = files.into_iter().collect();
    let first = files.first().map(|(path, _)| path.to_path_buf()).unwrap_or_default();
    disk.fetch(&files).map_err(|cause| TableError::Io { doing: "open", path: first, cause })
}

fn table_folder(data: &Path, table: &str) -> PathBuf {
    data.join(table::SIM).join(table)
}

fn partition(name: &str, version: u64) -> BTreeMap<String, String> {
    [("ensemble".to_owned(), name.to_owned()), ("version".to_owned(), version.to_string())].into()
}

/// Ranges of a replacing version whose files are complete: they have their final names, outcomes last.
fn staged(disk: &dyn Disk, ensemble: &Registered) -> Vec<WorldRange> {
    let is_whole = |path: &Path| RangeReader::open(disk, path, None).is_ok();
    let whole = |range: &WorldRange| {
        let events = ensemble.plan.events == EventMode::Replay || is_whole(&ensemble.paths.events(*range));
        events && is_whole(&ensemble.paths.outcomes(*range))
    };
    ensemble.plan.ranges().into_iter().filter(whole).collect()
}
