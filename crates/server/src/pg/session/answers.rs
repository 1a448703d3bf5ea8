//! Sends the answers of statements.

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use bytes::{BufMut as _, BytesMut};
use pgwire::messages::copy::CopyDone;
use pgwire::messages::extendedquery::{Execute, PortalSuspended};
use pgwire::messages::response::{CommandComplete, EmptyQueryResponse, NoticeResponse, TransactionStatus};
use sql::postgres::{search_path, setting};
use tokio::io::{AsyncRead, AsyncWrite};

use super::Session;
use super::portal::Portal;
use crate::pg::authorize::authorize;
use crate::pg::backends::Stop;
use crate::pg::commands::Command;
use crate::pg::cursors::{Declare, Fetch};
use crate::pg::error::PgError;
use crate::pg::statements::{Ends, nobody};
use crate::pg::values::{Formats, description};

impl<S: AsyncRead + AsyncWrite + Unpin> Session<'_, S> {
    /// Starts a portal and sends its columns.
    pub(super) async fn begin(&mut self, portal: &mut Portal) -> Result<(), PgError> {
        if let Some(columns) = self.columns_unasked(portal)? {
            return self.put_columns(&columns, &portal.formats);
        }
        let columns = self.columns(portal).await?;
        // Clients learn the columns of a COPY when it runs.
        let columns = if portal.copy.is_some() { Schema::empty() } else { columns.as_ref().clone() };
        self.put_columns(&columns, &portal.formats)
    }

    /// Starts a portal and waits for its columns.
    async fn columns(&mut self, portal: &mut Portal) -> Result<SchemaRef, PgError> {
        self.start(portal)?;
        let mut cancelled = self.slot.begin();
        let mut ends = Ends { cancelled: &mut cancelled, watch: self.watch };
        let columns = match &mut portal.answer {
            Some(answer) => answer.columns(&mut ends).await,
            None => Ok(SchemaRef::new(Schema::empty())),
        };
        self.slot.end();
        columns
    }

    /// Starts to answer a query, unless it has started.
    fn start(&mut self, portal: &mut Portal) -> Result<(), PgError> {
        if portal.answer.is_some() {
            return Ok(());
        }
        self.check()?;
        let (sql, values) = (portal.sql.clone(), portal.values.clone());
        portal.answer = Some(self.asker.clone().begin(sql, values, self.patience()));
        Ok(())
    }

    /// Whether the session may run a query now.
    fn check(&mut self) -> Result<(), PgError> {
        if self.status == TransactionStatus::Error {
            return Err(PgError::new("25P02", "the transaction has failed: end it with ROLLBACK"));
        }
        // The token may have been revoked or restricted since.
        let access = authorize(&self.asker.app, self.settings.token.as_deref())?;
        access.may_read_of(&self.asker.login.database)?;
        self.asker.access = access;
        Ok(())
    }

    pub(super) async fn execute(&mut self, message: &Execute) -> Result<(), PgError> {
        let name = message.name.clone().unwrap_or_default();
        let mut portal = self.portals.take(&name)?;
        let done = self.answer(&mut portal, message.max_rows.max(0) as u64, false).await;
        self.portals.0.insert(name, portal);
        done
    }

    /// Sends up to `most` rows (0: all), then the command tag or a suspension.
    pub(super) async fn answer(&mut self, portal: &mut Portal, most: u64, describe: bool) -> Result<(), PgError> {
        if portal.sql.is_empty() {
            return Ok(self.wire.put(&EmptyQueryResponse::new())?);
        }
        if let Some(command) = portal.command()? {
            return self.command(command, portal, describe).await;
        }
        let sent = self.send(portal, most, describe).await?;
        if !portal.over {
            return Ok(self.wire.put(&PortalSuspended::new())?);
        }
        let word = portal.sql.split_whitespace().next().unwrap_or_default().to_uppercase();
        let all = portal.answer.as_ref().map_or(sent, |answer| answer.sent);
        let tag = match word.as_str() {
            _ if portal.copy.is_some() => format!("COPY {all}"),
            "EXPLAIN" | "SHOW" => word,
            _ => format!("SELECT {}", if most > 0 { sent } else { all }),
        };
        Ok(self.wire.put(&CommandComplete::new(tag))?)
    }

    /// Sends up to `most` rows (0: all) and returns their number.
    async fn send(&mut self, portal: &mut Portal, most: u64, describe: bool) -> Result<u64, PgError> {
        self.start(portal)?;
        let mut cancelled = self.slot.begin();
        let ends = Ends { cancelled: &mut cancelled, watch: self.watch };
        let done = self.send_rows(portal, most, describe, ends).await;
        self.slot.end();
        if done.is_err() {
            portal.answer = None;
        }
        done
    }

    async fn send_rows(
        &mut self,
        portal: &mut Portal,
        most: u64,
        describe: bool,
        mut ends: Ends<'_>,
    ) -> Result<u64, PgError> {
        let Some(answer) = &mut portal.answer else { return Ok(0) };
        let mut opening = BytesMut::new();
        if let Some(copy) = &portal.copy {
            let columns = answer.columns(&mut ends).await?;
            self.wire.put(&copy.response(columns.fields().len()))?;
            opening = copy.opening(&columns);
            if !copy.is_binary() {
                self.wire.put_data(|out| out.put(opening.split()));
            }
        } else if describe {
            let columns = answer.columns(&mut ends).await?;
            // An answer without columns is still a query.
            self.wire.put(&description(&columns, &portal.formats))?;
        }
        let mut now = 0;
        while !portal.over && answer.has_lines(&mut ends).await? {
            let Some(lines) = &mut answer.lines else { break };
            while lines.next < lines.rows {
                // A COPY is sent as a whole.
                if most > 0 && now == most && portal.copy.is_none() {
                    return Ok(now);
                }
                let row = lines.next;
                match &portal.copy {
                    Some(copy) => self.wire.put_data(|out| {
                        out.put(opening.split());
                        copy.row(lines, row, out);
                    }),
                    None if !portal.sends => {}
                    None => self.wire.put_row(lines.columns(), |out| lines.write(row, &portal.formats, out)),
                }
                lines.next += 1;
                now += 1;
                answer.sent += 1;
                if self.wire.is_full() {
                    let sent = tokio::time::timeout_at(answer.deadline, self.wire.send()).await;
                    sent.map_err(|_| nobody())??;
                    if ends.cancelled.try_recv().is_ok() {
                        return Err(PgError::cancelled());
                    }
                }
            }
        }
        portal.over = true;
        if let Some(copy) = &portal.copy {
            self.wire.put_data(|out| {
                out.put(opening.split());
                copy.end(out);
            });
            self.wire.put(&CopyDone::new())?;
        }
        Ok(now)
    }

    async fn command(&mut self, command: Command, portal: &mut Portal, describe: bool) -> Result<(), PgError> {
        let failed = self.status == TransactionStatus::Error;
        let mut tag = command.tag().to_owned();
        match command {
            Command::End(end) => {
                // A failed transaction rolls back.
                if failed || end != "COMMIT" {
                    "ROLLBACK".clone_into(&mut tag);
                    self.portals.0.clear();
                }
                self.status = TransactionStatus::Idle;
                self.settings.timeout = self.settings.timeout_after;
                self.asker.login.schema.clone_from(&self.settings.schema_after);
                self.portals.end_transaction();
            }
            Command::Nothing("ROLLBACK") if failed => self.status = TransactionStatus::Transaction,
            _ if failed => self.check()?,
            Command::Begin => self.status = TransactionStatus::Transaction,
            Command::Timeout(timeout) => {
                self.settings.timeout = timeout;
                self.settings.timeout_after = timeout;
            }
            Command::TimeoutOnce(timeout) if self.status == TransactionStatus::Transaction => {
                self.settings.timeout = timeout;
            }
            Command::Name(name) => self.settings.application = name,
            Command::Path(names) => {
                self.asker.look_in(&names).await?;
                self.settings.schema_after.clone_from(&self.asker.login.schema);
            }
            Command::PathOnce(names) if self.status == TransactionStatus::Transaction => {
                self.asker.look_in(&names).await?;
            }
            Command::Zone(zone) => self.warn(&format!(
                "time zone {zone:?} has no effect: times are in UTC; write time AT TIME ZONE '{zone}' in queries"
            ))?,
            Command::Stop(stop) => self.stop(stop, &portal.formats, describe)?,
            Command::Show(name) => self.show(&name, describe)?,
            Command::Deallocate(None) => self.prepared.clear(),
            Command::Deallocate(Some(name)) => self.prepared.remove(&name),
            Command::Discard => {
                self.prepared.clear();
                self.portals.0.clear();
                self.settings.timeout = None;
                self.settings.timeout_after = None;
                self.asker.look_in(&[]).await?;
                self.settings.schema_after.clone_from(&self.asker.login.schema);
            }
            Command::Declare(declare) => self.declare(declare, portal).await?,
            Command::Fetch(fetch) => tag = format!("{tag} {}", self.fetch(&fetch, &portal.formats, describe).await?),
            Command::Close(None) => self.portals.0.clear(),
            Command::Close(Some(name)) => drop(self.portals.take(&name)?),
            // Outside a transaction these have no effect.
            Command::Nothing(_) | Command::TimeoutOnce(_) | Command::PathOnce(_) => {}
        }
        Ok(self.wire.put(&CommandComplete::new(tag))?)
    }

    /// Starts the query of a cursor, with the parameters of the portal `with`.
    async fn declare(&mut self, declare: Declare, with: &mut Portal) -> Result<(), PgError> {
        if self.status == TransactionStatus::Idle && !declare.hold {
            return Err(PgError::new(
                "25P01",
                "DECLARE CURSOR needs a transaction: send BEGIN first, or add WITH HOLD",
            ));
        }
        if self.portals.0.contains_key(&declare.name) {
            return Err(PgError::new("42P03", format!("cursor {:?} exists already", declare.name)));
        }
        let bytes = declare.name.len() + declare.sql.len().max(with.bytes);
        self.portals.check_room(bytes)?;
        let formats = Formats(if declare.binary { vec![1] } else { Vec::new() });
        let values = with.values.clone();
        let mut portal = Portal { values, formats, bytes, held: declare.hold, ..Portal::new(declare.sql)? };
        if portal.copy.is_some() || portal.sql.is_empty() || portal.command()?.is_some() {
            return Err(PgError::new("42601", "a cursor needs a query: DECLARE name CURSOR FOR SELECT ..."));
        }
        self.columns(&mut portal).await?;
        self.portals.0.insert(declare.name, portal);
        Ok(())
    }

    /// Sends or skips the next rows of a cursor and returns their number. A cursor that fails is closed.
    async fn fetch(&mut self, fetch: &Fetch, formats: &Formats, describe: bool) -> Result<u64, PgError> {
        self.check()?;
        let mut portal = self.portals.take(&fetch.name)?;
        let own = std::mem::replace(&mut portal.formats, formats.clone());
        if !own.0.is_empty() {
            portal.formats.clone_from(&own);
        }
        portal.sends = fetch.sends;
        let describe = describe && fetch.sends;
        let sent = if fetch.most == Some(0) {
            if describe {
                let columns = self.columns(&mut portal).await?;
                self.wire.put(&description(&columns, &portal.formats))?;
            }
            0
        } else {
            self.send(&mut portal, fetch.most.unwrap_or(0), describe).await?
        };
        portal.formats = own;
        self.portals.0.insert(fetch.name.clone(), portal);
        Ok(sent)
    }

    /// Sends a warning, which does not fail the statement.
    fn warn(&mut self, message: &str) -> Result<(), PgError> {
        let fields = [(b'S', "WARNING"), (b'V', "WARNING"), (b'C', "01000"), (b'M', message)];
        Ok(self.wire.put(&NoticeResponse::new(fields.map(|(kind, text)| (kind, text.to_owned())).into()))?)
    }

    /// Stops another connection, and sends whether there is one.
    fn stop(&mut self, stop: Stop, formats: &Formats, describe: bool) -> Result<(), PgError> {
        self.check()?;
        let found = self.running.stop(stop, self.asker.access.name());
        if describe {
            let columns = Schema::new(vec![Field::new(stop.name(), DataType::Boolean, false)]);
            self.wire.put(&description(&columns, formats))?;
        }
        let value: &[u8] = match (formats.of(0), found) {
            (1, true) => &[1],
            (1, false) => &[0],
            (_, true) => b"t",
            (_, false) => b"f",
        };
        self.wire.put_row(1, |out| {
            out.put_u32(value.len() as u32);
            out.put_slice(value);
        });
        Ok(())
    }

    fn show(&mut self, name: &str, describe: bool) -> Result<(), PgError> {
        let value = match name {
            "statement_timeout" => format!("{}ms", self.patience().as_millis()),
            "application_name" => self.settings.application.clone(),
            "search_path" => search_path(&self.asker.login),
            "session_authorization" => self.asker.login.user.clone(),
            other => setting(other).unwrap_or_default().to_owned(),
        };
        if describe {
            let columns = Schema::new(vec![Field::new(name, DataType::Utf8, false)]);
            self.wire.put(&description(&columns, &Formats::default()))?;
        }
        self.wire.put_row(1, |out| {
            out.put_u32(value.len() as u32);
            out.put_slice(value.as_bytes());
        });
        Ok(())
    }
}
