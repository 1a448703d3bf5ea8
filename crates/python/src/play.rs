//! Plays models written in Python: in threads of this process, or in other processes.

use std::sync::{Arc, Mutex, PoisonError};

use ::ensemble::{Encoders, EventMode, Follow, Goal, Plan, Registered, Store as Tables, WrittenRange, check_name};
use model::{Catalogue, Model};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use run::{Control, ElsewhereError, Options, PlayElsewhere, Players, Until};
use serde::Deserialize;
use table::PageFormat;
use world::{Seed, World, WorldRange};

use crate::ensemble::Ensemble;
use crate::failure::Failure;
use crate::model::PythonModel;
use crate::store::{Store, make_model};
use crate::wait::{wait, wait_blocking, wait_to_end};

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
    events: EventMode,
    /// `ENTITY:OUTCOME`, and the required half width of its mean's interval.
    until: Option<(String, String)>,
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
            events: self.events,
            catalogue: self.catalogue.clone(),
        })
    }
}

/// Reads a goal of a run.
fn until((outcome, width): &(String, String), catalogue: &Catalogue) -> Result<Until, Failure> {
    let (entity, outcome) = outcome
        .split_once(':')
        .ok_or_else(|| Failure::invalid(format!("until names {outcome:?}: write it as ENTITY:OUTCOME")))?;
    let entity = catalogue.find_entity(entity).map_err(Failure::unknown)?;
    let outcome = catalogue.kind_of(entity).find_outcome(outcome).map_err(Failure::unknown)?;
    let goal: Goal = width.parse().map_err(Failure::invalid)?;
    Ok(Until { entity, outcome, goal })
}

/// Registers a plan, or finds the ensemble to resume.
async fn take_up(tables: &mut Tables, plan: Plan, mode: Mode, has_goal: bool) -> Result<Registered, Failure> {
    if mode != Mode::Resume {
        return Ok(tables.register(plan, mode == Mode::Replace).await?);
    }
    let (name, ensemble) = (&plan.name, tables.resume(&plan.name).await?);
    if let Some(difference) = ensemble.plan.difference(&plan) {
        return Err(Failure::invalid(format!("cannot resume ensemble {name:?}: it was started with {difference}")));
    }
    if ensemble.replaces && has_goal {
        let why = "replaces an older version, which takes all of its worlds";
        return Err(Failure::invalid(format!("ensemble {name:?} {why}: leave out until")));
    }
    Ok(ensemble)
}

/// Plays worlds of a model, stores them, and opens the ensemble. Calls `progress` with the number of worlds played, and
/// of all.
///
/// Without `stop`, `play` plays ranges in threads of this process, as [`PythonModel`] describes. After the first signal
/// the run finishes the ranges in progress, and raises. With `stop`, `play(version, first, count)` has a range played
/// elsewhere by a [`Player`] and returns its result, or `None` after a call of `stop`, which the first signal brings.
#[pyfunction]
#[pyo3(signature = (store, request, play, progress=None, stop=None))]
pub(crate) fn play(
    py: Python<'_>,
    store: &Store,
    request: &str,
    play: Py<PyAny>,
    progress: Option<Py<PyAny>>,
    stop: Option<Py<PyAny>>,
) -> PyResult<Ensemble> {
    let request: Request = serde_json::from_str(request).map_err(Failure::invalid)?;
    let plan = request.plan()?;
    let until = request.until.as_ref().map(|given| until(given, &plan.catalogue)).transpose()?;
    let (entities, worlds) = (plan.catalogue.entities.len().max(1) as u64, plan.worlds.count());
    let players = match stop {
        Some(_) => Players::Elsewhere(Arc::new(Processes(play))),
        None => Players::Here(Arc::new(PythonModel::new(plan.catalogue.clone(), play))),
    };
    // A process of its own plays a model that might end this one.
    let tried = match &players {
        Players::Here(model) if request.mode != Mode::Resume => Some(model.clone()),
        _ => None,
    };
    let control = Arc::new(Control::default());
    let (folder, disk) = store.opened();
    let name = plan.name.clone();
    let (threads, mode, watched) = (request.threads.max(1), request.mode, control.clone());
    let work = async move {
        if let Some(model) = tried {
            run::play_first_world(&*model, &plan.model, plan.seed)?;
        }
        let mut tables = Tables::open_or_create(&folder, disk).await?;
        let ensemble = take_up(&mut tables, plan, mode, until.is_some()).await?;
        let options = Options { threads, format: PageFormat::default(), until };
        run::play_by(players, &mut tables, ensemble, options, watched).await?;
        Ok::<_, Failure>(tables.ensemble(&name).await?)
    };
    let report = || {
        let played = (control.done() / entities).min(worlds as u64);
        progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (played, worlds)).map(drop))
    };
    let end = || {
        control.stop();
        stop.as_ref().map_or(Ok(()), |stop| stop.call0(py).map(drop))
    };
    let stored = wait_to_end(py, work, end, report)?;
    wait_blocking(py, move || Ensemble::open(stored, make_model()))
}

