//! Removes unused files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::error::TableError;
use crate::lookup;
use crate::output;
use disk::{Disk, TEMPORARY_SUFFIX, parent, temporary_name};

use super::Result;

/// Default retention of files for readers of older versions. The log remembers removed files for a week.
pub const RETENTION: Duration = Duration::from_hours(168);
/// Minimum age of orphans, files that no version names. A writer may be about to commit a younger file.
pub const ORPHAN_AGE: Duration = Duration::from_hours(1);
const TEMPORARY_AGE: Duration = Duration::from_mins(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VacuumOptions {
    pub retain: Duration,
    /// False for a dry run.
    pub apply: bool,
}

/// The result of a vacuum or of its dry run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Vacuumed {
    /// Files of older versions removed.
    pub old: usize,
    pub orphans: usize,
    pub temporary: usize,
    pub bytes: u64,
    /// Files of older versions that stay for now.
    pub retained: usize,
}

impl AddAssign for Vacuumed {
    fn add_assign(&mut self, other: Self) {
        self.old += other.old;
        self.orphans += other.orphans;
        self.temporary += other.temporary;
        self.bytes += other.bytes;
        self.retained += other.retained;
    }
}

/// Removes the files in a table's folder that no retained version names. Files removed before a failure were unused.
pub async fn vacuum(root: &Path, disk: Arc<dyn Disk>, options: VacuumOptions) -> Result<Vacuumed> {
    output::open(root, disk.clone()).await?;
    vacuum_but(root, disk, options, |_| false).await
}

/// Like [`vacuum`], for writers that leave files for longer than an hour before they commit them. Keeps files if
/// `may_come` returns true for their names below the table's folder.
pub async fn vacuum_but(
    root: &Path,
    disk: Arc<dyn Disk>,
    options: VacuumOptions,
    may_come: impl Fn(&str) -> bool,
) -> Result<Vacuumed> {
    // List the files before reading the log, so that the log has files committed in between.
    output::open_any(root, disk.clone()).await?;
    let files = files(root)?;
    let now = if options.apply { now(root, &*disk, &files) } else { SystemTime::now() };
    let table = output::open_any(root, disk.clone()).await?;
    let live: BTreeSet<String> = table.segments().await?.into_iter().map(|s| s.path).collect();
    let removed: BTreeMap<String, i64> = table.removed_files().await?.into_iter().collect();
    let mut vacuumed = Vacuumed::default();
    let mut folders = BTreeSet::new();
    for file in &files {
        let kind = match file.kind(&live, &removed, options.retain, now) {
            Kind::Needed => continue,
            Kind::Retained => {
                vacuumed.retained += 1;
                continue;
            }
            Kind::Orphan if may_come(&file.name) => continue,
            Kind::Old => &mut vacuumed.old,
            Kind::Orphan => &mut vacuumed.orphans,
            Kind::Temporary => &mut vacuumed.temporary,
        };
        *kind += 1;
        vacuumed.bytes += file.bytes;
        if options.apply {
            disk.remove(&file.path).map_err(TableError::io("remove", &file.path))?;
            folders.insert(parent(&file.path).to_owned());
        }
    }
    for folder in folders {
        disk.sync_dir(&folder).map_err(TableError::io("sync the folder", &folder))?;
    }
    Ok(vacuumed)
}

struct Found {
    path: PathBuf,
    /// Path below the table's folder, as in the log.
    name: String,
    bytes: u64,
    modified: SystemTime,
}

enum Kind {
    Needed,
    Retained,
    Old,
    Orphan,
    Temporary,
}

impl Found {
    fn kind(
        &self,
        live: &BTreeSet<String>,
        removed: &BTreeMap<String, i64>,
        retain: Duration,
        now: SystemTime,
    ) -> Kind {
        let age = now.duration_since(self.modified).unwrap_or_default();
        let file = self.name.rsplit('/').next().unwrap_or(&self.name);
        if file.starts_with('.') && file.ends_with(TEMPORARY_SUFFIX) {
            return if age >= TEMPORARY_AGE { Kind::Temporary } else { Kind::Needed };
        }
        // A secondary index is needed as long as its segment.
        let segment = lookup::segment_of(&self.name).unwrap_or_else(|| self.name.clone());
        // Keep other files in the log, and files that are not segments: this crate did not create them.
        if segment.starts_with("_delta_log/") || !segment.ends_with(".parquet") || live.contains(&segment) {
            return Kind::Needed;
        }
        match removed.get(&segment) {
            Some(&at) if since(at) < retain => Kind::Retained,
            Some(_) => Kind::Old,
            None if age >= retain.max(ORPHAN_AGE) => Kind::Orphan,
            None => Kind::Needed,
        }
    }
}

/// Time since `at`, in milliseconds since 1970.
fn since(at: i64) -> Duration {
    let now = chrono::Utc::now().timestamp_millis();
    Duration::from_millis(u64::try_from(now - at).unwrap_or(0))
}

/// The current time for computing the age of files. To remove files, it uses the disk's clock: this machine's clock may
/// have jumped, or differ from that of a shared disk. A file about to be committed would then look old. If the disk is
/// full, uses the newest modification time instead.
fn now(root: &Path, disk: &dyn Disk, files: &[Found]) -> SystemTime {
    let path = temporary_name(&root.join("now"));
    let written = disk.create(&path).and_then(|_| path.metadata()?.modified());
    // Fails if the file was not created. If only the removal fails, a later vacuum removes the file.
    drop(disk.remove(&path));
    let last = || files.iter().map(|file| file.modified).max().unwrap_or(SystemTime::UNIX_EPOCH);
    SystemTime::now().min(written.unwrap_or_else(|_| last()))
}

fn files(root: &Path) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(TableError::io("list the folder", &folder))? {
            let entry = entry.map_err(TableError::io("list the folder", &folder))?;
            let path = entry.path();
            // Skip files that vanish concurrently.
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_dir() {
                folders.push(path);
            } else if let Ok(below) = path.strip_prefix(root)
                && metadata.is_file()
            {
                let parts = below.components().map(|c| c.as_os_str().to_string_lossy().into_owned());
                let name = parts.collect::<Vec<_>>().join("/");
                let modified = metadata.modified().unwrap_or(SystemTime::now());
                found.push(Found { path, name, bytes: metadata.len(), modified });
            }
        }
    }
    Ok(found)
}
