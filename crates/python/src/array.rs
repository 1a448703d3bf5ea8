//! Numbers in memory that NumPy reads in place.

use std::sync::Arc;

use ::ensemble::{Column, Narrow};
use arrow::array::{Array as _, ArrayRef, AsArray as _};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimeUnit, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use model::OutcomeKind;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A one-dimensional array. `numpy.asarray` shares its memory, which is read-only and outlives the last array that uses it.
#[pyclass(frozen, module = "manyworlds._native")]
pub(crate) struct Array(Values);

#[derive(Clone)]
pub(crate) enum Values {
    /// A flag's bytes, each 0 or 1.
    Flags(Arc<Column>),
    /// A real outcome.
    Reals(Arc<Column>),
    Integers(Arc<[i64]>),
    Decimals(Arc<[f64]>),
    /// Bytes that are each 0 or 1.
    Bools(Arc<[u8]>),
    /// Times as integers, and their type in NumPy's words.
    Times(Arc<[i64]>, &'static str),
    /// A column of numbers without NULL.
    Arrow(ArrayRef),
}

/// NumPy's NULL among times.
const NOT_A_TIME: i64 = i64::MIN;

impl Values {
    /// The values of an outcome in the type that NumPy computes with: `bool` for flags, `float64` for decimals and real
    /// numbers, otherwise `int64`. Columns keep integers in the narrowest type, in which sums would overflow.
    pub(crate) fn of(column: &Arc<Column>, kind: OutcomeKind) -> Self {
        match &column.values {
            Narrow::F64(_) => Self::Reals(column.clone()),
            Narrow::U8(values) if kind == OutcomeKind::Flag && values.iter().all(|value| *value < 2) => {
                Self::Flags(column.clone())
            }
            _ if column.scale != 1 => Self::Decimals((0..column.len()).map(|place| column.value(place)).collect()),
            Narrow::U8(values) => Self::Integers(values.iter().map(|value| i64::from(*value)).collect()),
            Narrow::I16(values) => Self::Integers(values.iter().map(|value| i64::from(*value)).collect()),
            Narrow::I32(values) => Self::Integers(values.iter().map(|value| i64::from(*value)).collect()),
        }
    }

    /// The values of a column of a table; `None` if NumPy has no type for them. NULL becomes NaN in numbers that a
    /// `float64` holds exactly, and NaT in times.
    pub(crate) fn of_arrow(array: &ArrayRef) -> Option<Self> {
        let times = |numbers: &ArrayRef, name| {
            let numbers = cast(numbers, &DataType::Int64).ok()?;
            let numbers = numbers.as_primitive::<Int64Type>();
            Some(Self::Times(numbers.iter().map(|time| time.unwrap_or(NOT_A_TIME)).collect(), name))
        };
        let of = |unit: &TimeUnit| match unit {
            TimeUnit::Second => "<M8[s]",
            TimeUnit::Millisecond => "<M8[ms]",
            TimeUnit::Microsecond => "<M8[us]",
            TimeUnit::Nanosecond => "<M8[ns]",
        };
        match array.data_type() {
            DataType::Timestamp(unit, _) => times(array, of(unit)),
            DataType::Date32 => times(&cast(array, &DataType::Int32).ok()?, "<M8[D]"),
            DataType::Boolean if array.null_count() == 0 => {
                Some(Self::Bools(array.as_boolean().values().iter().map(u8::from).collect()))
            }
            of if of.is_numeric() && array.null_count() == 0 => Some(Self::Arrow(array.clone())),
            of if of.is_integer() || of.is_floating() => {
                /// Up to this size every integer is a `float64`.
                const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
                let reals = cast(array, &DataType::Float64).ok()?;
                let reals = reals.as_primitive::<Float64Type>();
                let is_exact = of.is_floating() || reals.iter().flatten().all(|real| real.abs() < EXACT_MAX);
                is_exact.then(|| Self::Decimals(reals.iter().map(|real| real.unwrap_or(f64::NAN)).collect()))
            }
            _ => None,
        }
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Flags(column) | Self::Reals(column) => column.bytes(),
            Self::Integers(values) | Self::Times(values, _) => values.len() * 8,
            Self::Decimals(values) => values.len() * 8,
            Self::Bools(values) => values.len(),
            Self::Arrow(values) => values.get_buffer_memory_size(),
        }
    }

    /// The address of the first value, their number, and their type in NumPy's words; `None` for a type without any.
    fn layout(&self) -> Option<(usize, usize, &'static str)> {
        fn of<T>(values: &[T], name: &'static str) -> (usize, usize, &'static str) {
            (values.as_ptr() as usize, values.len(), name)
        }
        Some(match self {
            Self::Flags(column) | Self::Reals(column) => match &column.values {
                Narrow::U8(values) => of(values, "|b1"),
                Narrow::F64(values) => of(values, "<f8"),
                Narrow::I16(_) | Narrow::I32(_) => return None,
            },
            Self::Integers(values) => of(values, "<i8"),
            Self::Decimals(values) => of(values, "<f8"),
            Self::Bools(values) => of(values, "|b1"),
            Self::Times(values, name) => of(values, name),
            Self::Arrow(array) => match array.data_type() {
                DataType::Int8 => of(array.as_primitive::<Int8Type>().values(), "|i1"),
                DataType::Int16 => of(array.as_primitive::<Int16Type>().values(), "<i2"),
                DataType::Int32 => of(array.as_primitive::<Int32Type>().values(), "<i4"),
                DataType::Int64 => of(array.as_primitive::<Int64Type>().values(), "<i8"),
                DataType::UInt8 => of(array.as_primitive::<UInt8Type>().values(), "|u1"),
                DataType::UInt16 => of(array.as_primitive::<UInt16Type>().values(), "<u2"),
                DataType::UInt32 => of(array.as_primitive::<UInt32Type>().values(), "<u4"),
                DataType::UInt64 => of(array.as_primitive::<UInt64Type>().values(), "<u8"),
                DataType::Float32 => of(array.as_primitive::<Float32Type>().values(), "<f4"),
                DataType::Float64 => of(array.as_primitive::<Float64Type>().values(), "<f8"),
                _ => return None,
            },
        })
    }
}

impl Array {
    pub(crate) fn new(values: Values) -> Option<Self> {
        values.layout().is_some().then(|| Self(values))
    }
}

#[pymethods]
impl Array {
    /// NumPy's description of the memory.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        const VERSION: u32 = 3;
        const READ_ONLY: bool = true;
        let interface = PyDict::new(py);
        if let Some((address, len, name)) = self.0.layout() {
            interface.set_item("data", (address, READ_ONLY))?;
            interface.set_item("shape", (len,))?;
            interface.set_item("typestr", name)?;
            interface.set_item("version", VERSION)?;
        }
        Ok(interface)
    }

    fn __len__(&self) -> usize {
        self.0.layout().map_or(0, |(_, len, _)| len)
    }
}
