//! Arguments of `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{ArgGroup, Subcommand, ValueEnum};
use table::{Codec, EncodingSet, TableError, TableName};

use super::{DataArgs, FormatArgs};

/// The moment at which the server acknowledges a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Durability {
    /// After it is synced to disk
    Sync,
    /// At once, and sync it to disk within a second
    Interval,
    /// At once, and leave syncing to the operating system
    None,
}

/// The partitions of segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Partition {
    /// Put rows in segments in the order of arrival
    None,
    /// Put rows of one UTC day in a segment
    Day,
    /// Put rows of one UTC hour in a segment
    Hour,
}

/// The columns that identify a table's rows, besides their time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unique {
    pub(crate) table: TableName,
    pub(crate) columns: Vec<String>,
}

impl FromStr for Unique {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (table, columns) = text.split_once('=').ok_or("write TABLE=COLUMN,COLUMN")?;
        let table = table.trim().parse().map_err(|e: TableError| e.to_string())?;
        let columns: Vec<String> = columns.split(',').map(|column| column.trim().to_owned()).collect();
        if columns.iter().any(String::is_empty) {
            return Err("a column has no name: write TABLE=COLUMN,COLUMN".to_owned());
        }
        Ok(Self { table, columns })
    }
}

/// A host name without a port.
fn host(text: &str) -> Result<String, String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    if text.is_empty() || !text.chars().all(is_name) {
        return Err("write a name alone, such as tables.example.com, without scheme and port".to_owned());
    }
    Ok(text.to_owned())
}

#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// Read settings from this TOML file
    ///
    /// Settings have the names of the flags. Flags override environment variables, which override the file.
    #[arg(long, value_name = "F", env = "MANYWORLDS_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Listen on this address
    ///
    /// Port 0 takes any free port.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080", env = "MANYWORLDS_LISTEN")]
    pub(crate) listen: SocketAddr,
    /// Accept requests to this host name (repeatable)
    ///
    /// localhost and the address are always accepted. One value may hold several names, separated by `;`.
    #[arg(long = "host", value_name = "NAME", value_delimiter = ';', value_parser = host, env = "MANYWORLDS_HOST")]
    pub(crate) hosts: Vec<String>,
    /// Serve PostgreSQL clients on this address
    ///
    /// Clients send the token as the password.
    #[arg(long, value_name = "ADDRESS", env = "MANYWORLDS_PG")]
    pub(crate) pg: Option<SocketAddr>,
    /// Serve Arrow Flight SQL clients on this address
    ///
    /// For ADBC, JDBC and pyarrow. Clients send the token as `authorization: Bearer TOKEN` or as the password.
    #[arg(long, value_name = "ADDRESS", env = "MANYWORLDS_FLIGHT")]
    pub(crate) flight: Option<SocketAddr>,
    /// Require a token of this file
    ///
    /// `manyworlds token create` writes it. Without it the server listens on this machine only.
    #[arg(long, value_name = "F", env = "MANYWORLDS_TOKEN_FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Serve HTTPS with this certificate chain
    ///
    /// In PEM, the server's certificate first.
    #[arg(long, value_name = "F", requires = "tls_key", env = "MANYWORLDS_TLS_CERT")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key of the certificate, in PEM
    #[arg(long, value_name = "F", requires = "tls_cert", env = "MANYWORLDS_TLS_KEY")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Limit the connections of each protocol
    ///
    /// Further connections wait.
    #[arg(long, value_name = "N", default_value_t = 1024, env = "MANYWORLDS_CONNECTIONS",
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) connections: u32,
    /// Limit the time for receiving a request
    ///
    /// Applies to the head, to the body, and to the wait for the next request, each in seconds.
    #[arg(long, value_name = "S", default_value_t = 30, env = "MANYWORLDS_REQUEST_SECONDS",
        value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) request_seconds: u64,
    /// Limit the time of a query, in seconds
    #[arg(long, value_name = "S", default_value_t = 60, env = "MANYWORLDS_QUESTION_SECONDS",
        value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) question_seconds: u64,
    /// Limit the memory of a query, in MB
    ///
    /// Also limits its answer. Larger sorts use temporary files, other queries fail with status 413.
    #[arg(long, value_name = "MB", default_value_t = 256, env = "MANYWORLDS_QUESTION_MEMORY",
        value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub(crate) question_memory: u64,
    /// Play this many runs at once
    ///
    /// Runs that are started over HTTP. Further runs wait.
    #[arg(long, value_name = "N", default_value_t = 2, env = "MANYWORLDS_RUNS",
        value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) runs: u32,
    /// Let requests use the fleet of this ledger
    ///
    /// As postgres://USER:PASSWORD@HOST:PORT/DATABASE.
    #[arg(long, value_name = "URL", env = "MANYWORLDS_LEDGER", hide_env_values = true)]
    pub(crate) ledger: Option<String>,
    /// Let requests submit through this broker
    ///
    /// As amqp://USER:PASSWORD@HOST:PORT/VHOST.
    #[arg(long, value_name = "URL", env = "MANYWORLDS_BROKER", hide_env_values = true)]
    pub(crate) broker: Option<String>,
    /// Choose when to acknowledge a write
    #[arg(long, value_enum, default_value = "sync", env = "MANYWORLDS_DURABILITY")]
    pub(crate) durability: Durability,
    /// Flush a table at this many rows
    #[arg(long, value_name = "N", default_value_t = 200_000, env = "MANYWORLDS_FLUSH_ROWS",
        value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) flush_rows: u64,
    /// Flush a table after this many seconds
    ///
    /// Counts from the first row that waits.
    #[arg(long, value_name = "S", default_value_t = 10, env = "MANYWORLDS_FLUSH_SECONDS")]
    pub(crate) flush_seconds: u64,
    /// Encode this many segments at once
    #[arg(long, value_name = "N", default_value_t = 2, env = "MANYWORLDS_FLUSHES",
        value_parser = clap::value_parser!(u64).range(1..=64))]
    pub(crate) flushes: u64,
    /// Limit the memory of unflushed rows, in MB
    ///
    /// Further requests fail with status 429.
    #[arg(long, value_name = "MB", default_value_t = 256, env = "MANYWORLDS_MEMORY",
        value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub(crate) memory: u64,
    /// Limit the columns of a table or request
    ///
    /// Rows with further columns are rejected.
    #[arg(long, value_name = "N", default_value_t = 2_000, env = "MANYWORLDS_MAX_COLUMNS",
        value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(crate) max_columns: u64,
    /// Limit the number of tables
    ///
    /// Rows for further tables are rejected.
    #[arg(long, value_name = "N", default_value_t = 5_000, env = "MANYWORLDS_MAX_TABLES",
        value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) max_tables: u64,
    /// Compress new tables with this codec
    ///
    /// none, snappy, lz4, gzip, zstd or zstd:LEVEL.
    #[arg(long, value_name = "CODEC", default_value = "zstd", env = "MANYWORLDS_CODEC")]
    pub(crate) codec: Codec,
    /// Choose the Parquet encodings of new tables
    ///
    /// portable, or dense: smaller, for newer readers only.
    #[arg(long, value_name = "SET", default_value = "portable", env = "MANYWORLDS_ENCODINGS")]
    pub(crate) encodings: EncodingSet,
    /// Merge a table's segments at this number
    ///
    /// Counts new segments. 0 disables merging.
    #[arg(long, value_name = "N", default_value_t = 16, env = "MANYWORLDS_COMPACT")]
    pub(crate) compact: usize,
    /// Partition segments by time
    ///
    /// Each day or hour has a folder of its own.
    #[arg(long, value_enum, default_value = "none", env = "MANYWORLDS_PARTITION")]
    pub(crate) partition: Partition,
    /// Deduplicate a table by these columns (repeatable)
    ///
    /// Of rows that agree in these columns and their time, the last one stays. One value may hold several tables,
    /// separated by `;`.
    #[arg(long, value_name = "TABLE=COLUMN,..", value_delimiter = ';', env = "MANYWORLDS_UNIQUE")]
    pub(crate) unique: Vec<Unique>,
    /// Remove rows older than this many days
    #[arg(long, value_name = "DAYS", env = "MANYWORLDS_RETAIN", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) retain: Option<u64>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct UiArgs {
    /// Print the address only
    #[arg(long)]
    pub(crate) no_open: bool,
    #[command(flatten)]
    pub(crate) serve: ServeArgs,
}

