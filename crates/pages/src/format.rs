//! The format in which pages are written.

use strum::{Display, EnumString};

use super::codec::Codec;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Display, EnumString)]
#[strum(serialize_all = "lowercase", parse_err_ty = String, parse_err_fn = unknown_encodings)]
pub enum EncodingSet {
    /// Encodings that every common reader supports: Spark from 3.5, Trino, Athena, `ClickHouse`, DuckDB, pandas.
    #[default]
    Portable,
    /// Adds `BYTE_STREAM_SPLIT`: smaller files, newer readers.
    Dense,
}

fn unknown_encodings(text: &str) -> String {
    format!("unknown encodings {text:?}: choose portable or dense")
}

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
