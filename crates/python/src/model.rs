//! Models written in Python, as models of the engine.

use std::sync::Arc;

use model::{Catalogue, Failure as ModelFailure, Model, Sink, Stop, Wanted};
use pyo3::prelude::*;
use world::{Seed, World, WorldRange};

use crate::emitted::Emitter;

/// A model whose worlds a Python function plays: `play(seed, first, count, emit)` returns `None`, or the first world
/// that fails, if known, and the reason.
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

    fn simulate(&self, seed: Seed, range: WorldRange, wanted: Wanted, sink: &mut dyn Sink) -> Result<(), Stop> {
        let failed =
            |message: String, world: Option<u32>| ModelFailure { message, entity: None, world: world.map(World) };
        let emitter = Python::attach(|py| {
            let emitter = Bound::new(py, Emitter::new(self.catalogue.clone(), range))?;
            let arguments = (seed.0, range.first().0, range.count(), &emitter);
            let failure: Option<(Option<u32>, String)> = self.play.call1(py, arguments)?.extract(py)?;
            Ok(match failure {
                Some((world, reason)) => Err(failed(reason, world)),
                None => Ok(emitter.unbind()),
            })
        });
        let emitter = emitter.map_err(|error: PyErr| failed(error.to_string(), None))??;
        emitter.get().send(wanted.entity, sink)
    }
}
