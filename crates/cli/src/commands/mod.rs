//! One file a command.

mod ensembles;
mod models;
mod run;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use ensemble::{EnsembleError, Store};
use model::{Plugin, nearest};
use table::disk::{Disk, RealDisk};

use crate::args::{Args, Command};

/// The models that this binary knows.
const MODELS: &[Plugin] = &[football::PLUGIN];

pub(crate) fn dispatch(args: Args) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("starting the runtime")?;
    runtime.block_on(async {
        match args.command {
            Command::Run(args) => run::run(*args).await,
            Command::Models { model } => models::models(model.as_deref()),
            Command::Ensembles { data, format } => ensembles::list(&data.data, format.format).await,
            Command::Drop { ensemble, data } => ensembles::drop(&data.data, &ensemble).await,
        }
    })
}

fn plugin(name: &str) -> Result<&'static Plugin> {
    if let Some(plugin) = MODELS.iter().find(|p| p.name == name) {
        return Ok(plugin);
    }
    let near = nearest(name, MODELS.iter().map(|p| p.name));
    let names: Vec<&str> = MODELS.iter().map(|p| p.name).collect();
    match near.first() {
        Some(near) => bail!("no model {name:?}; did you mean {near}?"),
        None => bail!("no model {name:?}; there are: {}", names.join(", ")),
    }
}

fn disk() -> Arc<dyn Disk> {
    Arc::new(RealDisk)
}

/// Opens the data folder for reading.
async fn open_store(data: &Path) -> Result<Store> {
    match Store::open(data, disk()).await? {
        Some(store) => Ok(store),
        None => bail!(
            "nothing is stored in {}: play an ensemble with `manyworlds run`, or name another folder with --data",
            data.display()
        ),
    }
}

/// Opens the data folder to write to it.
async fn create_store(data: &Path) -> Result<Store, EnsembleError> {
    Store::open_or_create(data, disk()).await
}
