//! One file per command.

mod append;
mod ask;
mod bench;
mod bingo;
mod book;
mod calibrate;
mod check;
mod compare;
mod config;
mod correlate;
mod ensembles;
mod events;
mod export;
mod fleet;
mod flush;
mod football;
mod import;
mod info;
mod insert;
mod leverage;
mod loadgen;
mod models;
mod named;
mod outcome;
mod probability;
mod run;
mod serve;
mod simulation;
mod sql;
mod statistics;
mod status;
mod table;
mod token;
mod ui;
mod upkeep;
mod verify;

use std::net::SocketAddr;
use std::num::NonZero;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use ::disk::{Disk, Place, RealDisk};
use ::run::Meter;
use anyhow::{Context as _, Result, anyhow};
use ensemble::{Columns, MakeModel, Plan, Store};
use model::{Model, Models};
use tokio::runtime::{Builder, Runtime};

use crate::ExitCode;
use crate::args::{Args, AskArgs, Command, TableTask};
use crate::output::note;
use crate::settings::Setting;

/// The models of this program; a face may add its own.
pub(crate) static MODELS: LazyLock<Arc<Models>> = LazyLock::new(|| {
    let built_in = Models::new([::football::PLUGIN.clone(), ::bingo::PLUGIN.clone()]);
    let models = built_in.unwrap_or_else(|error| panic!("a built-in model: {error}"));
    models.add_finder(Arc::new(::program::find));
    Arc::new(models)
});

pub(crate) fn dispatch(args: Args, settings: &[Setting]) -> Result<ExitCode> {
    match args.command {
        Command::Append(args) => append::append(&args),
        Command::Flush(args) => run(flush::flush(&args)),
        Command::Run(args) => run(run::run(*args)),
        Command::Submit(args) => run(fleet::submit(&args)),
        Command::Worker(args) => run(fleet::worker(&args)),
        Command::Status(args) => run(status::status(&args)),
        Command::Pause(args) => run(fleet::pause(&args)),
        Command::Resume(args) => run(fleet::resume(&args)),
        Command::Cancel(args) => run(fleet::cancel(&args)),
        Command::Retry(args) => run(fleet::retry(&args)),
        Command::Import(args) => run(import::import(*args)),
        Command::Bingo { task } => done(bingo::bingo(&task)),
        Command::Football { task } => done(football::football(&task)),
        Command::Calibrate(args) => calibrate::calibrate(&args),
        Command::Models { model, program, format } => done(models::models(model.as_deref(), &program, format.format)),
        Command::Check(args) => check::check(&args),
        Command::Ensembles { data, format } => run(ensembles::list(&data.data, format.format)),
        Command::Probability(args) => run(probability::probability(&args)),
        Command::Price(args) => run(probability::price(&args)),
        Command::Book(args) => run(book::book(&args)),
        Command::Outcome(args) => run(outcome::outcome(&args)),
        Command::Ask(args) => ask(&args),
        Command::Sql(args) => run(sql::sql(&args)),
        Command::Serve(args) => run(serve::serve(&args, settings, &|_| ())),
        Command::Ui(args) => run(ui::ui(&args, settings)),
        Command::QuestionProcess => done(serve::answer_questions()),
        Command::RunProcess => done(serve::play_run()),
        Command::Config(_) => done(config::config(settings)),
        Command::Token { task } => done(token::token(&task)),
        Command::Loadgen(args) => loadgen::loadgen(&args),
        Command::Compare(args) => run(compare::compare(&args)),
        Command::Correlate(args) => run(correlate::correlate(&args)),
        Command::Leverage(args) => run(leverage::leverage(&args)),
        Command::Events(args) => run(events::events(&args)),
        Command::Verify { ensemble, replay, played_by, data, format } => {
            run(verify::verify(&data.data, &ensemble, replay, &played_by, format.format))
        }
        Command::Drop { ensemble, data, ledger } => run(ensembles::drop(&data.data, &ensemble, ledger.as_deref())),
        Command::Info(args) => run(info::info(&args)),
        Command::Export(args) => run(export::export(&args)),
        Command::Rebuild(args) | Command::Table { task: TableTask::Rebuild(args) } => run(upkeep::rebuild(&args)),
        Command::Table { task: TableTask::Insert(args) } => run(insert::insert(&args)),
        Command::Tables { data, format } | Command::Table { task: TableTask::List { data, format } } => {
            run(table::list(&data, &format))
        }
        Command::Inspect(args) | Command::Table { task: TableTask::Inspect(args) } => run(table::inspect(&args)),
        Command::Table { task: TableTask::Drop(args) } => run(table::drop(&args)),
        Command::Table { task: TableTask::Cluster(args) } => run(upkeep::cluster(&args)),
        Command::Table { task: TableTask::Compact(args) } => run(upkeep::compact(&args)),
        Command::Table { task: TableTask::Rewrite(args) } => run(upkeep::rewrite(&args)),
        Command::Table { task: TableTask::Delete(args) } => run(upkeep::delete(&args)),
        Command::Trim(args) | Command::Table { task: TableTask::Trim(args) } => run(upkeep::trim(&args)),
        Command::Table { task: TableTask::Vacuum(args) } => run(upkeep::vacuum(&args)),
        Command::Bench { workload } => bench::bench(workload),
    }
}

