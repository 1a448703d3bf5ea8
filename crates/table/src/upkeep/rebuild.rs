//! Segments that cannot be read go aside, so that the others can be asked.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::aside::aside;
use crate::disk::{Disk, create_dirs};
use crate::error::TableError;
use crate::input::Input;
use crate::log::{Change, Rewrite, Segment};
use crate::output;
use crate::progress::Progress;

use super::{Result, retried};

/// The folder, in that of a table, of what was set aside. Delta readers leave names alone that begin so.
const FOLDER: &str = "_damaged";

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rebuilt {
    /// Segments that were read.
    pub segments: usize,
    /// Rows that were read.
    pub rows: u64,
    /// Segments that could not be.
    pub damaged: Vec<DamagedSegment>,
}

/// A segment that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedSegment {
    /// Its path below the table's folder.
    pub path: String,
    /// Rows that it had, as the log says.
    pub rows: u64,
    /// What is wrong with it.
    pub reason: String,
    /// Where its file is kept from now on; `None` where it was only asked what would be done, and where there is no file.
    pub kept: Option<PathBuf>,
}

/// Reads every row of the table in the folder `root`. Where `apply`, segments that cannot be read are taken out of the
/// table, and their files kept in its folder `_damaged`.
///
/// # Errors
/// Where there is no such table, where the disk or the log refuses, and where others rewrite the same segments again and
/// again. Then the table is as it was.
pub async fn rebuild(root: &Path, disk: Arc<dyn Disk>, apply: bool, progress: Option<Progress>) -> Result<Rebuilt> {
    retried(|| rebuild_once(root, &disk, apply, progress.clone())).await
}

async fn rebuild_once(root: &Path, disk: &Arc<dyn Disk>, apply: bool, progress: Option<Progress>) -> Result<Rebuilt> {
    let mut table = output::open(root, disk.clone()).await?;
    let (schema, segments) = (table.arrow_schema()?, table.segments().await?);
    let folder = root.to_owned();
    let work = move || -> Result<(Rebuilt, Vec<Segment>)> {
        let (mut rebuilt, mut gone) = (Rebuilt::default(), Vec::new());
        let (mut done, total) = (0, segments.iter().map(|s| s.rows).sum());
        for segment in segments {
            let read = Input::open(&folder, &schema, &segment).and_then(|input| count(&input, &segment));
            done += segment.rows;
            if let Some(progress) = &progress {
                progress(done, total);
            }
            match read {
                Ok(rows) => {
                    rebuilt.segments += 1;
                    rebuilt.rows += rows;
                }
                Err(error) => {
                    let (path, rows) = (segment.path.clone(), segment.rows);
                    rebuilt.damaged.push(DamagedSegment { path, rows, reason: error.to_string(), kept: None });
                    gone.push(segment);
                }
            }
        }
        Ok((rebuilt, gone))
    };
    let (mut rebuilt, gone) = aside(work).await?;
    if !apply || gone.is_empty() {
        return Ok(rebuilt);
    }
    for damaged in &mut rebuilt.damaged {
        damaged.kept = keep(root, &**disk, &damaged.path)?;
    }
    // The old names stay for those who read an older version, until `vacuum`.
    table.commit(&Change::rewrite(gone, Rewrite::FewerRows)).await?;
    Ok(rebuilt)
}

/// Reads all rows, and holds their number against what the log says.
fn count(input: &Input, segment: &Segment) -> Result<u64> {
    let mut rows = 0;
    for batch in input.rows(None, None)? {
        rows += batch?.num_rows() as u64;
    }
    if segment.rows > 0 && rows != segment.rows {
        let reason = format!("segment {} has {rows} rows where the log says {}", segment.path, segment.rows);
        return Err(TableError::Unexpected(reason));
    }
    Ok(rows)
}

/// Gives a file a second name, in the folder of what was set aside; `None` where it is gone.
fn keep(root: &Path, disk: &dyn Disk, path: &str) -> Result<Option<PathBuf>> {
    let from = root.join(path);
    if fs::symlink_metadata(&from).is_err() {
        return Ok(None);
    }
    let folder = root.join(FOLDER);
    let to = folder.join(format!("{}.damaged", path.replace('/', "-")));
    create_dirs(disk, &folder).map_err(TableError::io("make the folder", &folder))?;
    match disk.link(&from, &to) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(TableError::io("set aside", &from)(error));
        }
        _ => disk.sync_dir(&folder).map_err(TableError::io("sync the folder", &folder))?,
    }
    Ok(Some(to))
}
