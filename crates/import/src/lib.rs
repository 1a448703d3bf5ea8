//! Numbers computed elsewhere become an ensemble.
//!
//! Enters: batches of Arrow columns ([`Input`]) that name worlds, entities and outcomes, and [`Options`]. Leaves: an
//! ensemble that answers all questions which a played one answers, and a [`Report`] of what was found. [`files`] opens
//! Parquet, CSV, Arrow and NumPy files as inputs.
//!
//! Guarantees
//! - A value is stored so that it is read back to the bit, or refused with its place.
//! - The whole input is checked before anything is stored. Then all its worlds appear in one commit.
//! - The same values give the same content hash, in any form and any order of rows.
//! - Values in memory stay below a limit. Input that is sorted by world may exceed it: the rest is in an unnamed file.
//!
//! [`Wide`] is the way back: the outcomes of any ensemble as batches that an import reads.
//!
//! Knows no terminal, and no meaning of an outcome.

mod before;
mod catalogue;
mod error;
pub mod files;
mod grid;
mod kinds;
mod lanes;
mod layout;
mod names;
mod numbers;
mod options;
mod read;
mod repeats;
mod report;
mod wide;
mod write;

use std::path::Path;
use std::sync::Arc;

use disk::Disk;
use ensemble::{EnsembleError, Store, check_name};

pub use before::MODEL;
pub use error::{ImportError, Position};
pub use options::{ColumnNames, Form, Kind, LABELS_MAX, Mode, Options};
pub use read::Input;
pub use report::{ImportedOutcome, Report};
pub use wide::{Wide, WideError};

use before::Before;

/// Imports all inputs, one after another, as the ensemble `name` in the data folder `data` on `disk`.
///
/// # Errors
/// When the input cannot be read or its values cannot be stored, each with its place; when an ensemble of this name
/// exists or lacks, as [`Options::mode`] demands; when the disk fails. Nothing is stored then.
pub async fn import(
    data: &Path,
    disk: Arc<dyn Disk>,
    name: &str,
    inputs: impl IntoIterator<Item = Result<Input, ImportError>>,
    options: &Options,
) -> Result<Report, ImportError> {
    check_name(name)?;
    let before = existing(data, disk.clone(), name, options).await?;
    let content = read::read(inputs, options, before.as_ref())?;
    let description = catalogue::describe(&content, name, options, before.as_ref())?;
    if let Some(before) = &before
        && !(content.names_worlds || options.again)
        && repeats::repeats(&content, &description, before)?
    {
        return Err(ImportError::Again { name: name.to_owned(), worlds: content.grid.end(0) });
    }
    let written = write::write((data, disk), name, &content, &description, options, before.as_ref()).await;
    let mut store = written.map_err(|error| match error {
        // Another process was faster.
        ImportError::Ensemble(EnsembleError::Taken { name }) => ImportError::Taken { name },
        error => error,
    })?;
    store.refresh().await?;
    report::report(&store.ensemble(name).await?, &content, &description)
}

/// The ensemble to append to; for a new one, checks that its name is free.
async fn existing(
    data: &Path,
    disk: Arc<dyn Disk>,
    name: &str,
    options: &Options,
) -> Result<Option<Before>, ImportError> {
    let data_shown = disk.shown(data);
    let unknown = || EnsembleError::Unknown { name: name.to_owned(), data: data_shown.clone(), have: Vec::new() };
    let store = Store::open(data, disk).await?;
    match (options.mode, store) {
        (Mode::Replace, _) | (Mode::New, None) => Ok(None),
        (Mode::Append, None) => Err(unknown().into()),
        (Mode::Append, Some(store)) => {
            let before = Before::of(store.ensemble(name).await?)?;
            before.check_kinds(name, &options.kinds)?;
            Ok(Some(before))
        }
        (Mode::New, Some(store)) => match store.ensemble(name).await {
            Err(EnsembleError::Unknown { .. }) => Ok(None),
            Ok(stored) if stored.plan.model == MODEL && stored.worlds() == 0 => {
                Err(ImportError::Interrupted { name: name.to_owned() })
            }
            _ => Err(ImportError::Taken { name: name.to_owned() }),
        },
    }
}
