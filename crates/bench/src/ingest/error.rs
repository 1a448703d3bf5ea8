//! Errors of a load.

use std::io;
use std::net::SocketAddr;

use crate::harness::report::number::count;

/// An error that prevented or ended a load.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("invalid address {given:?}: {reason}")]
    Address { given: String, reason: String },
    #[error(
        "{given:?} is another machine, {address}: a load takes all of a server's capacity; add --anywhere if you may do that"
    )]
    Elsewhere { given: String, address: SocketAddr },
    /// A setting is invalid.
    #[error("{setting}: {reason}")]
    Setting { setting: &'static str, reason: String },
    #[error("the server at {address} is gone: {} records were acknowledged", count(*acknowledged))]
    Gone { address: SocketAddr, acknowledged: u64, source: io::Error },
    #[error("the server answered {status}: {said}")]
    Refused { status: u16, said: String },
    #[error("the server's answer to {question:?} is not a count: {said}")]
    Count { question: String, said: String },
    /// Encoding a body or starting a thread failed.
    #[error("cannot {doing}")]
    Io { doing: &'static str, source: io::Error },
}
