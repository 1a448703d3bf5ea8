//! Arguments of `table`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Subcommand;
use table::{Codec, Curve, EncodingSet, Layout, SIM, TableError, TableName};

use super::{DataArgs, FormatArgs, OnConflict};

// A task on a table.
#[derive(Debug, Subcommand)]
pub(crate) enum TableTask {
    /// Insert rows of files into a table
    ///
    /// Creates the table if it does not exist. Each batch is durable when it is done, and an interrupted insert resumes when
    /// it is run again.
    #[command(after_long_help = "Example:\n  manyworlds table insert calls calls.csv --cluster tower,at")]
    Insert(Box<TableInsertArgs>),
    /// List the tables
    #[command(after_long_help = "Example:\n  manyworlds table list")]
    List {
        #[command(flatten)]
        data: DataArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Show the storage cost of each column
    #[command(after_long_help = "Example:\n  manyworlds table inspect calls")]
    Inspect(TableArgs),
    /// Remove a table and its files
    #[command(after_long_help = "Example:\n  manyworlds table drop calls")]
    Drop(TableArgs),
    /// Cluster rows with similar values
    ///
    /// Orders rows by the clustering columns along a space-filling curve, so that queries on them read fewer pages.
    #[command(after_long_help = "Example:\n  manyworlds table cluster calls --columns tower,at")]
    Cluster(TableClusterArgs),
    /// Merge small files into large ones
    #[command(after_long_help = "Example:\n  manyworlds table compact calls")]
    Compact(TableArgs),
    /// Rewrite a table with other storage options
    ///
    /// Options that are not named stay.
    #[command(after_long_help = "Example:\n  manyworlds table rewrite calls --codec zstd:9")]
    Rewrite(TableRewriteArgs),
    /// Delete rows that meet a condition
    ///
    /// Without --apply it only reports what it would remove.
    #[command(after_long_help = "Example:\n  manyworlds table delete calls --where 'tower < 10' --apply")]
    Delete(TableDeleteArgs),
    /// Remove a table's oldest rows
    ///
    /// Without --apply it only reports what it would remove.
    #[command(after_long_help = "Example:\n  manyworlds table trim calls --before 2025-10-01 --apply")]
    Trim(TableTrimArgs),
    /// Remove files that no version needs
    ///
    /// Without --apply it only reports what it would remove.
    #[command(after_long_help = "Example:\n  manyworlds table vacuum calls --apply")]
    Vacuum(TableVacuumArgs),
    /// Repair a table with damaged files
    ///
    /// Reads every row, sets aside what cannot be read, flushes the log and merges small files. Exits with code 1 if rows are
    /// damaged. Without --apply it only reports what it would do.
    #[command(after_long_help = "Example:\n  manyworlds table rebuild calls --apply")]
    Rebuild(RebuildArgs),
}

// A table and its place.
#[derive(Debug, clap::Args)]
pub(crate) struct TableArgs {
    /// Table, as [DATABASE.]NAME
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

#[derive(Debug, clap::Args)]
pub(crate) struct TableInsertArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Files to insert
    ///
    /// .csv with a header, .jsonl (or .ndjson, .json) with one object per line, .parquet or .arrow. The first two may be
    /// compressed with gzip or zstd, such as .csv.gz.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Choose the storage layout
    ///
    /// column, pruned or clustered. Default: pruned, or clustered with --cluster.
    #[arg(long, value_name = "LAYOUT")]
    pub(crate) layout: Option<Layout>,
    /// Add Bloom filters to these columns
    ///
    /// They speed up queries by equality.
    #[arg(long, value_name = "COLUMN,..", value_delimiter = ',')]
    pub(crate) bloom: Vec<String>,
    /// Add secondary indexes to these columns
    ///
    /// They speed up queries by equality, list and range.
    #[arg(long, value_name = "COLUMN,..", value_delimiter = ',')]
    pub(crate) lookup: Vec<String>,
    /// Let `table cluster` order by these columns
    #[arg(long, value_name = "COLUMN,..", value_delimiter = ',')]
    pub(crate) cluster: Vec<String>,
    /// Choose the curve of the order
    ///
    /// hilbert, zorder or lexical. Default: hilbert.
    #[arg(long, value_name = "CURVE", requires = "cluster")]
    pub(crate) curve: Option<Curve>,
    /// Compress pages with this codec
    ///
    /// none, snappy, lz4, gzip or zstd:LEVEL. Default: zstd:1.
    #[arg(long, value_name = "CODEC")]
    pub(crate) codec: Option<Codec>,
    /// Choose the Parquet encodings
    ///
    /// portable, or dense: smaller, for newer readers only. Default: portable.
    #[arg(long, value_name = "SET")]
    pub(crate) encodings: Option<EncodingSet>,
    /// Put this many rows in a batch
    ///
    /// Each batch is one segment and one commit.
    #[arg(long, value_name = "N", default_value_t = 500_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) batch_rows: u32,
    /// Insert files again that were inserted before
    #[arg(long)]
    pub(crate) again: bool,
    /// Handle values that do not fit their column
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = OnConflict::Overflow)]
    pub(crate) on_conflict: OnConflict,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TableClusterArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Cluster by these columns from now on
    ///
    /// Default: the columns that the table was created with.
    #[arg(long, value_name = "COLUMN,..", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,
    /// Choose the curve from now on
    ///
    /// hilbert, zorder or lexical. Default: the curve of the table.
    #[arg(long, value_name = "CURVE")]
    pub(crate) curve: Option<Curve>,
    /// Limit the memory for rows, in MB
    ///
    /// Further rows spill to disk.
    #[arg(long, value_name = "MB", default_value_t = table::cluster::MEMORY >> 20)]
    pub(crate) memory: usize,
    /// Include rows that are clustered already
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TableRewriteArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Choose the storage layout
    ///
    /// column, pruned or clustered.
    #[arg(long, value_name = "LAYOUT")]
    pub(crate) layout: Option<Layout>,
    /// Set the columns with Bloom filters
    ///
    /// '' removes all.
    #[arg(long, value_name = "COLUMN,..", value_delimiter = ',')]
    pub(crate) bloom: Option<Vec<String>>,
    /// Set the columns of layout clustered
    #[arg(long, value_name = "COLUMN,..", value_delimiter = ',')]
    pub(crate) cluster: Option<Vec<String>>,
    /// Choose the curve of the order
    ///
    /// hilbert, zorder or lexical.
    #[arg(long, value_name = "CURVE")]
    pub(crate) curve: Option<Curve>,
    /// Compress pages with this codec
    ///
    /// none, snappy, lz4, gzip or zstd:LEVEL.
    #[arg(long, value_name = "CODEC")]
    pub(crate) codec: Option<Codec>,
    /// Choose the Parquet encodings
    ///
    /// portable, or dense: smaller, for newer readers only.
    #[arg(long, value_name = "SET")]
    pub(crate) encodings: Option<EncodingSet>,
    /// Limit the memory for rows, in MB
    ///
    /// Further rows spill to disk.
    #[arg(long, value_name = "MB", default_value_t = table::cluster::MEMORY >> 20)]
    pub(crate) memory: usize,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TableDeleteArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Delete the rows that meet this
    ///
    /// An SQL condition such as "tower < 10 AND note IS NULL". Rows for which it is false or NULL stay.
    #[arg(long = "where", value_name = "EXPR")]
    pub(crate) condition: String,
    /// Apply the change
    #[arg(long)]
    pub(crate) apply: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TableTrimArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Remove rows before this time
    ///
    /// For example 2025-10-01 or 2025-10-01T12:00:00Z. Rows without a time stay.
    #[arg(long, value_name = "TIME", conflicts_with = "keep_bytes")]
    pub(crate) before: Option<String>,
    /// Remove the oldest files beyond this size
    ///
    /// The remaining files have at least N bytes.
    #[arg(long, value_name = "N")]
    pub(crate) keep_bytes: Option<u64>,
    /// Column that holds each row's time
    ///
    /// Default: the first column of times or dates.
    #[arg(long, value_name = "NAME")]
    pub(crate) column: Option<String>,
    /// Apply the change
    #[arg(long)]
    pub(crate) apply: bool,
}

/// The target of `table vacuum`.
#[derive(Debug, Clone)]
pub(crate) enum VacuumTarget {
    /// A table of rows.
    Table(TableName),
    /// The three tables of ensembles; their files belong together.
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

#[derive(Debug, clap::Args)]
pub(crate) struct TableVacuumArgs {
    /// Table, as [DATABASE.]NAME, or `sim`
    ///
    /// `sim` holds the ensembles. Their replaced versions keep their files until a vacuum.
    pub(crate) name: VacuumTarget,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    /// Keep versions of the last hours
    #[arg(long, value_name = "HOURS", default_value_t = 168)]
    pub(crate) retain: u64,
    /// Apply the change
    #[arg(long)]
    pub(crate) apply: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RebuildArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Apply the change
    #[arg(long)]
    pub(crate) apply: bool,
}
