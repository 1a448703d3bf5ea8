//! What `table` takes.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Subcommand;
use table::{Codec, Curve, EncodingSet, Layout, SIM, TableError, TableName};

use super::{DataArgs, FormatArgs, OnConflict};

/// What can be done to a table.
#[derive(Debug, Subcommand)]
pub(crate) enum TableTask {
    /// Insert the rows of files, batch by batch, each durable when it is done; makes the table first
    Insert(Box<TableInsertArgs>),
    /// List the tables
    List {
        #[command(flatten)]
        data: DataArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Show how a table is stored, and what each column costs
    Inspect(TableArgs),
    /// Remove a table and its files
    Drop(TableArgs),
    /// Put the rows of a clustered table in such an order that those alike in its clustering columns lie together
    Cluster(TableClusterArgs),
    /// Merge small files into large ones
    Compact(TableCompactArgs),
    /// Write all rows anew, in another layout or with other options; what is not named stays
    Rewrite(TableRewriteArgs),
    /// Remove the rows that meet a condition; only tells what would go unless told to --apply
    Delete(TableDeleteArgs),
    /// Remove old rows; only tells what would go unless told to --apply
    Trim(TableTrimArgs),
    /// Remove files that no version of the table needs; only tells what would go unless told to --apply
    Vacuum(TableVacuumArgs),
}

/// Which table.
#[derive(Debug, clap::Args)]
pub(crate) struct TableArgs {
    /// The table: NAME, or DATABASE.NAME
    pub(crate) name: TableName,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

impl TableArgs {
    /// Its folder.
    pub(crate) fn folder(&self) -> PathBuf {
        self.name.folder(&self.data.data)
    }
}

/// What `table insert` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct TableInsertArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Files of rows: .csv with a header, .jsonl (or .ndjson, .json) of one object a line, .parquet or .arrow
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// How rows are stored: row, column, pruned or clustered [default: pruned; clustered with --cluster]
    #[arg(long, value_name = "LAYOUT")]
    pub(crate) layout: Option<Layout>,
    /// Columns with Bloom filters, for questions by equality
    #[arg(long, value_name = "COLUMN,..", value_delimiter = ',')]
    pub(crate) bloom: Vec<String>,
    /// Columns with a look-up beside every segment, for questions by equality, by a list and by a range
    #[arg(long, value_name = "COLUMN,..", value_delimiter = ',')]
    pub(crate) lookup: Vec<String>,
    /// Columns that `table cluster` orders the rows by
    #[arg(long, value_name = "COLUMN,..", value_delimiter = ',')]
    pub(crate) cluster: Vec<String>,
    /// Along which curve: hilbert, zorder or lexical [default: hilbert]
    #[arg(long, value_name = "CURVE", requires = "cluster")]
    pub(crate) curve: Option<Curve>,
    /// What compresses pages: none, snappy, lz4, gzip or zstd:LEVEL [default: zstd:1]
    #[arg(long, value_name = "CODEC")]
    pub(crate) codec: Option<Codec>,
    /// Parquet encodings: portable or dense (smaller, for new readers only) [default: portable]
    #[arg(long, value_name = "SET")]
    pub(crate) encodings: Option<EncodingSet>,
    /// Rows of a batch, each of which is one segment and one commit
    #[arg(long, value_name = "N", default_value_t = 500_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) batch_rows: u32,
    /// Insert rows again that were inserted from the same files before
    #[arg(long)]
    pub(crate) again: bool,
    /// What to do with a value that does not fit its column
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = OnConflict::Overflow)]
    pub(crate) on_conflict: OnConflict,
}

/// What `table cluster` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct TableClusterArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Cluster by these columns from now on [default: those that the table was made with]
    #[arg(long, value_name = "COLUMN,..", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,
    /// Order the rows along this curve from now on: hilbert, zorder or lexical [default: as before]
    #[arg(long, value_name = "CURVE")]
    pub(crate) curve: Option<Curve>,
    /// Memory for rows that are being moved, in MB; more are put aside on disk
    #[arg(long, value_name = "MB", default_value_t = table::cluster::MEMORY >> 20)]
    pub(crate) memory: usize,
    /// Take up rows that are clustered already, too
    #[arg(long)]
    pub(crate) all: bool,
}

