//! Errors of a fleet.

use ensemble::EnsembleError;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// The ledger did not answer or refused.
    #[error("the ledger at {address} could not {doing}: {cause}")]
    Ledger {
        /// The action, to follow "could not".
        doing: &'static str,
        /// The address, without the password.
        address: String,
        /// The reason.
        cause: sqlx::Error,
    },
    /// The tables of the ledger could not be created or updated.
    #[error("the ledger at {address} could not be brought up to date: {cause}")]
    Migration {
        /// The address, without the password.
        address: String,
        /// The reason.
        cause: sqlx::migrate::MigrateError,
    },
    /// The broker did not answer or refused.
    #[error("the broker at {address} could not {doing}: {cause}")]
    Broker {
        /// The action, to follow "could not".
        doing: &'static str,
        /// The address, without the password.
        address: String,
        /// The reason.
        cause: lapin::Error,
    },
    /// An address cannot be read.
    #[error("invalid {what} address {address:?}: write it as {example}")]
    Address {
        /// "ledger" or "broker".
        what: &'static str,
        /// The given text, without the password.
        address: String,
        /// A valid address.
        example: &'static str,
    },
    /// No ensemble has this name.
    #[error("the fleet has no ensemble {name:?}{}", suggest(have))]
    Unknown {
        /// The unknown name.
        name: String,
        /// The newest ensembles.
        have: Vec<String>,
    },
    /// The ensemble's state forbids the action.
    #[error("ensemble {name:?} is {state}: {reason}")]
    State {
        /// The ensemble.
        name: String,
        /// Its state.
        state: &'static str,
        /// The state that it needs.
        reason: &'static str,
    },
    /// The tables failed.
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    /// The worker's threads could not be started.
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

fn suggest(have: &[String]) -> String {
    if have.is_empty() {
        ": nothing was submitted to it yet".to_owned()
    } else {
        format!("; it has: {}", have.join(", "))
    }
}
