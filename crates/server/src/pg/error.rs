//! Errors with the codes that clients of PostgreSQL know.

use std::borrow::Cow;

use axum::http::StatusCode;
use pgwire::messages::response::ErrorResponse;

use crate::error::Refusal;
use crate::processes::Failure;

/// An error as it goes to a client.
#[derive(Debug)]
pub(crate) struct PgError {
    pub(crate) code: Cow<'static, str>,
    pub(super) message: String,
    /// Whether the connection ends with it.
    pub(super) fatal: bool,
}

impl PgError {
    pub(crate) fn new(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), fatal: false }
    }

    pub(super) fn fatal(code: &'static str, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), fatal: true }
    }

    /// What the client sent is no message of the protocol.
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
        // Texts of the protocol end at a zero.
        let message = self.message.replace('\0', " ");
        let fields = [(b'S', severity), (b'V', severity), (b'C', &*self.code), (b'M', &message)];
        ErrorResponse::new(fields.map(|(field, text)| (field, text.to_owned())).to_vec())
    }
}

<<<<<<< HEAD
impl From<Failure> for PgError {
    fn from(failure: Failure) -> Self {
        Self::new(failure.code, failure.text)
=======
impl From<&QueryError> for PgError {
    fn from(error: &QueryError) -> Self {
        let code = match error {
            QueryError::Syntax { .. } => "42601",
            QueryError::TooLarge { .. } => "54001",
            QueryError::Refused { .. } => "25006",
            QueryError::Unknown(unknown) => match unknown.what.as_str() {
                "no table" => "42P01",
                "no column" => "42703",
                "no function" | "no table function" => "42883",
                _ => "42704",
            },
            QueryError::Arguments { .. } | QueryError::Condition { .. } => "22023",
            QueryError::Memory { .. } => "53200",
            QueryError::Ensemble(_) | QueryError::Unreadable(_) | QueryError::Table(_) | QueryError::Snapshot(_) => {
                "58030"
            }
            QueryError::Invalid { reason } => of_reason(reason),
        };
        Self::new(code, error.to_string())
    }
}

/// What went wrong with values is known by its words only.
fn of_reason(reason: &str) -> &'static str {
    let reason = reason.to_lowercase();
    let says = |words: &str| reason.contains(words);
    match () {
        () if says("division by zero") => "22012",
        () if says("overflow") => "22003",
        () if says("cannot cast") || says("parse") => "22P02",
        () if says("in more than one table") => "42702",
        () if says("not implemented") || says("not supported") => "0A000",
        () if says("type") || says("coerc") => "42804",
        () => "42000",
>>>>>>> refs/heads/hooks
    }
}

impl From<Refusal> for PgError {
    fn from(refusal: Refusal) -> Self {
        let code = match refusal.status() {
            StatusCode::REQUEST_TIMEOUT => "57014",
            StatusCode::PAYLOAD_TOO_LARGE => "53200",
            StatusCode::FORBIDDEN => "42501",
            StatusCode::SERVICE_UNAVAILABLE => "53000",
            StatusCode::INTERNAL_SERVER_ERROR => "XX000",
            _ => "42000",
        };
        Self::new(code, refusal.text())
    }
}
