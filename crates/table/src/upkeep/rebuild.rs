//! Removes unreadable row groups, so that questions about the others work.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{ErrorKind, TableError};
use crate::input::Input;
use crate::job::{Counter, Progress, blocking, retried};
use crate::log::{Change, Rewrite, Segment};
use crate::output::{self, NanColumns, Output};
use crate::target::Target;
use disk::{Disk, create_dirs};

use super::{Result, encodings_of};

/// The folder of damaged files inside a table's folder. Delta readers ignore names that start with `_`.
const FOLDER: &str = "_damaged";

/// The result of a rebuild or of its dry run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rebuilt {
    /// Segments without damage.
    pub segments: usize,
    /// Rows that can be read.
    pub rows: u64,
    pub damaged: Vec<DamagedSegment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedSegment {
    /// Path below the table's folder.
    pub path: String,
    /// Rows that cannot be read, by the number of rows in the log.
    pub rows: u64,
    pub reason: String,
    /// The new path of the file; `None` in a dry run or if the file is missing.
    pub kept: Option<PathBuf>,
}

/// Reads every row of the table in the folder `root`. With `apply`, writes the readable row groups of damaged segments to
/// new ones, removes the damaged ones from the table, and keeps their files in its folder `_damaged`.
pub async fn rebuild(root: &Path, disk: Arc<dyn Disk>, apply: bool, progress: Option<Progress>) -> Result<Rebuilt> {
    retried(|| rebuild_once(root, &disk, apply, progress.clone())).await
}

async fn rebuild_once(root: &Path, disk: &Arc<dyn Disk>, apply: bool, progress: Option<Progress>) -> Result<Rebuilt> {
    let mut table = output::open(root, disk.clone()).await?;
    let (target, segments) = (Target::of(&table, disk.clone())?, table.segments().await?);
    let work = move || {
        let mut found = Found::default();
        let mut counter = Counter::new(progress.as_ref(), 1, segments.iter().map(|s| s.rows).sum());
        for segment in segments {
            counter.add(segment.rows);
            found.add(&target, segment, apply)?;
        }
        Ok(found)
    };
    let Found { mut rebuilt, gone, output } = blocking(work).await?;
    if !apply || gone.is_empty() {
        return Ok(rebuilt);
    }
    for damaged in &mut rebuilt.damaged {
        damaged.kept = keep(root, &**disk, &damaged.path)?;
    }
    // Readers of older versions need the old names until `vacuum`.
    output::commit(output, &mut table, Change::rewrite(gone, Rewrite::FewerRows)).await?;
    Ok(rebuilt)
}

/// What was found in the segments so far.
#[derive(Default)]
struct Found {
    rebuilt: Rebuilt,
    /// Damaged segments.
    gone: Vec<Segment>,
    /// What was saved of them.
    output: Option<Output>,
}

impl Found {
    /// Reads a segment. With `save`, writes the readable row groups of a damaged one.
    fn add(&mut self, target: &Target, segment: Segment, save: bool) -> Result<()> {
        let opened = Input::open(&target.root, &target.schema, &segment);
        let (input, error) = match opened.map(|input| (count(&input), input)) {
            Ok((Ok(rows), _)) => {
                self.rebuilt.segments += 1;
                self.rebuilt.rows += rows;
                return Ok(());
            }
            Ok((Err(error), input)) => (Some(input), error),
            Err(error) => (None, error),
        };
        if error.kind() != ErrorKind::Damaged {
            return Err(error);
        }
        let sound = input.as_ref().map(Sound::of).transpose()?.unwrap_or_default();
        self.rebuilt.rows += sound.rows;
        let (path, rows) = (segment.path.clone(), segment.rows.saturating_sub(sound.rows));
        self.rebuilt.damaged.push(DamagedSegment { path, rows, reason: error.to_string(), kept: None });
        self.gone.push(segment);
        if let Some(input) = input.filter(|_| save && sound.rows > 0) {
            let saved = sound.write(target, &input)?;
            match &mut self.output {
                None => self.output = Some(saved),
                Some(output) => output.append(saved),
            }
        }
        Ok(())
    }
}

/// The row groups of a damaged segment that can be read.
#[derive(Default)]
struct Sound {
    groups: Vec<usize>,
    rows: u64,
    nan: NanColumns,
}

impl Sound {
    /// None if no row group is damaged: then the file is not the one of the log.
    fn of(input: &Input) -> Result<Self> {
        let (mut sound, groups) = (Self::default(), input.metadata().metadata().num_row_groups());
        for group in 0..groups {
            let read = input.rows(Some(vec![group]), None).and_then(|mut batches| {
                batches.try_fold(0, |rows, batch| {
                    let batch = batch?;
                    sound.nan.add_batch(&batch);
                    Ok(rows + batch.num_rows() as u64)
                })
            });
            match read {
                Ok(rows) => {
                    sound.groups.push(group);
                    sound.rows += rows;
                }
                Err(error) if error.kind() == ErrorKind::Damaged => {}
                Err(error) => return Err(error),
            }
        }
        Ok(if sound.groups.len() < groups { sound } else { Self::default() })
    }

    /// Writes them to a segment.
    fn write(self, target: &Target, input: &Input) -> Result<Output> {
        let encodings = encodings_of(target, std::iter::once((input, Some(self.groups.clone()))))?;
        let mut output = Output::new(target, encodings, self.nan);
        output.begin(self.rows as usize, input.segment.tags.clone())?;
        for group in self.groups {
            input.rows(Some(vec![group]), None)?.try_for_each(|batch| output.write(&batch?))?;
            // Clustered row groups stay separate.
            output.end_group()?;
        }
        output.end()?;
        Ok(output)
    }
}

/// Reads all rows, and checks their number against the log.
fn count(input: &Input) -> Result<u64> {
    let mut rows = 0;
    for batch in input.rows(None, None)? {
        rows += batch?.num_rows() as u64;
    }
    input.check_rows(rows)?;
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
