//! What `load` takes.

use bench::ingest::{BodyCodec, WireFormat};

/// What `load` takes.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("pace").required(true))]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct LoadArgs {
    /// The server: http://HOST:PORT
    pub(crate) url: String,
    /// What requests are written in: columnar or rows (MessagePack), lp (line protocol), json (a line a record) or arrow
    #[arg(long, value_name = "FORMAT", default_value_t = WireFormat::Columnar)]
    pub(crate) format: WireFormat,
    /// Send so many records a second, each request at a time of its own, from which its latency counts
    #[arg(long, value_name = "N", group = "pace")]
    pub(crate) rate: Option<f64>,
    /// Send as fast as the server answers
    #[arg(long, group = "pace")]
    pub(crate) max: bool,
    /// Connections at once
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) connections: usize,
    /// For how long
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    pub(crate) seconds: f64,
    /// Records of a request
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) batch: usize,
    /// Compress requests with none, gzip or zstd
    #[arg(long, value_name = "CODEC", default_value_t = BodyCodec::None)]
    pub(crate) compress: BodyCodec,
    /// Tables that requests go to in turn: cpu, mem, disk, cpu2 and so on
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) tables: usize,
    /// The database of those tables
    #[arg(long, value_name = "NAME", default_value = table::DATABASE)]
    pub(crate) database: String,
    /// The token that the server asks for
    #[arg(long, value_name = "TOKEN", env = "MANYWORLDS_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// Give each request a key, and send it again where a connection breaks
    #[arg(long)]
    pub(crate) keys: bool,
    /// Seed of the values
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Load a server on another machine
    #[arg(long)]
    pub(crate) anywhere: bool,
    /// Write the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
