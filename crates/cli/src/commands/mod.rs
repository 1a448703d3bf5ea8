//! One file a command.

mod append;
mod ask;
mod bench;
mod calibrate;
mod config;
mod correlate;
mod digest;
mod ensembles;
mod export;
mod info;
mod load;
mod logs;
mod models;
mod outcome;
mod plays;
mod price;
mod run;
mod serve;
mod sql;
mod table;
mod token;
mod upkeep;
mod verify;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use ::table::disk::{Disk, RealDisk};
use anyhow::{Context as _, Result, anyhow};
use ensemble::{Columns, EnsembleError, MakeModel, Plan, Store};
use model::{Model, Plugin, UnknownName};

use crate::args::{Args, BenchWorkload, Command, TableTask};
use crate::settings::Setting;

/// The models that this binary knows.
const MODELS: &[Plugin] = &[football::PLUGIN];

pub(crate) fn dispatch(args: Args, settings: &[Setting]) -> Result<ExitCode> {
    // Thousands of small appends are usual: they start nothing that they do not need.
    if let Command::Append(args) = &args.command {
        return append::append(args);
    }
    // A question has threads of its own; those of a runtime would cost as much to start as many questions take.
    if let Command::Ask(args) = &args.command {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        return runtime.context("starting the runtime")?.block_on(ask::ask(args));
    }
    start_runtime()?.block_on(async {
        match args.command {
            Command::Append(args) => append::append(&args),
            Command::Digest(args) => digest::digest(&args).await,
            Command::Run(args) => run::run(*args).await,
            Command::Calibrate(args) => calibrate::calibrate(&args),
            Command::Models { model } => models::models(model.as_deref()),
            Command::Ensembles { data, format } => ensembles::list(&data.data, format.format).await,
            Command::Price(args) => price::price(&args).await,
            Command::Outcome(args) => outcome::outcome(&args).await,
            Command::Ask(args) => ask::ask(&args).await,
            Command::Sql(args) => sql::sql(&args).await,
            Command::Serve(args) => serve::serve(&args).await,
            Command::Config(_) => config::config(settings),
            Command::Token { task } => token::token(&task),
            Command::Load(args) => load::load(&args),
            Command::Correlate(args) => correlate::correlate(&args).await,
            Command::Plays(args) => plays::plays(&args).await,
            Command::Verify { ensemble, data, format } => verify::verify(&data.data, &ensemble, format.format).await,
            Command::Drop { ensemble, data } => ensembles::drop(&data.data, &ensemble).await,
            Command::Info(args) => info::info(&args).await,
            Command::Export(args) => export::export(&args).await,
            Command::Rebuild(args) => upkeep::rebuild(&args).await,
            Command::Table { task: TableTask::Insert(args) } => table::insert(&args).await,
            Command::Tables { data, format } | Command::Table { task: TableTask::List { data, format } } => {
                table::list(&data, &format).await
            }
            Command::Inspect(args) | Command::Table { task: TableTask::Inspect(args) } => table::show(&args).await,
            Command::Table { task: TableTask::Drop(args) } => table::drop(&args).await,
            Command::Table { task: TableTask::Cluster(args) } => upkeep::cluster(&args).await,
            Command::Table { task: TableTask::Compact(args) } => upkeep::compact(&args).await,
            Command::Table { task: TableTask::Rewrite(args) } => upkeep::rewrite(&args).await,
            Command::Table { task: TableTask::Delete(args) } => upkeep::delete(&args).await,
            Command::Trim(args) | Command::Table { task: TableTask::Trim(args) } => upkeep::trim(&args).await,
            Command::Table { task: TableTask::Vacuum(args) } => upkeep::vacuum(&args).await,
            Command::Bench { workload: BenchWorkload::Season(args) } => bench::season(&args).await,
            Command::Bench { workload: BenchWorkload::Cdr(args) } => bench::cdr(&args).await,
            Command::Bench { workload: BenchWorkload::Ingest(args) } => bench::ingest(&args).await,
            Command::Bench { workload: BenchWorkload::Ask(args) } => bench::ask(&args),
        }
    })
}

fn start_runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(std::thread::available_parallelism().map_or(2, std::num::NonZero::get).max(2))
        .enable_all()
        .build()
        .context("starting the runtime")
}

fn plugin(name: &str) -> Result<&'static Plugin> {
    let found = MODELS.iter().find(|p| p.name == name);
    Ok(found.ok_or_else(|| UnknownName::new("no model", name, MODELS.iter().map(|p| p.name)))?)
}

/// The model that played a stored ensemble, with the same parameters.
fn model_of(plan: &Plan) -> Result<Box<dyn Model>> {
    let plugin = plugin(&plan.model)?;
    let parameters = plan
        .parse_parameters(plugin.parameters)
        .map_err(|e| anyhow!("the stored parameters of ensemble {:?} do not fit this version: {e}", plan.name))?;
    Ok((plugin.build)(&parameters)?)
}

/// Makes the model that plays an ensemble's events again.
fn make_model() -> MakeModel {
    Arc::new(|plan| Ok(model_of(plan)?.into()))
}

fn disk() -> Arc<dyn Disk> {
    Arc::new(RealDisk)
}

/// Opens the data folder for reading.
async fn open_store(data: &Path) -> Result<Store> {
    match Store::open(data, disk()).await? {
        Some(store) => Ok(store),
        None => Err(nothing_stored(data)),
    }
}

fn nothing_stored(data: &Path) -> anyhow::Error {
    anyhow!(
        "nothing is stored in {}: play an ensemble with `manyworlds run`, or name another folder with --data",
        data.display()
    )
}

/// Opens the data folder to write to it.
async fn create_store(data: &Path) -> Result<Store, EnsembleError> {
    Store::open_or_create(data, disk()).await
}

/// Memory for outcomes that a question has read.
const COLUMN_CACHE_BYTES: usize = 256 << 20;

/// Opens an ensemble's outcomes for questions.
async fn open_columns(data: &Path, name: &str) -> Result<Columns> {
    let stored = open_store(data).await?.ensemble(name).await?;
    Ok(ensemble::open_columns(stored, COLUMN_CACHE_BYTES)?)
}
