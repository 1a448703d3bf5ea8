//! Why a body or a stream is refused whole.

use arrow::error::ArrowError;

/// A body that is refused whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    #[error("the body is not valid {format}: {reason} (byte {at})")]
    Malformed {
        format: &'static str,
        reason: String,
        /// The offset, in bytes after decompression.
        at: usize,
    },
    #[error("the table's name {name:?} is not accepted: {reason}")]
    TableName { name: String, reason: String },
    /// The rules of a stream are invalid.
    #[error("cannot read the rows with these options: {reason}")]
    Rules { reason: String },
    /// A bug: Arrow rejects the decoded columns as a batch.
    #[error("the body's rows do not make a batch, which is a mistake of manyworlds: {reason}; please report it")]
    Unassembled { reason: String },
    #[error("the body is too large: {reason}; send fewer rows at once")]
    TooLarge {
        /// The limit, and by how much it is exceeded.
        reason: String,
    },
}

/// How to handle a [`DecodeError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeErrorKind {
    /// Correct the body: HTTP's 400.
    Malformed,
    /// Send less at once: HTTP's 413.
    TooLarge,
    /// Report it: HTTP's 500.
    Bug,
}

impl DecodeError {
    pub fn kind(&self) -> DecodeErrorKind {
        match self {
            Self::Malformed { .. } | Self::TableName { .. } | Self::Rules { .. } => DecodeErrorKind::Malformed,
            Self::Unassembled { .. } => DecodeErrorKind::Bug,
            Self::TooLarge { .. } => DecodeErrorKind::TooLarge,
        }
    }

    pub(crate) fn unassembled(error: &ArrowError) -> Self {
        Self::Unassembled { reason: error.to_string() }
    }
}

pub(crate) fn wrong<T>(reason: String) -> Result<T, DecodeError> {
    Err(DecodeError::Rules { reason })
}
