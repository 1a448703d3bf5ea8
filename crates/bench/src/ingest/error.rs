//! Errors of a load.

use std::io;
use std::net::SocketAddr;

use crate::harness::report::number::count;

/// Why a load did not begin or ended early.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The address is invalid.
    #[error("invalid address {given:?}: {reason}")]
    Address {
        /// The given text.
        given: String,
        /// The reason.
        reason: String,
    },
    /// The server is on another machine.
    #[error(
        "{given:?} is another machine, {address}: a load takes all of a server's capacity; add --anywhere if you may do that"
    )]
    Elsewhere {
        /// The given text.
        given: String,
        /// Its address.
        address: SocketAddr,
    },
    /// A setting is invalid.
    #[error("{setting}: {reason}")]
    Setting {
        /// The setting.
        setting: &'static str,
        /// The reason.
        reason: String,
    },
    /// The server does not answer.
    #[error("the server at {address} is gone: {} records were acknowledged", count(*acknowledged))]
    Gone {
        /// Its address.
        address: SocketAddr,
        /// Records that it had acknowledged.
        acknowledged: u64,
        /// The last error.
        source: io::Error,
    },
    /// The server refuses requests.
    #[error("the server answered {status}: {said}")]
    Refused {
        /// Its status.
        status: u16,
        /// Its message.
        said: String,
    },
    /// The server's count of rows cannot be read.
    #[error("the server's answer to {question:?} is not a count: {said}")]
    Count {
        /// The question.
        question: String,
        /// Its answer.
        said: String,
    },
    /// A body could not be made or a thread could not be started.
    #[error("cannot {doing}")]
    Io {
        /// The action, to follow "cannot".
        doing: &'static str,
        /// The reason.
        source: io::Error,
    },
}
