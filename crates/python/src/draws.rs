//! Random draws as NumPy arrays: one value for each world of a range.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use world::{PerWorld, Seed, Streams, World, WorldRange};

use crate::failure::Failure;

/// The streams of one entity and purpose in all worlds of a range. A world's draws do not depend on the range.
#[pyclass(module = "manyworlds._native")]
pub(crate) struct Draws(Streams);

/// A number, or one for each world.
#[derive(FromPyObject)]
enum Given<'py> {
    All(f64),
    Each(PyReadonlyArray1<'py, f64>),
}

impl Given<'_> {
    /// The numbers, all of which `accepts` must accept.
    fn checked(
        &self,
        worlds: usize,
        name: &str,
        wanted: &str,
        accepts: impl Fn(f64) -> bool,
    ) -> Result<PerWorld<'_>, Failure> {
        let numbers = match self {
            Self::All(number) => PerWorld::All(*number),
            Self::Each(numbers) => PerWorld::Each(numbers.as_slice().map_err(Failure::invalid)?),
        };
        if let PerWorld::Each(numbers) = numbers
            && numbers.len() != worlds
        {
            let len = numbers.len();
            return Err(Failure::invalid(format!(
                "{name} has {len} values for {worlds} worlds: give one, or one for each"
            )));
        }
        if numbers.all(accepts) {
            Ok(numbers)
        } else {
            Err(Failure::invalid(format!("{name} has a value that is not {wanted}")))
        }
    }
}

#[pymethods]
impl Draws {
    #[new]
    fn new(seed: u64, first: u32, count: u32, entity: u32, purpose: u32) -> PyResult<Self> {
        let worlds = WorldRange::new(World(first), count).map_err(Failure::invalid)?;
        Ok(Self(Streams::new(Seed(seed), worlds, entity, purpose)))
    }

    fn uniform<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, py.detach(|| self.0.uniform()))
    }

    fn normal<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, py.detach(|| self.0.normal()))
    }

    fn exponential<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, py.detach(|| self.0.exponential()))
    }

    /// Whole numbers from 0 to below `n`.
    fn below<'py>(&mut self, py: Python<'py>, n: u64) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_vec(py, py.detach(|| self.0.below(n)))
    }

    /// Places in a list of probabilities, given as their cumulative sums.
    fn choice<'py>(&mut self, py: Python<'py>, cumulative: Vec<f64>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_vec(py, py.detach(|| self.0.choice(&cumulative)))
    }

    fn poisson<'py>(&mut self, py: Python<'py>, mean: Given<'_>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        /// Above this, `float64` has no room for the digits that tell neighbours apart.
        const MEAN_MAX: f64 = 1e12;
        let wanted = "a number from 0 to 1e12";
        let mean = mean.checked(self.0.worlds(), "mean", wanted, |mean| (0.0..=MEAN_MAX).contains(&mean))?;
        Ok(PyArray1::from_vec(py, py.detach(|| self.0.poisson(mean))))
    }

    fn binomial<'py>(&mut self, py: Python<'py>, n: Given<'_>, p: Given<'_>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        const N_MAX: f64 = 1e12;
        let worlds = self.0.worlds();
        let whole = |n: f64| (0.0..=N_MAX).contains(&n) && n.fract() == 0.0;
        let n = n.checked(worlds, "n", "a whole number from 0 to 1e12", whole)?;
        let p = p.checked(worlds, "p", "a probability from 0 to 1", |p| (0.0..=1.0).contains(&p))?;
        Ok(PyArray1::from_vec(py, py.detach(|| self.0.binomial(n, p))))
    }
}
