//! Arguments of `loadgen`.

use bench::ingest::{BodyCodec, WireFormat};

/// Arguments of `loadgen`.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("pace").required(true))]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct LoadgenArgs {
    /// Server to load, as http://HOST:PORT
    pub(crate) url: String,
    /// Choose the wire format
    ///
    /// columnar or rows (MessagePack), lp (line protocol), json (one record per line) or arrow.
    #[arg(long, value_name = "FORMAT", default_value_t = WireFormat::Columnar)]
    pub(crate) format: WireFormat,
    /// Send this many records per second
    ///
    /// Latency counts from the time at which a request is due.
    #[arg(long, value_name = "N", group = "pace")]
    pub(crate) rate: Option<f64>,
    /// Send as fast as the server answers
    #[arg(long, group = "pace")]
    pub(crate) max: bool,
    /// Open this many connections
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) connections: usize,
    /// Send for this many seconds
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    pub(crate) seconds: f64,
    /// Put this many records in a request
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) batch: usize,
    /// Compress requests with this codec
    ///
    /// none, gzip or zstd.
    #[arg(long, value_name = "CODEC", default_value_t = BodyCodec::None)]
    pub(crate) compress: BodyCodec,
    /// Spread requests over this many tables
    ///
    /// They are named cpu, mem, disk, cpu2 and so on.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) tables: usize,
    /// Database of the tables
    #[arg(long, value_name = "NAME", default_value = table::DATABASE)]
    pub(crate) database: String,
    /// Token to send
    #[arg(long, value_name = "TOKEN", env = "MANYWORLDS_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// Retry requests on broken connections
    ///
    /// Each request has an idempotency key, so that the server stores its rows once.
    #[arg(long)]
    pub(crate) keys: bool,
    /// Seed of the generated values
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Allow a server on another machine
    #[arg(long)]
    pub(crate) anywhere: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
