//! The protocol between a server and its query processes.
//!
//! A message is its length (4 bytes, little-endian, excluding these), a type byte, and the rest: raw bytes of an
//! answer, or JSON.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use arrow::datatypes::Schema;
use arrow::error::ArrowError;
use arrow::ipc::writer::StreamWriter;
use axum::http::StatusCode;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use snapshot::SnapshotError;
use sql::Literal;
use sql::postgres::Login;

use super::code::code;
use crate::error::Refusal;

/// Maximum bytes of a message. Pieces of an answer are far smaller, but a row is never split.
const BYTES_MAX: u32 = 1 << 30;

/// Settings of all queries of a process. The first message to it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub(crate) data: PathBuf,
    /// Memory limit of a query, and of an answer that is kept whole, in bytes.
    pub(crate) memory_bytes: usize,
    /// The folder for temporary files.
    pub(crate) spill: PathBuf,
    /// Key columns of tables, by `DATABASE.TABLE`: rows with equal keys are the same row.
    pub(crate) unique: BTreeMap<String, Vec<String>>,
}

/// A query.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Question {
    Sql(Sql),
    /// About the groups of a table, answered by `ask`.
    Ask(Ask),
}

/// A query in SQL.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Sql {
    pub(crate) text: String,
    /// The only ensemble that the query sees; `None`: all.
    pub(crate) ensemble: Option<String>,
    /// The database of unqualified tables.
    pub(crate) database: String,
    /// The readable databases; `None`: all.
    pub(crate) databases: Option<Vec<String>>,
    /// The login of a PostgreSQL client.
    pub(crate) login: Option<Login>,
    pub(crate) wanted: Wanted,
}

/// A query about the groups of a table.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Ask {
    /// The table, as `DATABASE.TABLE`.
    pub(crate) table: String,
    pub(crate) question: ask::Question,
    pub(crate) format: Format,
}

/// The requested answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Wanted {
    /// A reply body.
    Body(Format),
    /// An Arrow IPC stream with a batch of rows per message. Holds the values of `$1`, `$2`.
    Rows(Vec<Literal>),
    /// The databases or tables that match, in the form of [`Self::Rows`].
    Names(Names),
    /// The parameter types and the columns. Holds the known parameter types as OIDs, 0 for others.
    Description(Vec<u32>),
}

/// Which databases or tables to list. Patterns are those of `LIKE`, and `None` matches all.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Names {
    /// The catalogue.
    pub(crate) catalog: Option<String>,
    /// A pattern for databases.
    pub(crate) databases: Option<String>,
    /// `None`: list databases only.
    pub(crate) tables: Option<Tables>,
}

/// Which tables to list.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Tables {
    /// A pattern for tables.
    pub(crate) names: Option<String>,
    /// The types of tables; empty: all.
    pub(crate) types: Vec<String>,
    /// Whether to add the columns of each table.
    pub(crate) columns: bool,
}

/// The format of a body.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Format {
    /// A JSON array of objects.
    Json,
    /// A JSON object with rows as arrays, for clients of Arc.
    Arrays,
    /// A list of names, for clients of InfluxDB.
    Series(String),
    Csv,
    Arrow,
    Parquet,
}

/// A part of an answer.
#[derive(Debug)]
pub(crate) enum Part {
    /// Bytes of it.
    Bytes(Vec<u8>),
    /// The parameter types, as OIDs.
    Types(Vec<u32>),
    /// Notes on the answer, such as inexact results. They precede its bytes.
    Notes(Vec<String>),
    /// The columns, as an Arrow IPC stream without rows, so that a client can read them before the first row.
    Columns(Vec<u8>),
    /// The query failed, perhaps after some rows.
    Failed(Failure),
    /// The end of the answer.
    Done(Done),
}

/// The state of a process after an answer.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Done {
    /// Whether it holds much more memory than at its start.
    pub(crate) grown: bool,
}

/// The reason that a query failed, for all kinds of clients.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Failure {
    /// The HTTP status.
    pub(crate) status: u16,
    /// PostgreSQL's code.
    pub(crate) code: String,
    pub(crate) text: String,
    /// The kind of the error, for programs.
    pub(crate) kind: Option<String>,
    /// An unknown name in the query.
    pub(crate) unknown: Option<String>,
    /// The expression with the error, and the error's position in it.
    pub(crate) place: Option<Box<(String, usize)>>,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, code: &str, text: impl Into<String>) -> Self {
        let (status, code, text) = (status.as_u16(), code.to_owned(), text.into());
        Self { status, code, text, kind: None, unknown: None, place: None }
    }

    pub(crate) fn of(refusal: &Refusal, code: &str) -> Self {
        let kind = refusal.kind().map(str::to_owned);
        let place = refusal.place().map(|(text, position)| Box::new((text.to_owned(), position)));
        Self { kind, place, ..Self::new(refusal.status(), code, refusal.text()) }
    }
}

