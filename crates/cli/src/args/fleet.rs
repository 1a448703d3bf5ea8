//! Arguments of fleets.

use super::{FormatArgs, PlaceArgs, PlayArgs, ProgramLimitArgs};

// The address of a fleet's ledger.
#[derive(Debug, clap::Args)]
pub(crate) struct LedgerArgs {
    /// Ledger of the fleet, a PostgreSQL database
    ///
    /// As postgres://USER:PASSWORD@HOST:PORT/DATABASE.
    #[arg(long, value_name = "URL", env = "MANYWORLDS_LEDGER", hide_env_values = true)]
    pub(crate) ledger: String,
}

// The addresses of a fleet's ledger and broker.
#[derive(Debug, clap::Args)]
pub(crate) struct FleetArgs {
    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,
    /// Broker of the fleet, a RabbitMQ server
    ///
    /// As amqp://USER:PASSWORD@HOST:PORT/VHOST.
    #[arg(long, value_name = "URL", env = "MANYWORLDS_BROKER", hide_env_values = true)]
    pub(crate) broker: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SubmitArgs {
    #[command(flatten)]
    pub(crate) play: PlayArgs,
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,
    /// Watch until the ensemble ends
    #[arg(long)]
    pub(crate) watch: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WorkerArgs {
    #[command(flatten)]
    pub(crate) data: PlaceArgs,
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,
    /// Play this many ranges at once
    ///
    /// Each range has its own thread. Default: one per core.
    #[arg(long, value_name = "N")]
    pub(crate) concurrency: Option<usize>,
    /// Play this program, too (repeatable)
    ///
    /// COMMAND is a program with its arguments, as for `run`. A worker starts the programs that are named here, and
    /// no others. It leaves ensembles of other programs to other workers.
    #[arg(long = "program", value_name = "COMMAND")]
    pub(crate) programs: Vec<String>,
    #[command(flatten)]
    pub(crate) program_limit: ProgramLimitArgs,
    /// Sleep this long after each world
    #[arg(long, value_name = "MS", default_value_t = 0, hide = true)]
    pub(crate) world_pause_ms: u64,
    /// Load this model before playing (repeatable)
    ///
    /// A worker finds models by the names that the tables have. Those of a file, as FILE.py:CLASS, must be named here.
    #[arg(long = "model", value_name = "MODEL")]
    pub(crate) models: Vec<String>,
    /// Serve Prometheus metrics on ADDR
    #[arg(long, value_name = "ADDR")]
    pub(crate) metrics: Option<std::net::SocketAddr>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    /// Ensemble to show [default: the newest ones]
    pub(crate) ensemble: Option<String>,
    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,
    /// Watch until the ensemble ends
    #[arg(long, requires = "ensemble")]
    pub(crate) watch: bool,
    /// List the workers
    #[arg(long, conflicts_with_all = ["ensemble", "watch"])]
    pub(crate) workers: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

// Arguments of `pause`, `resume`, `cancel` and `retry`.
#[derive(Debug, clap::Args)]
pub(crate) struct SubmittedArgs {
    /// Ensemble of the fleet
    pub(crate) ensemble: String,
    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,
}
