//! Errors of a run.

use ensemble::EnsembleError;
use table::TableError;
use world::WorldRange;

/// Why a run ended early. Ranges committed before stay committed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    /// The files of a range could not be written.
    #[error(transparent)]
    Table(#[from] TableError),
    #[error("could not start a thread: {0}")]
    Thread(std::io::Error),
    #[error("worlds {range} could not be played: {reason}")]
    Model { range: WorldRange, reason: String },
}
