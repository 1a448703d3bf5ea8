//! A table: a folder with a Delta log that names its segments.

mod actions;
mod append;
mod definition;
mod known;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use arrow::datatypes::{Schema, SchemaRef as ArrowSchemaRef};
use deltalake::kernel::engine::arrow_conversion::TryIntoArrow as _;
use deltalake::kernel::transaction::{CommitBuilder, CommitProperties};
use deltalake::kernel::{Action, Metadata, MetadataExt as _, StructField, StructType, TombstoneView, Transaction};
use deltalake::logstore::{LogStoreRef, StorageConfig, default_logstore};
use deltalake::protocol::{DeltaOperation, SaveMode, checkpoints};
use deltalake::table::state::DeltaTableState;
use deltalake::{DeltaTable, DeltaTableError};
use futures::TryStreamExt as _;
use url::Url;

use self::actions::{to_add, to_remove, to_segment};
use self::append::Appended;
pub use self::definition::Definition;
pub use self::known::ColumnStatistics;
use crate::disk::{Disk, create_dirs};
use crate::error::TableError;
use crate::hold::Hold;
use crate::layout::TableOptions;
use crate::schema::{Field, FieldType};
use crate::store::DurableStore;

/// How long a commit retries against other writers before it gives up.
const COMMIT_DEADLINE: Duration = Duration::from_mins(1);
/// A log checkpoint is written each so many versions, to keep opening a table cheap.
const CHECKPOINT_EACH: u64 = 50;
pub(crate) const LOG_FOLDER: &str = "_delta_log";
const COLUMN_MAPPING: &str = "delta.columnMapping.mode";

/// A segment as the log names it.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// Path below the table's folder, with `/` between folders.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Rows; 0 where the log does not say, as other writers may leave it.
    pub rows: u64,
    /// Values of the partition columns; NULL is the empty text, as Delta has it.
    pub partition: BTreeMap<String, String>,
    /// What is known of its columns, by name.
    pub columns: BTreeMap<String, ColumnStatistics>,
    /// Notes that the log keeps of it, such as by what it is clustered.
    pub tags: BTreeMap<String, String>,
}

impl Segment {
    /// The note of how many row groups it has.
    pub(crate) const GROUPS_TAG: &str = "manyworlds.groups";
    /// The note of which part of the table it belongs to.
    pub(crate) const PART_TAG: &str = "manyworlds.part";

    /// Its row groups, where whoever wrote it left a note: what is skipped can then be told without opening it.
    pub fn groups(&self) -> Option<usize> {
        self.tags.get(Self::GROUPS_TAG)?.parse().ok()
    }

    /// The part of the table that its rows belong to, which is the folder it lies in; `None` where it belongs to none.
    /// Segments of two parts are never merged.
    pub fn part(&self) -> Option<&str> {
        self.tags.get(Self::PART_TAG).map(String::as_str)
    }

    /// The note of a part, if there is one.
    pub(crate) fn part_tags(part: Option<&str>) -> BTreeMap<String, String> {
        part.map(|part| (Self::PART_TAG.to_owned(), part.to_owned())).into_iter().collect()
    }
}

/// What becomes of the rows of segments that others take the place of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewrite {
    /// The same rows lie in other files: who follows the table's changes sees none.
    SameRows,
    /// Some of the rows are gone.
    FewerRows,
}

/// What a change is called, so that it is in the table once however often it is committed: a table keeps the highest
/// version of each name, and refuses changes whose version is not above it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionId {
    /// Who changes the table.
    pub name: String,
    /// Which of its changes this is.
    pub version: u64,
}

impl TransactionId {
    /// Of a change that has its name for itself.
    pub fn once(name: impl Into<String>) -> Self {
        Self { name: name.into(), version: 1 }
    }
}

