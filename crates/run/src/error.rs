//! Errors of a run.

use ensemble::EnsembleError;
use table::TableError;
use world::WorldRange;

/// Why a run ended early. Ranges committed before stay committed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The store failed.
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    /// The files of a range could not be written.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The worker threads could not be started.
    #[error("could not start a thread: {0}")]
    Thread(std::io::Error),
    /// The model failed on a range.
    #[error("worlds {range} could not be played: {reason}")]
    Model {
        /// The worlds.
        range: WorldRange,
        /// The reason.
        reason: String,
    },
}
