//! Arguments of `loadgen`.

use bench::ingest::LoadPlan;

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("pace").required(true))]
pub(crate) struct LoadgenArgs {
    /// Server to load, as http://HOST:PORT
    pub(crate) url: String,
    /// Send this many records per second
    ///
    /// Latency counts from the time at which a request is due.
    #[arg(long, value_name = "N", group = "pace")]
    pub(crate) rate: Option<f64>,
    /// Send as fast as the server answers
    #[arg(long, group = "pace")]
    pub(crate) max: bool,
    #[command(flatten)]
    pub(crate) plan: LoadPlan,
    /// Database of the tables
    #[arg(long, value_name = "NAME", default_value = table::DATABASE)]
    pub(crate) database: String,
    /// Token to send
    #[arg(long, value_name = "TOKEN", env = "MANYWORLDS_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// Allow a server on another machine
    #[arg(long)]
    pub(crate) anywhere: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
