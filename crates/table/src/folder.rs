//! The tables of a data folder that hold what was inserted: one folder each, below that of their database.

use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use crate::disk::Disk;
use crate::error::TableError;
use crate::layout::avro::AvroTable;
use crate::log::Table;

/// The database of tables that are named without one.
pub const DATABASE: &str = "default";

/// The database of ensembles, into which nothing is inserted by name.
pub const SIM: &str = "sim";
/// Letters of a table's name and of a database's, at most.
const NAME_MAX: usize = 128;
const DATABASE_MAX: usize = 64;

/// A table of any layout, open.
#[derive(Debug, Clone)]
pub enum StoredTable {
    /// Of layout `row`.
    Row(AvroTable),
    /// Of one of the others.
    Delta(Table),
}

impl StoredTable {
    /// Opens the table in the folder `root`; `None` where there is none.
    pub async fn open(root: &Path, disk: Arc<dyn Disk>) -> Result<Option<Self>, TableError> {
        if let Some(table) = AvroTable::open(root, disk.clone())? {
            return Ok(Some(Self::Row(table)));
        }
        Ok(Table::open(root, disk).await?.map(Self::Delta))
    }
}

/// What a table is called: its name, and the database that it is in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableName {
    database: String,
    name: String,
}

impl TableName {
    /// The table `name` of a database. Each is a letter and then letters, digits, `_` or `-`, at most
    /// 64 in a database and 128 in a name, so that it is a folder anywhere and a word of a URL.
    ///
    /// # Errors
    /// Where one is something else, or the database is the one that holds ensembles.
    pub fn new(database: &str, name: &str) -> Result<Self, TableError> {
        if !is_word(database) || !is_word(name) || database.len() > DATABASE_MAX {
            return Err(TableError::Name { name: format!("{database}.{name}") });
        }
        if database == SIM {
            return Err(TableError::Reserved { name: name.to_owned() });
        }
        Ok(Self { database: database.to_owned(), name: name.to_owned() })
    }

    /// The database.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// The name inside the database.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder of the table, in a data folder.
    pub fn folder(&self, data: &Path) -> PathBuf {
        data.join(&self.database).join(&self.name)
    }
}

impl FromStr for TableName {
    type Err = TableError;

    /// Reads `NAME`, which is in [`DATABASE`], or `DATABASE.NAME`.
    fn from_str(text: &str) -> Result<Self, TableError> {
        let (database, name) = text.split_once('.').unwrap_or((DATABASE, text));
        Self::new(database, name).map_err(|error| match error {
            TableError::Name { .. } => TableError::Name { name: text.to_owned() },
            other => other,
        })
    }
}

/// As it is read: without the database where that is [`DATABASE`].
impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.database == DATABASE { f.pad(&self.name) } else { f.pad(&format!("{}.{}", self.database, self.name)) }
    }
}

fn is_word(text: &str) -> bool {
    let rest = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(rest) && text.len() <= NAME_MAX
}

/// The tables of a data folder that hold what was inserted, those that others put there included, in order.
pub fn tables(data: &Path) -> Result<Vec<TableName>, TableError> {
    let mut found = Vec::new();
    for (database, folder) in folders(data)? {
        if !is_word(&database) || database == SIM {
            continue;
        }
        for (name, path) in folders(&folder)? {
            if !name.starts_with('.') && (AvroTable::is_in(&path) || Table::is_in(&path)) {
                found.push(TableName { database: database.clone(), name });
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Names and paths of what is in a folder, nothing where that is none.
fn folders(folder: &Path) -> Result<Vec<(String, PathBuf)>, TableError> {
    let failed = || TableError::io("list the folder", folder);
    let entries = match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Vec::new()),
        entries => entries.map_err(failed())?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed())?.path();
        if let Some(name) = path.file_name().and_then(|n| n.to_str()) {
            found.push((name.to_owned(), path.clone()));
        }
    }
    Ok(found)
}
