//! Formats and compression of request bodies.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// The format of bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WireFormat {
    /// `MessagePack`, one array per column.
    Columnar,
    /// `MessagePack`, one map per record.
    Rows,
    /// Line protocol.
    Lp,
    /// One JSON object per line.
    Json,
    /// An Arrow IPC stream.
    Arrow,
}

impl WireFormat {
    pub const ALL: [Self; 5] = [Self::Columnar, Self::Rows, Self::Lp, Self::Json, Self::Arrow];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Columnar => "columnar",
            Self::Rows => "rows",
            Self::Lp => "lp",
            Self::Json => "json",
            Self::Arrow => "arrow",
        }
    }

    /// The path for bodies of a table.
    pub(crate) fn path(self, database: &str, table: &str) -> String {
        match self {
            Self::Columnar | Self::Rows => "/api/v1/write/msgpack".to_owned(),
            Self::Lp => format!("/write?db={database}&precision=us"),
            Self::Json => format!("/api/v1/write/json?table={database}.{table}"),
            Self::Arrow => format!("/api/v1/write/arrow?table={database}.{table}"),
        }
    }
}

/// The compression of bodies, at its fastest level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BodyCodec {
    None,
    Gzip,
    Zstd,
}

impl BodyCodec {
    pub const ALL: [Self; 3] = [Self::None, Self::Gzip, Self::Zstd];

    /// Its name on the command line and in the header `content-encoding`.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// An unknown name of a format or codec.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown value {given:?}: choose one of {choices}")]
pub struct UnknownWord {
    given: String,
    choices: String,
}

fn choose<T: Copy>(given: &str, all: &[T], name: fn(T) -> &'static str) -> Result<T, UnknownWord> {
    let found = all.iter().copied().find(|one| name(*one) == given);
    found.ok_or_else(|| {
        let choices: Vec<&str> = all.iter().map(|one| name(*one)).collect();
        UnknownWord { given: given.to_owned(), choices: choices.join(", ") }
    })
}

impl FromStr for WireFormat {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        choose(text, &Self::ALL, Self::name)
    }
}

impl FromStr for BodyCodec {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        choose(text, &Self::ALL, Self::name)
    }
}

impl fmt::Display for WireFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for BodyCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
