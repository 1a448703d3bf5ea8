//! Events that a model written in Python emits for a range: checked, ordered by world, and in the types of their tables.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::{Catalogue, EventBlock, EventColumn, EventKind, EventValues, Sink, Stop};
use numpy::{PyArrayDescrMethods as _, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods as _};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use world::{World, WorldRange};

use crate::failure::Failure;

/// Collects the events of the entities in a range of worlds.
#[pyclass(frozen, module = "manyworlds._native")]
pub(crate) struct Events {
    catalogue: Arc<Catalogue>,
    range: WorldRange,
    /// The events of each entity that has any, by its index.
    emitted: Mutex<BTreeMap<usize, OfEntity>>,
}

struct OfEntity {
    /// Events of each world of the range.
    rows: Vec<u32>,
    columns: Vec<Column>,
}

/// An event column, ordered by world.
enum Column {
    Label(Vec<u8>),
    I8(Vec<i8>),
    I32(Vec<i32>),
    F64(Vec<f64>),
}

impl Column {
    fn values(&self) -> EventValues<'_> {
        match self {
            Self::Label(values) => EventValues::Label(values),
            Self::I8(values) => EventValues::I8(values),
            Self::I32(values) => EventValues::I32(values),
            Self::F64(values) => EventValues::F64 { values, valid: None },
        }
    }
}

/// The rows of an entity in the order of worlds.
struct Order {
    /// Each row's place among the given rows; `None` if they are ordered already.
    places: Option<Vec<usize>>,
    /// Events of each world of the range.
    rows: Vec<u32>,
}

impl Events {
    pub(crate) fn new(catalogue: Arc<Catalogue>, range: WorldRange) -> Self {
        Self { catalogue, range, emitted: Mutex::default() }
    }

    /// Passes on the events of an entity, if it has any.
    pub(crate) fn send(&self, entity: usize, sink: &mut dyn Sink) -> Result<(), Stop> {
        let emitted = self.emitted.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(OfEntity { rows, columns }) = emitted.get(&entity) else { return Ok(()) };
        let columns = columns.iter().map(Column::values).collect();
        sink.events(EventBlock { entity, range: self.range, rows, columns })
    }

    /// Orders rows by the place of their world in the range.
    fn order(&self, entity: &str, worlds: &Bound<'_, PyAny>) -> PyResult<Order> {
        let count = self.range.count();
        let wanted = format!("give the place of each event's world in the range, from 0 to {}", count - 1);
        let places = integers(worlds).map_err(|reason| wrong(entity, &format!("worlds {reason}: {wanted}")))?;
        let mut rows = vec![0; count];
        for place in &places {
            let row = usize::try_from(*place).ok().and_then(|place| rows.get_mut(place));
            *row.ok_or_else(|| wrong(entity, &format!("worlds has {place}: {wanted}")))? += 1;
        }
        let places = (!places.is_sorted()).then(|| {
            let mut order: Vec<usize> = (0..places.len()).collect();
            // Stable: the events of a world keep their order.
            order.sort_by_key(|row| places[*row]);
            order
        });
        Ok(Order { places, rows })
    }

