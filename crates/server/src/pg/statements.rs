//! A running query: its rows arrive through a short channel.

use std::future::Future;
use std::io::Cursor;
use std::pin::Pin;
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ipc::reader::{StreamDecoder, StreamReader};
use sql::Literal;
use sql::postgres::Login;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::error::PgError;
use super::gone;
use super::values::Lines;
use crate::access::Access;
use crate::app::App;
use crate::error::Refusal;
use crate::processes::{Answering, Part, Question, Sql, Wanted};
use crate::questions::{Place, broken};

/// A client, and the server state that its queries need.
#[derive(Clone)]
pub(super) struct Asker {
    pub(super) app: App,
    pub(super) access: Access,
    pub(super) login: Login,
}

/// The description of a query: parameter types and columns.
pub(super) struct Asked {
    /// The parameter types, as PostgreSQL's OIDs.
    pub(super) types: Vec<u32>,
    pub(super) columns: SchemaRef,
}

/// Maximum batches that wait for the client.
const WAITING: usize = 1;

enum Piece {
    Columns(SchemaRef),
    Rows(RecordBatch),
}

fn columns_of(stream: Vec<u8>) -> Result<SchemaRef, PgError> {
    Ok(StreamReader::try_new(Cursor::new(stream), None).map_err(|e| unreadable(&e))?.schema())
}

fn unreadable(error: &ArrowError) -> PgError {
    PgError::new("XX000", format!("cannot read the answer: {error}"))
}

/// An error that closes the connection silently, because the client is gone.
pub(super) fn nobody() -> PgError {
    PgError::fatal("08006", "the client is gone")
}

impl Asker {
    fn question(&self, sql: String, wanted: Wanted) -> Question {
        let databases = self.access.databases().map(<[_]>::to_vec);
        let login = Some(self.login.clone());
        Question::Sql(Sql {
            text: sql,
            ensemble: None,
            database: self.login.database.clone(),
            databases,
            login,
            wanted,
        })
    }

    /// The next part of an answer.
    async fn part(&self, answering: &mut Answering) -> Result<Option<Part>, PgError> {
        answering.next().await.map_err(|failure| match self.access.hides(failure.unknown.as_deref()) {
            Some(refusal) => refusal.into(),
            None => failure.into(),
        })
    }

