//! A question that is being answered: its rows come through a channel that holds few of them.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use query::postgres::Login;
use query::{Asked, Engine, Literal};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::error::PgError;
use super::gone;
use super::values::Lines;
use crate::access::Access;
use crate::app::App;
use crate::error::Refusal;
use crate::sql::open_engine;

/// Who asks whom.
#[derive(Clone)]
pub(super) struct Asker {
    pub(super) app: App,
    pub(super) access: Access,
    pub(super) login: Login,
}

/// Batches that wait to be sent.
const WAITING: usize = 1;

enum Piece {
    Columns(SchemaRef),
    Rows(RecordBatch),
}

/// An error that ends a connection silently: nobody is there any more.
pub(super) fn nobody() -> PgError {
    PgError::fatal("08006", "the client is gone")
}

impl Asker {
    async fn engine(self) -> Result<Engine, PgError> {
        let engine = open_engine(&self.app, &self.access, &self.login.database).await?;
        Ok(engine.for_postgres(&self.login)?)
    }

    fn explain(&self, error: query::QueryError) -> PgError {
        match self.access.beyond_reach(&error) {
            Some(refusal) => refusal.into(),
            None => error.into(),
        }
    }

    async fn produce(self, sql: String, values: Vec<Literal>, pieces: mpsc::Sender<Piece>) -> Result<(), PgError> {
        let engine = self.clone().engine().await?;
        let mut rows = engine.ask(&sql, &values).await.map_err(|e| self.explain(e))?;
        // Where nobody takes a piece the question was given up.
        if pieces.send(Piece::Columns(rows.schema())).await.is_err() {
            return Ok(());
        }
        while let Some(batch) = rows.next().await {
            if pieces.send(Piece::Rows(batch?)).await.is_err() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The databases that can be asked.
    pub(super) async fn databases(self) -> Result<Vec<String>, PgError> {
        let app = self.app.clone();
        let found = async move { Ok(self.engine().await.map(|engine| engine.databases())) };
        app.questions.ask(|_| found).await?
    }

    /// What a question asks, within `patience`.
    pub(super) async fn describe(self, sql: String, types: Vec<u32>, patience: Duration) -> Result<Asked, PgError> {
        let app = self.app.clone();
        let types: Vec<_> = types.into_iter().map(query::postgres::type_of).collect();
        let found = async move {
            let explain = self.clone();
            let engine = match self.engine().await {
                Ok(engine) => engine,
                Err(error) => return Ok(Err(error)),
            };
            Ok(engine.describe(&sql, &types).await.map_err(|e| explain.explain(e)))
        };
        app.questions.ask_within(patience, |_| found).await?
    }

    /// Begins to answer a question, which may take as long as `patience`, rows that are sent included.
    pub(super) fn begin(self, sql: String, values: Vec<Literal>, patience: Duration) -> Answer {
        self.app.metrics.asked();
        let app = self.app.clone();
        let (send, pieces) = mpsc::channel(WAITING);
        let asked = async move {
            let work = async move { Ok(self.produce(sql, values, send).await) };
            app.questions.ask_within(patience, |_| work).await
        };
        // The places have a time limit of their own before the question has one.
        let deadline = Instant::now() + 2 * patience;
        Answer { asked: Some(Box::pin(asked)), pieces, columns: None, lines: None, sent: 0, deadline }
    }
}

type Asking = Pin<Box<dyn Future<Output = Result<Result<(), PgError>, Refusal>> + Send>>;

/// An answer that comes in pieces. Dropping it gives the question up.
pub(super) struct Answer {
    /// `None` once all is there.
    asked: Option<Asking>,
    pieces: mpsc::Receiver<Piece>,
    columns: Option<SchemaRef>,
    pub(super) lines: Option<Lines>,
    /// Rows.
    pub(super) sent: u64,
    /// When nobody may wait for anything of it any more.
    pub(super) deadline: Instant,
}

/// What ends the wait for an answer.
pub(super) struct Ends<'a> {
    pub(super) cancelled: &'a mut oneshot::Receiver<()>,
    pub(super) watch: &'a TcpStream,
}

impl Answer {
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

    /// The columns.
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

    /// Whether there are lines to be sent; they are then in [`Self::lines`].
    pub(super) async fn has_lines(&mut self, ends: &mut Ends<'_>) -> Result<bool, PgError> {
        self.columns(ends).await?;
        loop {
            if self.lines.as_ref().is_some_and(|lines| lines.next < lines.rows) {
                return Ok(true);
            }
            match self.piece(ends).await? {
                Some(Piece::Rows(batch)) => {
                    let lines = Lines::of(&batch)
                        .map_err(|e| PgError::new("XX000", format!("a row cannot be written: {e}")))?;
                    self.lines = Some(lines);
                }
                Some(Piece::Columns(_)) => {}
                None => return Ok(false),
            }
        }
    }
}