/// What `table compact` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct TableCompactArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
}

/// What `table rewrite` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct TableRewriteArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// How rows are stored from now on: row, column, pruned or clustered
    #[arg(long, value_name = "LAYOUT")]
    pub(crate) layout: Option<Layout>,
    /// Columns with Bloom filters, for questions by equality; '' leaves none
    #[arg(long, value_name = "COLUMN,..", value_delimiter = ',')]
    pub(crate) bloom: Option<Vec<String>>,
    /// Columns that the rows are ordered by, in layout clustered
    #[arg(long, value_name = "COLUMN,..", value_delimiter = ',')]
    pub(crate) cluster: Option<Vec<String>>,
    /// Along which curve: hilbert, zorder or lexical
    #[arg(long, value_name = "CURVE")]
    pub(crate) curve: Option<Curve>,
    /// What compresses pages: none, snappy, lz4, gzip or zstd:LEVEL
    #[arg(long, value_name = "CODEC")]
    pub(crate) codec: Option<Codec>,
    /// Parquet encodings: portable or dense (smaller, for new readers only)
    #[arg(long, value_name = "SET")]
    pub(crate) encodings: Option<EncodingSet>,
    /// Memory for rows that are being ordered, in MB; more are put aside on disk
    #[arg(long, value_name = "MB", default_value_t = table::cluster::MEMORY >> 20)]
    pub(crate) memory: usize,
}

/// What `table delete` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct TableDeleteArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Remove the rows for which this is true, an SQL condition such as "tower < 10 AND note IS NULL"; rows for which it
    /// is false or NULL stay
    #[arg(long = "where", value_name = "EXPR")]
    pub(crate) condition: String,
    /// Do it
    #[arg(long)]
    pub(crate) apply: bool,
}

/// What `table trim` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct TableTrimArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Remove the rows before this time, such as 2025-10-01 or 2025-10-01T12:00:00Z; rows without a time stay
    #[arg(long, value_name = "TIME", conflicts_with = "keep_bytes")]
    pub(crate) before: Option<String>,
    /// Remove the oldest files, so that the others have so many bytes at most
    #[arg(long, value_name = "N")]
    pub(crate) keep_bytes: Option<u64>,
    /// The column that says a row's time [default: the first one that holds times, or dates]
    #[arg(long, value_name = "NAME")]
    pub(crate) column: Option<String>,
    /// Do it
    #[arg(long)]
    pub(crate) apply: bool,
}

/// What `table vacuum` works on.
#[derive(Debug, Clone)]
pub(crate) enum VacuumTarget {
    /// A table of rows.
    Table(TableName),
    /// The three tables of ensembles, whose files belong together.
    Ensembles,
}

impl FromStr for VacuumTarget {
    type Err = TableError;

    fn from_str(text: &str) -> Result<Self, TableError> {
        match text.split_once('.').map_or(text, |(database, _)| database) {
            SIM => Ok(Self::Ensembles),
            _ => text.parse().map(Self::Table),
        }
    }
}

/// What `table vacuum` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct TableVacuumArgs {
    /// The table: NAME, or DATABASE.NAME; `sim` for the ensembles, whose replaced versions keep their files until then
    pub(crate) name: VacuumTarget,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    /// Keep the files of versions that were current within so many hours
    #[arg(long, value_name = "HOURS", default_value_t = 168)]
    pub(crate) retain: u64,
    /// Do it
    #[arg(long)]
    pub(crate) apply: bool,
}

/// What `rebuild` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct RebuildArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Do it
    #[arg(long)]
    pub(crate) apply: bool,
}
