//! Arguments of `export`.

use std::path::PathBuf;

use clap::ValueEnum;
use table::TableName;

use super::DataArgs;

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileFormat {
    /// Parquet, compressed with zstd
    Parquet,
    /// Comma-separated values with a header
    Csv,
    /// One JSON object per line
    Json,
}

/// Arguments of `export`.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// Table to export, as [DATABASE.]NAME
    pub(crate) name: TableName,
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
    /// Export only these columns
    #[arg(long, value_name = "COLUMN,..", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,
    /// Export only rows that meet this
    ///
    /// An SQL condition such as "status = '500' AND ping > 100".
    #[arg(long = "where", value_name = "EXPR")]
    pub(crate) condition: Option<String>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
}
