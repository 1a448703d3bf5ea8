//! Numbers computed in Python become an ensemble.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ::import::{ColumnNames, Form, Input, Mode, Options};
use arrow::array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use numpy::{PyArrayDescrMethods as _, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods as _};
use pyo3::prelude::*;
use pyo3_arrow::input::AnyRecordBatch;
use serde::Deserialize;
use serde_json::json;
use world::Seed;

use crate::batches::Batches;
use crate::failure::Failure;
use crate::store::Store;
use crate::wait::wait_to_end;

/// What to make of the numbers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    name: String,
    mode: String,
    form: Option<String>,
    world: Option<String>,
    entity_column: Option<String>,
    outcome: Option<String>,
    value: Option<String>,
    entity: String,
    kinds: BTreeMap<String, String>,
    seed: u64,
    first_world: u32,
    again: bool,
}

impl Request {
    fn options(self) -> Result<Options, Failure> {
        let kinds = self.kinds.into_iter().map(|(outcome, kind)| Ok((outcome, kind.parse()?)));
        Ok(Options {
            mode: match self.mode.as_str() {
                "replace" => Mode::Replace,
                "append" => Mode::Append,
                _ => Mode::New,
            },
            form: match self.form.as_deref() {
                None => None,
                Some("wide") => Some(Form::Wide),
                Some("long") => Some(Form::Long),
                Some(other) => return Err(Failure::invalid(format!("the form is {other:?}: write wide or long"))),
            },
            columns: ColumnNames {
                world: self.world,
                entity: self.entity_column,
                outcome: self.outcome,
                value: self.value,
            },
            entity: self.entity,
            kinds: kinds.collect::<Result<_, String>>().map_err(Failure::invalid)?,
            seed: Seed(self.seed),
            first_world: self.first_world,
            again: self.again,
            ..Options::default()
        })
    }
}

/// Stores Arrow objects as an ensemble, one after another.
#[pyfunction]
pub(crate) fn write(py: Python<'_>, store: &Store, request: &str, parts: Vec<AnyRecordBatch>) -> PyResult<String> {
    let request: Request = serde_json::from_str(request).map_err(Failure::invalid)?;
    let name = request.name.clone();
    let options = request.options()?;
    let one = |(place, part): (usize, AnyRecordBatch)| {
        let batches = part.into_reader()?;
        Ok(Input { name: format!("part {}", place + 1), batches, rows: None })
    };
    let inputs: Vec<Input> = parts.into_iter().enumerate().map(one).collect::<PyResult<_>>()?;
    let ((folder, disk), stop) = (store.opened(), options.stop.clone());
    let work = async move { ::import::import(&folder, disk, &name, inputs.into_iter().map(Ok), &options).await };
    let end = || {
        stop.store(true, Ordering::Relaxed);
        Ok(())
    };
    let report = wait_to_end(py, work, end, || Ok(()))?;
    Ok(json!(report).to_string())
}

/// Arrays of equal length as an Arrow table.
#[pyfunction]
pub(crate) fn table(columns: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Batches> {
    let columns = columns.into_iter().map(|(name, values)| Ok((name.clone(), array(&name, &values)?)));
    let columns: Vec<(String, ArrayRef)> = columns.collect::<PyResult<_>>()?;
    if let Some((first, rest)) = columns.split_first()
        && let Some(other) = rest.iter().find(|column| column.1.len() != first.1.len())
    {
        let lengths = format!("{} has {} values and {} has {}", first.0, first.1.len(), other.0, other.1.len());
        return Err(Failure::invalid(format!("{lengths}: give each one value for each world")).into());
    }
    let batch = RecordBatch::try_from_iter(columns).map_err(Failure::invalid)?;
    Ok(Batches::new(batch.schema(), vec![batch]))
}

/// The texts of a list.
fn texts(name: &str, values: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let text = |(place, value): (usize, PyResult<Bound<'_, PyAny>>)| {
        let value = value?;
        value.extract().map_err(|_| {
            let of = value.get_type().name().map_or_else(|_| "of another type".to_owned(), |name| name.to_string());
            let advice = "give an array of numbers, booleans or texts, such as numpy.asarray(VALUES, dtype=float)";
            let reason = format!("{name} is an array of Python's objects: value {} is {of}", place + 1);
            PyErr::from(Failure::invalid(format!("{reason}, and only texts may be objects; {advice}")))
        })
    };
    values.try_iter()?.enumerate().map(text).collect()
}

fn array(name: &str, values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let array = values.cast::<PyUntypedArray>()?;
    if array.ndim() != 1 {
        return Err(
            Failure::invalid(format!("{name} has {} dimensions: give one value for each world", array.ndim())).into()
        );
    }
    let cast = |to: &str| array.call_method1("astype", (to,));
    Ok(match array.dtype().kind() {
        b'b' => {
            Arc::new(BooleanArray::from(cast("bool")?.extract::<PyReadonlyArray1<'_, bool>>()?.as_array().to_vec()))
        }
        b'i' => Arc::new(Int64Array::from(cast("int64")?.extract::<PyReadonlyArray1<'_, i64>>()?.as_array().to_vec())),
        b'u' => {
            Arc::new(UInt64Array::from(cast("uint64")?.extract::<PyReadonlyArray1<'_, u64>>()?.as_array().to_vec()))
        }
        b'f' if array.dtype().itemsize() <= 8 => {
            Arc::new(Float64Array::from(cast("float64")?.extract::<PyReadonlyArray1<'_, f64>>()?.as_array().to_vec()))
        }
        b'U' | b'O' | b'T' => Arc::new(StringArray::from(texts(name, &array.call_method0("tolist")?)?)),
        _ => {
            return Err(Failure::invalid(format!(
                "{name} has the type {}: give numbers, booleans or texts",
                array.dtype()
            ))
            .into());
        }
    })
}
