//! Formats and compression of request bodies.

use std::fmt;

use clap::ValueEnum;
use serde::Serialize;

/// The format of bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum WireFormat {
    /// MessagePack, one array per column
    Columnar,
    /// MessagePack, one map per record
    Rows,
    /// Line protocol
    Lp,
    /// One JSON object per line
    Json,
    /// An Arrow IPC stream
    Arrow,
}

impl WireFormat {
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum BodyCodec {
    None,
    Gzip,
    Zstd,
}

/// As on the command line.
impl fmt::Display for WireFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// As on the command line and in the header `content-encoding`.
impl fmt::Display for BodyCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}
