//! Errors with PostgreSQL's codes.

use std::borrow::Cow;

use pgwire::messages::response::ErrorResponse;

use crate::error::Refusal;
use crate::processes::Failure;

/// An error for a client.
#[derive(Debug)]
pub(crate) struct PgError {
    pub(crate) code: Cow<'static, str>,
    pub(super) message: String,
    /// Whether it ends the connection.
    pub(super) fatal: bool,
}

impl PgError {
    pub(crate) fn new(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), fatal: false }
    }

    pub(super) fn fatal(code: &'static str, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), fatal: true }
    }

    /// The error for a malformed message.
    pub(super) fn protocol(message: impl Into<String>) -> Self {
        Self::fatal("08P01", message)
    }

    pub(super) fn cancelled() -> Self {
        Self::new("57014", "the question was cancelled")
    }

    pub(super) fn unsupported(message: impl Into<String>) -> Self {
        Self::new("0A000", message)
    }

    pub(super) fn response(&self) -> ErrorResponse {
        let severity = if self.fatal { "FATAL" } else { "ERROR" };
        // Strings of the protocol end at a zero byte.
        let message = self.message.replace('\0', " ");
        let fields = [(b'S', severity), (b'V', severity), (b'C', &*self.code), (b'M', &message)];
        ErrorResponse::new(fields.map(|(field, text)| (field, text.to_owned())).to_vec())
    }
}

impl From<Failure> for PgError {
    fn from(failure: Failure) -> Self {
        Self::new(failure.code, failure.text)
    }
}

impl From<Refusal> for PgError {
    fn from(refusal: Refusal) -> Self {
        Failure::from(refusal).into()
    }
}
