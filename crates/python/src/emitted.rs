//! What a model written in Python emits for a range: checked, and in the types that tables store.

use std::sync::{Arc, Mutex, PoisonError};

use model::{Catalogue, Misfit, Number, Outcome, OutcomeBlock, OutcomeKind, Sink, Stop, Values, Whole, inexact};
use numpy::{PyArrayDescr, PyArrayDescrMethods as _, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods as _};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict as _, PyDict};
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
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    F64(Vec<f64>),
}

impl Numbers {
    /// The values in the types that tables store; bytes are widened into `buffer`.
    fn values<'a>(&'a self, buffer: &'a mut Vec<i16>) -> Values<'a> {
        match self {
            Self::I8(values) => {
                buffer.clear();
                buffer.extend(values.iter().map(|value| i16::from(*value)));
                Values::I16(buffer)
            }
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
        let most = self.catalogue.kinds.iter().map(|kind| kind.outcomes.len()).max().unwrap_or_default();
        let mut buffers = vec![Vec::new(); most];
        for (entity, columns) in emitted.iter().enumerate() {
            if let Some(columns) = columns.as_ref().filter(|_| only.is_none_or(|only| only == entity)) {
                let columns =
                    columns.iter().zip(&mut buffers).map(|(numbers, buffer)| numbers.values(buffer)).collect();
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
                "has the shape {:?}: emit one value for each world, {worlds} here",
                array.shape()
            )));
        }
        if let Some(place) = masked(array)?.and_then(|mask| mask.iter().position(|masked| *masked)) {
            return Err(wrong(format!("is masked in world {}: emit a value for each world", self.world(place))));
        }
        let kind = number_kind(&array.dtype());
        let is_wide = array.dtype().itemsize() == 8;
        let converted = match (outcome.kind, kind) {
            (OutcomeKind::Real, b'i' | b'u') if is_wide => reals(array, kind)?,
            (OutcomeKind::Real, b'b' | b'i' | b'u' | b'f') => {
                Ok(Numbers::F64(cast::<f64>(array)?.as_slice()?.to_vec()))
            }
            (_, b'b') => flags(cast::<bool>(array)?.as_slice()?, outcome),
            // An `int64` holds no larger ones.
            (_, b'u') if is_wide => whole(cast::<f64>(array)?.as_slice()?, outcome),
            (_, b'f') => whole(cast::<f64>(array)?.as_slice()?, outcome),
            (_, b'i' | b'u') => scaled(cast::<i64>(array)?.as_slice()?, outcome),
            _ => {
                let of = array.dtype();
                return Err(wrong(format!("has the type {of}: emit numbers of at most 64 bits, or booleans")));
            }
        };
        converted
            .map_err(|Misfit { row, value, reason }| wrong(format!("is {value} in world {}{reason}", self.world(row))))
    }

    fn world(&self, place: usize) -> World {
        World(self.range.first().0 + place as u32)
    }
}

fn wrong(entity: &str, reason: &str) -> Failure {
    Failure::invalid(format!("{entity}: {reason}"))
}

/// The array as a contiguous one of another type: itself, if it is one already.
fn cast<'py, T: numpy::Element>(array: &Bound<'py, PyUntypedArray>) -> PyResult<PyReadonlyArray1<'py, T>> {
    if let Ok(same) = array.extract::<PyReadonlyArray1<'py, T>>()
        && same.is_contiguous()
    {
        return Ok(same);
    }
    let py = array.py();
    let kwargs = [("copy", false)].into_py_dict(py)?;
    kwargs.set_item("order", "C")?;
    array.call_method("astype", (T::get_dtype(py),), Some(&kwargs))?.extract()
}

