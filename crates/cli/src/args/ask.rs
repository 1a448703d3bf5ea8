//! What `ask` takes.

use std::path::PathBuf;

use ::table::TableName;

use super::{DataArgs, FormatArgs};

/// Which rows, in which groups, and what is told of each group.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct AskArgs {
    /// The table, or DATABASE.TABLE
    #[arg(required_unless_present = "merge")]
    pub(crate) table: Option<TableName>,
    /// Columns whose values make groups; a row counts for each member of a set, and NULL is a group
    #[arg(long, short, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) group: Vec<String>,
    /// Count the rows of each group [the default where no measure is named]
    #[arg(long, short)]
    pub(crate) count: bool,
    /// The mean of a column
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) avg: Vec<String>,
    /// The sum of a column
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) sum: Vec<String>,
    /// The least value of a column
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) min: Vec<String>,
    /// The greatest value of a column
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) max: Vec<String>,
    /// The standard deviation of a column, as of a sample
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) stddev: Vec<String>,
    /// How many different values a column has, exactly
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) distinct: Vec<String>,
    /// Exact quantiles of a column: the value at rank ceil(share * N) [default: p50,p95,p99]
    #[arg(long, value_name = "COLUMN[:p50,p99.9]")]
    pub(crate) quantiles: Vec<String>,
    /// The values of a column in buckets of equal width, a power of two
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) hist: Vec<String>,
    /// The values of a column in buckets from one power of two to the next
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) loghist: Vec<String>,
    /// Group by spans of time too, such as 1h, and draw what came when
    #[arg(long, value_name = "LENGTH")]
    pub(crate) time_bucket: Option<String>,
    /// The column of times
    #[arg(long, value_name = "COLUMN", default_value = "time")]
    pub(crate) time: String,
    /// Only rows since then: 2025-10-01, 2025-10-01T12:00:00Z, or how long ago, such as 7d
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only rows before then
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Only rows that meet a condition, such as "status != '200' AND (ping > 100 OR host ~ '^db')": also IN, IS NULL, HAS
    /// 'member', + - * /. May be given more than once
    #[arg(long = "where", short = 'w', value_name = "CONDITION")]
    pub(crate) conditions: Vec<String>,
    /// A column that says how often a row counts, in counts, sums, means and deviations
    #[arg(long, value_name = "COLUMN")]
    pub(crate) weight: Option<String>,
    /// Change labels before rows are grouped: COLUMN=/PATTERN/TEXT/. May be given more than once
    #[arg(long, value_name = "CHANGE")]
    pub(crate) replace: Vec<String>,
    /// Order groups by a column of the answer, the greatest first
    #[arg(long, short, value_name = "COLUMN")]
    pub(crate) sort: Option<String>,
    /// The least first
    #[arg(long, requires = "sort", conflicts_with = "desc")]
    pub(crate) asc: bool,
    /// The greatest first [the default]
    #[arg(long, requires = "sort")]
    pub(crate) desc: bool,
    /// So many groups at most
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Show the first N rows as they are instead of groups
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<usize>,
    /// Columns of samples [default: all]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', requires = "samples")]
    pub(crate) columns: Vec<String>,
    /// Print the SQL that the question means, and do not ask it
    #[arg(long)]
    pub(crate) sql: bool,
    /// Also tell on stderr what was read, and what was left out and why
    #[arg(long)]
    pub(crate) explain: bool,
    /// Write what this data folder knows of the answer to a file, for --merge
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sql", "samples", "merge"])]
    pub(crate) partial: Option<PathBuf>,
    /// Answer from files that --partial wrote, all of the same question
    #[arg(long, value_name = "FILES", num_args = 1.., conflicts_with_all = ["table", "sql", "samples"])]
    pub(crate) merge: Vec<PathBuf>,
    /// Neither use answers that were kept, nor keep any
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Threads [default: one a core]
    #[arg(long, value_name = "T")]
    pub(crate) threads: Option<usize>,
    /// Megabytes that groups may take
    #[arg(long, value_name = "MB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) memory: u32,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}
