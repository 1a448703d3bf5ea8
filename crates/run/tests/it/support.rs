//! Ensembles to test with.

use std::path::Path;
use std::sync::Arc;

use disk::{Disk, RealDisk};
use ensemble::{EventMode, Plan, Registered, Store};
use model::{Model, Parameters, Plugin};
use run::{Control, Options, RunError, Summary, play};
use world::{Seed, World, WorldRange};

/// A model, by its plug-in and default parameters.
pub(crate) fn model(plugin: &Plugin) -> Arc<dyn Model> {
    let parameters = Parameters::parse(&plugin.parameters, []).unwrap();
    (plugin.build)(&parameters).unwrap().into()
}

/// A plan of `worlds` worlds in ranges of `range_worlds`.
pub(crate) fn plan(plugin: &Plugin, seed: u64, worlds: u32, range_worlds: u32) -> Plan {
    Plan {
        name: "test".to_owned(),
        model: plugin.name.clone(),
        parameters: Parameters::parse(&plugin.parameters, []).unwrap().to_json(),
        seed: Seed(seed),
        worlds: WorldRange::new(World(0), worlds).unwrap(),
        range_worlds,
        events: EventMode::Store,
        catalogue: model(plugin).catalogue().clone(),
    }
}

pub(crate) async fn play_on(
    disk: Arc<dyn Disk>,
    data: &Path,
    plugin: &Plugin,
    plan: Plan,
    threads: usize,
) -> Result<Summary, RunError> {
    let mut store = Store::open_or_create(data, disk).await?;
    let ensemble = store.register(plan, false).await?;
    play_registered(&mut store, plugin, ensemble, threads).await
}

pub(crate) async fn play_registered(
    store: &mut Store,
    plugin: &Plugin,
    ensemble: Registered,
    threads: usize,
) -> Result<Summary, RunError> {
    let options = Options { threads, format: table::PageFormat::default(), until: None };
    play(model(plugin), store, ensemble, options, Arc::new(Control::default())).await
}

/// Plays a plan on a real disk in a fresh folder and gives its summary.
pub(crate) async fn play_fresh(plugin: &Plugin, plan: Plan, threads: usize) -> Summary {
    let data = tempfile::tempdir().unwrap();
    play_on(Arc::new(RealDisk), data.path(), plugin, plan, threads).await.unwrap()
}
