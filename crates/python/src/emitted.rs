//! What a model written in Python emits for a range: checked, and in the types that tables store.

use std::sync::{Arc, Mutex, PoisonError};

use model::{Catalogue, Outcome, OutcomeBlock, OutcomeKind, Sink, Stop, Values};
use numpy::{PyArrayDescrMethods as _, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods as _};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use world::{World, WorldRange};

use crate::failure::Failure;

/// Collects the outcomes of the entities in a range of worlds.
#[pyclass(frozen, module = "manyworlds._native")]
pub(crate) struct Emitter {
    catalogue: Arc<Catalogue>,
    range: WorldRange,
    /// The columns of each entity, once it is emitted.
    emitted: Mutex<Vec<Option<Vec<Numbers>>>>,
}

/// An outcome over the worlds of a range.
enum Numbers {
    I16(Vec<i16>),
    I32(Vec<i32>),
    F64(Vec<f64>),
}

impl Numbers {
    fn values(&self) -> Values<'_> {
        match self {
            Self::I16(values) => Values::I16(values),
            Self::I32(values) => Values::I32(values),
            Self::F64(values) => Values::F64(values),
        }
    }
}

impl Emitter {
    pub(crate) fn new(catalogue: Arc<Catalogue>, range: WorldRange) -> Self {
        let emitted = catalogue.entities.iter().map(|_| None).collect();
        Self { catalogue, range, emitted: Mutex::new(emitted) }
    }

    /// Passes on the outcomes of all entities, or of one.
    pub(crate) fn send(&self, only: Option<usize>, sink: &mut dyn Sink) -> Result<(), Stop> {
        let emitted = self.emitted.lock().unwrap_or_else(PoisonError::into_inner);
        for (entity, columns) in emitted.iter().enumerate() {
            if let Some(columns) = columns.as_ref().filter(|_| only.is_none_or(|only| only == entity)) {
                let columns = columns.iter().map(Numbers::values).collect();
                sink.outcomes(OutcomeBlock { entity, range: self.range, columns })?;
            }
        }
        Ok(())
    }

    fn columns(&self, entity: usize, given: &Bound<'_, PyDict>) -> PyResult<Vec<Numbers>> {
        let (name, kind) = (&self.catalogue.entities[entity].name, self.catalogue.kind_of(entity));
        for given in given.keys() {
            kind.find_outcome(given.extract::<&str>()?).map_err(|error| wrong(name, &error.to_string()))?;
        }
        let column = |outcome: &Outcome| {
            let values = given.get_item(&outcome.name)?;
            let values = values.ok_or_else(|| wrong(name, &format!("outcome {:?} is missing", outcome.name)))?;
            self.column(name, outcome, &values)
        };
        kind.outcomes.iter().map(column).collect()
    }

    fn column(&self, entity: &str, outcome: &Outcome, values: &Bound<'_, PyAny>) -> PyResult<Numbers> {
        let wrong = |reason: String| PyErr::from(wrong(entity, &format!("outcome {:?} {reason}", outcome.name)));
        let array = values.cast::<PyUntypedArray>().map_err(|_| {
            let kind = values.get_type().name().map_or_else(|_| "another type".to_owned(), |name| name.to_string());
            wrong(format!("is {kind}: emit a NumPy array with one value for each world"))
        })?;
        let worlds = self.range.count();
        if array.shape() != [worlds] {
            return Err(wrong(format!(
                "has the shape {:?}: emit one value for each of {worlds} worlds",
                array.shape()
            )));
        }
        let at = |place: usize| self.range.first().0 + place as u32;
        let kind = array.dtype().kind();
        let is_real = outcome.kind == OutcomeKind::Real;
        let converted = match kind {
            b'f' if is_real => return Ok(Numbers::F64(floats(array)?)),
            // An `int64` holds no larger ones.
            b'u' if !is_real && array.dtype().itemsize() == 8 => whole(&floats(array)?, outcome),
            b'f' => whole(&floats(array)?, outcome),
            b'b' | b'i' | b'u' if is_real => return Ok(Numbers::F64(floats(array)?)),
            b'b' | b'i' | b'u' => scaled(&integers(array)?, outcome),
            _ => return Err(wrong(format!("has the type {}: emit numbers or booleans", array.dtype()))),
        };
        converted.map_err(|(place, reason)| wrong(format!("{reason} in world {}", at(place))))
    }
}

