//! Elementary functions with the same bits on every processor.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::failure::Failure;

/// The function of one argument with this name.
fn of_one(name: &str) -> Option<fn(f64) -> f64> {
    Some(match name {
        "exp" => libm::exp,
        "exp2" => libm::exp2,
        "expm1" => libm::expm1,
        "log" => libm::log,
        "log2" => libm::log2,
        "log10" => libm::log10,
        "log1p" => libm::log1p,
        "sin" => libm::sin,
        "cos" => libm::cos,
        "tan" => libm::tan,
        "asin" => libm::asin,
        "acos" => libm::acos,
        "atan" => libm::atan,
        "sinh" => libm::sinh,
        "cosh" => libm::cosh,
        "tanh" => libm::tanh,
        "cbrt" => libm::cbrt,
        "erf" => libm::erf,
        "erfc" => libm::erfc,
        "gamma" => libm::tgamma,
        "lgamma" => libm::lgamma,
        _ => return None,
    })
}

/// The function of two arguments with this name.
fn of_two(name: &str) -> Option<fn(f64, f64) -> f64> {
    Some(match name {
        "pow" => libm::pow,
        "atan2" => libm::atan2,
        "hypot" => libm::hypot,
        _ => return None,
    })
}

/// Applies a function to each value.
#[pyfunction]
pub(crate) fn map_one<'py>(
    py: Python<'py>,
    name: &str,
    x: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let function = of_one(name).ok_or_else(|| Failure::unknown(format!("no function {name:?}")))?;
    let x = x.as_slice().map_err(Failure::invalid)?;
    let values = py.detach(|| x.iter().map(|x| function(*x)).collect());
    Ok(PyArray1::from_vec(py, values))
}

/// Applies a function to each pair of values.
#[pyfunction]
pub(crate) fn map_two<'py>(
    py: Python<'py>,
    name: &str,
    x: PyReadonlyArray1<'py, f64>,
    y: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let function = of_two(name).ok_or_else(|| Failure::unknown(format!("no function {name:?}")))?;
    let (x, y) = (x.as_slice().map_err(Failure::invalid)?, y.as_slice().map_err(Failure::invalid)?);
    let values = py.detach(|| x.iter().zip(y).map(|(x, y)| function(*x, *y)).collect());
    Ok(PyArray1::from_vec(py, values))
}