/// A function of Python that has ranges played in other processes.
struct Processes(Py<PyAny>);

impl PlayElsewhere for Processes {
    fn play(&self, version: u64, range: WorldRange) -> Result<Option<WrittenRange>, ElsewhereError> {
        let written: Option<Vec<u8>> = Python::attach(|py| {
            self.0.call1(py, (version, range.first().0, range.count()))?.extract::<Option<Vec<u8>>>(py)
        })?;
        Ok(written.map(|written| postcard::from_bytes(&written)).transpose()?)
    }
}

/// Plays ranges of one version of an ensemble into their files; the process that registered the version commits them.
#[pyclass(frozen, module = "manyworlds._native")]
pub(crate) struct Player {
    player: Arc<run::Player>,
    encoders: Arc<Mutex<Encoders>>,
}

#[pymethods]
impl Player {
    /// `until` is that of the run; `play` plays ranges, as [`PythonModel`] describes.
    #[new]
    fn new(
        py: Python<'_>,
        store: &Store,
        name: String,
        version: u64,
        goal: Option<(String, String)>,
        play: Py<PyAny>,
    ) -> PyResult<Self> {
        let (folder, disk) = store.opened();
        let opened = disk.clone();
        let ensemble = wait(py, async move {
            let mut tables = Tables::open_or_create(&folder, opened).await?;
            tables.take_up(&name, version).await
        })?;
        let catalogue = &ensemble.plan.catalogue;
        let goal = goal.as_ref().map(|given| until(given, catalogue)).transpose()?;
        let follow = Follow::new(catalogue, goal.iter().map(|until| (until.entity, until.outcome)).collect());
        let model: Arc<dyn Model> = Arc::new(PythonModel::new(catalogue.clone(), play));
        let player = run::Player { model, ensemble, disk, format: PageFormat::default(), follow };
        let encoders = player.encoders().map_err(Failure::from)?;
        Ok(Self { player: Arc::new(player), encoders: Arc::new(Mutex::new(encoders)) })
    }

    /// Plays a range. Returns what the other process needs to commit it.
    fn play<'py>(&self, py: Python<'py>, first: u32, count: u32) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let range = WorldRange::new(World(first), count).map_err(Failure::invalid)?;
        let (player, encoders) = (self.player.clone(), self.encoders.clone());
        let written = wait_blocking(py, move || {
            let mut encoders = encoders.lock().unwrap_or_else(PoisonError::into_inner);
            player.play(range, &mut encoders, &|| false)
        })?;
        let encoded = written.map(|written| postcard::to_stdvec(&written)).transpose().map_err(Failure::storage)?;
        Ok(encoded.map(|encoded| PyBytes::new(py, &encoded)))
    }
}
