//! What `serve` takes.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{ArgGroup, Subcommand, ValueEnum};
use table::{Codec, EncodingSet, TableError, TableName};

use super::{DataArgs, FormatArgs};

/// When a write is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Durability {
    /// Once it is on disk
    Sync,
    /// At once; it is on disk within a second
    Interval,
    /// At once; it is on disk when the operating system likes to
    None,
}

/// By what segments are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Partition {
    /// A segment holds what came together
    None,
    /// A segment holds rows of one day of UTC
    Day,
    /// A segment holds rows of one hour of UTC
    Hour,
}

/// What tells the rows of a table apart, beside their time.
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

/// A name of a server, without a port.
fn host(text: &str) -> Result<String, String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    if text.is_empty() || !text.chars().all(is_name) {
        return Err("write a name alone, such as tables.example.com, without scheme and port".to_owned());
    }
    Ok(text.to_owned())
}

/// What `serve` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// Take settings from this file of TOML, by the names of the flags; flags win over the environment, that over the file
    #[arg(long, value_name = "F", env = "MANYWORLDS_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Where to listen; port 0 takes any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080", env = "MANYWORLDS_LISTEN")]
    pub(crate) listen: SocketAddr,
    /// Answer requests to this name, too, besides localhost and the address; may be given more than once, or with `;`
    /// between names
    #[arg(long = "host", value_name = "NAME", value_delimiter = ';', value_parser = host, env = "MANYWORLDS_HOST")]
    pub(crate) hosts: Vec<String>,
    /// Also answer clients of PostgreSQL here: psql, drivers and tools, which give the token as the password
    #[arg(long, value_name = "ADDRESS", env = "MANYWORLDS_PG")]
    pub(crate) pg: Option<SocketAddr>,
    /// Ask for tokens, those of this file (`manyworlds token create` makes it); without it only this machine is served
    #[arg(long, value_name = "F", env = "MANYWORLDS_TOKEN_FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Serve HTTPS with this certificate and those above it, in PEM
    #[arg(long, value_name = "F", requires = "tls_key", env = "MANYWORLDS_TLS_CERT")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The certificate's private key, in PEM
    #[arg(long, value_name = "F", requires = "tls_cert", env = "MANYWORLDS_TLS_KEY")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Connections that are served at once, over HTTP and over PostgreSQL's protocol each; further ones wait
    #[arg(long, value_name = "N", default_value_t = 1024, env = "MANYWORLDS_CONNECTIONS",
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) connections: u32,
    /// Seconds that the head of a request may take, its body, and the next request
    #[arg(long, value_name = "S", default_value_t = 30, env = "MANYWORLDS_REQUEST_SECONDS",
        value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) request_seconds: u64,
    /// Seconds that a question may take
    #[arg(long, value_name = "S", default_value_t = 60, env = "MANYWORLDS_QUESTION_SECONDS",
        value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) question_seconds: u64,
    /// Megabytes that a question may hold, and its answer; sorts past it go to temporary files, other questions get 413
    #[arg(long, value_name = "MB", default_value_t = 256, env = "MANYWORLDS_QUESTION_MEMORY",
        value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub(crate) question_memory: u64,
    /// When a write is acknowledged
    #[arg(long, value_enum, default_value = "sync", env = "MANYWORLDS_DURABILITY")]
    pub(crate) durability: Durability,
    /// Write a segment once so many rows of a table wait
    #[arg(long, value_name = "N", default_value_t = 200_000, env = "MANYWORLDS_FLUSH_ROWS",
        value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) flush_rows: u64,
    /// Write a segment once the first row of a table waits so many seconds
    #[arg(long, value_name = "S", default_value_t = 10, env = "MANYWORLDS_FLUSH_SECONDS")]
    pub(crate) flush_seconds: u64,
    /// Segments that are encoded at once
    #[arg(long, value_name = "N", default_value_t = 2, env = "MANYWORLDS_FLUSHES",
        value_parser = clap::value_parser!(u64).range(1..=64))]
    pub(crate) flushes: u64,
    /// Megabytes of rows that may wait in memory; requests past it are answered with 429
    #[arg(long, value_name = "MB", default_value_t = 256, env = "MANYWORLDS_MEMORY",
        value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub(crate) memory: u64,
    /// Columns that a table may get; rows with values for more are refused
    #[arg(long, value_name = "N", default_value_t = 2_000, env = "MANYWORLDS_MAX_COLUMNS",
        value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(crate) max_columns: u64,
    /// Tables that rows may come in for; rows for more are refused
    #[arg(long, value_name = "N", default_value_t = 5_000, env = "MANYWORLDS_MAX_TABLES",
        value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) max_tables: u64,
    /// Compress segments of new tables with none, snappy, lz4, gzip or zstd (zstd:LEVEL)
    #[arg(long, value_name = "CODEC", default_value = "zstd", env = "MANYWORLDS_CODEC")]
    pub(crate) codec: Codec,
    /// Encode segments of new tables for all readers (portable) or smaller, for new ones (dense)
    #[arg(long, value_name = "SET", default_value = "portable", env = "MANYWORLDS_ENCODINGS")]
    pub(crate) encodings: EncodingSet,
    /// Merge segments of a table once there are so many new ones; 0 never does
    #[arg(long, value_name = "N", default_value_t = 16, env = "MANYWORLDS_COMPACT")]
    pub(crate) compact: usize,
    /// Cut segments by the time of their rows: one then holds rows of one day or hour of UTC, in a folder named for it
    #[arg(long, value_enum, default_value = "none", env = "MANYWORLDS_PARTITION")]
    pub(crate) partition: Partition,
    /// Take rows of a table that are equal in their time and in these columns for one, of which the last stays; may be
    /// given more than once, or with `;` between tables
    #[arg(long, value_name = "TABLE=COLUMN,..", value_delimiter = ';', env = "MANYWORLDS_UNIQUE")]
    pub(crate) unique: Vec<Unique>,
    /// Remove rows once their time is so many days ago
    #[arg(long, value_name = "DAYS", env = "MANYWORLDS_RETAIN", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) retain: Option<u64>,
}

/// What can be done with the tokens that a server asks for.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenTask {
    /// Make a token and print it; it is kept nowhere else
    #[command(group = ArgGroup::new("scope").args(["read", "write"]).required(true).multiple(true))]
    Create {
        /// Whose it is, or what for
        name: String,
        /// A database that it is for, `sim` that of the ensembles; may be given more than once [default: all]
        #[arg(long = "database", value_name = "D")]
        databases: Vec<String>,
        /// It may ask questions
        #[arg(long)]
        read: bool,
        /// It may send rows
        #[arg(long)]
        write: bool,
        #[command(flatten)]
        file: TokenFileArgs,
    },
    /// List the tokens' names and what they are good for
    List {
        #[command(flatten)]
        file: TokenFileArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Take a token away; servers refuse it from then on
    Revoke {
        /// Its name
        name: String,
        #[command(flatten)]
        file: TokenFileArgs,
    },
}

/// Where the tokens are.
#[derive(Debug, clap::Args)]
pub(crate) struct TokenFileArgs {
    /// The file of tokens, of which it holds hashes only
    #[arg(long, value_name = "F", env = "MANYWORLDS_TOKEN_FILE")]
    pub(crate) token_file: PathBuf,
}
