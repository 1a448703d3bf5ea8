//! Removes unreadable segments, so that questions about the others work.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::TableError;
use crate::input::Input;
use crate::job::{Counter, Progress, blocking, retried};
use crate::log::{Change, Rewrite, Segment};
use crate::output;
use disk::{Disk, create_dirs};

use super::Result;

/// The folder of damaged files inside a table's folder. Delta readers ignore names that start with `_`.
const FOLDER: &str = "_damaged";

/// The result of a rebuild or of its dry run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rebuilt {
    pub segments: usize,
    pub rows: u64,
    pub damaged: Vec<DamagedSegment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedSegment {
    /// Path below the table's folder.
    pub path: String,
    /// Number of rows according to the log.
    pub rows: u64,
    pub reason: String,
    /// The new path of the file; `None` in a dry run or if the file is missing.
    pub kept: Option<PathBuf>,
}

/// Reads every row of the table in the folder `root`. With `apply`, removes unreadable segments from the table and
/// keeps their files in its folder `_damaged`.
pub async fn rebuild(root: &Path, disk: Arc<dyn Disk>, apply: bool, progress: Option<Progress>) -> Result<Rebuilt> {
    retried(|| rebuild_once(root, &disk, apply, progress.clone())).await
}

async fn rebuild_once(root: &Path, disk: &Arc<dyn Disk>, apply: bool, progress: Option<Progress>) -> Result<Rebuilt> {
    let mut table = output::open(root, disk.clone()).await?;
    let (schema, segments) = (table.arrow_schema()?, table.segments().await?);
    let folder = root.to_owned();
    let work = move || -> Result<(Rebuilt, Vec<Segment>)> {
        let (mut rebuilt, mut gone) = (Rebuilt::default(), Vec::new());
        let mut counter = Counter::new(progress.as_ref(), 1, segments.iter().map(|s| s.rows).sum());
        for segment in segments {
            let read = Input::open(&folder, &schema, &segment).and_then(|input| count(&input));
            counter.add(segment.rows);
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
    let (mut rebuilt, gone) = blocking(work).await?;
    if !apply || gone.is_empty() {
        return Ok(rebuilt);
    }
    for damaged in &mut rebuilt.damaged {
        damaged.kept = keep(root, &**disk, &damaged.path)?;
    }
    // Readers of older versions need the old names until `vacuum`.
    table.commit(&Change::rewrite(gone, Rewrite::FewerRows)).await?;
    Ok(rebuilt)
}

/// Reads all rows, and checks their number against the log.
fn count(input: &Input) -> Result<u64> {
    let (mut rows, segment) = (0, &input.segment);
    for batch in input.rows(None, None)? {
        rows += batch?.num_rows() as u64;
    }
    if segment.rows > 0 && rows != segment.rows {
        let reason = format!("it has {rows} rows, but the log says {}", segment.rows);
        return Err(TableError::damaged(Path::new(&segment.path), reason));
    }
    Ok(rows)
}

/// Links a file into the folder of damaged files; `None` if it is missing.
fn keep(root: &Path, disk: &dyn Disk, path: &str) -> Result<Option<PathBuf>> {
    let from = root.join(path);
    if fs::symlink_metadata(&from).is_err() {
        return Ok(None);
    }
    let folder = root.join(FOLDER);
    let to = folder.join(format!("{}.damaged", path.replace('/', "-")));
    create_dirs(disk, &folder).map_err(TableError::io("create the folder", &folder))?;
    match disk.link(&from, &to) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(TableError::io("keep a copy of", &from)(error));
        }
        _ => disk.sync_dir(&folder).map_err(TableError::io("sync the folder", &folder))?,
    }
    Ok(Some(to))
}
