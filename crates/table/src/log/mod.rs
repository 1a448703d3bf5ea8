//! Tables: folders with segments and a Delta log that names them.

mod actions;
mod append;
mod commit;
mod damaged;
mod definition;
mod replay;
mod statistics;
mod turn;

use std::collections::{BTreeMap, HashMap};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use arrow::datatypes::{Schema, SchemaRef as ArrowSchemaRef};
use deltalake::kernel::engine::arrow_conversion::TryIntoArrow as _;
use deltalake::kernel::transaction::CommitProperties;
use deltalake::kernel::{StructType, TombstoneView};
use deltalake::logstore::{LogStoreRef, StorageConfig, default_logstore};
use deltalake::protocol::SaveMode;
use deltalake::table::state::DeltaTableState;
use deltalake::{DeltaTable, DeltaTableError};
use futures::TryStreamExt as _;
use url::Url;

use self::actions::to_segment;
use self::append::Appended;
use self::damaged::damaged_entry;
pub use self::definition::Definition;
use self::replay::{Replayed, entry_name};
pub use self::statistics::ColumnStatistics;
pub use self::turn::CALLS_MAX;
use self::turn::in_turn;
use crate::error::{Result, TableError};
use crate::folder_lock::FolderLock;
use crate::layout::TableOptions;
use crate::schema::Field;
use crate::store::{DurableStore, LOG_FOLDER};
use disk::{Disk, create_dirs};

/// Marks a folder as a table of layout `row`, which this version does not read.
const ROW_LAYOUT_FILE: &str = "schema.arrow";
const COLUMN_MAPPING: &str = "delta.columnMapping.mode";

/// A segment, as described in the log.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Segment {
    /// Path below the table's folder, with `/` between folders.
    pub path: String,
    pub bytes: u64,
    /// Number of rows; 0 if another writer did not record it.
    pub rows: u64,
    /// Values of the partition columns; as in Delta, NULL is the empty text.
    pub partition: BTreeMap<String, String>,
    pub columns: BTreeMap<String, ColumnStatistics>,
    /// Tags in the log, for example the clustering.
    pub tags: BTreeMap<String, String>,
}

impl Segment {
    pub(crate) const GROUPS_TAG: &str = "manyworlds.groups";
    pub(crate) const PART_TAG: &str = "manyworlds.part";

    /// The number of row groups, if recorded. Skipped groups can then be reported without opening the file.
    pub fn groups(&self) -> Option<usize> {
        self.tags.get(Self::GROUPS_TAG)?.parse().ok()
    }

    /// The part of the table, and the segment's folder; `None` if it has none. Segments of different parts are never
    /// merged.
    pub fn part(&self) -> Option<&str> {
        self.tags.get(Self::PART_TAG).map(String::as_str)
    }

    pub(crate) fn part_tags(part: Option<&str>) -> BTreeMap<String, String> {
        part.map(|part| (Self::PART_TAG.to_owned(), part.to_owned())).into_iter().collect()
    }
}

/// The effect of a rewrite on the rows of its segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewrite {
    /// Moves the same rows to other files: the table's change feed stays empty.
    SameRows,
    FewerRows,
}

/// Identifies a change, so that it is applied only once. The table stores the highest version of each name, and skips
/// changes up to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionId {
    pub name: String,
    /// The writer's version of the change.
    pub version: u64,
}

impl TransactionId {
    pub fn once(name: impl Into<String>) -> Self {
        Self { name: name.into(), version: 1 }
    }
}

/// A change to a table, committed atomically.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// Segments to add. A segment replaces any segment with the same path.
    pub add: Vec<Segment>,
    /// Segments to remove; their files stay until a vacuum.
    pub remove: Vec<Segment>,
    /// Columns that the table needs.
    pub columns: Vec<Field>,
    /// Identifies the change. A change that was committed before is skipped.
    pub transaction: Option<TransactionId>,
    /// Set if the added segments hold rows of the removed ones. The commit then fails unless all removed segments are
    /// still in the table, so rows are neither duplicated nor restored.
    pub rewrite: Option<Rewrite>,
    /// Integer columns to turn into real numbers.
    pub widen: Vec<String>,
    /// Properties to set, or to remove if `None`.
    pub properties: BTreeMap<String, Option<String>>,
}

