//! Errors of a run.

use ensemble::EnsembleError;
use table::TableError;
use world::WorldRange;

/// Why another process could not play a range, in the words of whoever started the process.
pub type ElsewhereError = Box<dyn std::error::Error + Send + Sync>;

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
    /// Another process could not play a range.
    #[error(transparent)]
    Elsewhere(ElsewhereError),
    #[error("worlds {range} could not be played: {reason}")]
    Model { range: WorldRange, reason: String },
}
