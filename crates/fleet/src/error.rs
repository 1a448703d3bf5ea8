//! What can go wrong with a fleet.

use ensemble::EnsembleError;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// The ledger did not answer, or refused.
    #[error("the ledger at {address} could not {doing}: {cause}")]
    Ledger {
        /// What was tried, after "could not".
        doing: &'static str,
        /// Where it is, without its password.
        address: String,
        /// What happened.
        cause: sqlx::Error,
    },
    /// The ledger is of another version of this program.
    #[error("the ledger at {address} could not be brought up to date: {cause}")]
    Migration {
        /// Where it is, without its password.
        address: String,
        /// What happened.
        cause: sqlx::migrate::MigrateError,
    },
    /// The broker did not answer, or refused.
    #[error("the broker at {address} could not {doing}: {cause}")]
    Broker {
        /// What was tried, after "could not".
        doing: &'static str,
        /// Where it is, without its password.
        address: String,
        /// What happened.
        cause: lapin::Error,
    },
    /// An address is none.
    #[error("{address:?} is no address of a {what}: write it as {example}")]
    Address {
        /// Ledger or broker.
        what: &'static str,
        /// What was given, without its password.
        address: String,
        /// How one looks.
        example: &'static str,
    },
    /// No ensemble has the name.
    #[error("the fleet has no ensemble {name:?}{}", suggest(have))]
    Unknown {
        /// The name asked for.
        name: String,
        /// The newest ensembles there are.
        have: Vec<String>,
    },
    /// What is asked for does not fit the state that an ensemble is in.
    #[error("ensemble {name:?} is {state}: {reason}")]
    State {
        /// The ensemble.
        name: String,
        /// Its state.
        state: &'static str,
        /// Why that does not do.
        reason: &'static str,
    },
    /// The tables refused.
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    /// The worker's threads could not be started.
    #[error("could not start a thread: {0}")]
    Thread(std::io::Error),
}

impl FleetError {
    /// That an address is none; its password is not told.
    pub(crate) fn address(what: &'static str, given: &str, example: &'static str) -> Self {
        let (scheme, rest) =
            given.split_once("://").map_or(("", given), |(scheme, rest)| (&given[..scheme.len() + 3], rest));
        let address =
            rest.rsplit_once('@').map_or_else(|| given.to_owned(), |(_, place)| format!("{scheme}...@{place}"));
        Self::Address { what, address, example }
    }

    /// Whether trying again later may help: what was not reached, or was on its way down or up.
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
    // Connections that broke, too many of them, and a server on its way down or up.
    const CLASSES: [&str; 3] = ["08", "53", "57"];
    match cause {
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::WorkerCrashed | sqlx::Error::Protocol(_) => true,
        sqlx::Error::Database(error) => {
            // 40: two transactions that met.
            error.code().is_some_and(|code| CLASSES.iter().chain(&["40"]).any(|class| code.starts_with(class)))
        }
        _ => false,
    }
}

fn suggest(have: &[String]) -> String {
    if have.is_empty() {
        ": nothing was submitted to it yet".to_owned()
    } else {
        format!("; there are: {}", have.join(", "))
    }
}
