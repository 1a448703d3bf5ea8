//! What a server and a process that answers questions say to each other.
//!
//! A message is its length (4 bytes, little-endian, without these), a byte that says what it is, and the rest: bytes of an
//! answer as they are, everything else in JSON.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use arrow::datatypes::Schema;
use arrow::error::ArrowError;
use arrow::ipc::writer::StreamWriter;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use snapshot::SnapshotError;
use sql::Literal;
use sql::postgres::Login;

use super::code::code;
use crate::error::Refusal;

/// Bytes of a message. Answers come in far smaller pieces, but a row is never cut.
const BYTES_MAX: u32 = 1 << 30;

/// What all questions of a process have in common. The first message to it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Setup {
    /// The data folder.
    pub(crate) data: PathBuf,
    /// Bytes that a question may hold, and that an answer may have where it is kept whole.
    pub(crate) memory_bytes: usize,
    /// Where its temporary files go.
    pub(crate) spill: PathBuf,
    /// By their names, as `DATABASE.TABLE`: the columns that tell the rows of a table apart.
    pub(crate) unique: BTreeMap<String, Vec<String>>,
}

/// A question.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Question {
    /// In SQL.
    Sql(Sql),
    /// About the groups of a table, answered by `ask`.
    Ask(Ask),
}

/// A question in SQL.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Sql {
    pub(crate) text: String,
    /// The database of tables that are named without one.
    pub(crate) database: String,
    /// The databases that may be asked; `None`: all.
    pub(crate) databases: Option<Vec<String>>,
    /// Who asks, where it is a client of PostgreSQL.
    pub(crate) login: Option<Login>,
    pub(crate) wanted: Wanted,
}

/// A question about the groups of a table.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Ask {
    /// The table, as `DATABASE.TABLE`.
    pub(crate) table: String,
    pub(crate) question: ask::Question,
    pub(crate) format: Format,
}

/// What is wanted of an answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Wanted {
    /// The body of a reply.
    Body(Format),
    /// An Arrow IPC stream, a batch of rows a message, with values for `$1`, `$2`.
    Rows(Vec<Literal>),
    /// The types of the values and the columns. Types of values that are known are numbers of PostgreSQL, others are 0.
    Description(Vec<u32>),
}

/// The format of a body.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Format {
    /// An array of objects, in JSON.
    Json,
    /// An object with rows as arrays, as clients of the peer expect it.
    Arrays,
    /// As clients of InfluxDB expect the names of things.
    Series(String),
    Csv,
    Arrow,
}

/// A part of an answer.
#[derive(Debug)]
pub(crate) enum Part {
    /// Bytes of it.
    Bytes(Vec<u8>),
    /// The types of a question's values, as PostgreSQL numbers them.
    Types(Vec<u32>),
    /// What there is to know of it, such as in what it is not exact. Before its bytes.
    Notes(Vec<String>),
    /// Its columns, as an Arrow IPC stream without rows: from one with rows they can be read with the first of them only.
    Columns(Vec<u8>),
    /// There is no answer, or it ends here.
    Failed(Failure),
    /// That was all.
    Done(Done),
}

/// How a process is after an answer.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Done {
    /// Whether it holds much more memory than it began with.
    pub(crate) grown: bool,
}

/// Why a question has no answer, for both kinds of clients.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Failure {
    /// The status of HTTP.
    pub(crate) status: u16,
    /// The code of PostgreSQL.
    pub(crate) code: String,
    pub(crate) text: String,
    /// A name in the question that stands for nothing.
    pub(crate) unknown: Option<String>,
}

impl Failure {
    pub(crate) fn of(refusal: &Refusal, code: &str, unknown: Option<String>) -> Self {
        Self { status: refusal.status().as_u16(), code: code.to_owned(), text: refusal.text().to_owned(), unknown }
    }
}

impl From<ask::AskError> for Failure {
    fn from(error: ask::AskError) -> Self {
        Self::of(&Refusal::from(error), "XX000", None)
    }
}

impl From<SnapshotError> for Failure {
    fn from(error: SnapshotError) -> Self {
        Self::of(&Refusal::from(error), "XX000", None)
    }
}

impl From<sql::QueryError> for Failure {
    fn from(error: sql::QueryError) -> Self {
        let unknown = match &error {
            sql::QueryError::Unknown(unknown) => Some(unknown.name.clone()),
            _ => None,
        };
        let code = code(&error);
        Self::of(&Refusal::from(error), code, unknown)
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        let status = axum::http::StatusCode::from_u16(failure.status);
        Self::new(status.unwrap_or(axum::http::StatusCode::INTERNAL_SERVER_ERROR), failure.text)
    }
}

const JSON: u8 = 0;
const BYTES: u8 = 1;
const TYPES: u8 = 2;
const FAILED: u8 = 3;
const DONE: u8 = 4;
const COLUMNS: u8 = 5;
const NOTES: u8 = 6;

/// Writes a message whose rest is JSON.
///
/// # Errors
/// Where `out` does not take it.
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

/// Reads a message of JSON; `None` where the other side is gone.
///
/// # Errors
/// Where it cannot be read or is another.
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

/// Bytes that follow the head of a message.
pub(crate) fn length_of([a, b, c, d, _]: [u8; 5]) -> io::Result<usize> {
    let length = u32::from_le_bytes([a, b, c, d]);
    let fits = (1..=BYTES_MAX).contains(&length);
    if fits { Ok(length as usize - 1) } else { Err(io::Error::new(io::ErrorKind::InvalidData, "no message")) }
}

impl Part {
    /// # Errors
    /// Where Arrow has no form for a column.
    pub(crate) fn columns(schema: &Schema) -> Result<Self, ArrowError> {
        Ok(Self::Columns(StreamWriter::try_new(Vec::new(), schema)?.into_inner()?))
    }

    /// # Errors
    /// Where `out` does not take it.
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

    /// The part that a message is.
    ///
    /// # Errors
    /// Where it is none.
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
