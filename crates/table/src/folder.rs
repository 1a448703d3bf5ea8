//! Tables of inserted rows in a data folder: one folder per table, below the folder of its database.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use unicode_normalization::{UnicodeNormalization as _, is_nfc};

use crate::error::TableError;
use crate::log::Table;

pub const DATABASE: &str = "default";

/// The database of ensembles; no other tables go there.
pub const SIM: &str = "sim";
/// Maximum bytes of a table's name, a database's name, and the folder of either.
const NAME_MAX: usize = 128;
const DATABASE_MAX: usize = 64;
const FOLDER_MAX: usize = 200;
/// Precedes the code of a character that folder names cannot contain.
const ESCAPE: char = '@';
/// Characters with a special meaning in file systems, URLs or object stores.
const ESCAPED: &str = "/\\%@{}[]^`~\"<>#|*?";

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableName {
    database: String,
    name: String,
}

impl TableName {
    /// Names the table `name` of a database. Names have 1 to 128 bytes, databases 1 to 64, without control
    /// characters; a database has no `.`.
    pub fn new(database: &str, name: &str) -> Result<Self, TableError> {
        // Equal-looking names are equal.
        let [database, name]: [String; 2] = [database, name].map(|text| text.nfc().collect());
        if !is_name(&database, DATABASE_MAX) || database.contains('.') || !is_name(&name, NAME_MAX) {
            return Err(TableError::Name { name: format!("{database}.{name}") });
        }
        if database == SIM {
            return Err(TableError::Reserved { name });
        }
        Ok(Self { database, name })
    }

    pub fn database(&self) -> &str {
        &self.database
    }

    /// The name without the database.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn folder(&self, data: &Path) -> PathBuf {
        data.join(&*folder_of(&self.database)).join(&*folder_of(&self.name))
    }

    /// The inverse of [`Self::folder`], from the names of the two folders; `None` if they are not a table's.
    pub fn of_folders(database: &str, table: &str) -> Option<Self> {
        Self::new(&name_of(database)?, &name_of(table)?).ok()
    }
}

impl FromStr for TableName {
    type Err = TableError;

    /// Parses `NAME` (in [`DATABASE`]) or `DATABASE.NAME`.
    fn from_str(text: &str) -> Result<Self, TableError> {
        let (database, name) = text.split_once('.').unwrap_or((DATABASE, text));
        Self::new(database, name).map_err(|error| match error {
            TableError::Name { .. } => TableError::Name { name: text.to_owned() },
            other => other,
        })
    }
}

/// Omits the database if it is [`DATABASE`], unless the name has a `.`.
impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.database == DATABASE && !self.name.contains('.') {
            f.pad(&self.name)
        } else {
            f.pad(&format!("{}.{}", self.database, self.name))
        }
    }
}

fn is_name(text: &str, bytes_max: usize) -> bool {
    !text.is_empty()
        && text.len() <= bytes_max
        && !text.contains(char::is_control)
        && folder_of(text).len() <= FOLDER_MAX
}

/// The folder of a name: special characters become `@XX`, and so does a leading `.` or `_`, which hides folders from
/// Delta readers.
fn folder_of(name: &str) -> Cow<'_, str> {
    let is_hidden = name.starts_with(['.', '_']);
    if !is_hidden && !name.contains(|c| ESCAPED.contains(c)) {
        return Cow::Borrowed(name);
    }
    let mut folder = String::with_capacity(name.len() + 8);
    for (place, c) in name.char_indices() {
        if ESCAPED.contains(c) || (place == 0 && is_hidden) {
            // All escaped characters are ASCII. Writing to a String cannot fail.
            let _ = write!(folder, "{ESCAPE}{:02X}", u32::from(c));
        } else {
            folder.push(c);
        }
    }
    Cow::Owned(folder)
}

/// The inverse of [`folder_of`]; `None` if no name has this folder.
fn name_of(folder: &str) -> Option<String> {
    let mut parts = folder.split(ESCAPE);
    let mut name = parts.next()?.to_owned();
    for part in parts {
        let (code, rest) = part.split_at_checked(2)?;
        name.push(char::from(u8::from_str_radix(code, 16).ok()?));
        name.push_str(rest);
    }
    (folder_of(&name) == folder && is_nfc(&name)).then_some(name)
}

/// The tables of inserted rows in a data folder, sorted. Includes tables that other programs put there.
pub fn tables(data: &Path) -> Result<Vec<TableName>, TableError> {
    let mut found = Vec::new();
    for (database, folder) in folders(data)? {
        if database == SIM {
            continue;
        }
        for (name, path) in folders(&folder)? {
            if let Some(name) = TableName::of_folders(&database, &name)
                && Table::is_in(&path)
            {
                found.push(name);
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Names and paths of a folder's entries; empty if the folder does not exist.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_names_map_to_unique_folders() {
        for (name, folder) in [
            ("cpu", "cpu"),
            ("servers.web-1.cpu.load", "servers.web-1.cpu.load"),
            ("5xx", "5xx"),
            ("disk usage", "disk usage"),
            ("°C", "°C"),
            ("api/login", "api@2Flogin"),
            ("_ingest", "@5Fingest"),
            (".", "@2E"),
            ("..", "@2E."),
            ("../../etc", "@2E.@2F..@2Fetc"),
            ("50%", "50@25"),
            ("größe", "größe"),
            ("a@b", "a@40b"),
            ("a*[b]?", "a@2A@5Bb@5D@3F"),
        ] {
            let table = TableName::new("db", name).unwrap();
            assert_eq!(table.folder(Path::new("data")), Path::new("data").join("db").join(folder), "{name}");
            assert_eq!(TableName::of_folders("db", folder), Some(table.clone()));
            assert_eq!(table.to_string().parse::<TableName>().unwrap(), table);
            let in_default = TableName::new(DATABASE, name).unwrap();
            assert_eq!(in_default.to_string().parse::<TableName>().unwrap(), in_default, "{name}");
        }
        for folder in ["_ingest", ".hidden", "a@zz", "a@2", "a@2f", "@41"] {
            assert_eq!(TableName::of_folders("db", folder), None, "{folder}");
        }
    }

    #[test]
    fn invalid_table_names_are_rejected() {
        for (database, name) in
            [("db", ""), ("", "t"), ("db", "a\0"), ("a.b", "t"), ("db", &"x".repeat(129)), ("db", &"/".repeat(100))]
        {
            assert!(matches!(TableName::new(database, name), Err(TableError::Name { .. })), "{database} {name}");
        }
        assert!(matches!(TableName::new(SIM, "t"), Err(TableError::Reserved { .. })));
    }
}
