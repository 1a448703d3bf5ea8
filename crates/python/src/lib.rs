//! The native part of the Python package `manyworlds`.
//!
//! Enters: a place of tables, and questions as texts and JSON. Leaves: JSON in the form of the commands and the server,
//! Arrow record batches, and memory that NumPy reads in place. `python/manyworlds` builds its classes on these, the same
//! ones for a folder and for a server.
//!
//! Guarantees
//! - Work runs without Python's lock. Ctrl-C ends a question within a second.
//! - Messages of the engine go to Python's `logging`.
//! - Errors arrive as the classes of `manyworlds.errors`.
//! - A process that was forked after the first question gets an error instead of waiting for threads that it lacks.
//!
//! Holds no logic that another face would need.

#![expect(clippy::needless_pass_by_value, reason = "Python's arguments arrive as values")]

mod array;
mod batches;
mod draws;
mod emitted;
mod ensemble;
mod events;
mod failure;
mod import;
mod logging;
mod math;
mod model;
mod play;
mod store;
mod wait;
mod write;

use std::path::PathBuf;

use pyo3::prelude::*;

/// Returns pages to the system, as in the program.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Runs a command of the program `manyworlds` and returns its exit code. `program` starts processes of
/// commands: a file and its first arguments.
#[pyfunction]
fn main(py: Python<'_>, words: Vec<PathBuf>, program: Vec<PathBuf>) -> u8 {
    let owned = |words: Vec<PathBuf>| words.into_iter().map(PathBuf::into_os_string).collect();
    py.detach(|| cli::main(owned(words), Ok(owned(program)))).0
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::{
        array::Array,
        batches::Batches,
        draws::Draws,
        emitted::{Emitter, emitter},
        ensemble::{Ensemble, bets},
        events::{Events, events},
        import::{table, write},
        main,
        math::{map_one, map_two},
        model::{add_model, catalogue_fault, find_models, parameters},
        play::{Player, play},
        store::Store,
        write::bodies,
    };
}
