//! An admitted connection: runs its statements one by one.

mod answers;
mod portal;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use arrow::datatypes::Schema;
use bytes::BytesMut;
use pgwire::messages::data::{NoData, ParameterDescription};
use pgwire::messages::extendedquery::{Bind, BindComplete, Close, CloseComplete, Describe, Parse, ParseComplete};
use pgwire::messages::response::{EmptyQueryResponse, ReadyForQuery, TransactionStatus};
use pgwire::messages::simplequery::Query;
use pgwire::messages::{DecodeContext, Message};
use sql::Literal;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::answers::Asked;
use crate::connections::closed;
use crate::pg::backends::{Running, Slot};
use crate::pg::error::PgError;
use crate::pg::parameters;
use crate::pg::statements::{Asker, nobody};
use crate::pg::values::{Formats, description};
use crate::pg::wire::Wire;
use portal::{Portal, Portals, Prepared, Statements};

#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    pub(super) application: String,
    /// The statement timeout that the client set.
    pub(super) timeout: Option<Duration>,
    /// The statement timeout after the current transaction.
    pub(super) timeout_after: Option<Duration>,
    /// The search path that the client connected with.
    pub(super) path: Vec<String>,
    /// The database of plain table names after the current transaction.
    pub(super) schema_after: String,
    pub(super) token: Option<String>,
}

pub(super) struct Session<'a, S> {
    wire: Wire<S>,
    asker: Asker,
    settings: Settings,
    watch: &'a TcpStream,
    slot: &'a Arc<Slot>,
    running: &'a Running,
    prepared: Statements,
    portals: Portals,
    status: TransactionStatus,
    /// Set after an error: the server skips messages until the client syncs.
    skips: bool,
}

/// The action after a message.
enum Next {
    Go,
    End,
}

impl From<io::Error> for PgError {
    fn from(_: io::Error) -> Self {
        nobody()
    }
}

impl<'a, S: AsyncRead + AsyncWrite + Unpin> Session<'a, S> {
    pub(super) fn new(
        wire: Wire<S>,
        asker: Asker,
        settings: Settings,
        watch: &'a TcpStream,
        slot: &'a Arc<Slot>,
        running: &'a Running,
    ) -> Self {
        let schema_after = asker.login.schema.clone();
        Self {
            wire,
            asker,
            settings: Settings { timeout_after: settings.timeout, schema_after, ..settings },
            watch,
            slot,
            running,
            prepared: Statements::default(),
            portals: Portals::default(),
            status: TransactionStatus::Idle,
            skips: false,
        }
    }

    /// Serves the client until it leaves or the server is closing.
    pub(super) async fn run(mut self, mut closing: watch::Receiver<bool>) -> io::Result<()> {
        self.ready().await?;
        loop {
            let idle = self.portals.0.values().filter_map(|portal| portal.answer.as_ref()).map(|a| a.deadline).min();
            let late = async {
                match idle {
                    Some(deadline) => tokio::time::sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            };
            let message = tokio::select! {
                message = self.wire.next() => message,
                () = late => {
                    // Drop suspended portals past their deadline, to free their places.
                    self.portals.0.retain(|_, portal| portal.answer.as_ref().is_none_or(|a| a.deadline > Instant::now()));
                    continue;
                }
                () = closed(&mut closing) => {
                    self.say(&PgError::fatal("57P01", "the server is closing")).await?;
                    break;
                }
                () = self.slot.terminated() => {
                    self.say(&PgError::fatal("57P01", "another connection ended this one")).await?;
                    break;
                }
            };
            let (kind, body) = match message {
                Ok(Some(message)) => message,
                Ok(None) => break,
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    self.say(&PgError::protocol(error.to_string())).await?;
                    break;
                }
                Err(error) => return Err(error),
            };
            match self.message(kind, body).await {
                Ok(Next::Go) => {
                    self.send_if_full().await?;
                    // Messages that are there already would else be served without a pause, whatever each costs.
                    tokio::task::yield_now().await;
                }
                Ok(Next::End) => break,
                Err(error) => {
                    self.failed(&error, kind).await?;
                    if error.fatal {
                        break;
                    }
                }
            }
        }
        self.wire.close().await;
        Ok(())
    }