/// Which values a masked array hides; `None` for another array.
pub(crate) fn masked(array: &Bound<'_, PyUntypedArray>) -> PyResult<Option<Vec<bool>>> {
    if array.is_exact_instance_of::<PyUntypedArray>() || !array.hasattr("mask")? {
        return Ok(None);
    }
    let mask = array.py().import("numpy.ma")?.call_method1("getmaskarray", (array,))?;
    Ok(Some(mask.extract::<PyReadonlyArray1<'_, bool>>()?.as_array().to_vec()))
}

/// NumPy's letter for a kind of type; none for numbers of more than 64 bits, which no column holds.
pub(crate) fn number_kind(of: &Bound<'_, PyArrayDescr>) -> u8 {
    /// Of text, so that no number has it.
    const NONE: u8 = b'U';
    if of.itemsize() > 8 { NONE } else { of.kind() }
}

/// Real numbers from integers of 64 bits.
fn reals(array: &Bound<'_, PyUntypedArray>, kind: u8) -> PyResult<Result<Numbers, Misfit>> {
    let misfit = match kind {
        b'u' => inexact(cast::<u64>(array)?.as_slice()?),
        _ => inexact(cast::<i64>(array)?.as_slice()?),
    };
    let numbers = cast::<f64>(array)?.as_slice()?.to_vec();
    Ok(misfit.map_or(Ok(Numbers::F64(numbers)), Err))
}

fn flags(values: &[bool], outcome: &Outcome) -> Result<Numbers, Misfit> {
    match (i8::try_from(outcome.scale), Whole::of(outcome).integer(1)) {
        (Ok(scale), (_, true)) => Ok(Numbers::I8(values.iter().map(|value| i8::from(*value) * scale).collect())),
        _ => scaled(&values.iter().map(|value| i64::from(*value)).collect::<Vec<_>>(), outcome),
    }
}

fn scaled(values: &[i64], outcome: &Outcome) -> Result<Numbers, Misfit> {
    let whole = Whole::of(outcome);
    let misfit = |place: usize| whole.misfit(outcome, place, Number::Integer(values[place]));
    narrow(values, move |value| whole.integer(value)).map_err(misfit)
}

fn whole(values: &[f64], outcome: &Outcome) -> Result<Numbers, Misfit> {
    let whole = Whole::of(outcome);
    let misfit = |place: usize| whole.misfit(outcome, place, Number::Real(values[place]));
    narrow(values, move |value| whole.real(value)).map_err(misfit)
}

/// The numbers in the narrowest type, or the place of the first that does not fit. `fit` returns the number, and whether
/// it fits.
fn narrow<T: Copy>(values: &[T], fit: impl Fn(T) -> (i32, bool)) -> Result<Numbers, usize> {
    /// Numbers at once: they stay in the fastest cache.
    const CHUNK: usize = 2_048;
    let misfit = || values.iter().position(|value| !fit(*value).1).unwrap_or_default();
    let mut buffer = [0; CHUNK];
    let mut small: Vec<i8> = Vec::with_capacity(values.len());
    for chunk in values.chunks(CHUNK) {
        let numbers = &mut buffer[..chunk.len()];
        match convert(chunk, numbers, &fit) {
            None => return Err(misfit()),
            Some(bits) if bits > i8::BITS => break,
            Some(_) => small.extend(numbers.iter().map(|number| *number as i8)),
        }
    }
    if small.len() == values.len() {
        return Ok(Numbers::I8(small));
    }
    let mut numbers = vec![0; values.len()];
    match convert(values, &mut numbers, &fit) {
        None => Err(misfit()),
        Some(bits) if bits > i16::BITS => Ok(Numbers::I32(numbers)),
        Some(_) => Ok(Numbers::I16(numbers.into_iter().map(|number| number as i16).collect())),
    }
}

/// Converts values to as many numbers; returns the bits that a type needs for all of them, or `None` if one does not fit.
fn convert<T: Copy>(values: &[T], numbers: &mut [i32], fit: &impl Fn(T) -> (i32, bool)) -> Option<u32> {
    pulp::Arch::new().dispatch(|| {
        // No branch, so that the processor converts several at once.
        let (mut misfits, mut reach) = (0, 0);
        for (number, value) in numbers.iter_mut().zip(values) {
            let (converted, fits) = fit(*value);
            *number = converted;
            misfits |= i32::from(!fits);
            // The bits that differ from the sign.
            reach |= converted ^ converted >> 31;
        }
        (misfits == 0).then(|| i32::BITS + 1 - reach.leading_zeros())
    })
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