/// A change to a table, committed whole or not at all.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// Segments to add. One whose path the table already has takes its place.
    pub add: Vec<Segment>,
    /// Segments to take out of the table; their files stay until they are vacuumed.
    pub remove: Vec<Segment>,
    /// Columns that the table must have from now on.
    pub columns: Vec<Field>,
    /// Names the change: one that was committed before is not committed again.
    pub transaction: Option<TransactionId>,
    /// Says that the added segments hold rows of the removed ones. Then all of those must still be in the table, or the
    /// change is refused: rows can neither be doubled nor come back.
    pub rewrite: Option<Rewrite>,
    /// Columns of integers that hold real numbers from now on.
    pub widen: Vec<String>,
    /// Properties that the table has from now on; those that are `None` it has no more.
    pub properties: BTreeMap<String, Option<String>>,
}

impl Change {
    /// Takes segments out of the table, for others to take their place.
    pub(crate) fn rewrite(remove: Vec<Segment>, rewrite: Rewrite) -> Self {
        Self { remove, rewrite: Some(rewrite), ..Self::default() }
    }
}

/// What became of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Committed {
    /// It is in the table from this version on.
    At(u64),
    /// A change of the same name was committed before; nothing was done.
    Before,
}

/// An open table, at the version it was last refreshed to.
#[derive(Debug, Clone)]
pub struct Table {
    root: PathBuf,
    disk: Arc<dyn Disk>,
    delta: DeltaTable,
    appended: Appended,
    /// Held as long as somebody may commit through this handle, where its folder may be exchanged.
    _hold: Option<Arc<Hold>>,
}

type Result<T> = std::result::Result<T, TableError>;

impl Table {
    /// Whether the folder `root` looks like a table.
    pub(crate) fn is_in(root: &Path) -> bool {
        root.join(LOG_FOLDER).is_dir()
    }

    /// When the table in the folder `root` was committed to last, without opening it: the time at which its log got
    /// its last entry, in the steps of the file system's clock. `None` where there is none.
    pub fn committed_at(root: &Path) -> Option<SystemTime> {
        std::fs::metadata(root.join(LOG_FOLDER)).and_then(|log| log.modified()).ok()
    }

    /// Opens the table in the folder `root`; `None` where there is none.
    pub async fn open(root: &Path, disk: Arc<dyn Disk>) -> Result<Option<Self>> {
        let log = root.join(LOG_FOLDER);
        disk.bring_log(&log).map_err(TableError::io("open", &log))?;
        match log.metadata() {
            Ok(found) if found.is_dir() => {}
            // What may not be looked at is not absent.
            Err(refused) if !matches!(refused.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Err(TableError::io("open", &log)(refused));
            }
            _ => return Ok(None),
        }
        let mut table = Self::over(root, &disk, DeltaTable::new(log_store(root, disk.clone())?));
        match table.delta.load().await {
            Ok(()) => Ok(Some(table)),
            // A log folder without a first entry: a table whose creation was cut short.
            Err(DeltaTableError::NotATable(_) | DeltaTableError::InvalidTableLocation(_)) => Ok(None),
            Err(error) => Err(TableError::log("open", root)(error)),
        }
    }

    /// Opens the table in the folder `root`, or makes it.
    pub async fn open_or_create(root: &Path, disk: Arc<dyn Disk>, definition: &Definition) -> Result<Self> {
        if let Some(table) = Self::open(root, disk.clone()).await? {
            return Ok(table);
        }
        create_dirs(&*disk, root).map_err(TableError::io("create the folder", root))?;
        let properties = definition.properties.iter().map(|(k, v)| (k.clone(), Some(v.clone())));
        let created = DeltaTable::new(log_store(root, disk.clone())?)
            .create()
            .with_columns(definition.columns.clone())
            .with_partition_columns(&definition.partitions)
            .with_configuration(properties)
            .with_raise_if_key_not_exists(false)
            .with_comment(definition.comment)
            .with_save_mode(SaveMode::Ignore)
            // Tried again, it would put its description over a table that another has made meanwhile.
            .with_commit_properties(CommitProperties::default().with_max_retries(0))
            .await;
        match created {
            Ok(table) => Ok(Self::over(root, &disk, table)),
            // Another process made it meanwhile.
            Err(error) => match Self::open(root, disk).await? {
                Some(table) => Ok(table),
                None => Err(TableError::log("create", root)(error)),
            },
        }
    }

