//! What can go wrong with a load.

use std::io;
use std::net::SocketAddr;

use crate::harness::report::number::count;

/// Why a load was not begun, or ended early.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// An address that is none.
    #[error("{given:?} is no address to load: {reason}")]
    Address {
        /// What was given.
        given: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A server elsewhere.
    #[error(
        "{given:?} is not this machine: a load takes all that a server has; where you may do that to {address}, add \
         --anywhere"
    )]
    Elsewhere {
        /// What was given.
        given: String,
        /// What it stands for.
        address: SocketAddr,
    },
    /// A setting that cannot be.
    #[error("{setting}: {reason}")]
    Setting {
        /// Which.
        setting: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The server does not answer.
    #[error("the server at {address} is gone: {} records were acknowledged", count(*acknowledged))]
    Gone {
        /// Where it was.
        address: SocketAddr,
        /// Records it had acknowledged.
        acknowledged: u64,
        /// What was met.
        source: io::Error,
    },
    /// The server does not take what is sent.
    #[error("the server answered {status}: {said}")]
    Refused {
        /// Its status.
        status: u16,
        /// Its words.
        said: String,
    },
    /// The server's count of rows cannot be read.
    #[error("the server's answer to {question:?} is no count: {said}")]
    Count {
        /// What it was asked.
        question: String,
        /// Its words.
        said: String,
    },
    /// A body could not be made, or a thread not be started.
    #[error("cannot {doing}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// Why not.
        source: io::Error,
    },
}
