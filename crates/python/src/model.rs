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
use crate::events::Events;
use crate::failure::Failure;

/// A model whose worlds a Python function plays: `play(seed, first, count, emitter, events)` returns `None`, or why it
/// failed: the first world that fails and its entity, if known, and the reason.
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

    /// Libraries such as JAX compute in threads of their own.
    fn has_helpers(&self) -> bool {
        true
    }

    fn simulate(&self, seed: Seed, range: WorldRange, wanted: Wanted, sink: &mut dyn Sink) -> Result<(), Stop> {
        let emitted = Python::attach(|py| {
            let emitter = Bound::new(py, Emitter::new(self.catalogue.clone(), range))?;
            let events = Bound::new(py, Events::new(self.catalogue.clone(), range))?;
            let arguments = (seed.0, range.first().0, range.count(), &emitter, &events);
            let failed: Option<(Option<u32>, Option<String>, String)> = self.play.call1(py, arguments)?.extract(py)?;
            Ok(match failed {
                Some((world, entity, message)) => Err(ModelFailure { message, entity, world: world.map(World) }),
                None => Ok((emitter.unbind(), events.unbind())),
            })
        });
        let (emitter, events) = emitted.map_err(|error: PyErr| ModelFailure::new(error.to_string()))??;
        if !wanted.events || self.catalogue.events.is_empty() {
            return emitter.get().send(wanted.entity, sink);
        }
        for entity in (0..self.catalogue.entities.len()).filter(|place| wanted.entity.is_none_or(|only| only == *place))
        {
            events.get().send(entity, sink)?;
            emitter.get().send(Some(entity), sink)?;
        }
        Ok(())
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
    default: serde_json::Value,
    is_text: bool,
    /// Bounds of a number; `None` has none.
    min: Option<f64>,
    max: Option<f64>,
    words: Vec<String>,
    /// The longest list; `None` for a single value.
    items_max: Option<usize>,
}

impl Parameter {
    /// # Errors
    /// If the parameter does not accept its default.
    fn spec(self) -> Result<ParameterSpec, ParameterError> {
        let Self { name, doc, default, is_text, min, max, words, items_max } = self;
        let item = if is_text {
            ParameterItem::Text { words }
        } else {
            ParameterItem::Number { min: min.unwrap_or(f64::NEG_INFINITY), max: max.unwrap_or(f64::INFINITY) }
        };
        // Stands in until the default is read.
        let unread = ParameterValue::Numbers(Vec::new());
        let spec = ParameterSpec { name: name.into(), doc: doc.into(), default: unread, item, items_max };
        Ok(ParameterSpec { default: spec.read_json(&default.to_string())?, ..spec })
    }
}

fn specs(parameters: Vec<Parameter>) -> Result<Vec<ParameterSpec>, Failure> {
    parameters.into_iter().map(Parameter::spec).collect::<Result<_, _>>().map_err(Failure::from)
}

/// The values of all parameters as JSON: the defaults, overridden by an object of given values.
#[pyfunction]
pub(crate) fn parameters(described: &str, given: &str) -> PyResult<String> {
    let described: Vec<Parameter> = serde_json::from_str(described).map_err(Failure::invalid)?;
    Ok(Parameters::from_json(&specs(described)?, given).map_err(Failure::from)?.to_json())
}

/// Why a catalogue, given as JSON, cannot be stored; `None` if it can.
#[pyfunction]
pub(crate) fn catalogue_fault(catalogue: &str) -> PyResult<Option<String>> {
    Ok(serde_json::from_str::<Catalogue>(catalogue).map_err(Failure::invalid)?.fault())
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
        parameters: specs(parameters)?.into(),
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
/// another form. With `each_time` it is asked for a name again, because that may lead to another model later.
#[pyfunction]
#[pyo3(signature = (find, each_time=false))]
pub(crate) fn find_models(find: Py<PyAny>, each_time: bool) {
    let find = move |name: &str| {
        Python::attach(|py| {
            let found = find.call1(py, (name,)).and_then(|found| {
                if found.is_none(py) { Ok(None) } else { plugin(name, found.into_bound(py)).map(Some) }
            });
            found.map_err(|error| error.value(py).to_string()).transpose()
        })
    };
    if each_time {
        cli::models().add_finder_each_time(Arc::new(find));
    } else {
        cli::models().add_finder(Arc::new(find));
    }
}