/// Cores available to this process.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Bytes of text to decode at once.
fn chunk_bytes() -> usize {
    const A_THREAD: usize = 4 << 20;
    (cores() * A_THREAD).clamp(16 << 20, 64 << 20)
}

/// Threads that decode so many bytes of text.
fn decoders(bytes: usize) -> usize {
    const A_THREAD_AT_LEAST: usize = 256 << 10;
    cores().min(bytes / A_THREAD_AT_LEAST)
}

/// The exit code of a command: its own, or success.
fn done<T: Into<ExitCode>>(result: Result<T>) -> Result<ExitCode> {
    Ok(result?.into())
}

/// Runs a command on one thread per core.
fn run<T: Into<ExitCode>>(command: impl Future<Output = Result<T>>) -> Result<ExitCode> {
    done(start_runtime()?.block_on(command))
}

fn start_runtime() -> Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(cores().max(2)).thread_stack_size(::sql::STACK_BYTES).enable_all();
    builder.build().context("cannot start the runtime")
}

/// Runs `ask` without the runtime's threads. It has its own threads, and starting more would cost as much as many
/// queries.
fn ask(args: &AskArgs) -> Result<ExitCode> {
    let runtime = Builder::new_current_thread().enable_all().build().context("cannot start the runtime")?;
    done(runtime.block_on(ask::ask(args)))
}

/// The model of a stored ensemble, with the same parameters.
fn model_of(plan: &Plan) -> Result<Arc<dyn Model>> {
    make_model()(plan).map_err(|error| anyhow!(error))
}

/// Makes the models that replay an ensemble's events.
fn make_model() -> MakeModel {
    ensemble::make_model(MODELS.clone())
}

/// Serves Prometheus metrics if `--metrics` is given.
async fn serve_metrics(address: Option<SocketAddr>, meter: &Arc<Meter>) -> Result<()> {
    let Some(address) = address else { return Ok(()) };
    let meter = meter.clone();
    let bound = server::serve_metrics(address, move || meter.prometheus()).await;
    note(&format!("metrics at http://{}/metrics", bound.with_context(|| format!("--metrics {address}"))?));
    Ok(())
}

/// Time limit of an immediate end.
const PARTING: Duration = Duration::from_millis(500);

/// Calls `stop` at each signal to end, with `true` for the first. The second signal ends the process even if its
/// threads wait.
fn stop_on_signals(mut stop: impl FnMut(bool) + Send + 'static) -> Result<()> {
    let mut is_first = true;
    let handler = move || {
        stop(is_first);
        if std::mem::replace(&mut is_first, false) {
            note("stopping after the ranges in progress; press again to drop them");
            return;
        }
        note("dropping the ranges in progress");
        std::thread::sleep(PARTING);
        std::process::exit(130);
    };
    ctrlc::set_handler(handler).context("cannot listen for Ctrl-C")
}

/// The disk of row tables.
fn disk() -> Arc<dyn Disk> {
    Arc::new(RealDisk)
}

/// Opens ensemble tables to read.
async fn open_store(place: &Place) -> Result<Store> {
    let (data, disk) = place.open()?;
    Store::open(&data, disk).await?.ok_or_else(|| nothing_stored(place))
}

fn nothing_stored(place: &Place) -> anyhow::Error {
    anyhow!("{place} stores no data: play an ensemble with `manyworlds run`, or name another folder with --data")
}

/// Opens ensemble tables to write.
async fn create_store(place: &Place) -> Result<Store> {
    let (data, disk) = place.open()?;
    Ok(Store::open_or_create(&data, disk).await?)
}

/// Cache for a query's outcomes, in bytes.
const COLUMN_CACHE_BYTES: usize = 256 << 20;

/// Opens an ensemble's outcomes for queries.
async fn open_columns(place: &Place, name: &str) -> Result<Columns> {
    let stored = open_store(place).await?.ensemble(name).await?;
    Ok(ensemble::open_columns(stored, COLUMN_CACHE_BYTES)?)
}