    async fn produce(self, question: Question, place: Place, pieces: mpsc::Sender<Piece>) -> Result<(), PgError> {
        let mut answering = self.app.processes.ask(place, &question).await?;
        let mut decoder = StreamDecoder::new();
        while let Some(part) = self.part(&mut answering).await? {
            let mut found = Vec::new();
            match part {
                Part::Columns(bytes) => found.push(Piece::Columns(columns_of(bytes)?)),
                Part::Bytes(bytes) => {
                    let mut bytes = Buffer::from(bytes);
                    while let Some(batch) = decoder.decode(&mut bytes).map_err(|e| unreadable(&e))? {
                        found.push(Piece::Rows(batch));
                    }
                }
                Part::Types(_) | Part::Notes(_) | Part::Failed(_) | Part::Done(_) => {}
            }
            for piece in found {
                // A dropped receiver cancels the query.
                if pieces.send(piece).await.is_err() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The readable databases.
    pub(super) async fn databases(self) -> Result<Vec<String>, PgError> {
        let listed = tokio::task::spawn_blocking(move || {
            let mut names = sql::databases(&self.app.settings.data)?;
            names.retain(|name| self.access.may_read_of(name).is_ok());
            Ok::<_, Refusal>(names)
        });
        Ok(listed.await.map_err(|e| broken(&e))??)
    }

    /// Describes a query, within `patience`.
    pub(super) async fn describe(self, sql: String, types: Vec<u32>, patience: Duration) -> Result<Asked, PgError> {
        let app = self.app.clone();
        let (access, question) = (self.access.clone(), self.question(sql, Wanted::Description(types)));
        let found = |place| async move {
            let described = async {
                let mut answering = self.app.processes.ask(place, &question).await?;
                let (mut types, mut columns) = (Vec::new(), None);
                while let Some(part) = self.part(&mut answering).await? {
                    match part {
                        Part::Types(found) => types = found,
                        Part::Columns(bytes) => columns = Some(columns_of(bytes)?),
                        Part::Bytes(_) | Part::Notes(_) | Part::Failed(_) | Part::Done(_) => {}
                    }
                }
                let columns = columns.ok_or_else(|| PgError::new("XX000", "the answer has no columns"))?;
                Ok(Asked { types, columns })
            };
            Ok(described.await)
        };
        app.questions.ask_within(&access, patience, found).await?
    }

    /// Starts a query. `patience` limits its time, including the time to send its rows.
    pub(super) fn begin(self, sql: String, values: Vec<Literal>, patience: Duration) -> Answer {
        self.app.counters.asked();
        let app = self.app.clone();
        let (send, pieces) = mpsc::channel(WAITING);
        let asked = async move {
            let (access, question) = (self.access.clone(), self.question(sql, Wanted::Rows(values)));
            let work = |place| async move { Ok(self.produce(question, place, send).await) };
            app.questions.ask_within(&access, patience, work).await
        };
        // Waiting for a place has its own limit, before the query's limit.
        let deadline = Instant::now() + 2 * patience;
        Answer { asked: Some(Box::pin(asked)), pieces, columns: None, lines: None, sent: 0, deadline }
    }
}

type Asking = Pin<Box<dyn Future<Output = Result<Result<(), PgError>, Refusal>> + Send>>;

/// An answer that arrives in pieces. Dropping it cancels the query.
pub(super) struct Answer {
    /// `None` once all parts have arrived.
    asked: Option<Asking>,
    pieces: mpsc::Receiver<Piece>,
    columns: Option<SchemaRef>,
    pub(super) lines: Option<Lines>,
    /// Rows sent so far.
    pub(super) sent: u64,
    /// The answer is dropped after this time.
    pub(super) deadline: Instant,
}

/// Events that end waiting for an answer.
pub(super) struct Ends<'a> {
    pub(super) cancelled: &'a mut oneshot::Receiver<()>,
    pub(super) watch: &'a TcpStream,
}

impl Answer {
    /// The columns, once they have arrived.
    pub(super) fn known_columns(&self) -> Option<&SchemaRef> {
        self.columns.as_ref()
    }

    async fn piece(&mut self, ends: &mut Ends<'_>) -> Result<Option<Piece>, PgError> {
        loop {
            let Some(asked) = &mut self.asked else { return Ok(self.pieces.recv().await) };
            tokio::select! {
                biased;
                Ok(()) = &mut *ends.cancelled => return Err(PgError::cancelled()),
                piece = self.pieces.recv(), if !self.pieces.is_closed() || !self.pieces.is_empty() => {
                    if piece.is_some() {
                        return Ok(piece);
                    }
                }
                ended = asked => {
                    self.asked = None;
                    ended??;
                }
                () = gone(ends.watch) => return Err(nobody()),
            }
        }
    }

    pub(super) async fn columns(&mut self, ends: &mut Ends<'_>) -> Result<SchemaRef, PgError> {
        if let Some(columns) = &self.columns {
            return Ok(columns.clone());
        }
        match self.piece(ends).await? {
            Some(Piece::Columns(columns)) => {
                self.columns = Some(columns.clone());
                Ok(columns)
            }
            _ => Err(PgError::new("XX000", "the answer has no columns")),
        }
    }

    /// Waits for rows to send; they are then in [`Self::lines`].
    pub(super) async fn has_lines(&mut self, ends: &mut Ends<'_>) -> Result<bool, PgError> {
        self.columns(ends).await?;
        loop {
            if self.lines.as_ref().is_some_and(|lines| lines.next < lines.rows) {
                return Ok(true);
            }
            match self.piece(ends).await? {
                Some(Piece::Rows(batch)) => {
                    let lines =
                        Lines::of(&batch).map_err(|e| PgError::new("XX000", format!("cannot write a row: {e}")))?;
                    self.lines = Some(lines);
                }
                Some(Piece::Columns(_)) => {}
                None => return Ok(false),
            }
        }
    }
}