    fn over(root: &Path, disk: &Arc<dyn Disk>, delta: DeltaTable) -> Self {
        Self { root: root.to_owned(), disk: disk.clone(), delta, appended: Appended::default(), _hold: None }
    }

    /// This handle, which keeps its folder in its place.
    pub(crate) fn held_by(self, hold: Option<Arc<Hold>>) -> Self {
        Self { _hold: hold, ..self }
    }

    /// Makes what this handle sees durable: whoever committed it may have been killed before it was.
    pub fn make_durable(&self) -> Result<()> {
        sync_log(&self.root, &*self.disk)
    }

    /// The table's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The version that reads of this handle see.
    pub fn version(&self) -> u64 {
        self.delta.version().unwrap_or(0).max(self.appended.version)
    }

    /// Moves on to the newest version.
    pub async fn refresh(&mut self) -> Result<()> {
        self.read_state().await.map_err(TableError::log("read", &self.root))
    }

    async fn read_state(&mut self) -> std::result::Result<(), DeltaTableError> {
        self.delta.update_state().await?;
        self.appended = Appended::default();
        Ok(())
    }

    /// Names of all columns, in order.
    pub fn columns(&self) -> Result<Vec<String>> {
        Ok(self.schema()?.fields().map(|f| f.name().clone()).collect())
    }

    /// The columns as Arrow has them.
    pub fn arrow_schema(&self) -> Result<ArrowSchemaRef> {
        let schema: Schema = self
            .schema()?
            .as_ref()
            .try_into_arrow()
            .map_err(|e| TableError::log("read the columns of", &self.root)(DeltaTableError::from(e)))?;
        // Delta's own notes on fields are no business of those who read rows.
        let fields = schema.fields().iter().map(|f| f.as_ref().clone().with_metadata(HashMap::new()));
        Ok(Arc::new(Schema::new(fields.collect::<Vec<_>>())))
    }

    /// How the table stores what is inserted.
    pub fn options(&self) -> Result<TableOptions> {
        let snapshot = self.delta.snapshot().map_err(TableError::log("read", &self.root))?;
        TableOptions::from_properties(&self.root, snapshot.metadata().configuration())
    }

    /// Names of the columns that are the same for all rows of a segment and are stored in the log only.
    pub fn partition_columns(&self) -> Result<Vec<String>> {
        let snapshot = self.delta.snapshot().map_err(TableError::log("read", &self.root))?;
        Ok(snapshot.metadata().partition_columns().to_vec())
    }

    fn schema(&self) -> Result<deltalake::kernel::SchemaRef> {
        let snapshot = self.delta.snapshot().map_err(TableError::log("read", &self.root))?;
        Ok(snapshot.schema())
    }

    /// The segments of the version in hand, ordered by path.
    ///
    /// # Errors
    /// Where the log cannot be read, and where another writer keeps rows or names of columns in a way in which the
    /// segments alone do not tell what is in the table.
    pub async fn segments(&self) -> Result<Vec<Segment>> {
        let mut segments = self.read_segments().await?;
        segments.sort_by(|a, b| a.1.path.cmp(&b.1.path));
        Ok(segments.into_iter().map(|(_, segment)| segment).collect())
    }

