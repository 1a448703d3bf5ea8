//! The rows of an answer.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::{cast, concat};
use arrow::datatypes::{DataType, Field, SchemaRef};
use arrow::error::ArrowError;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList};
use pyo3_arrow::ffi::{ArrayIterator, to_schema_pycapsule, to_stream_pycapsule};
use pyo3_arrow::{PyScalar, error::PyArrowResult};

use crate::array::{Array, Values};
use crate::failure::Failure;

/// Record batches of one schema.
#[pyclass(frozen, module = "manyworlds._native")]
pub(crate) struct Batches {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Batches {
    pub(crate) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches }
    }

    /// A column over all batches.
    fn column(&self, name: &str) -> Result<ArrayRef, Failure> {
        if self.schema.fields().iter().filter(|field| field.name() == name).count() > 1 {
            let reason = format!("several columns are called {name:?}: give each its own name, as with AS in SQL");
            return Err(Failure::invalid(reason));
        }
        let (place, field) = self.schema.column_with_name(name).ok_or_else(|| {
            let names = self.schema.fields().iter().map(|field| field.name().as_str());
            Failure::unknown(model::UnknownName::new("no column", name, names))
        })?;
        match self.batches.as_slice() {
            [] => Ok(arrow::array::new_empty_array(field.data_type())),
            [batch] => Ok(batch.column(place).clone()),
            batches => {
                let parts: Vec<_> = batches.iter().map(|batch| &**batch.column(place)).collect();
                concat(&parts).map_err(Failure::invalid)
            }
        }
    }
}

#[pymethods]
impl Batches {
    /// Reads an Arrow IPC stream.
    #[staticmethod]
    fn from_ipc(bytes: &[u8]) -> PyResult<Self> {
        let read = || {
            let reader = StreamReader::try_new(bytes, None)?;
            let schema = reader.schema();
            Ok(Self { schema, batches: reader.collect::<Result<_, _>>()? })
        };
        Ok(read().map_err(|error: ArrowError| Failure::storage(error))?)
    }

    /// Writes an Arrow IPC stream.
    fn to_ipc<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let write = || {
            let mut writer = StreamWriter::try_new(Vec::new(), &self.schema)?;
            self.batches.iter().try_for_each(|batch| writer.write(batch))?;
            writer.into_inner()
        };
        let bytes = py.detach(write).map_err(|error: ArrowError| Failure::storage(error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The columns' names.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.schema.fields().iter().map(|field| field.name().as_str()).collect()
    }

    /// The columns' types, in Arrow's words.
    #[getter]
    fn types(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.data_type().to_string()).collect()
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// A column as memory for NumPy; `None` if NumPy has no type for it.
    fn array(&self, name: &str) -> PyResult<Option<Array>> {
        Ok(Values::of_arrow(&self.column(name)?).and_then(Array::new))
    }

    /// The values of a column in some rows, as Python's objects.
    fn values<'py>(&self, py: Python<'py>, name: &str, first: usize, count: usize) -> PyResult<Bound<'py, PyList>> {
        let mut column = self.column(name)?;
        if let DataType::Interval(_) = column.data_type() {
            // Python has no type for months.
            column = cast(&column, &DataType::Utf8).map_err(Failure::invalid)?;
        }
        let values = PyList::empty(py);
        for row in (first..column.len()).take(count) {
            let scalar = PyScalar::try_from_array_ref(column.slice(row, 1))?;
            values.append(Bound::new(py, scalar)?.call_method0("as_py")?)?;
        }
        Ok(values)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyArrowResult<Bound<'py, PyCapsule>> {
        to_schema_pycapsule(py, self.schema.as_ref())
    }

    /// A new stream of all batches at each call.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyArrowResult<Bound<'py, PyCapsule>> {
        let field =
            Field::new_struct("", self.schema.fields().clone(), false).with_metadata(self.schema.metadata().clone());
        let arrays: Vec<_> = self
            .batches
            .iter()
            .cloned()
            .map(|batch| Ok(Arc::new(arrow::array::StructArray::from(batch)) as _))
            .collect();
        to_stream_pycapsule(py, Box::new(ArrayIterator::new(arrays, Arc::new(field))), requested_schema)
    }
}
