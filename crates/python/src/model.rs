//! Models written in Python, as models of the engine.

use std::sync::Arc;

use model::{
    Catalogue, Failure as ModelFailure, Model, ParameterError, ParameterItem, ParameterSpec, ParameterValue,
    Parameters, Plugin, Sink, Stop, Wanted,
};
use pyo3::prelude::*;
use serde::Deserialize;
use world::{Seed, World, WorldRange};

use crate::emitted::Emitter;
use crate::failure::Failure;

/// A model whose worlds a Python function plays: `play(seed, first, count, emit)` returns `None`, or the first world
/// that fails, if known, and the reason.
pub(crate) struct PythonModel {
    catalogue: Arc<Catalogue>,
    play: Py<PyAny>,
}

impl PythonModel {
    pub(crate) fn new(catalogue: Catalogue, play: Py<PyAny>) -> Self {
        Self { catalogue: Arc::new(catalogue), play }
    }
}

impl Model for PythonModel {
    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn simulate(&self, seed: Seed, range: WorldRange, wanted: Wanted, sink: &mut dyn Sink) -> Result<(), Stop> {
        let failed =
            |message: String, world: Option<u32>| ModelFailure { message, entity: None, world: world.map(World) };
        let emitter = Python::attach(|py| {
            let emitter = Bound::new(py, Emitter::new(self.catalogue.clone(), range))?;
            let arguments = (seed.0, range.first().0, range.count(), &emitter);
            let failure: Option<(Option<u32>, String)> = self.play.call1(py, arguments)?.extract(py)?;
            Ok(match failure {
                Some((world, reason)) => Err(failed(reason, world)),
                None => Ok(emitter.unbind()),
            })
        });
        let emitter = emitter.map_err(|error: PyErr| failed(error.to_string(), None))??;
        emitter.get().send(wanted.entity, sink)
    }
}

/// A model as Python describes it.
#[derive(Deserialize)]
struct Description {
    summary: String,
    parameters: Vec<Parameter>,
    /// Where the model is from: a JSON object.
    origin: serde_json::Value,
}

#[derive(Deserialize)]
struct Parameter {
    name: String,
    doc: String,
    default: Default,
    /// Bounds of a number; `None` has none.
    min: Option<f64>,
    max: Option<f64>,
    words: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Default {
    Number(f64),
    Text(String),
}

impl From<Parameter> for ParameterSpec {
    fn from(parameter: Parameter) -> Self {
        let Parameter { name, doc, default, min, max, words } = parameter;
        let (default, item) = match default {
            Default::Number(number) => (
                ParameterValue::Number(number),
                ParameterItem::Number { min: min.unwrap_or(f64::NEG_INFINITY), max: max.unwrap_or(f64::INFINITY) },
            ),
            Default::Text(text) => (ParameterValue::Text(text), ParameterItem::Text { words }),
        };
        Self { name: name.into(), doc: doc.into(), default, item, items_max: None }
    }
}

/// The model of an object with `describe()`, which returns a [`Description`] as JSON, and `build(parameters)`, which
/// returns the catalogue as JSON and the function that plays ranges.
fn plugin(name: &str, object: Bound<'_, PyAny>) -> PyResult<Plugin> {
    let description: String = object.call_method0("describe")?.extract()?;
    let Description { summary, parameters, origin } = serde_json::from_str(&description).map_err(Failure::invalid)?;
    let object = object.unbind();
    let build = move |parameters: &Parameters| -> Result<Box<dyn Model>, ParameterError> {
        let built = Python::attach(|py| -> PyResult<PythonModel> {
            let (catalogue, play): (String, Py<PyAny>) =
                object.call_method1(py, "build", (parameters.to_json(),))?.extract(py)?;
            Ok(PythonModel::new(serde_json::from_str(&catalogue).map_err(Failure::invalid)?, play))
        });
        let refused = |error: PyErr| ParameterError::Model(Python::attach(|py| error.value(py).to_string()));
        Ok(Box::new(built.map_err(refused)?))
    };
    Ok(Plugin {
        name: name.to_owned(),
        summary,
        parameters: parameters.into_iter().map(ParameterSpec::from).collect::<Vec<_>>().into(),
        definition: None,
        origin: Some(origin.to_string()),
        build: Arc::new(build),
    })
}

/// Adds a model that the user named.
#[pyfunction]
pub(crate) fn add_model(name: &str, model: Bound<'_, PyAny>) -> PyResult<()> {
    let plugin = plugin(name, model)?;
    Ok(cli::models().add(plugin).map_err(Failure::invalid)?)
}

/// Finds models by name from now on: `find(name)` returns a model as for [`add_model`], or `None` if the name is of
/// another form.
#[pyfunction]
pub(crate) fn find_models(find: Py<PyAny>) {
    let find = move |name: &str| {
        Python::attach(|py| {
            let found = find.call1(py, (name,)).and_then(|found| {
                if found.is_none(py) { Ok(None) } else { plugin(name, found.into_bound(py)).map(Some) }
            });
            found.map_err(|error| error.value(py).to_string()).transpose()
        })
    };
    cli::models().add_finder(Arc::new(find));
}