/// Where a value does not fit its column, and why.
type Misfit = (usize, String);

fn wrong(entity: &str, reason: &str) -> Failure {
    Failure::invalid(format!("{entity}: {reason}"))
}

fn cast<'py, T: numpy::Element>(array: &Bound<'py, PyUntypedArray>, to: &str) -> PyResult<PyReadonlyArray1<'py, T>> {
    let kwargs = PyDict::new(array.py());
    kwargs.set_item("copy", false)?;
    let cast = array.call_method("astype", (to,), Some(&kwargs))?;
    cast.extract()
}

fn floats(array: &Bound<'_, PyUntypedArray>) -> PyResult<Vec<f64>> {
    Ok(cast::<f64>(array, "float64")?.as_array().to_vec())
}

fn integers(array: &Bound<'_, PyUntypedArray>) -> PyResult<Vec<i64>> {
    Ok(cast::<i64>(array, "int64")?.as_array().to_vec())
}

/// Whole numbers times the scale of their outcome.
fn scaled(values: &[i64], outcome: &Outcome) -> Result<Numbers, Misfit> {
    let scale = i64::from(outcome.scale);
    let fit = |value: &i64| value.checked_mul(scale).and_then(|value| i32::try_from(value).ok());
    narrow(values.iter().map(fit)).map_err(|place| {
        (place, format!("is {}, and its column holds numbers up to {}", values[place], i64::from(i32::MAX) / scale))
    })
}

/// Real numbers that are multiples of 1 / scale.
fn whole(values: &[f64], outcome: &Outcome) -> Result<Numbers, Misfit> {
    /// The largest error, in units of 1 / scale, that arithmetic may leave.
    const ERROR_MAX: f64 = 1e-6;
    let scale = f64::from(outcome.scale);
    let fit = |value: &f64| {
        let rounded = (value * scale).round_ties_even();
        let fits = (value * scale - rounded).abs() <= ERROR_MAX && rounded.abs() <= f64::from(i32::MAX);
        fits.then_some(rounded as i32)
    };
    narrow(values.iter().map(fit)).map_err(|place| {
        let wanted =
            if outcome.scale == 1 { "a whole number".to_owned() } else { format!("a multiple of 1/{}", outcome.scale) };
        (place, format!("is {}, not {wanted}: round it, or declare a real outcome", values[place]))
    })
}

/// The numbers in the narrowest type, or the place of the first that is missing.
fn narrow(values: impl Iterator<Item = Option<i32>>) -> Result<Numbers, usize> {
    let values = values.enumerate().map(|(place, value)| value.ok_or(place)).collect::<Result<Vec<i32>, usize>>()?;
    let narrow: Option<Vec<i16>> = values.iter().map(|value| i16::try_from(*value).ok()).collect();
    Ok(narrow.map_or(Numbers::I32(values), Numbers::I16))
}

#[pymethods]
impl Emitter {
    /// Takes the outcomes of one entity: an array over the worlds for each.
    #[pyo3(signature = (entity, **outcomes))]
    fn __call__(&self, py: Python<'_>, entity: &str, outcomes: Option<Bound<'_, PyDict>>) -> PyResult<()> {
        let place = self.catalogue.find_entity(entity).map_err(Failure::unknown)?;
        let columns = self.columns(place, &outcomes.unwrap_or_else(|| PyDict::new(py)))?;
        let mut emitted = self.emitted.lock().unwrap_or_else(PoisonError::into_inner);
        if emitted[place].replace(columns).is_some() {
            return Err(wrong(entity, "it was emitted twice").into());
        }
        Ok(())
    }

    /// The entities that are not emitted yet.
    fn missing(&self) -> Vec<String> {
        let emitted = self.emitted.lock().unwrap_or_else(PoisonError::into_inner);
        let missing = emitted.iter().zip(&self.catalogue.entities).filter(|(columns, _)| columns.is_none());
        missing.map(|(_, entity)| entity.name.clone()).collect()
    }
}

/// An emitter for a range that is not stored. `catalogue` is JSON.
#[pyfunction]
pub(crate) fn emitter(catalogue: &str, first: u32, count: u32) -> PyResult<Emitter> {
    let catalogue: Catalogue = serde_json::from_str(catalogue).map_err(Failure::invalid)?;
    let range = WorldRange::new(World(first), count).map_err(Failure::invalid)?;
    Ok(Emitter::new(Arc::new(catalogue), range))
}
