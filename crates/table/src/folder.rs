//! The tables of a data folder that hold what was inserted: one folder each, below `default`.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::Disk;
use crate::error::TableError;
use crate::layout::avro::AvroTable;
use crate::log::Table;

/// The database, and the folder, of tables that rows are inserted into where no other is named.
pub const DATABASE: &str = "default";

/// Letters of a table's name, at most.
const NAME_MAX: usize = 64;

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

/// The folder of the table `name`.
///
/// # Errors
/// Where that cannot name a table: names need no quotes in SQL.
pub fn table_folder(data: &Path, name: &str) -> Result<PathBuf, TableError> {
    let rest = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(rest) && name.len() <= NAME_MAX {
        return Ok(data.join(DATABASE).join(name));
    }
    Err(TableError::Name { name: name.to_owned() })
}

/// Names and folders of all tables, those that others put there included, ordered by name.
pub fn table_folders(data: &Path) -> Result<Vec<(String, PathBuf)>, TableError> {
    let database = data.join(DATABASE);
    let failed = || TableError::io("list the folder", &database);
    let entries = match fs::read_dir(&database) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Vec::new()),
        entries => entries.map_err(failed())?,
    };
    let mut folders = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed())?.path();
        let Some(name) = path.file_name().and_then(|n| n.to_str()) else { continue };
        if !name.starts_with('.') && (AvroTable::is_in(&path) || Table::is_in(&path)) {
            folders.push((name.to_owned(), path));
        }
    }
    folders.sort_unstable();
    Ok(folders)
}