    async fn say(&mut self, error: &PgError) -> io::Result<()> {
        self.wire.put(&error.response())?;
        self.wire.send().await
    }

    async fn failed(&mut self, error: &PgError, kind: u8) -> io::Result<()> {
        if self.status == TransactionStatus::Transaction {
            self.status = TransactionStatus::Error;
        }
        self.say(error).await?;
        if kind == b'Q' {
            self.ready().await?;
        } else {
            self.skips = true;
        }
        Ok(())
    }

    async fn ready(&mut self) -> io::Result<()> {
        if self.status == TransactionStatus::Idle {
            self.portals.end_transaction();
        }
        self.wire.put(&ReadyForQuery::new(self.status))?;
        self.wire.send().await
    }

    /// Sends the buffer once it is large: a client may send many messages before it reads any answer.
    async fn send_if_full(&mut self) -> io::Result<()> {
        if self.wire.is_full() { self.wire.send().await } else { Ok(()) }
    }

    async fn message(&mut self, kind: u8, mut body: BytesMut) -> Result<Next, PgError> {
        fn read<M: Message>(body: &mut BytesMut) -> Result<M, PgError> {
            let length = body.len() + 4;
            M::decode_body(body, length, &DecodeContext::default()).map_err(|e| PgError::protocol(e.to_string()))
        }
        match kind {
            b'X' => return Ok(Next::End),
            b'S' => {
                self.skips = false;
                self.ready().await?;
            }
            _ if self.skips && matches!(kind, b'P' | b'B' | b'D' | b'E' | b'C' | b'H') => {}
            b'Q' => {
                self.skips = false;
                self.simple(&read::<Query>(&mut body)?.query).await?;
            }
            b'P' => self.parse(read(&mut body)?)?,
            b'B' => self.bind(read(&mut body)?).await?,
            b'D' => self.describe(&read(&mut body)?).await?,
            b'E' => self.execute(&read(&mut body)?).await?,
            b'C' => self.close(&read(&mut body)?)?,
            b'H' => self.wire.send().await?,
            // Messages of a refused COPY.
            b'd' | b'c' | b'f' => {}
            b'F' => return Err(PgError::unsupported("function calls are not supported: call functions in SQL")),
            other => {
                return Err(PgError::protocol(format!("unknown message of kind {:?}", char::from(other))));
            }
        }
        Ok(Next::Go)
    }

    /// Runs the statements of a text one by one.
    async fn simple(&mut self, text: &str) -> Result<(), PgError> {
        let (mut statements, rest) = sql::split(text);
        statements.extend((!sql::is_empty(rest)).then_some(rest));
        if statements.is_empty() {
            self.wire.put(&EmptyQueryResponse::new())?;
        }
        for sql in statements {
            let mut portal = Portal::new(sql.to_owned())?;
            self.answer(&mut portal, 0, true).await?;
            self.send_if_full().await?;
        }
        Ok(self.ready().await?)
    }

    fn parse(&mut self, message: Parse) -> Result<(), PgError> {
        let name = message.name.unwrap_or_default();
        if !name.is_empty() && self.prepared.contains(&name) {
            return Err(PgError::new("42P05", format!("prepared statement {name:?} exists already")));
        }
        let (mut statements, rest) = sql::split(&message.query);
        statements.extend((!sql::is_empty(rest)).then_some(rest));
        if statements.len() > 1 {
            return Err(PgError::new("42601", "cannot prepare more than one statement"));
        }
        let sql = statements.first().map(|sql| (*sql).to_owned()).unwrap_or_default();
        self.prepared.insert(name, Prepared { sql, types: message.type_oids })?;
        Ok(self.wire.put(&ParseComplete::new())?)
    }

