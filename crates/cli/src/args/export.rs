//! Arguments of `info` and `export`.

use std::path::PathBuf;

use clap::ValueEnum;

use super::{FormatArgs, PlaceArgs};

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileFormat {
    /// Parquet, compressed with zstd
    Parquet,
    /// Comma-separated values with a header
    Csv,
    /// One JSON object per line
    Json,
    /// Arrow file
    Arrow,
}

// A table or an ensemble.
#[derive(Debug, clap::Args)]
pub(crate) struct NamedArgs {
    /// Table, as [DATABASE.]NAME, or ensemble
    ///
    /// A name of both means the table, unless with --ensemble.
    pub(crate) name: String,
    /// Take the ensemble of this name
    #[arg(long)]
    pub(crate) ensemble: bool,
    #[command(flatten)]
    pub(crate) data: PlaceArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    pub(crate) named: NamedArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) named: NamedArgs,
    /// Write this file instead of stdout
    ///
    /// The file appears, or is replaced, once all rows are written.
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// Choose the file format
    ///
    /// Default: the format that the file's extension names, else csv.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<FileFormat>,
    /// Export only these columns, or outcomes
    #[arg(long, value_name = "COLUMN,..", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,
    /// Export only rows that meet this
    ///
    /// Of a table: an SQL condition such as "status = '500' AND ping > 100".
    #[arg(long = "where", value_name = "EXPR")]
    pub(crate) condition: Option<String>,
    /// Export only entities of this kind
    ///
    /// For an ensemble with several kinds: rows then hold one entity each, else all of them.
    #[arg(long, value_name = "KIND", conflicts_with = "condition")]
    pub(crate) kind: Option<String>,
}
