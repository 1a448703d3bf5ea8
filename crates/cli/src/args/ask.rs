//! Arguments of `ask`.

use std::path::PathBuf;

use ::table::TableName;

use super::{DataArgs, FormatArgs};

// The rows, the groups, and the aggregates of each group.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct AskArgs {
    /// Table to query, as [DATABASE.]NAME
    #[arg(required_unless_present = "merge")]
    pub(crate) table: Option<TableName>,
    /// Group by these columns
    ///
    /// A row counts once for each member of a set. NULL is a group.
    #[arg(long, short, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) group: Vec<String>,
    /// Count the rows of each group
    ///
    /// This is the default if no aggregate is named.
    #[arg(long, short)]
    pub(crate) count: bool,
    /// Compute the mean of columns
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) avg: Vec<String>,
    /// Compute the sum of columns
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) sum: Vec<String>,
    /// Find the minimum of columns
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) min: Vec<String>,
    /// Find the maximum of columns
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) max: Vec<String>,
    /// Compute the sample standard deviation of columns
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) stddev: Vec<String>,
    /// Count distinct values of columns exactly
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) distinct: Vec<String>,
    /// Compute exact quantiles of a column (repeatable)
    ///
    /// A quantile is the value at rank ceil(share * N). Default: p50,p95,p99.
    #[arg(long, value_name = "COLUMN[:p50,p99.9]")]
    pub(crate) quantiles: Vec<String>,
    /// Count values in buckets of equal width
    ///
    /// The width is a power of two.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) hist: Vec<String>,
    /// Count values in buckets of doubling width
    ///
    /// Each bucket reaches from one power of two to the next.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) loghist: Vec<String>,
    /// Group by time in buckets of this length
    ///
    /// For example 1h. The table output draws a time series.
    #[arg(long, value_name = "LENGTH")]
    pub(crate) time_bucket: Option<String>,
    /// Column that holds each row's time
    #[arg(long, value_name = "COLUMN", default_value = "time")]
    pub(crate) time: String,
    /// Include only rows since this time
    ///
    /// 2025-10-01, 2025-10-01T12:00:00Z, or an age such as 7d.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Include only rows before this time
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Include only rows that meet this (repeatable)
    ///
    /// For example "status != '200' AND (ping > 100 OR host ~ '^db')". Also: IN, IS NULL, HAS 'member', + - * /.
    #[arg(long = "where", short = 'w', value_name = "CONDITION")]
    pub(crate) conditions: Vec<String>,
    /// Weight rows by this column
    ///
    /// Applies to counts, sums, means and standard deviations.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) weight: Option<String>,
    /// Rewrite labels before grouping (repeatable)
    ///
    /// COLUMN=/PATTERN/TEXT/ replaces what the regular expression matches.
    #[arg(long, value_name = "CHANGE")]
    pub(crate) replace: Vec<String>,
    /// Sort groups by a column of the answer
    #[arg(long, short, value_name = "COLUMN")]
    pub(crate) sort: Option<String>,
    /// Sort in ascending order
    #[arg(long, requires = "sort", conflicts_with = "desc")]
    pub(crate) asc: bool,
    /// Sort in descending order (the default)
    #[arg(long, requires = "sort")]
    pub(crate) desc: bool,
    /// Limit the number of groups
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Show N raw rows instead of groups
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<usize>,
    /// Show only these columns of the rows
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', requires = "samples")]
    pub(crate) columns: Vec<String>,
    /// Print the equivalent SQL and stop
    #[arg(long)]
    pub(crate) sql: bool,
    /// Explain on stderr what was read
    ///
    /// Also counts what was skipped, and why.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Write a partial answer for --merge
    ///
    /// Lets several machines aggregate their own data folders.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sql", "samples", "merge"])]
    pub(crate) partial: Option<PathBuf>,
    /// Merge partial answers into one
    ///
    /// All files must come from the same question with --partial.
    #[arg(long, value_name = "FILES", num_args = 1.., conflicts_with_all = ["table", "sql", "samples"])]
    pub(crate) merge: Vec<PathBuf>,
    /// Bypass the cache of answers
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Limit the threads
    ///
    /// Default: one per core.
    #[arg(long, value_name = "T")]
    pub(crate) threads: Option<usize>,
    /// Limit the memory for groups, in MB
    #[arg(long, value_name = "MB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) memory: u32,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}