impl Change {
    pub(crate) fn rewrite(remove: Vec<Segment>, rewrite: Rewrite) -> Self {
        Self { remove, rewrite: Some(rewrite), ..Self::default() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Committed {
    /// The change is in the table from this version on.
    At(u64),
    /// A change with this name was committed before; this commit had no effect.
    Before,
}

/// Tells the folders of tables apart that are at one path one after another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderId {
    inode: u64,
    /// Inodes are used again.
    created: SystemTime,
}

impl FolderId {
    /// Of the table in the folder `root`; `None` if there is none, or the file system does not note when it creates.
    pub fn of(root: &Path) -> Option<Self> {
        let log = std::fs::metadata(root.join(LOG_FOLDER)).ok()?;
        Some(Self { inode: log.ino(), created: log.created().ok()? })
    }
}

/// An open table at the version of its last refresh.
#[derive(Debug, Clone)]
pub struct Table {
    root: PathBuf,
    disk: Arc<dyn Disk>,
    /// The state as read here; `None` if the library has read it.
    replayed: Option<Arc<Replayed>>,
    /// The table as the library knows it. Without state while [`Self::replayed`] is set.
    delta: DeltaTable,
    appended: Appended,
    /// Held while this handle may commit, so that no command removes the folder.
    _folder_lock: Option<Arc<FolderLock>>,
}

type DeltaResult<T> = std::result::Result<T, DeltaTableError>;

impl Table {
    /// Whether the folder `root` looks like a table, even if [`Self::open`] refuses its layout.
    pub(crate) fn is_in(root: &Path) -> bool {
        root.join(LOG_FOLDER).is_dir() || has_row_layout(root)
    }

    /// The time of the last commit to the table in the folder `root`, without opening it: the modification time of
    /// its log. `None` if it does not exist.
    pub fn committed_at(root: &Path) -> Option<SystemTime> {
        std::fs::metadata(root.join(LOG_FOLDER)).and_then(|log| log.modified()).ok()
    }

    /// Opens the table in the folder `root`; `None` if it does not exist.
    pub async fn open(root: &Path, disk: Arc<dyn Disk>) -> Result<Option<Self>> {
        if has_row_layout(root) {
            return Err(TableError::RowLayout { path: root.to_owned() });
        }
        let log = root.join(LOG_FOLDER);
        disk.fetch_log(&log).map_err(TableError::io("open", &log))?;
        match log.metadata() {
            Ok(found) if found.is_dir() => {}
            // Neither an inaccessible log nor a file in place of the folder is a missing table.
            Err(refused)
                if refused.kind() != ErrorKind::NotFound
                    && (refused.kind() != ErrorKind::NotADirectory || root.exists()) =>
            {
                return Err(TableError::io("open", &log)(refused));
            }
            _ => return Ok(None),
        }
        let mut table = Self::over(root, &disk, DeltaTable::new(log_store(root, disk.clone())?));
        if table.replay() {
            return Ok(Some(table));
        }
        match in_turn(table.delta.load()).await {
            Ok(()) => Ok(Some(table)),
            // A log without a first entry: the table's creation was interrupted.
            Err(DeltaTableError::NotATable(_) | DeltaTableError::InvalidTableLocation(_)) => Ok(None),
            Err(error) => Err(damaged_entry(root).unwrap_or_else(|| TableError::log("open", root)(error))),
        }
    }

    pub async fn open_or_create(root: &Path, disk: Arc<dyn Disk>, definition: &Definition) -> Result<Self> {
        if let Some(table) = Self::open(root, disk.clone()).await? {
            return Ok(table);
        }
        create_dirs(&*disk, root).map_err(TableError::io("create the folder", root))?;
        let properties = definition.properties.iter().map(|(k, v)| (k.clone(), Some(v.clone())));
        let create = DeltaTable::new(log_store(root, disk.clone())?)
            .create()
            .with_columns(definition.columns.clone())
            .with_partition_columns(&definition.partitions)
            .with_configuration(properties)
            .with_raise_if_key_not_exists(false)
            .with_comment(definition.comment)
            .with_save_mode(SaveMode::Ignore)
            // A retry would overwrite the metadata of a table that another process created concurrently.
            .with_commit_properties(CommitProperties::default().with_max_retries(0));
        match in_turn(create.into_future()).await {
            Ok(table) => Ok(Self::over(root, &disk, table)),
            // Another process created it concurrently.
            Err(error) => match Self::open(root, disk).await? {
                Some(table) => Ok(table),
                None => Err(TableError::log("create", root)(error)),
            },
        }
    }

    fn over(root: &Path, disk: &Arc<dyn Disk>, delta: DeltaTable) -> Self {
        let (root, disk, appended) = (root.to_owned(), disk.clone(), Appended::default());
        Self { root, disk, replayed: None, delta, appended, _folder_lock: None }
    }

    /// Reads the newest version without the library, if possible.
    fn replay(&mut self) -> bool {
        let Some(replayed) = Replayed::read(&self.root) else { return false };
        (self.replayed, self.appended) = (Some(Arc::new(replayed)), Appended::default());
        true
    }

    /// Like [`Self::open`], for writers: keeps a lock on the folder for the life of the handle.
    pub(crate) async fn open_locked(root: &Path, disk: Arc<dyn Disk>) -> Result<Option<Self>> {
        let folder_lock = FolderLock::shared(root)?.map(Arc::new);
        Ok(Self::open(root, disk).await?.map(|table| Self { _folder_lock: folder_lock, ..table }))
    }

    /// Makes this handle's version durable, because its writer may have been killed before doing so.
    pub fn make_durable(&self) -> Result<()> {
        sync_log(&self.root, &*self.disk)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The version that this handle reads.
    pub fn version(&self) -> u64 {
        self.read_version().unwrap_or(0).max(self.appended.version)
    }

    /// The version of the state that was read.
    fn read_version(&self) -> Option<u64> {
        self.replayed.as_ref().map(|replayed| replayed.version).or_else(|| self.delta.version())
    }

    /// The memory of the state, in bytes, roughly. `None` if the Delta library reads it: then every question reads files
    /// of the log.
    pub fn state_bytes(&self) -> Option<usize> {
        const SEGMENT_BYTES: usize = 512;
        const COLUMN_BYTES: usize = 200;
        let replayed = self.replayed.as_ref()?;
        Some(replayed.segments.len() * (SEGMENT_BYTES + COLUMN_BYTES * replayed.schema.fields().len()))
    }

    pub async fn refresh(&mut self) -> Result<()> {
        if self.is_newest()? || self.replayed.is_some() && self.replay() {
            return Ok(());
        }
        self.read_state().await.map_err(TableError::log("read", &self.root))
    }

    /// Whether the state of this handle is certainly the newest version, found without reading the log: its entry is
    /// there, and the next one is not. A log without either was cleaned up to a later checkpoint.
    fn is_newest(&self) -> Result<bool> {
        let log = self.root.join(LOG_FOLDER);
        self.disk.fetch_log(&log).map_err(TableError::io("open", &log))?;
        let Some(version) = self.read_version().filter(|version| *version >= self.appended.version) else {
            return Ok(false);
        };
        Ok(!self.has_entry(version + 1)? && self.has_entry(version)?)
    }

    /// Whether the log has the entry of a version.
    fn has_entry(&self, version: u64) -> Result<bool> {
        let entry = self.root.join(LOG_FOLDER).join(entry_name(version));
        entry.try_exists().map_err(TableError::io("look at", &entry))
    }

    /// Reads the newest version with the library.
    async fn read_state(&mut self) -> DeltaResult<()> {
        in_turn(self.delta.update_state()).await?;
        (self.replayed, self.appended) = (None, Appended::default());
        Ok(())
    }

    pub fn columns(&self) -> Result<Vec<String>> {
        Ok(self.schema()?.fields().map(|f| f.name().clone()).collect())
    }

    pub fn arrow_schema(&self) -> Result<ArrowSchemaRef> {
        let failed = TableError::log("read the columns of", &self.root);
        let schema: Schema = self.schema()?.as_ref().try_into_arrow().map_err(|e| failed(e.into()))?;
        // Drop Delta's metadata of fields, because readers of rows do not need it.
        let fields = schema.fields().iter().map(|f| f.as_ref().clone().with_metadata(HashMap::new()));
        Ok(Arc::new(Schema::new(fields.collect::<Vec<_>>())))
    }

    pub fn options(&self) -> Result<TableOptions> {
        let properties = match &self.replayed {
            Some(replayed) => &replayed.properties,
            None => self.state()?.metadata().configuration(),
        };
        TableOptions::from_properties(&self.root, properties)
    }

    /// Names of the partition columns. They are constant within a segment and stored only in the log.
    pub fn partition_columns(&self) -> Result<Vec<String>> {
        Ok(match &self.replayed {
            Some(replayed) => replayed.partition_columns.clone(),
            None => self.state()?.metadata().partition_columns().to_vec(),
        })
    }

    fn schema(&self) -> Result<Arc<StructType>> {
        Ok(match &self.replayed {
            Some(replayed) => replayed.schema.clone(),
            None => self.state()?.schema(),
        })
    }

    fn state(&self) -> Result<&DeltaTableState> {
        self.delta.snapshot().map_err(TableError::log("read", &self.root))
    }

    /// The segments of this version, sorted by path. Fails if another writer uses deletion vectors or column mapping.
    pub async fn segments(&self) -> Result<Vec<Segment>> {
        let mut segments = self.read_segments().await?;
        segments.sort_by(|a, b| a.1.path.cmp(&b.1.path));
        Ok(segments.into_iter().map(|(_, segment)| segment).collect())
    }

    /// The segments of this version, oldest first.
    pub(crate) async fn segments_by_age(&self) -> Result<Vec<Segment>> {
        let mut segments = self.read_segments().await?;
        segments.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.path.cmp(&b.1.path)));
        Ok(segments.into_iter().map(|(_, segment)| segment).collect())
    }

    /// Each segment with its write time in milliseconds since 1970.
    async fn read_segments(&self) -> Result<Vec<(i64, Segment)>> {
        let refuse = |reason: &str| TableError::options(&self.root, reason);
        let segments = match self.replayed() {
            Some(replayed) => replayed.segments.values().cloned().collect(),
            None => self.read_segments_with_library().await?,
        };
        let outside =
            segments.iter().flat_map(|(_, s)| [Some(s.path.as_str()), s.part()]).flatten().find(|p| !is_inside(p));
        if let Some(path) = outside {
            let advice = "outside the table's folder: nothing was read; restore the log from a backup";
            return Err(refuse(&format!("its log names {path:?}, {advice}")));
        }
        Ok(segments)
    }

    /// The state that was read without the library, with what this handle has appended since.
    fn replayed(&self) -> Option<Arc<Replayed>> {
        let replayed = self.replayed.as_ref()?;
        let is_behind = self.appended.version > replayed.version;
        if is_behind { Replayed::read(&self.root).map(Arc::new) } else { Some(replayed.clone()) }
    }

    async fn read_segments_with_library(&self) -> Result<Vec<(i64, Segment)>> {
        let refuse = |reason: &str| TableError::options(&self.root, reason);
        let mut table = self.delta.clone();
        let read = async {
            if table.version().is_none_or(|version| version < self.appended.version) {
                table.update_state().await?;
            }
            let snapshot = table.snapshot()?;
            let mapping = snapshot.metadata().configuration().get(COLUMN_MAPPING).cloned();
            let store = table.log_store();
            let views = snapshot.snapshot().file_views(store.as_ref(), None);
            #[expect(deprecated, reason = "no other method returns the tags")]
            let segments = views.map_ok(|view| Some((view.modification_time(), to_segment(view.add_action())?)));
            Ok((mapping, segments.try_collect::<Vec<_>>().await?))
        };
        let (mapping, segments) = in_turn(read).await.map_err(TableError::log("read", &self.root))?;
        if mapping.is_some_and(|mode| mode != "none") {
            return Err(refuse("column mapping is not supported: rewrite the table without it"));
        }
        let segments = segments.into_iter().collect::<Option<Vec<_>>>();
        segments.ok_or_else(|| refuse("deletion vectors are not supported: purge them with the engine that wrote them"))
    }

    /// Files removed from the table that its log still remembers, with the time of removal in milliseconds since 1970.
    pub(crate) async fn removed_files(&self) -> Result<Vec<(String, i64)>> {
        let fail = TableError::log("read", &self.root);
        let mut table = self.delta.clone();
        let read = async {
            if table.version().is_none() {
                table.load().await?;
            }
            let store = table.log_store();
            let removed = table.snapshot()?.all_tombstones(store.as_ref());
            let entry = |r: TombstoneView| (r.path().into_owned(), r.deletion_timestamp().unwrap_or(0));
            removed.map_ok(entry).try_collect().await
        };
        in_turn(read).await.map_err(fail)
    }
}

fn has_row_layout(root: &Path) -> bool {
    root.join(ROW_LAYOUT_FILE).is_file()
}

/// Whether a path from a log stays below the table's folder.
fn is_inside(path: &str) -> bool {
    let is_plain = |part| matches!(part, Component::Normal(_));
    !path.is_empty() && !path.contains("://") && Path::new(path).components().all(is_plain)
}

fn log_store(root: &Path, disk: Arc<dyn Disk>) -> Result<LogStoreRef> {
    let fail = |e: object_store::Error| TableError::log("open", root)(DeltaTableError::from(e));
    let root = root.canonicalize().map_err(TableError::io("open the folder", root))?;
    let url = Url::from_directory_path(&root).map_err(|()| {
        TableError::io("make a URL of the folder", &root)(std::io::Error::other("not an absolute path"))
    })?;
    let whole = Arc::new(DurableStore::new(Path::new("/"), &root, disk.clone()).map_err(fail)?);
    let prefixed = Arc::new(DurableStore::new(&root, &root, disk).map_err(fail)?);
    Ok(default_logstore(prefixed, whole, &url, &StorageConfig::default()))
}

/// Makes the names of a log's entries durable; their contents already are.
pub(crate) fn sync_log(root: &Path, disk: &dyn Disk) -> Result<()> {
    let folder = root.join(LOG_FOLDER);
    disk.sync_dir(&folder).map_err(TableError::io("sync the folder", &folder))
}

fn now_ms() -> i64 {
    chrono::Utc::now().timestamp_millis()
}

#[cfg(test)]
mod tests;
