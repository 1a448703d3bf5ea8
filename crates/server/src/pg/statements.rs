//! A running query of a connection, and the rows of its current batch.

use std::time::Duration;

use arrow::datatypes::SchemaRef;
use sql::Literal;
use sql::postgres::Login;
use table::SIM;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::error::PgError;
use super::gone;
use super::values::Lines;
use crate::access::Access;
use crate::answers::{self, Asked, Piece, no_columns};
use crate::app::App;
use crate::processes::{Question, Sql, Wanted};

/// A client, and the server state that its queries need.
#[derive(Clone)]
pub(super) struct Asker {
    pub(super) app: App,
    pub(super) access: Access,
    pub(super) login: Login,
}

/// An error that closes the connection silently, because the client is gone.
pub(super) fn nobody() -> PgError {
    PgError::fatal("08006", "the client is gone")
}

impl Asker {
    fn question(&self, sql: String, wanted: Wanted) -> Question {
        let databases = self.access.databases().map(<[_]>::to_vec);
        let login = Some(self.login.clone());
        Question::Sql(Sql { text: sql, ensemble: None, database: self.login.schema.clone(), databases, login, wanted })
    }

    fn asker(self) -> answers::Asker {
        answers::Asker { app: self.app, access: self.access }
    }

    /// The readable databases.
    pub(super) async fn databases(self) -> Result<Vec<String>, PgError> {
        Ok(self.asker().databases().await?)
    }

    /// Sets the database of plain table names to the first of the schemas that is one, or else to the connection's.
    pub(super) async fn look_in(&mut self, schemas: &[String]) -> Result<(), PgError> {
        let mut schema = self.login.database.clone();
        let others = schemas.iter().take_while(|name| **name != schema).filter(|name| *name != SIM);
        let others: Vec<_> = others.collect();
        if !others.is_empty() {
            let known = self.clone().databases().await?;
            if let Some(first) = others.into_iter().find(|name| known.contains(name)) {
                schema.clone_from(first);
            }
        }
        self.login.schema = schema;
        Ok(())
    }

    /// Describes a query, within `patience`.
    pub(super) async fn describe(self, sql: String, types: Vec<u32>, patience: Duration) -> Result<Asked, PgError> {
        let question = self.question(sql, Wanted::Description(types));
        Ok(self.asker().describe(question, patience).await?)
    }

    /// Starts a query. `patience` limits its time, including the time to send its rows.
    pub(super) fn begin(self, sql: String, values: Vec<Literal>, patience: Duration) -> Answer {
        let question = self.question(sql, Wanted::Rows(values));
        // Waiting for a place has its own limit, before the query's limit.
        let deadline = Instant::now() + 2 * patience;
        Answer { pieces: self.asker().begin(question, patience), columns: None, lines: None, sent: 0, deadline }
    }
}

/// An answer that arrives in pieces. Dropping it cancels the query.
pub(super) struct Answer {
    pieces: answers::Answer,
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
        tokio::select! {
            biased;
            Ok(()) = &mut *ends.cancelled => Err(PgError::cancelled()),
            piece = self.pieces.piece() => Ok(piece?),
            () = gone(ends.watch) => Err(nobody()),
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
            _ => Err(no_columns().into()),
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
