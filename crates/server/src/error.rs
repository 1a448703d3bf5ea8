//! Error replies, and the errors that prevent a server from running.

use std::path::PathBuf;

use ask::AskError;
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use decode::{DecodeError, DecodeErrorKind};
use ensemble::{EnsembleError, ExpressionError, QuestionError};
use ingest::IngestError;
use serde_json::{Value, json};
use snapshot::SnapshotError;
use sql::QueryError;
use table::{ErrorKind, TableError};

use crate::tokens::TokenError;

/// The reason that a server does not run.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("cannot listen on {address}: {cause}")]
    Listen { address: std::net::SocketAddr, cause: std::io::Error },
    #[error("other machines can reach {address}, and the server requires no token")]
    Open { address: std::net::SocketAddr },
    #[error("other machines can reach {address}, and passwords would cross the network unencrypted")]
    Plain { address: std::net::SocketAddr },
    /// The server cannot use the data folder.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    #[error("cannot start answering queries: {0}")]
    Questions(std::io::Error),
    #[error(transparent)]
    Tokens(#[from] TokenError),
    /// The server cannot use the certificate or its key.
    #[error("{}: {reason}", path.display())]
    Tls { path: PathBuf, reason: String },
}

/// The field for the kind of an error.
const KIND: &str = "kind";
/// The fields for an expression with an error, and for the error's position in it, in bytes.
const TEXT: &str = "text";
const POSITION: &str = "position";
/// Kinds of errors.
pub(crate) const UNKNOWN_NAME: &str = "unknown_name";
const TOO_FEW_WORLDS: &str = "too_few_worlds";
const LIMIT: &str = "limit";
const DAMAGED: &str = "damaged";
const MODEL: &str = "model";

/// An error reply: `{"error": ...}` with further fields for programs.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    body: Value,
    retry_after: Option<u64>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self { status, body: json!({"error": error.into()}), retry_after: None }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    pub(crate) fn text(&self) -> &str {
        self.body["error"].as_str().unwrap_or_default()
    }

    pub(crate) fn bad(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    pub(crate) fn internal(error: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error)
    }

    /// The status and the whole body, to pass on to another process.
    pub(crate) fn into_parts(self) -> (StatusCode, Value) {
        (self.status, self.body)
    }

    /// A reply that another process made.
    pub(crate) fn from_parts(status: StatusCode, body: Value) -> Self {
        let retry_after = (status == StatusCode::SERVICE_UNAVAILABLE).then_some(5);
        Self { status, body, retry_after }
    }

    /// Puts `words` before the text.
    pub(crate) fn after(mut self, words: &str) -> Self {
        self.body["error"] = json!(format!("{words}: {}", self.body["error"].as_str().unwrap_or_default()));
        self
    }

    /// Adds a field next to `error`.
    pub(crate) fn with(mut self, field: &str, value: Value) -> Self {
        self.body[field] = value;
        self
    }

    /// Adds the kind of the error, for programs.
    pub(crate) fn of_kind(self, kind: &str) -> Self {
        self.with(KIND, json!(kind))
    }

    /// The kind of the error, if programs can tell more from it than from the status.
    pub(crate) fn kind(&self) -> Option<&str> {
        self.body[KIND].as_str()
    }

    /// Adds the place of an error in an expression.
    pub(crate) fn pointing(self, at: &ExpressionError) -> Self {
        self.within(at.text(), at.position())
    }

    fn within(self, text: &str, position: usize) -> Self {
        self.with(TEXT, json!(text)).with(POSITION, json!(position))
    }

    /// The expression with the error, and the error's position in it, if the error is in one.
    pub(crate) fn place(&self) -> Option<(&str, usize)> {
        Some((self.body[TEXT].as_str()?, self.body[POSITION].as_u64()? as usize))
    }

    /// Adds the result of [`Self::place`].
    pub(crate) fn placed(self, place: Option<&(String, usize)>) -> Self {
        match place {
            Some((text, position)) => self.within(text, *position),
            None => self,
        }
    }

    pub(crate) fn later(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds.max(1));
        self
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body)).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<DecodeError> for Refusal {
    fn from(error: DecodeError) -> Self {
        let status = match error.kind() {
            DecodeErrorKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            DecodeErrorKind::Malformed => StatusCode::BAD_REQUEST,
            DecodeErrorKind::Bug => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string())
    }
}

impl From<IngestError> for Refusal {
    fn from(error: IngestError) -> Self {
        let text = error.to_string();
        match error {
            IngestError::Overloaded { after, .. } => {
                Self::new(StatusCode::TOO_MANY_REQUESTS, text).later(after.as_secs())
            }
            IngestError::Failing { after, .. } => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, text).later(after.as_secs())
            }
            IngestError::TooManyTables { .. } => Self::bad(text),
            IngestError::Closing | IngestError::Digesting { .. } => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, text).later(1)
            }
            IngestError::Table(error) => error.into(),
            // A full or missing disk may become available again.
            IngestError::Log { .. } | IngestError::Io { .. } | IngestError::Replaced { .. } => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, text).later(5)
            }
            IngestError::Damaged { .. }
            | IngestError::Gap { .. }
            | IngestError::InUse { .. }
            | IngestError::Task(_)
            | IngestError::Rows { .. } => Self::new(StatusCode::INTERNAL_SERVER_ERROR, text),
        }
    }
}