// A task on a server's tokens.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenTask {
    /// Create a token and print it once
    ///
    /// The file stores only its hash, so the token cannot be printed again.
    #[command(
        group = ArgGroup::new("scope").args(["read", "write", "admin"]).required(true).multiple(true),
        after_long_help = "Example:\n  manyworlds token create reporting --read --token-file tokens.toml"
    )]
    Create {
        /// Name of the token
        ///
        /// Say who uses it, or what for.
        name: String,
        /// Restrict the token to a database (repeatable)
        ///
        /// `sim` holds the ensembles. Default: all databases.
        #[arg(long = "database", value_name = "D")]
        databases: Vec<String>,
        /// Allow queries
        #[arg(long)]
        read: bool,
        /// Allow writes
        #[arg(long)]
        write: bool,
        /// Allow creating and revoking tokens
        ///
        /// Such a token can give itself every permission.
        #[arg(long, conflicts_with = "databases")]
        admin: bool,
        #[command(flatten)]
        file: TokenFileArgs,
    },
    /// List the tokens and their permissions
    #[command(after_long_help = "Example:\n  manyworlds token list --token-file tokens.toml")]
    List {
        #[command(flatten)]
        file: TokenFileArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Revoke a token at once
    #[command(after_long_help = "Example:\n  manyworlds token revoke reporting --token-file tokens.toml")]
    Revoke {
        /// Name of the token
        name: String,
        #[command(flatten)]
        file: TokenFileArgs,
    },
}

// The place of the tokens.
#[derive(Debug, clap::Args)]
pub(crate) struct TokenFileArgs {
    /// File of token hashes
    #[arg(long, value_name = "F", env = "MANYWORLDS_TOKEN_FILE")]
    pub(crate) token_file: PathBuf,
}
