//! What can go wrong with pages.

use std::borrow::Cow;
use std::io;

use parquet::errors::ParquetError;

/// Why pages cannot be read. The caller knows the file, and names it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The layout or the codec is valid Parquet, but not read here.
    #[error("it has a page layout that is not supported")]
    Unsupported,
    /// The bytes break the rules of Parquet.
    #[error("{0}")]
    Damaged(Cow<'static, str>),
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// A result whose error is an [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) const SHORT: Self = Self::damaged("a page ends early");

    /// Bytes that break the rules of Parquet.
    pub const fn damaged(reason: &'static str) -> Self {
        Self::Damaged(Cow::Borrowed(reason))
    }
}

impl From<ParquetError> for Error {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(source) => match source.downcast::<io::Error>() {
                Ok(source) => Self::Io(*source),
                Err(other) => Self::Damaged(other.to_string().into()),
            },
            other => Self::Damaged(other.to_string().into()),
        }
    }
}
