//! What `export` takes.

use std::path::PathBuf;

use clap::ValueEnum;
use table::TableName;

use super::DataArgs;

/// A form of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileFormat {
    /// Parquet, compressed with zstd
    Parquet,
    /// Comma-separated values with a header line
    Csv,
    /// JSON, one object a line
    Json,
}

/// What `export` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// The table: NAME, or DATABASE.NAME
    pub(crate) name: TableName,
    /// The file to write; what was there is replaced once all is written [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// How to write it [default: by the file's ending, else csv]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<FileFormat>,
    /// Only these columns
    #[arg(long, value_name = "COLUMN,..", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,
    /// Only the rows for which this is true, an SQL condition such as "status = '500' AND ping > 100"
    #[arg(long = "where", value_name = "EXPR")]
    pub(crate) condition: Option<String>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
}
