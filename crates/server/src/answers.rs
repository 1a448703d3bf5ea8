//! Answers that are read while their query runs, for protocols that send rows in batches.

use std::io::Cursor;
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ipc::reader::{StreamDecoder, StreamReader};
use axum::http::StatusCode;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::access::Access;
use crate::app::App;
use crate::error::Refusal;
use crate::processes::{Answering, Failure, Part, Question};
use crate::questions::{Place, broken};

/// A client's permissions, and the server state that its queries need.
#[derive(Clone)]
pub(crate) struct Asker {
    pub(crate) app: App,
    pub(crate) access: Access,
}

/// The description of a query: parameter types and columns.
pub(crate) struct Asked {
    /// The parameter types, as PostgreSQL's OIDs.
    pub(crate) types: Vec<u32>,
    pub(crate) columns: SchemaRef,
}

/// Maximum batches that wait for the client.
const WAITING: usize = 1;

/// A piece of an answer. The columns come first.
pub(crate) enum Piece {
    Columns(SchemaRef),
    Rows(RecordBatch),
}

/// An answer that arrives in pieces. Dropping it cancels the query.
pub(crate) struct Answer {
    pieces: mpsc::Receiver<Result<Piece, Failure>>,
    task: AbortHandle,
}

impl Answer {
    /// The next piece; `None` at the end. Loses nothing if it is dropped while it waits.
    pub(crate) async fn piece(&mut self) -> Result<Option<Piece>, Failure> {
        self.pieces.recv().await.transpose()
    }
}

impl Answer {
    /// The task of the query: aborting it cancels the query.
    pub(crate) fn task(&self) -> AbortHandle {
        self.task.clone()
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn columns_of(stream: Vec<u8>) -> Result<SchemaRef, Failure> {
    Ok(StreamReader::try_new(Cursor::new(stream), None).map_err(|e| unreadable(&e))?.schema())
}

fn unreadable(error: &ArrowError) -> Failure {
    Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "XX000", format!("cannot read the answer: {error}"))
}

pub(crate) fn no_columns() -> Failure {
    Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "XX000", "the answer has no columns")
}

impl Access {
    /// The next part of an answer.
    pub(crate) async fn part(&self, answering: &mut Answering) -> Result<Option<Part>, Failure> {
        let hidden = |failure: Failure| self.hides(failure.unknown.as_deref()).map_or(failure, Failure::from);
        answering.next().await.map_err(hidden)
    }
}

impl Asker {
    /// The readable databases.
    pub(crate) async fn databases(self) -> Result<Vec<String>, Refusal> {
        let listed = tokio::task::spawn_blocking(move || {
            let mut names = sql::databases(&self.app.settings.data)?;
            names.retain(|name| self.access.may_read_of(name).is_ok());
            Ok::<_, Refusal>(names)
        });
        listed.await.map_err(|e| broken(&e))?
    }

    /// Describes a query, within `patience`.
    pub(crate) async fn describe(self, question: Question, patience: Duration) -> Result<Asked, Failure> {
        let app = self.app.clone();
        let access = self.access.clone();
        let found = |place| async move {
            let described = async {
                let mut answering = self.app.processes.ask(place, &question).await?;
                let (mut types, mut columns) = (Vec::new(), None);
                while let Some(part) = self.access.part(&mut answering).await? {
                    match part {
                        Part::Types(found) => types = found,
                        Part::Columns(bytes) => columns = Some(columns_of(bytes)?),
                        Part::Bytes(_) | Part::Notes(_) | Part::Failed(_) | Part::Done(_) => {}
                    }
                }
                Ok(Asked { types, columns: columns.ok_or_else(no_columns)? })
            };
            Ok(described.await)
        };
        app.questions.ask_within(&access, patience, found).await?
    }

    /// Starts a query. `patience` limits its time, including the time that the client takes to read its rows.
    pub(crate) fn begin(self, question: Question, patience: Duration) -> Answer {
        self.app.counters.asked();
        let app = self.app.clone();
        let (send, pieces) = mpsc::channel(WAITING);
        // A task of its own, so that the time limit holds even while nobody reads.
        let task = app.questions.handle().clone().spawn(async move {
            let (access, rows) = (self.access.clone(), send.clone());
            let work = |place| async move { Ok(self.produce(question, place, rows).await) };
            let ended = app.questions.ask_within(&access, patience, work).await;
            if let Err(failure) = ended.map_err(Failure::from).flatten() {
                // Nobody reads: the client is gone.
                drop(send.send(Err(failure)).await);
            }
        });
        Answer { pieces, task: task.abort_handle() }
    }

    async fn produce(
        self,
        question: Question,
        place: Place,
        pieces: mpsc::Sender<Result<Piece, Failure>>,
    ) -> Result<(), Failure> {
        let mut answering = self.app.processes.ask(place, &question).await?;
        let mut decoder = StreamDecoder::new();
        while let Some(part) = self.access.part(&mut answering).await? {
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
                if pieces.send(Ok(piece)).await.is_err() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
