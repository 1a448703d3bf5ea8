//! The commands of Flight SQL, and the tickets for their rows.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow_flight::sql::metadata::{GetDbSchemasBuilder, GetTablesBuilder};
use arrow_flight::sql::{Any, Command, CommandGetTables, ProstMessageExt as _, TicketStatementQuery};
use arrow_flight::{FlightDescriptor, Ticket, flight_descriptor::DescriptorType};
use prost::Message as _;
use tonic::Status;

use super::Client;
use super::constants;
use super::statement::Statement;
use super::status::{invalid, unsupported};
use crate::processes::{Names, Tables};

/// A request for rows.
pub(super) enum Wants {
    /// The rows of a query.
    Statement(Statement),
    /// The rows of a statement that is prepared: a client knows its columns.
    Prepared(Statement),
    /// The databases or tables.
    Names(Names),
    /// Rows that depend on no data.
    Rows(RecordBatch),
}

/// Reads a command of Arrow Flight SQL.
pub(super) fn read(bytes: &[u8]) -> Result<Command, Status> {
    let unknown = || invalid("unknown command: send one of Arrow Flight SQL");
    match Any::decode(bytes).map(Command::try_from) {
        Ok(Ok(command)) if !command.type_url().is_empty() => Ok(command),
        _ => Err(unknown()),
    }
}

impl Wants {
    pub(super) fn of_descriptor(descriptor: &FlightDescriptor) -> Result<Self, Status> {
        if descriptor.r#type() == DescriptorType::Path {
            return Err(unsupported("cannot open a path: send a command of Arrow Flight SQL"));
        }
        Self::of(&descriptor.cmd)
    }

    /// Reads the bytes of a command or a ticket. Clients of InfluxDB send JSON.
    pub(super) fn of(bytes: &[u8]) -> Result<Self, Status> {
        if bytes.first() == Some(&b'{') {
            return Statement::of_json(bytes).map(Self::Statement);
        }
        Ok(match read(bytes)? {
            Command::CommandStatementQuery(command) => Self::Statement(Statement::new(command.query)),
            Command::TicketStatementQuery(ticket) => Self::Statement(Statement::of_handle(&ticket.statement_handle)?),
            Command::CommandPreparedStatementQuery(command) => {
                Self::Prepared(Statement::of_handle(&command.prepared_statement_handle)?)
            }
            Command::CommandGetDbSchemas(command) => {
                let (catalog, databases) = (command.catalog, command.db_schema_filter_pattern);
                Self::Names(Names { catalog, databases, tables: None })
            }
            Command::CommandGetTables(command) => Self::Names(of_tables(command)),
            other => Self::Rows(constants::rows(other)?),
        })
    }

    /// The columns, if they are known or a client needs them before the rows.
    pub(super) async fn columns(&self, client: &Client) -> Result<Option<SchemaRef>, Status> {
        Ok(match self {
            Self::Statement(statement) => Some(client.describe(statement).await?.columns),
            Self::Prepared(_) => None,
            Self::Names(names) => Some(match &names.tables {
                None => GetDbSchemasBuilder::new(None::<String>, None::<String>).schema(),
                Some(tables) => {
                    let none = || None::<String>;
                    GetTablesBuilder::new(none(), none(), none(), none(), tables.columns).schema()
                }
            }),
            Self::Rows(rows) => Some(rows.schema()),
        })
    }

    /// The ticket for the rows; `command` is what the client sent.
    pub(super) fn ticket(&self, command: &FlightDescriptor) -> Result<Ticket, Status> {
        let ticket = match self {
            Self::Statement(statement) | Self::Prepared(statement) => {
                let number =
                    getrandom::u64().map_err(|e| Status::internal(format!("cannot get random numbers: {e}")))?;
                let mut statement = statement.clone();
                statement.ticket = Some(number);
                let ticket = TicketStatementQuery { statement_handle: statement.handle()? };
                ticket.as_any().encode_to_vec().into()
            }
            _ => command.cmd.clone(),
        };
        Ok(Ticket { ticket })
    }
}

fn of_tables(command: CommandGetTables) -> Names {
    let tables = Tables {
        names: command.table_name_filter_pattern,
        types: command.table_types,
        columns: command.include_schema,
    };
    Names { catalog: command.catalog, databases: command.db_schema_filter_pattern, tables: Some(tables) }
}