    async fn bind(&mut self, message: Bind) -> Result<(), PgError> {
        let name = message.statement_name.unwrap_or_default();
        let mut prepared = self.prepared.get(&name)?;
        let formats = Formats(message.parameter_format_codes);
        let is_binary = |place: usize| formats.of(place) == 1;
        let unknown = |types: &[u32], place: usize| matches!(types.get(place), None | Some(0));
        let needs_types =
            |types: &[u32]| (0..message.parameters.len()).any(|place| is_binary(place) && unknown(types, place));
        if needs_types(&prepared.types) {
            prepared.types = self.plan(&name).await?.types;
        }
        let mut values = Vec::with_capacity(message.parameters.len());
        for (place, bytes) in message.parameters.iter().enumerate() {
            let oid = prepared.types.get(place).copied().unwrap_or_default();
            values.push(match bytes {
                None => sql::postgres::null(oid),
                Some(bytes) if is_binary(place) => parameters::binary(oid, bytes)?,
                Some(bytes) => parameters::text(oid, bytes)?,
            });
        }
        let (portal_name, formats) = (message.portal_name.unwrap_or_default(), message.result_column_format_codes);
        let of_values = values.iter().map(Literal::bytes).sum::<usize>();
        let bytes = prepared.sql.len() + of_values + portal_name.len() + formats.len() * size_of::<i16>();
        self.portals.check_room(bytes)?;
        let portal = Portal { values, formats: Formats(formats), bytes, ..Portal::new(prepared.sql)? };
        self.portals.0.insert(portal_name, portal);
        Ok(self.wire.put(&BindComplete::new())?)
    }

    fn patience(&self) -> Duration {
        let most = self.asker.app.settings.question_timeout;
        self.settings.timeout.map_or(most, |timeout| timeout.min(most))
    }

    /// Plans a prepared statement, and keeps the types of its parameters that follow from that.
    async fn plan(&mut self, name: &str) -> Result<Asked, PgError> {
        let Prepared { sql, types } = self.prepared.get(name)?;
        let asked = self.asker.clone().describe(sql.clone(), types, self.patience()).await?;
        self.prepared.insert(name.to_owned(), Prepared { sql, types: asked.types.clone() })?;
        Ok(asked)
    }

    async fn describe(&mut self, message: &Describe) -> Result<(), PgError> {
        let name = message.name.clone().unwrap_or_default();
        if message.target_type == b'S' {
            return self.describe_statement(&name).await;
        }
        let mut portal = self.portals.take(&name)?;
        let described = self.begin(&mut portal).await;
        self.portals.0.insert(name, portal);
        described
    }

    async fn describe_statement(&mut self, name: &str) -> Result<(), PgError> {
        let prepared = self.prepared.get(name)?;
        let portal = Portal::new(prepared.sql)?;
        let copies = portal.copy.is_some().then(Schema::empty);
        if let Some(columns) = copies.or(self.columns_unasked(&portal)?) {
            self.wire.put(&ParameterDescription::new(Vec::new()))?;
            return self.put_columns(&columns, &Formats::default());
        }
        let asked = self.plan(name).await?;
        self.wire.put(&ParameterDescription::new(asked.types))?;
        self.put_columns(&asked.columns, &Formats::default())
    }

    fn put_columns(&mut self, columns: &Schema, formats: &Formats) -> Result<(), PgError> {
        if columns.fields().is_empty() {
            return Ok(self.wire.put(&NoData::new())?);
        }
        Ok(self.wire.put(&description(columns, formats))?)
    }

    /// The columns of a portal that no question tells; `None` for a query.
    fn columns_unasked(&self, portal: &Portal) -> Result<Option<Schema>, PgError> {
        if portal.sql.is_empty() {
            return Ok(Some(Schema::empty()));
        }
        Ok(self.portals.columns_of_command(portal.command()?.as_ref()))
    }

    fn close(&mut self, message: &Close) -> Result<(), PgError> {
        let name = message.name.clone().unwrap_or_default();
        if message.target_type == b'S' {
            self.prepared.remove(&name);
        } else {
            self.portals.0.remove(&name);
        }
        Ok(self.wire.put(&CloseComplete::new())?)
    }
}
