use std::borrow::Cow;
use std::io;

use parquet::errors::ParquetError;

/// Why pages cannot be read. The caller adds the file's name.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Valid Parquet, but this crate does not read the layout or codec.
    #[error("unsupported page layout")]
    Unsupported,
    #[error("{0}")]
    Damaged(Cow<'static, str>),
    #[error("{0}")]
    Io(#[from] io::Error),
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) const SHORT: Self = Self::damaged("a page ends early");

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
