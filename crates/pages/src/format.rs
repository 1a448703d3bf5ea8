//! How the pages of a segment are written.

use std::fmt;
use std::str::FromStr;

use super::codec::Codec;

/// Which Parquet encodings pages may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EncodingSet {
    /// Those that every common reader knows: Spark from 3.5, Trino, Athena, `ClickHouse`, DuckDB, pandas.
    #[default]
    Portable,
    /// Also `BYTE_STREAM_SPLIT`, which takes fewer bytes and newer readers.
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

/// How the pages of an ensemble's segments are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageFormat {
    /// What compresses them.
    pub codec: Codec,
    /// Which encodings they may have.
    pub encodings: EncodingSet,
}

impl Default for PageFormat {
    /// The usual codec, and dense.
    fn default() -> Self {
        Self { codec: Codec::default(), encodings: EncodingSet::Dense }
    }
}
