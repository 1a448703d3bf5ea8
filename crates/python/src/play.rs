//! Plays models written in Python.

use std::sync::Arc;

use ::ensemble::{EventMode, Plan, Store as Tables, check_name};
use model::{Catalogue, Model};
use pyo3::prelude::*;
use run::{Control, Options, Summary};
use serde::Deserialize;
use serde_json::json;
use table::PageFormat;
use world::{Seed, World, WorldRange};

use crate::failure::Failure;
use crate::model::PythonModel;
use crate::store::Store;
use crate::wait::wait_to_end;

/// A run, as Python describes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    name: String,
    model: String,
    /// A JSON object.
    parameters: String,
    catalogue: Catalogue,
    seed: u64,
    worlds: u32,
    range_worlds: u32,
    threads: usize,
    mode: Mode,
}

/// How a run treats a stored ensemble of the same name.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Mode {
    New,
    Replace,
    Resume,
}

impl Request {
    fn plan(&self) -> Result<Plan, Failure> {
        check_name(&self.name).map_err(Failure::invalid)?;
        Ok(Plan {
            name: self.name.clone(),
            model: self.model.clone(),
            parameters: self.parameters.clone(),
            seed: Seed(self.seed),
            worlds: WorldRange::new(World(0), self.worlds).map_err(Failure::invalid)?,
            range_worlds: self.range_worlds.max(1),
            // A model that emits no events has none to replay either.
            events: EventMode::Replay,
            catalogue: self.catalogue.clone(),
        })
    }
}

/// Plays worlds of a model and stores them. Calls `progress` with the number of worlds played, and of all. After the
/// first signal it finishes the ranges in progress, and raises.
#[pyfunction]
pub(crate) fn play(
    py: Python<'_>,
    store: &Store,
    request: &str,
    play: Py<PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let request: Request = serde_json::from_str(request).map_err(Failure::invalid)?;
    let plan = request.plan()?;
    let (entities, worlds) = (plan.catalogue.entities.len().max(1) as u64, plan.worlds.count());
    let model: Arc<dyn Model> = Arc::new(PythonModel::new(plan.catalogue.clone(), play));
    let control = Arc::new(Control::default());
    let (folder, disk) = store.opened();
    let (threads, mode, watched) = (request.threads.max(1), request.mode, control.clone());
    let work = async move {
        let mut tables = Tables::open_or_create(&folder, disk).await?;
        let ensemble = match mode {
            Mode::Resume => {
                let ensemble = tables.resume(&plan.name).await?;
                if let Some(difference) = ensemble.plan.difference(&plan) {
                    let name = &plan.name;
                    return Err(Failure::invalid(format!(
                        "cannot resume ensemble {name:?}: it was started with {difference}"
                    )));
                }
                ensemble
            }
            mode => tables.register(plan, mode == Mode::Replace).await?,
        };
        let options = Options { threads, format: PageFormat::default(), until: None };
        Ok::<Summary, Failure>(run::play(model, &mut tables, ensemble, options, watched).await?)
    };
    let report = || {
        let played = (control.done() / entities).min(worlds as u64);
        progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (played, worlds)).map(drop))
    };
    Ok(json!(wait_to_end(py, work, || _ = control.stop(), report)?).to_string())
}