    /// The segments of the version in hand, the oldest first, each with the time at which it was written, in
    /// milliseconds since 1970.
    pub(crate) async fn segments_by_age(&self) -> Result<Vec<(i64, Segment)>> {
        let mut segments = self.read_segments().await?;
        segments.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.path.cmp(&b.1.path)));
        Ok(segments)
    }

    async fn read_segments(&self) -> Result<Vec<(i64, Segment)>> {
        let refuse = |reason: &str| TableError::Options { path: self.root.clone(), reason: reason.to_owned() };
        let mut table = self.delta.clone();
        let read = async {
            if self.appended.version > table.version().unwrap_or(0) {
                table.update_state().await?;
            }
            let snapshot = table.snapshot()?;
            let mapping = snapshot.metadata().configuration().get(COLUMN_MAPPING).cloned();
            let store = table.log_store();
            let views = snapshot.snapshot().file_views(store.as_ref(), None);
            let segments = views.map_ok(|view| Some((view.modification_time(), to_segment(&view)?)));
            Ok((mapping, segments.try_collect::<Vec<_>>().await?))
        };
        let (mapping, segments) = read.await.map_err(TableError::log("read", &self.root))?;
        if mapping.is_some_and(|mode| mode != "none") {
            return Err(refuse("it maps its columns to other names, which is not read here: write it again without"));
        }
        segments.into_iter().collect::<Option<Vec<_>>>().ok_or_else(|| {
            refuse("it has deletion vectors, which are not read here: have the engine that wrote them purge them")
        })
    }

    /// Files that were taken out of the table and are not yet forgotten by its log: path, and when that was, in
    /// milliseconds since 1970.
    pub(crate) async fn removed_files(&self) -> Result<Vec<(String, i64)>> {
        let fail = TableError::log("read", &self.root);
        let read = async {
            let store = self.delta.log_store();
            let removed = self.delta.snapshot()?.all_tombstones(store.as_ref());
            let entry = |r: TombstoneView| (r.path().into_owned(), r.deletion_timestamp().unwrap_or(0));
            removed.map_ok(entry).try_collect().await
        };
        read.await.map_err(fail)
    }

    /// Commits a change and moves this handle on to the version it made. What it answers is durable.
    ///
    /// # Errors
    /// Where it could not be committed, or not durably: it may be in the table where the disk failed at the very end. A
    /// change with a name may be committed again to find out.
    pub async fn commit(&mut self, change: &Change) -> Result<Committed> {
        let mut committed = self.commit_all(std::slice::from_ref(change)).await?;
        Ok(committed.pop().unwrap_or(Committed::Before))
    }

    /// Commits some changes together, as one version: all of them or, where there is an error, none. Those committed
    /// before are left out. Tells what became of each.
    ///
    /// # Errors
    /// As [`Self::commit`].
    pub async fn commit_all(&mut self, changes: &[Change]) -> Result<Vec<Committed>> {
        let started = Instant::now();
        if changes.iter().any(|change| self.check_columns(&change.columns).is_err()) {
            // Another may have widened it since.
            self.refresh().await?;
            changes.iter().try_for_each(|change| self.check_columns(&change.columns))?;
        }
        for change in changes.iter().filter(|c| c.rewrite.is_some()) {
            self.refresh().await?;
            self.check_removed(change).await?;
        }
        loop {
            match self.try_commit(changes).await {
                Ok(committed) => {
                    if committed.contains(&Committed::Before) {
                        self.make_durable()?;
                    }
                    return Ok(committed);
                }
                Err(error) if is_conflict(&error) && started.elapsed() < COMMIT_DEADLINE => {
                    tracing::debug!(table = %self.root.display(), %error, "another writer was faster; trying again");
                    tokio::time::sleep(jitter()).await;
                    self.refresh().await?;
                }
                Err(error) => return Err(TableError::log("commit to", &self.root)(error)),
            }
            for change in changes {
                self.check_columns(&change.columns)?;
                self.check_removed(change).await?;
            }
        }
    }

    /// Whether a rewrite's inputs are all still there. delta-rs does not ask: for it, removals that change no rows
    /// never conflict, so two rewrites of one segment would double its rows.
    async fn check_removed(&self, change: &Change) -> Result<()> {
        if change.rewrite.is_none() {
            return Ok(());
        }
        let have: HashSet<String> = self.segments().await?.into_iter().map(|s| s.path).collect();
        match change.remove.iter().find(|s| !have.contains(&s.path)) {
            Some(gone) => Err(TableError::Overtaken { path: self.root.clone(), segment: gone.path.clone() }),
            None => Ok(()),
        }
    }

    async fn try_commit(&mut self, changes: &[Change]) -> std::result::Result<Vec<Committed>, DeltaTableError> {
        let appends = self.is_append(&changes.iter().collect::<Vec<_>>())?;
        // A rewrite was checked against the version in hand, which must stay the one it is committed on.
        if !appends && changes.iter().all(|c| c.rewrite.is_none()) {
            self.read_state().await?;
        }
        let mut new: Vec<&Change> = Vec::with_capacity(changes.len());
        let mut is_new = Vec::with_capacity(changes.len());
        for change in changes {
            let before = match &change.transaction {
                Some(id) => {
                    let among = new.iter().filter_map(|c| c.transaction.as_ref());
                    among.clone().any(|c| c.name == id.name && c.version >= id.version)
                        || self.version_of(&id.name).await? >= Some(id.version)
                }
                None => false,
            };
            is_new.push(!before);
            if !before {
                new.push(change);
            }
        }
        let at = match new.is_empty() {
            true => 0,
            false if appends => self.append(&new).await?,
            false => self.write_version(self.delta.snapshot()?.clone(), &new).await?,
        };
        self.checkpoint_at(at).await;
        Ok(is_new.into_iter().map(|new| if new { Committed::At(at) } else { Committed::Before }).collect())
    }

    /// The highest version of the changes of this name that are in the version in hand; `None` where there are none.
    pub async fn transaction_version(&self, name: &str) -> Result<Option<u64>> {
        self.version_of(name).await.map_err(TableError::log("read", &self.root))
    }

    async fn version_of(&self, name: &str) -> std::result::Result<Option<u64>, DeltaTableError> {
        if let Some(version) = self.appended.transactions.get(name) {
            return Ok(Some(*version));
        }
        let store = self.delta.log_store();
        let version = self.delta.snapshot()?.transaction_version(store.as_ref(), name).await?;
        Ok(version.map(|v| v as u64))
    }

    /// Writes a checkpoint of the log each so many versions.
    async fn checkpoint_at(&mut self, version: u64) {
        if version == 0 || !version.is_multiple_of(CHECKPOINT_EACH) {
            return;
        }
        let written = match self.read_state().await {
            Ok(()) => checkpoints::create_checkpoint(&self.delta, None).await,
            Err(error) => Err(error),
        };
        if let Err(error) = written {
            // The commit stands; a missing checkpoint costs only time.
            tracing::warn!(table = %self.root.display(), %error, "could not write a log checkpoint");
        }
    }

    async fn write_version(
        &mut self,
        state: DeltaTableState,
        changes: &[&Change],
    ) -> std::result::Result<u64, DeltaTableError> {
        let properties = CommitProperties::default()
            .with_create_checkpoint(false)
            .with_application_transactions(transactions(changes));
        // What a rewrite was checked against is the version in hand: no other may come between.
        let rewrites = changes.iter().any(|c| c.rewrite.is_some());
        let properties = if rewrites { properties.with_max_retries(0) } else { properties };
        let mut actions: Vec<Action> = Vec::new();
        if let Some(metadata) = self.changed_metadata(&state, changes)? {
            actions.push(Action::Metadata(metadata));
        }
        for change in changes {
            let data_change = change.rewrite != Some(Rewrite::SameRows);
            actions.extend(change.remove.iter().map(|s| Action::Remove(to_remove(s, data_change))));
            actions.extend(change.add.iter().map(|s| Action::Add(to_add(s, data_change))));
        }
        let operation = if changes.iter().all(|c| c.rewrite == Some(Rewrite::SameRows)) {
            DeltaOperation::Optimize { predicate: None, target_size: 0 }
        } else {
            DeltaOperation::Write { mode: SaveMode::Append, partition_by: None, predicate: None }
        };
        let finalized = CommitBuilder::from(properties)
            .with_actions(actions)
            .build(Some(&state), self.delta.log_store(), operation)
            .await?;
        let version = finalized.version();
        self.delta.state = Some(finalized.snapshot());
        Ok(version)
    }

    /// The table's description with new columns and properties, or `None` where nothing is new.
    fn changed_metadata(
        &self,
        state: &DeltaTableState,
        changes: &[&Change],
    ) -> std::result::Result<Option<Metadata>, DeltaTableError> {
        let mut metadata = state.metadata().clone();
        // Changes that are committed together may each bring the same column.
        let mut names = HashSet::new();
        let columns = changes.iter().flat_map(|c| &c.columns).filter(|field| names.insert(&field.name));
        let columns: Vec<Field> = columns.cloned().collect();
        let widen: Vec<&String> = changes.iter().flat_map(|c| &c.widen).collect();
        if let Some(schema) = self.grown_schema(&columns, &widen)? {
            metadata = metadata.with_schema(&schema)?;
        }
        for (key, value) in changes.iter().flat_map(|c| &c.properties) {
            metadata = match value {
                Some(value) => metadata.add_config_key(key.clone(), value.clone())?,
                None => metadata.remove_config_key(key)?,
            };
        }
        Ok((metadata != *state.metadata()).then_some(metadata))
    }

    /// The schema with the columns it lacks and with wider ones, or `None` where it lacks none.
    fn grown_schema(
        &self,
        columns: &[Field],
        widen: &[&String],
    ) -> std::result::Result<Option<StructType>, DeltaTableError> {
        let schema = self.delta.snapshot()?.schema();
        let new: Vec<_> = columns.iter().filter(|f| schema.field(&f.name).is_none()).map(Field::to_delta).collect();
        if new.is_empty() && widen.is_empty() {
            return Ok(None);
        }
        let widened = |field: &StructField| {
            if widen.contains(&&field.name) {
                Field::new(&field.name, FieldType::Double).to_delta()
            } else {
                field.clone()
            }
        };
        Ok(Some(StructType::try_new(schema.fields().map(widened).chain(new))?))
    }

    /// Whether the table has each of `columns` either not at all or with the same type.
    pub fn check_columns(&self, columns: &[Field]) -> Result<()> {
        let schema = self.schema()?;
        for field in columns {
            let want = field.to_delta();
            if let Some(have) = schema.field(&field.name).filter(|have| !field.ty.is_in(have.data_type())) {
                return Err(TableError::ColumnType {
                    path: self.root.clone(),
                    column: field.name.clone(),
                    have: have.data_type().to_string(),
                    want: want.data_type().to_string(),
                });
            }
        }
        Ok(())
    }
}

