//! Errors of a fleet.

use ensemble::EnsembleError;
use model::UnknownName;

/// An error of this crate. Its addresses omit passwords.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    #[error("the ledger at {address} could not {doing}: {cause}")]
    Ledger { doing: &'static str, address: String, cause: sqlx::Error },
    #[error("the ledger at {address} could not be brought up to date: {cause}")]
    Migration { address: String, cause: sqlx::migrate::MigrateError },
    #[error("the broker at {address} could not {doing}: {cause}")]
    Broker { doing: &'static str, address: String, cause: lapin::Error },
    /// The address of a ledger or broker cannot be read.
    #[error("invalid {what} address {address:?}: write it as {example}")]
    Address { what: &'static str, address: String, example: &'static str },
    #[error("the fleet has no ensemble {name:?}{}", suggest(name, have))]
    Unknown {
        name: String,
        /// The newest ensembles.
        have: Vec<String>,
    },
    /// The ensemble's state forbids the action.
    #[error("ensemble {name:?} is {state}: {reason}")]
    State { name: String, state: &'static str, reason: &'static str },
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    #[error("could not start a thread: {0}")]
    Thread(std::io::Error),
}

impl FleetError {
    /// The error for an invalid address, without its password.
    pub(crate) fn address(what: &'static str, given: &str, example: &'static str) -> Self {
        let (scheme, rest) =
            given.split_once("://").map_or(("", given), |(scheme, rest)| (&given[..scheme.len() + 3], rest));
        let address =
            rest.rsplit_once('@').map_or_else(|| given.to_owned(), |(_, place)| format!("{scheme}...@{place}"));
        Self::Address { what, address, example }
    }

    /// Whether a retry may succeed: the service was unreachable, starting or stopping.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Ledger { cause, .. } => is_passing(cause),
            Self::Broker { .. } => true,
            Self::Ensemble(EnsembleError::Table(table)) => {
                matches!(table.kind(), table::ErrorKind::Environment | table::ErrorKind::Conflict)
            }
            _ => false,
        }
    }
}

fn is_passing(cause: &sqlx::Error) -> bool {
    // Broken connections, too many connections, and a server that starts or stops.
    const CLASSES: [&str; 3] = ["08", "53", "57"];
    match cause {
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::WorkerCrashed | sqlx::Error::Protocol(_) => true,
        sqlx::Error::Database(error) => {
            // 40: a conflict of two transactions.
            error.code().is_some_and(|code| CLASSES.iter().chain(&["40"]).any(|class| code.starts_with(class)))
        }
        _ => false,
    }
}

fn suggest(name: &str, have: &[String]) -> String {
    if have.is_empty() {
        return ": nothing was submitted to it yet".to_owned();
    }
    UnknownName::new("", name, have.iter().map(String::as_str)).advice()
}
