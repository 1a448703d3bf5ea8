//! Stored ensembles, queries and their answers.

use std::path::Path;
use std::sync::Arc;

use arrow::compute::concat_batches;
use arrow::record_batch::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use disk::RealDisk;
use ensemble::{EventMode, Plan, Registered, Store};
use model::{Model, Parameters, Plugin};
use run::Control;
use sql::{Engine, ModelError, Options, QueryError, Session};
use world::{Seed, World, WorldRange};

/// A data folder with ensembles of two models, each with stored and with replayed events: `dice` and `dice-replay` (40
/// worlds), `season` and `season-replay` (6 worlds); and an engine over it.
pub(crate) struct Stored {
    pub(crate) engine: Arc<Engine>,
    _data: tempfile::TempDir,
}

pub(crate) async fn stored() -> Stored {
    let data = tempfile::tempdir().unwrap();
    let mut store = create(data.path()).await;
    for (plugin, name, worlds, range_worlds) in [(&dice::PLUGIN, "dice", 40, 15), (&football::PLUGIN, "season", 6, 4)] {
        for (events, suffix) in [(EventMode::Store, ""), (EventMode::Replay, "-replay")] {
            let plan = Plan { events, ..plan(plugin, &format!("{name}{suffix}"), 7, worlds, range_worlds) };
            let ensemble = store.register(plan, false).await.unwrap();
            play(&mut store, plugin, ensemble).await;
        }
    }
    Stored { engine: Arc::new(open(data.path()).await), _data: data }
}

/// Stores a small ensemble.
pub(crate) async fn stored_in(data: &Path) {
    let mut store = create(data).await;
    let ensemble = store.register(plan(&dice::PLUGIN, "dice", 7, 2, 2), false).await.unwrap();
    play(&mut store, &dice::PLUGIN, ensemble).await;
}

/// An engine over a small ensemble, for queries that name no table.
pub(crate) async fn engine() -> (Engine, tempfile::TempDir) {
    let data = tempfile::tempdir().unwrap();
    stored_in(data.path()).await;
    (open(data.path()).await, data)
}

pub(crate) async fn create(data: &Path) -> Store {
    Store::open_or_create(data, Arc::new(RealDisk)).await.unwrap()
}

pub(crate) async fn open(data: &Path) -> Engine {
    // Two threads, so that scans have several pieces.
    let session = Session::new(Options { threads: 2, ..Options::default() }).unwrap();
    Engine::open(data, Arc::new(RealDisk), Arc::new(make_model), &session).await.unwrap().unwrap()
}

fn make_model(plan: &Plan) -> Result<Arc<dyn Model>, ModelError> {
    let plugin = if plan.model == "dice" { &dice::PLUGIN } else { &football::PLUGIN };
    Ok((plugin.build)(&Parameters::from_json(&plugin.parameters, &plan.parameters)?)?.into())
}

/// A model with default parameters.
pub(crate) fn model(plugin: &Plugin) -> Arc<dyn Model> {
    (plugin.build)(&Parameters::parse(&plugin.parameters, []).unwrap()).unwrap().into()
}

pub(crate) fn plan(plugin: &Plugin, name: &str, seed: u64, worlds: u32, range_worlds: u32) -> Plan {
    Plan {
        name: name.to_owned(),
        model: plugin.name.clone(),
        parameters: Parameters::parse(&plugin.parameters, []).unwrap().to_json(),
        seed: Seed(seed),
        worlds: WorldRange::new(World(0), worlds).unwrap(),
        range_worlds,
        events: EventMode::Store,
        catalogue: model(plugin).catalogue().clone(),
    }
}

pub(crate) async fn play(store: &mut Store, plugin: &Plugin, ensemble: Registered) {
    let options = run::Options { threads: 2, format: table::PageFormat::default(), until: None };
    run::play(model(plugin), store, ensemble, options, Arc::new(Control::default())).await.unwrap();
}

/// All rows of an answer.
pub(crate) async fn ask(engine: &Engine, sql: &str) -> Result<RecordBatch, QueryError> {
    let mut rows = engine.query(sql).await?;
    let mut batches = Vec::new();
    while let Some(batch) = rows.next().await {
        batches.push(batch?);
    }
    Ok(concat_batches(&rows.schema(), &batches).unwrap())
}

/// The cells of an answer as text, row by row.
pub(crate) fn cells(batch: &RecordBatch) -> Vec<Vec<String>> {
    let options = FormatOptions::default().with_null("NULL");
    let columns: Vec<_> = batch.columns().iter().map(|c| ArrayFormatter::try_new(c, &options).unwrap()).collect();
    (0..batch.num_rows()).map(|row| columns.iter().map(|c| c.value(row).to_string()).collect()).collect()
}