impl From<ask::AskError> for Failure {
    fn from(error: ask::AskError) -> Self {
        Self::of(&Refusal::from(error), "XX000")
    }
}

impl From<SnapshotError> for Failure {
    fn from(error: SnapshotError) -> Self {
        Self::of(&Refusal::from(error), "XX000")
    }
}

impl From<sql::QueryError> for Failure {
    fn from(error: sql::QueryError) -> Self {
        let unknown = match &error {
            sql::QueryError::Unknown(unknown) => Some(unknown.name.clone()),
            _ => None,
        };
        let code = code(&error);
        Self { unknown, ..Self::of(&Refusal::from(error), code) }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let code = match refusal.status() {
            StatusCode::REQUEST_TIMEOUT => "57014",
            StatusCode::PAYLOAD_TOO_LARGE => "53200",
            StatusCode::FORBIDDEN => "42501",
            StatusCode::SERVICE_UNAVAILABLE => "53000",
            StatusCode::INTERNAL_SERVER_ERROR => "XX000",
            _ => "42000",
        };
        Self::of(&refusal, code)
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        let status = StatusCode::from_u16(failure.status);
        let refusal = Self::new(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), failure.text);
        let refusal = refusal.placed(failure.place.as_deref());
        match failure.kind {
            Some(kind) => refusal.of_kind(&kind),
            None => refusal,
        }
    }
}

const JSON: u8 = 0;
const BYTES: u8 = 1;
const TYPES: u8 = 2;
const FAILED: u8 = 3;
const DONE: u8 = 4;
const COLUMNS: u8 = 5;
const NOTES: u8 = 6;

/// Writes a JSON message.
pub(crate) fn put(out: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    put_json(out, JSON, message)
}

fn put_json(out: &mut impl Write, kind: u8, message: &impl Serialize) -> io::Result<()> {
    put_bytes(out, kind, &serde_json::to_vec(message)?)
}

fn put_bytes(out: &mut impl Write, kind: u8, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len() + 1).ok().filter(|length| *length <= BYTES_MAX);
    let length = length.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the message is too long"))?;
    let [a, b, c, d] = length.to_le_bytes();
    out.write_all(&[a, b, c, d, kind])?;
    out.write_all(bytes)
}

/// Reads a JSON message; `None` if the other side is gone.
pub(crate) fn take<M: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<M>> {
    let mut head = [0; 5];
    match from.read_exact(&mut head) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let mut rest = vec![0; length_of(head)?];
    from.read_exact(&mut rest)?;
    Ok(Some(serde_json::from_slice(&rest)?))
}

/// Bytes that follow a message's head.
pub(crate) fn length_of([a, b, c, d, _]: [u8; 5]) -> io::Result<usize> {
    let length = u32::from_le_bytes([a, b, c, d]);
    let fits = (1..=BYTES_MAX).contains(&length);
    if fits { Ok(length as usize - 1) } else { Err(io::Error::new(io::ErrorKind::InvalidData, "no message")) }
}

impl Part {
    pub(crate) fn columns(schema: &Schema) -> Result<Self, ArrowError> {
        Ok(Self::Columns(StreamWriter::try_new(Vec::new(), schema)?.into_inner()?))
    }

    pub(crate) fn put(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Bytes(bytes) => put_bytes(out, BYTES, bytes),
            Self::Types(types) => put_json(out, TYPES, types),
            Self::Columns(columns) => put_bytes(out, COLUMNS, columns),
            Self::Notes(notes) => put_json(out, NOTES, notes),
            Self::Failed(failure) => put_json(out, FAILED, failure),
            Self::Done(done) => put_json(out, DONE, done),
        }
    }

    /// Decodes a part.
    pub(crate) fn of([.., kind]: [u8; 5], rest: Vec<u8>) -> io::Result<Self> {
        Ok(match kind {
            BYTES => Self::Bytes(rest),
            TYPES => Self::Types(serde_json::from_slice(&rest)?),
            COLUMNS => Self::Columns(rest),
            NOTES => Self::Notes(serde_json::from_slice(&rest)?),
            FAILED => Self::Failed(serde_json::from_slice(&rest)?),
            DONE => Self::Done(serde_json::from_slice(&rest)?),
            other => return Err(io::Error::new(io::ErrorKind::InvalidData, format!("no part of kind {other}"))),
        })
    }
}