/// The names of some changes, each with the highest of its versions.
fn transactions(changes: &[&Change]) -> Vec<Transaction> {
    let mut highest: BTreeMap<&str, u64> = BTreeMap::new();
    for id in changes.iter().filter_map(|c| c.transaction.as_ref()) {
        let version = highest.entry(&id.name).or_default();
        *version = id.version.max(*version);
    }
    highest.into_iter().map(|(name, version)| Transaction::new(name, version as i64)).collect()
}

fn log_store(root: &Path, disk: Arc<dyn Disk>) -> Result<LogStoreRef> {
    let fail = |e: object_store::Error| TableError::log("open", root)(DeltaTableError::from(e));
    let root = root.canonicalize().map_err(TableError::io("open the folder", root))?;
    let url = Url::from_directory_path(&root).map_err(|()| {
        TableError::io("name as a URL the folder", &root)(std::io::Error::other("it is no absolute path"))
    })?;
    let whole = Arc::new(DurableStore::new(Path::new("/"), disk.clone()).map_err(fail)?);
    let prefixed = Arc::new(DurableStore::new(&root, disk).map_err(fail)?);
    Ok(default_logstore(prefixed, whole, &url, &StorageConfig::default()))
}

/// Makes the names of a log's entries durable; what they hold was so before it was named.
pub(crate) fn sync_log(root: &Path, disk: &dyn Disk) -> Result<()> {
    let folder = root.join(LOG_FOLDER);
    disk.sync_dir(&folder).map_err(TableError::io("sync the folder", &folder))
}

/// Whether another writer was faster.
pub(crate) fn is_conflict(error: &DeltaTableError) -> bool {
    matches!(error, DeltaTableError::Transaction { .. } | DeltaTableError::VersionAlreadyExists(_))
}

/// 5 to 50 ms, different for processes that collide.
fn jitter() -> Duration {
    let random = uuid::Uuid::new_v4().as_u128() as u64;
    Duration::from_millis(5 + random % 46)
}

fn now_ms() -> i64 {
    chrono::Utc::now().timestamp_millis()
}

#[cfg(test)]
mod tests;
