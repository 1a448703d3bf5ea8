//! The format in which pages are written.

use std::fmt;
use std::str::FromStr;

use super::codec::Codec;

/// Which Parquet encodings pages may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EncodingSet {
    /// Encodings that every common reader supports: Spark from 3.5, Trino, Athena, `ClickHouse`, DuckDB, pandas.
    #[default]
    Portable,
    /// Adds `BYTE_STREAM_SPLIT`: smaller files, newer readers.
    Dense,
}

impl fmt::Display for EncodingSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Portable => "portable",
            Self::Dense => "dense",
        })
    }
}

impl FromStr for EncodingSet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "portable" => Ok(Self::Portable),
            "dense" => Ok(Self::Dense),
            _ => Err(format!("unknown encodings {text:?}: choose portable or dense")),
        }
    }
}

/// The page format of an ensemble's segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageFormat {
    pub codec: Codec,
    pub encodings: EncodingSet,
}

impl Default for PageFormat {
    fn default() -> Self {
        Self { codec: Codec::default(), encodings: EncodingSet::Dense }
    }
}