impl From<AskError> for Refusal {
    fn from(error: AskError) -> Self {
        let text = error.to_string();
        match error {
            AskError::Memory { .. } => Self::new(StatusCode::PAYLOAD_TOO_LARGE, text).of_kind(LIMIT),
            AskError::Overflow { .. } => Self::bad(text).of_kind(LIMIT),
            AskError::UnknownColumn { .. } => Self::bad(text).of_kind(UNKNOWN_NAME),
            AskError::Syntax { error, .. } => Self::bad(text).pointing(&error),
            AskError::Io { .. } => Self::new(StatusCode::SERVICE_UNAVAILABLE, text).later(5),
            AskError::Damaged { .. } => Self::new(StatusCode::INTERNAL_SERVER_ERROR, text).of_kind(DAMAGED),
            _ => Self::bad(text),
        }
    }
}

impl From<SnapshotError> for Refusal {
    fn from(error: SnapshotError) -> Self {
        match error {
            SnapshotError::Log(error) => error.into(),
            SnapshotError::Table(error) => error.into(),
            SnapshotError::Columns { .. } => {
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).of_kind(DAMAGED)
            }
        }
    }
}

impl From<TableError> for Refusal {
    fn from(error: TableError) -> Self {
        of_table(&error)
    }
}

fn of_table(error: &TableError) -> Refusal {
    let text = error.to_string();
    match error.kind() {
        ErrorKind::Request => Refusal::bad(text),
        // A full or missing disk may become available again, and a conflict passes.
        ErrorKind::Environment | ErrorKind::Conflict => Refusal::new(StatusCode::SERVICE_UNAVAILABLE, text).later(5),
        ErrorKind::Damaged => Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, text).of_kind(DAMAGED),
    }
}

impl From<&EnsembleError> for Refusal {
    fn from(error: &EnsembleError) -> Self {
        match error {
            EnsembleError::Unknown { .. } => Self::new(StatusCode::NOT_FOUND, error.to_string()).of_kind(UNKNOWN_NAME),
            EnsembleError::Version { .. } | EnsembleError::World { .. } | EnsembleError::NoEvents { .. } => {
                Self::bad(error.to_string()).of_kind(UNKNOWN_NAME)
            }
            EnsembleError::Played { .. } => Self::new(StatusCode::CONFLICT, error.to_string()),
            EnsembleError::Table(error) => of_table(error),
            EnsembleError::Damaged { .. } => {
                Self::bad(format!("{error}; the server's operator can replace or remove the ensemble")).of_kind(DAMAGED)
            }
            EnsembleError::Newer { .. } => Self::bad(error.to_string()).of_kind(DAMAGED),
            EnsembleError::Memory { .. } => Self::bad(error.to_string()).of_kind(LIMIT),
            EnsembleError::Replay { .. }
            | EnsembleError::Catalogue { .. }
            | EnsembleError::NotCompact { .. }
            | EnsembleError::NoModel { .. } => Self::bad(error.to_string()).of_kind(MODEL),
            other => Self::bad(other.to_string()),
        }
    }
}

impl From<EnsembleError> for Refusal {
    fn from(error: EnsembleError) -> Self {
        Self::from(&error)
    }
}

impl From<QuestionError> for Refusal {
    fn from(error: QuestionError) -> Self {
        match error {
            QuestionError::Ensemble(error) => error.into(),
            QuestionError::TooFew(few) => Self::bad(format!("{few}; set the minimum with \"min_worlds\""))
                .of_kind(TOO_FEW_WORLDS)
                .with("matched", json!(few.matched))
                .with("worlds", json!(few.worlds))
                .with("minimum", json!(few.least))
                .with("needed", json!(few.worlds_needed())),
            QuestionError::Unknown(unknown) => Self::bad(unknown.to_string()).of_kind(UNKNOWN_NAME),
            QuestionError::NoWorlds { .. } => Self::bad(error.to_string()).of_kind(TOO_FEW_WORLDS),
            QuestionError::TooMany { .. } | QuestionError::BookMemory { .. } => {
                Self::bad(error.to_string()).of_kind(LIMIT)
            }
            QuestionError::NoModel { error: ref at, .. } => Self::bad(error.to_string()).of_kind(MODEL).pointing(at),
            QuestionError::Expression(at) => Self::bad(at.to_string()).pointing(&at),
            other => Self::bad(other.to_string()),
        }
    }
}

impl From<QueryError> for Refusal {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Memory { .. } => Self::new(StatusCode::PAYLOAD_TOO_LARGE, error.to_string()).of_kind(LIMIT),
            QueryError::TooLarge { .. } => Self::bad(error.to_string()).of_kind(LIMIT),
            QueryError::Unknown(_) => Self::bad(error.to_string()).of_kind(UNKNOWN_NAME),
            QueryError::Ensemble(error) => error.into(),
            QueryError::Unreadable(error) => Self::from(&*error),
            QueryError::Table(error) => error.into(),
            QueryError::Snapshot(error) => error.into(),
            other => Self::bad(other.to_string()),
        }
    }
}
