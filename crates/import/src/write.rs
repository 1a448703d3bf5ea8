//! Stores a checked input as ranges of an ensemble.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ScopedJoinHandle;

use arrow::buffer::MutableBuffer;
use disk::Disk;
use ensemble::{
    Encoders, EnsembleError, EventMode, Follow, Plan, RangeWriter, Registered, Store, Unwritten, WrittenRange,
};
use model::{OutcomeBlock, Sink as _, Stop};
use world::{World, WorldRange};

use crate::before::{Before, MODEL};
use crate::catalogue::Description;
use crate::error::{ImportError, Result};
use crate::kinds::Coded;
use crate::options::{Mode, Options};
use crate::read::Content;

/// Stores all worlds at once: readers see none of them or all.
pub(crate) async fn write(
    (data, disk): (&Path, Arc<dyn Disk>),
    name: &str,
    content: &Content,
    description: &Description,
    options: &Options,
    before: Option<&Before>,
) -> Result<Store> {
    let mut store = Store::open_or_create(data, disk).await?;
    let worlds = content.grid.end(0) as u32;
    let first = before.map_or(0, |before| before.worlds);
    let Some(end) = first.checked_add(worlds).filter(|end| i32::try_from(*end).is_ok()) else {
        return Err(ImportError::Outcome {
            outcome: "world".to_owned(),
            reason: format!("an ensemble has at most {} worlds", i32::MAX),
        });
    };
    let all = WorldRange::new(World(0), end).map_err(|_| ImportError::Empty)?;
    let new = WorldRange::new(World(first), worlds).map_err(|_| ImportError::Empty)?;
    let ensemble = match before {
        Some(before) => {
            // The new worlds are planned first: an unplanned range is damage.
            store.plan_worlds(name, before.version, before.worlds, all).await?
        }
        None => store.register(plan(name, content, description, options, all), options.mode == Mode::Replace).await?,
    };
    let ranges = new.split(content.range_worlds as u32);
    let written = write_ranges(content, description, options, &ensemble, store.disk(), (&ranges, first));
    let stored = match written {
        Ok(written) if before.is_none() && ensemble.replaces => {
            drop(written);
            store.switch(&ensemble).await
        }
        Ok(written) => store.commit_ranges(&ensemble, &written.iter().collect::<Vec<_>>()).await,
        Err(error) => {
            if options.mode == Mode::New {
                // Nothing is stored under the name.
                if let Err(kept) = store.drop_ensemble(name).await {
                    let (cause, kept) = (Box::new(error), Box::new(kept));
                    return Err(ImportError::Kept { cause, name: name.to_owned(), kept });
                }
            }
            return Err(error);
        }
    };
    stored?;
    Ok(store)
}

fn plan(name: &str, content: &Content, description: &Description, options: &Options, worlds: WorldRange) -> Plan {
    Plan {
        name: name.to_owned(),
        model: MODEL.to_owned(),
        parameters: "{}".to_owned(),
        seed: options.seed,
        worlds,
        range_worlds: content.range_worlds as u32,
        // An import has no events, so there are none to store.
        events: EventMode::Replay,
        catalogue: description.catalogue.clone(),
    }
}

/// Writes the files of all ranges on several threads, without committing them. `first` is the first world of the input.
fn write_ranges(
    content: &Content,
    description: &Description,
    options: &Options,
    ensemble: &Registered,
    disk: &Arc<dyn Disk>,
    (ranges, first): (&[WorldRange], u32),
) -> Result<Vec<WrittenRange>> {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let done = Mutex::new(Vec::with_capacity(ranges.len()));
    let stop = || failed.load(Ordering::Relaxed) || options.stop.load(Ordering::Relaxed);
    let work = || -> Result<()> {
        let catalogue = Arc::new(description.catalogue.clone());
        let mut encoders = Encoders::new(catalogue, options.format, Follow::nothing())?;
        let mut columns = Vec::new();
        columns.resize_with(description.outcomes.len(), || (MutableBuffer::new(0), Coded::default()));
        while let Some(range) = ranges.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut writer = RangeWriter::create(disk, &ensemble.paths, *range, false, &mut encoders, &stop)?;
            let (start, end) = ((range.first().0 - first) as usize, (range.end() - first) as usize);
            let mut unread = None;
            let played = description.places.iter().enumerate().try_for_each(|(entity, places)| {
                let parts = places.iter().zip(&mut columns);
                let values = parts.map(|((place, outcome), (buffer, coded))| {
                    Ok(description.outcomes[*outcome]
                        .coder
                        .code(content.grid.values(*place, start..end, buffer)?, coded))
                });
                let columns = values.collect::<std::io::Result<_>>().map_err(|error| {
                    unread = Some(error);
                    Stop::Sink
                })?;
                writer.outcomes(OutcomeBlock { entity, range: *range, columns })
            });
            if let Some(cause) = unread {
                return Err(ImportError::Spill { doing: "read", cause });
            }
            let written = match writer.finish(played) {
                Ok(written) => written,
                Err(Unwritten::Interrupted) => return Err(ImportError::Stopped),
                Err(Unwritten::Table(error)) => return Err(error.into()),
                Err(Unwritten::Stopped(stop)) => return Err(misdescribed(&ensemble.plan.name, stop.to_string())),
                Err(Unwritten::Undeclared(reason)) => return Err(misdescribed(&ensemble.plan.name, reason)),
            };
            done.lock().unwrap_or_else(PoisonError::into_inner).push(written);
        }
        Ok(())
    };
    let work = || work().inspect_err(|_| failed.store(true, Ordering::Relaxed));
    let results: Vec<Result<()>> = std::thread::scope(|scope| {
        let threads = options.threads.clamp(1, ranges.len().max(1));
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let joined = threads.into_iter().map(ScopedJoinHandle::join);
        joined.map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    // Threads that stopped because another one failed say nothing of the cause.
    let mut errors: Vec<ImportError> = results.into_iter().filter_map(Result::err).collect();
    errors.sort_by_key(|error| matches!(error, ImportError::Stopped));
    match errors.into_iter().next() {
        Some(error) => Err(error),
        None => Ok(done.into_inner().unwrap_or_else(PoisonError::into_inner)),
    }
}

/// The values do not fit the catalogue that was made for them.
fn misdescribed(name: &str, reason: String) -> ImportError {
    EnsembleError::Catalogue { name: name.to_owned(), reason }.into()
}
