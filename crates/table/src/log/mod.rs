//! A table: a folder with a Delta log that names its segments.

mod actions;
mod append;
mod commit;
mod damaged;
mod definition;
mod known;
mod turn;

use std::collections::{BTreeMap, HashMap};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use arrow::datatypes::{Schema, SchemaRef as ArrowSchemaRef};
use deltalake::kernel::TombstoneView;
use deltalake::kernel::engine::arrow_conversion::TryIntoArrow as _;
use deltalake::kernel::transaction::CommitProperties;
use deltalake::logstore::{LogStoreRef, StorageConfig, default_logstore};
use deltalake::protocol::SaveMode;
use deltalake::{DeltaTable, DeltaTableError};
use futures::TryStreamExt as _;
use url::Url;

use self::actions::to_segment;
use self::append::Appended;
use self::damaged::damaged_entry;
pub use self::definition::Definition;
pub use self::known::ColumnStatistics;
pub use self::turn::CALLS_MAX;
use self::turn::in_turn;
use crate::disk::{Disk, create_dirs};
use crate::error::TableError;
use crate::hold::Hold;
use crate::layout::TableOptions;
use crate::schema::Field;
use crate::store::{DurableStore, LOG_FOLDER};

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
        match in_turn(table.delta.load()).await {
            Ok(()) => Ok(Some(table)),
            // A log folder without a first entry: a table whose creation was cut short.
            Err(DeltaTableError::NotATable(_) | DeltaTableError::InvalidTableLocation(_)) => Ok(None),
            Err(error) => Err(damaged_entry(root).unwrap_or_else(|| TableError::log("open", root)(error))),
        }
    }

    /// Opens the table in the folder `root`, or makes it.
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
            // Tried again, it would put its description over a table that another has made meanwhile.
            .with_commit_properties(CommitProperties::default().with_max_retries(0));
        match in_turn(create.into_future()).await {
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
        in_turn(self.delta.update_state()).await?;
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
        let (mapping, segments) = in_turn(read).await.map_err(TableError::log("read", &self.root))?;
        if mapping.is_some_and(|mode| mode != "none") {
            return Err(refuse("it maps its columns to other names, which is not read here: write it again without"));
        }
        let segments = segments.into_iter().collect::<Option<Vec<_>>>().ok_or_else(|| {
            refuse("it has deletion vectors, which are not read here: have the engine that wrote them purge them")
        })?;
        let outside =
            segments.iter().flat_map(|(_, s)| [Some(s.path.as_str()), s.part()]).flatten().find(|p| !is_inside(p));
        if let Some(path) = outside {
            let what = "which is outside of its folder: nothing of it is read; restore the log from a copy";
            return Err(refuse(&format!("its log names {path:?}, {what}")));
        }
        Ok(segments)
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
        in_turn(read).await.map_err(fail)
    }
}

/// Whether a path that a log names stays below the table's folder, whatever that is.
fn is_inside(path: &str) -> bool {
    let is_plain = |part| matches!(part, Component::Normal(_));
    !path.is_empty() && !path.contains("://") && Path::new(path).components().all(is_plain)
}

fn log_store(root: &Path, disk: Arc<dyn Disk>) -> Result<LogStoreRef> {
    let fail = |e: object_store::Error| TableError::log("open", root)(DeltaTableError::from(e));
    let root = root.canonicalize().map_err(TableError::io("open the folder", root))?;
    let url = Url::from_directory_path(&root).map_err(|()| {
        TableError::io("name as a URL the folder", &root)(std::io::Error::other("it is no absolute path"))
    })?;
    let whole = Arc::new(DurableStore::new(Path::new("/"), &root, disk.clone()).map_err(fail)?);
    let prefixed = Arc::new(DurableStore::new(&root, &root, disk).map_err(fail)?);
    Ok(default_logstore(prefixed, whole, &url, &StorageConfig::default()))
}

/// Makes the names of a log's entries durable; what they hold was so before it was named.
pub(crate) fn sync_log(root: &Path, disk: &dyn Disk) -> Result<()> {
    let folder = root.join(LOG_FOLDER);
    disk.sync_dir(&folder).map_err(TableError::io("sync the folder", &folder))
}

fn now_ms() -> i64 {
    chrono::Utc::now().timestamp_millis()
}

#[cfg(test)]
mod tests;