    fn column(&self, entity: &str, column: &EventColumn, given: &Bound<'_, PyDict>, order: &Order) -> PyResult<Column> {
        let name = &column.name;
        let refuse = |reason: String| PyErr::from(wrong(entity, &format!("event column {name:?} {reason}")));
        let values = given.get_item(name)?.ok_or_else(|| refuse("is missing".to_owned()))?;
        let rows: usize = order.rows.iter().map(|rows| *rows as usize).sum();
        let at = |place: usize| {
            let row = order.places.as_ref().and_then(|places| places.iter().position(|row| *row == place));
            let mut end = 0;
            let ended = |rows: &&u32| {
                end += **rows as usize;
                end <= row.unwrap_or(place)
            };
            World(self.range.first().0 + order.rows.iter().take_while(ended).count() as u32)
        };
        let fitting = |wanted: String, fits: &dyn Fn(i64) -> bool| {
            let values = integers(&values).map_err(&refuse)?;
            match values.iter().position(|value| !fits(*value)) {
                Some(place) => Err(refuse(format!("is {}, not {wanted}, in world {}", values[place], at(place)))),
                None if values.len() != rows => Err(refuse(format!("has {} values for {rows} events", values.len()))),
                None => Ok(order.sorted(values)),
            }
        };
        Ok(match &column.kind {
            EventKind::F64 => {
                let values = floats(&values).map_err(&refuse)?;
                if values.len() != rows {
                    return Err(refuse(format!("has {} values for {rows} events", values.len())));
                }
                Column::F64(order.sorted(values))
            }
            EventKind::Label(words) => {
                let codes = fitting(format!("a code from 0 to {}", words.len() - 1), &|code| {
                    usize::try_from(code).is_ok_and(|code| code < words.len())
                })?;
                Column::Label(codes.into_iter().map(|code| code as u8).collect())
            }
            EventKind::I8 => {
                let values = fitting("0 or 1".to_owned(), &|value| (0..=1).contains(&value))?;
                Column::I8(values.into_iter().map(|value| value as i8).collect())
            }
            EventKind::I16 | EventKind::I32 => {
                let values = fitting("a number within 32 bits".to_owned(), &|value| {
                    (i64::from(i32::MIN) + 1..=i64::from(i32::MAX)).contains(&value)
                })?;
                Column::I32(values.into_iter().map(|value| value as i32).collect())
            }
        })
    }
}

impl Order {
    fn sorted<T: Copy>(&self, values: Vec<T>) -> Vec<T> {
        match &self.places {
            Some(places) => places.iter().map(|place| values[*place]).collect(),
            None => values,
        }
    }
}

fn wrong(entity: &str, reason: &str) -> Failure {
    Failure::invalid(format!("{entity}: {reason}"))
}

/// A one-dimensional array of numbers, and the kind of its type in NumPy's letters.
fn numbers<'a, 'py>(values: &'a Bound<'py, PyAny>) -> Result<(&'a Bound<'py, PyUntypedArray>, u8), String> {
    let kind = || values.get_type().name().map_or_else(|_| "of another type".to_owned(), |name| name.to_string());
    let array = values.cast::<PyUntypedArray>().map_err(|_| format!("is {}: give a NumPy array", kind()))?;
    match (array.ndim(), array.dtype().kind()) {
        (1, kind @ (b'b' | b'i' | b'u' | b'f')) => Ok((array, kind)),
        (1, _) => Err(format!("has the type {}: give numbers or booleans", array.dtype())),
        (dimensions, _) => Err(format!("has {dimensions} dimensions: give one value for each event")),
    }
}

fn cast<T: numpy::Element + Copy>(array: &Bound<'_, PyUntypedArray>, to: &str) -> Result<Vec<T>, String> {
    let cast = array.call_method1("astype", (to,)).map_err(|error| error.to_string())?;
    let cast: PyReadonlyArray1<'_, T> = cast.extract().map_err(|_| format!("cannot be read as {to}"))?;
    Ok(cast.as_array().to_vec())
}

fn floats(values: &Bound<'_, PyAny>) -> Result<Vec<f64>, String> {
    cast(numbers(values)?.0, "float64")
}

fn integers(values: &Bound<'_, PyAny>) -> Result<Vec<i64>, String> {
    let (array, kind) = numbers(values)?;
    if kind == b'f' {
        let reals: Vec<f64> = cast(array, "float64")?;
        if let Some(real) = reals.iter().find(|real| real.fract() != 0.0) {
            return Err(format!("has {real}, which is not a whole number"));
        }
    }
    cast(array, "int64")
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
        let order = self.order(entity, worlds)?;
        let columns = self.catalogue.events.iter().map(|column| self.column(entity, column, &given, &order));
        let columns = columns.collect::<PyResult<_>>()?;
        let mut emitted = self.emitted.lock().unwrap_or_else(PoisonError::into_inner);
        if emitted.insert(place, OfEntity { rows: order.rows, columns }).is_some() {
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
