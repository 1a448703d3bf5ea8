//! What playing with a fleet takes.

use super::{FormatArgs, PlaceArgs, PlayArgs};

/// Where a fleet's ledger is.
#[derive(Debug, clap::Args)]
pub(crate) struct LedgerArgs {
    /// The ledger, a PostgreSQL database, as postgres://user:password@host:port/database
    #[arg(long, value_name = "URL", env = "MANYWORLDS_LEDGER", hide_env_values = true)]
    pub(crate) ledger: String,
}

/// Where a fleet's ledger and broker are.
#[derive(Debug, clap::Args)]
pub(crate) struct FleetArgs {
    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,
    /// The broker, a RabbitMQ, as amqp://user:password@host:port/vhost
    #[arg(long, value_name = "URL", env = "MANYWORLDS_BROKER", hide_env_values = true)]
    pub(crate) broker: String,
}

/// What `submit` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct SubmitArgs {
    #[command(flatten)]
    pub(crate) play: PlayArgs,
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,
    /// Stay until it has ended, and show how far it is
    #[arg(long)]
    pub(crate) watch: bool,
}

/// What `worker` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct WorkerArgs {
    #[command(flatten)]
    pub(crate) data: PlaceArgs,
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,
    /// Ranges to play at once, each on a thread [default: one a core]
    #[arg(long, value_name = "N")]
    pub(crate) concurrency: Option<usize>,
    /// Sleep so long for each world played, as a slower model would take
    #[arg(long, value_name = "MS", default_value_t = 0, hide = true)]
    pub(crate) world_pause_ms: u64,
    /// Tell Prometheus, over HTTP at this address, what it does
    #[arg(long, value_name = "ADDR")]
    pub(crate) metrics: Option<std::net::SocketAddr>,
}

/// What `status` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    /// The ensemble [default: the newest ones]
    pub(crate) ensemble: Option<String>,
    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,
    /// Show it again and again until it has ended
    #[arg(long, requires = "ensemble")]
    pub(crate) watch: bool,
    /// List the workers that are there
    #[arg(long, conflicts_with_all = ["ensemble", "watch"])]
    pub(crate) workers: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// What `pause`, `resume`, `cancel` and `retry` take.
#[derive(Debug, clap::Args)]
pub(crate) struct SubmittedArgs {
    /// The ensemble
    pub(crate) ensemble: String,
    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,
}
