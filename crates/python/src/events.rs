//! Events that a model written in Python emits for a range: checked, ordered by world, and in the types of their tables.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::{Catalogue, EventColumn, EventRows, Number, OwnedEventValues, Sink, Stop};
use numpy::{PyArrayDescrMethods as _, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods as _};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use world::{World, WorldRange};

use crate::emitted::{masked, number_kind};
use crate::failure::Failure;

/// Collects the events of the entities in a range of worlds.
#[pyclass(frozen, module = "manyworlds._native")]
pub(crate) struct Events {
    catalogue: Arc<Catalogue>,
    range: WorldRange,
    /// The events of each entity that has any, by its index.
    emitted: Mutex<BTreeMap<usize, EventRows>>,
}

impl Events {
    pub(crate) fn new(catalogue: Arc<Catalogue>, range: WorldRange) -> Self {
        Self { catalogue, range, emitted: Mutex::default() }
    }

    /// Passes on the events of an entity, if it has any.
    pub(crate) fn send(&self, entity: usize, sink: &mut dyn Sink) -> Result<(), Stop> {
        let emitted = self.emitted.lock().unwrap_or_else(PoisonError::into_inner);
        emitted.get(&entity).map_or(Ok(()), |rows| sink.events(rows.block()))
    }

    /// The place of each event's world in the range.
    fn places(&self, entity: &str, worlds: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        let count = self.range.count();
        let wanted = format!("give the place of each event's world in the range, from 0 to {}", count - 1);
        let numbers = numbers(worlds).map_err(|reason| wrong(entity, &format!("worlds {reason}: {wanted}")))?;
        let place = |number: Option<Number>| {
            let shown = number.map_or_else(|| "a masked place".to_owned(), |number| number.to_string());
            let real = number.map_or(f64::NAN, Number::real);
            let fits = real.fract() == 0.0 && (0.0..count as f64).contains(&real);
            if fits { Ok(real as u32) } else { Err(wrong(entity, &format!("worlds has {shown}: {wanted}")).into()) }
        };
        numbers.into_iter().map(place).collect()
    }

    fn column(
        &self,
        entity: &str,
        column: &EventColumn,
        given: &Bound<'_, PyDict>,
        places: &[u32],
    ) -> PyResult<OwnedEventValues> {
        let name = &column.name;
        let refuse = |reason: String| PyErr::from(wrong(entity, &format!("event column {name:?} {reason}")));
        let mut stored = OwnedEventValues::empty(&column.kind);
        let Some(values) = given.get_item(name)? else {
            if !column.nullable {
                return Err(refuse("is missing".to_owned()));
            }
            // One that may be NULL may be left out.
            let pushed = places.iter().try_for_each(|_| stored.push(column, None));
            return pushed.map(|()| stored).map_err(|misfit| refuse(misfit.reason));
        };
        let numbers = numbers(&values).map_err(&refuse)?;
        if numbers.len() != places.len() {
            return Err(refuse(format!("has {} values for {} events", numbers.len(), places.len())));
        }
        for (number, place) in numbers.into_iter().zip(places) {
            stored.push(column, number).map_err(|misfit| {
                let world = World(self.range.first().0 + place);
                refuse(format!("is {} in world {world}{}", misfit.value, misfit.reason))
            })?;
        }
        Ok(stored)
    }
}

fn wrong(entity: &str, reason: &str) -> Failure {
    Failure::invalid(format!("{entity}: {reason}"))
}

/// The values of a one-dimensional array of numbers; `None` where a masked array hides one.
fn numbers(values: &Bound<'_, PyAny>) -> Result<Vec<Option<Number>>, String> {
    let kind = || values.get_type().name().map_or_else(|_| "of another type".to_owned(), |name| name.to_string());
    let array = values.cast::<PyUntypedArray>().map_err(|_| format!("is {}: give a NumPy array", kind()))?;
    let numbers: Vec<Number> = match (array.ndim(), number_kind(&array.dtype())) {
        (1, b'f') => cast::<f64>(array, "float64")?.into_iter().map(Number::Real).collect(),
        (1, b'u') if array.dtype().itemsize() == 8 => {
            let whole = |n| i64::try_from(n).map_err(|_| format!("has {n}, which is too large for every column"));
            let wide = cast::<u64>(array, "uint64")?.into_iter().map(whole);
            wide.map(|n| n.map(Number::Integer)).collect::<Result<_, _>>()?
        }
        (1, b'b' | b'i' | b'u') => cast::<i64>(array, "int64")?.into_iter().map(Number::Integer).collect(),
        (1, _) => return Err(format!("has the type {}: give numbers of at most 64 bits, or booleans", array.dtype())),
        (dimensions, _) => return Err(format!("has {dimensions} dimensions: give one value for each event")),
    };
    let mask = masked(array).map_err(|error| error.to_string())?;
    let shown =
        |(place, number): (usize, Number)| mask.as_ref().is_none_or(|mask: &Vec<bool>| !mask[place]).then_some(number);
    Ok(numbers.into_iter().enumerate().map(shown).collect())
}

fn cast<T: numpy::Element + Copy>(array: &Bound<'_, PyUntypedArray>, to: &str) -> Result<Vec<T>, String> {
    let cast = array.call_method1("astype", (to,)).map_err(|error| error.to_string())?;
    let cast: PyReadonlyArray1<'_, T> = cast.extract().map_err(|_| format!("cannot be read as {to}"))?;
    Ok(cast.as_array().to_vec())
}

#[pymethods]
impl Events {
    /// Takes the events of one entity: the place of each event's world in the range, and an array for each column.
    #[pyo3(signature = (entity, worlds, **columns))]
    fn __call__(
        &self,
        py: Python<'_>,
        entity: &str,
        worlds: &Bound<'_, PyAny>,
        columns: Option<Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        if self.catalogue.events.is_empty() {
            return Err(wrong(entity, "the catalogue declares no event columns: name them in events").into());
        }
        let place = self.catalogue.find_entity(entity).map_err(Failure::unknown)?;
        let given = columns.unwrap_or_else(|| PyDict::new(py));
        for name in given.keys() {
            let found = self.catalogue.find_event_column(name.extract::<&str>()?);
            found.map_err(|error| wrong(entity, &error.to_string()))?;
        }
        let places = self.places(entity, worlds)?;
        let columns = self.catalogue.events.iter().map(|column| self.column(entity, column, &given, &places));
        let rows = EventRows::ordered(place, self.range, &places, columns.collect::<PyResult<_>>()?);
        let mut emitted = self.emitted.lock().unwrap_or_else(PoisonError::into_inner);
        if emitted.insert(place, rows).is_some() {
            return Err(wrong(entity, "its events were emitted twice").into());
        }
        Ok(())
    }
}

/// A collector for a range that is not stored. `catalogue` is JSON.
#[pyfunction]
pub(crate) fn events(catalogue: &str, first: u32, count: u32) -> PyResult<Events> {
    let catalogue: Catalogue = serde_json::from_str(catalogue).map_err(Failure::invalid)?;
    let range = WorldRange::new(World(first), count).map_err(Failure::invalid)?;
    Ok(Events::new(Arc::new(catalogue), range))
}
