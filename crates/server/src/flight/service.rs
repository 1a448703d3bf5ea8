//! The methods of the protocol.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::ipc::writer::IpcWriteOptions;
use arrow_flight::encode::{FlightDataEncoder, FlightDataEncoderBuilder};
use arrow_flight::error::{FlightError, Result as FlightResult};
use arrow_flight::flight_service_server::FlightService;
use arrow_flight::sql::{
    ActionCancelQueryRequest, ActionCancelQueryResult, ActionCreatePreparedStatementRequest,
    ActionCreatePreparedStatementResult, Any, Command, DoPutPreparedStatementResult, ProstMessageExt,
};
use arrow_flight::{
    Action, ActionType, CancelFlightInfoRequest, CancelFlightInfoResult, CancelStatus, Criteria, Empty, FlightData,
    FlightDescriptor, FlightEndpoint, FlightInfo, HandshakeRequest, HandshakeResponse, IpcMessage, PollInfo, PutResult,
    SchemaAsIpc, SchemaResult, Ticket,
};
use axum::http::Uri;
use bytes::Bytes;
use futures::stream::{self, BoxStream};
use futures::{StreamExt as _, TryStreamExt as _};
use prost::Message as _;
use tonic::{Request, Response, Status, Streaming, async_trait};

use super::command::{self, Wants};
use super::constants;
use super::runs::{Run, Runs};
use super::statement::{Statement, only_queries};
use super::status::{invalid, status, unsupported};
use super::{Client, jdbc, parameters};
use crate::answers::{Answer, Piece, no_columns};
use crate::authenticate::token_of;

const PREPARE: &str = "CreatePreparedStatement";
const CLOSE: &str = "ClosePreparedStatement";

const CANCEL: &str = "CancelFlightInfo";
/// Older than [`CANCEL`], and the same.
const CANCEL_QUERY: &str = "CancelQuery";

/// Answers each request from what it carries.
#[derive(Default)]
pub(super) struct Service {
    runs: Runs,
}

type Batches = BoxStream<'static, FlightResult<RecordBatch>>;
type Reply<T> = Response<BoxStream<'static, Result<T, Status>>>;
type Replies<T> = Result<Reply<T>, Status>;

fn reply<T: Send + 'static>(all: Vec<T>) -> Reply<T> {
    Response::new(stream::iter(all).map(Ok).boxed())
}

/// The client of a request.
fn client<T>(request: &Request<T>) -> Result<Client, Status> {
    request.extensions().get().cloned().ok_or_else(|| Status::internal("the request was not admitted"))
}

/// Batches in the messages of the protocol.
fn encoded(columns: SchemaRef, rows: BoxStream<'static, FlightResult<RecordBatch>>) -> FlightDataEncoder {
    FlightDataEncoderBuilder::new().with_schema(columns).build(rows)
}

/// The columns as a client gets them: values instead of indices into dictionaries.
fn as_sent(client: &Client, columns: SchemaRef) -> SchemaRef {
    let columns = if client.java { jdbc::columns(&columns) } else { columns };
    encoded(columns.clone(), stream::empty().boxed()).known_schema().unwrap_or(columns)
}

fn unsent(error: &impl ToString) -> Status {
    Status::internal(error.to_string())
}

fn cancelled() -> Status {
    Status::cancelled("the query was cancelled")
}

fn in_bytes(columns: &Schema) -> Result<Bytes, Status> {
    let IpcMessage(bytes) = SchemaAsIpc::new(columns, &IpcWriteOptions::default())
        .try_into()
        .map_err(|e: arrow::error::ArrowError| unsent(&e))?;
    Ok(bytes)
}

/// The columns and rows of an answer. Waits for the columns, so that most errors come before any row.
async fn rows(mut answer: Answer, run: Arc<Run>) -> Result<(SchemaRef, Batches), Status> {
    let columns = match answer.piece().await.map_err(status)? {
        Some(Piece::Columns(columns)) => columns,
        _ if run.is_cancelled() => return Err(cancelled()),
        _ => return Err(status(no_columns())),
    };
    let rows = stream::try_unfold((answer, run), |(mut answer, run)| async move {
        while let Some(piece) = answer.piece().await.map_err(|e| FlightError::from(status(e)))? {
            if let Piece::Rows(batch) = piece {
                return Ok(Some((batch, (answer, run))));
            }
        }
        if run.is_cancelled() { Err(cancelled().into()) } else { Ok(None) }
    });
    Ok((columns, rows.boxed()))
}

/// The request in the body of an action.
fn unpacked<T: ProstMessageExt>(action: &Action) -> Result<T, Status> {
    Any::decode(&*action.body).ok().and_then(|any| any.unpack().ok().flatten()).ok_or_else(unread)
}

fn unread() -> Status {
    invalid("the body of the action is not its request")
}

impl Service {
    /// Prepares a statement: its handle is all there is of it.
    async fn prepare(client: &Client, action: &Action) -> Result<Bytes, Status> {
        let request: ActionCreatePreparedStatementRequest = unpacked(action)?;
        let statement = Statement::new(request.query);
        let asked = client.describe(&statement).await?;
        let mut parameters = parameters::schema(&asked.types);
        if client.java {
            parameters = jdbc::parameters(&parameters);
        }
        let result = ActionCreatePreparedStatementResult {
            prepared_statement_handle: statement.handle()?,
            dataset_schema: in_bytes(&as_sent(client, asked.columns))?,
            parameter_schema: if asked.types.is_empty() { Bytes::new() } else { in_bytes(&parameters)? },
        };
        Ok(result.as_any().encode_to_vec().into())
    }

    /// Plans a query, which runs when a client sends the ticket.
    async fn plan(client: &Client, descriptor: FlightDescriptor) -> Result<FlightInfo, Status> {
        let wants = Wants::of_descriptor(&descriptor)?;
        let mut info = FlightInfo::new();
        if let Some(columns) = wants.columns(client).await? {
            info = info.try_with_schema(&as_sent(client, columns)).map_err(|e| unsent(&e))?;
        }
        let endpoint = FlightEndpoint::new().with_ticket(wants.ticket(&descriptor)?);
        Ok(info.with_endpoint(endpoint).with_descriptor(descriptor))
    }

    /// Cancels the queries that run with the tickets of a plan.
    fn cancel(&self, client: &Client, info: &FlightInfo) -> Result<(), Status> {
        let mut found = false;
        for ticket in info.endpoint.iter().filter_map(|endpoint| endpoint.ticket.as_ref()) {
            if let Wants::Statement(Statement { ticket: Some(ticket), .. }) = Wants::of(&ticket.ticket)? {
                found |= self.runs.cancel(client, ticket);
            }
        }
        if found { Ok(()) } else { Err(Status::not_found("no query runs with this ticket")) }
    }

    /// Refuses a statement that a client sends as an update.
    async fn update(client: &Client, statement: &Statement) -> Status {
        match client.describe(statement).await {
            Err(refused) => refused,
            Ok(_) => only_queries("a query as an update"),
        }
    }
}

#[async_trait]
impl FlightService for Service {
    type HandshakeStream = BoxStream<'static, Result<HandshakeResponse, Status>>;
    type ListFlightsStream = BoxStream<'static, Result<FlightInfo, Status>>;
    type DoGetStream = BoxStream<'static, Result<FlightData, Status>>;
    type DoPutStream = BoxStream<'static, Result<PutResult, Status>>;
    type DoExchangeStream = BoxStream<'static, Result<FlightData, Status>>;
    type DoActionStream = BoxStream<'static, Result<arrow_flight::Result, Status>>;
    type ListActionsStream = BoxStream<'static, Result<ActionType, Status>>;

    /// Returns the token of a client that logs in with a name and the token as its password.
    async fn handshake(&self, request: Request<Streaming<HandshakeRequest>>) -> Replies<HandshakeResponse> {
        let mut reply = reply(vec![HandshakeResponse::default()]);
        let headers = request.metadata().clone().into_headers();
        if let Some(token) = token_of(&headers, &Uri::default()) {
            let value = format!("Bearer {token}").parse().map_err(|_| invalid("the password is not a token"))?;
            reply.metadata_mut().insert("authorization", value);
        }
        Ok(reply)
    }

    async fn list_flights(&self, _: Request<Criteria>) -> Replies<FlightInfo> {
        Err(unsupported("ListFlights is not supported: list the tables with CommandGetTables"))
    }

    async fn get_flight_info(&self, request: Request<FlightDescriptor>) -> Result<Response<FlightInfo>, Status> {
        let client = client(&request)?;
        Ok(Response::new(Self::plan(&client, request.into_inner()).await?))
    }

    /// Always complete: a query runs while a client reads its rows, so there is nothing to wait for.
    async fn poll_flight_info(&self, request: Request<FlightDescriptor>) -> Result<Response<PollInfo>, Status> {
        let client = client(&request)?;
        let info = Self::plan(&client, request.into_inner()).await?;
        Ok(Response::new(PollInfo { info: Some(info), progress: Some(1.0), ..PollInfo::default() }))
    }

    async fn get_schema(&self, request: Request<FlightDescriptor>) -> Result<Response<SchemaResult>, Status> {
        let client = client(&request)?;
        let wants = match Wants::of_descriptor(request.get_ref())? {
            Wants::Prepared(statement) => Wants::Statement(statement),
            other => other,
        };
        let columns = wants.columns(&client).await?.ok_or_else(|| status(no_columns()))?;
        Ok(Response::new(SchemaResult { schema: in_bytes(&as_sent(&client, columns))? }))
    }

    async fn do_get(&self, request: Request<Ticket>) -> Replies<FlightData> {
        let client = client(&request)?;
        let run = |ticket: Option<u64>, answer: Answer| {
            let run = self.runs.add(&client, ticket, &answer);
            rows(answer, run)
        };
        let (mut columns, mut rows) = match Wants::of(&request.get_ref().ticket)? {
            Wants::Statement(statement) | Wants::Prepared(statement) => {
                run(statement.ticket, client.begin(statement)?).await?
            }
            Wants::Names(names) => {
                let (columns, rows) = run(None, client.list(names)).await?;
                let changed = |batch: FlightResult<RecordBatch>| jdbc::tables(&batch?).map_err(FlightError::from);
                (columns, if client.java { rows.map(changed).boxed() } else { rows })
            }
            Wants::Rows(rows) => (rows.schema(), stream::iter([Ok(rows)]).boxed()),
        };
        if client.java {
            columns = jdbc::columns(&columns);
            let plain = columns.clone();
            rows = rows.map(move |batch| jdbc::rows(&batch?, &plain).map_err(FlightError::from)).boxed();
        }
        Ok(Response::new(encoded(columns, rows).map_err(Status::from).boxed()))
    }

    /// Sets the values of a prepared statement. The reply is its new handle.
    async fn do_put(&self, request: Request<Streaming<FlightData>>) -> Replies<PutResult> {
        let client = client(&request)?;
        let mut data = request.into_inner();
        let first = data.message().await?.ok_or_else(|| invalid("the request has no command"))?;
        let descriptor = first.flight_descriptor.as_ref().ok_or_else(|| invalid("the request has no command"))?;
        match command::read(&descriptor.cmd)? {
            Command::CommandPreparedStatementQuery(command) => {
                let mut statement = Statement::of_handle(&command.prepared_statement_handle)?;
                statement.values = parameters::read(stream::iter([Ok(first)]).chain(data)).await?;
                let handle = DoPutPreparedStatementResult { prepared_statement_handle: Some(statement.handle()?) };
                Ok(reply(vec![PutResult { app_metadata: handle.encode_to_vec().into() }]))
            }
            Command::CommandStatementUpdate(command) => {
                Err(Self::update(&client, &Statement::new(command.query)).await)
            }
            Command::CommandPreparedStatementUpdate(command) => {
                Err(Self::update(&client, &Statement::of_handle(&command.prepared_statement_handle)?).await)
            }
            Command::CommandStatementIngest(_) => {
                Err(unsupported("cannot store rows over Flight: send them to /api/v1/write/arrow over HTTP"))
            }
            other => Err(unsupported(format!("{} is not supported", constants::name(&other)))),
        }
    }

    async fn do_exchange(&self, _: Request<Streaming<FlightData>>) -> Replies<FlightData> {
        Err(unsupported("DoExchange is not supported"))
    }

    async fn do_action(&self, request: Request<Action>) -> Replies<arrow_flight::Result> {
        let client = client(&request)?;
        match request.get_ref().r#type.as_str() {
            PREPARE => {
                let body = Self::prepare(&client, request.get_ref()).await?;
                Ok(reply(vec![arrow_flight::Result { body }]))
            }
            // The server keeps nothing of a prepared statement.
            CLOSE => Ok(reply(Vec::new())),
            CANCEL => {
                let request = CancelFlightInfoRequest::decode(&*request.get_ref().body);
                let info = request.ok().and_then(|request| request.info).ok_or_else(unread)?;
                self.cancel(&client, &info)?;
                let body = CancelFlightInfoResult::new(CancelStatus::Cancelled).encode_to_vec().into();
                Ok(reply(vec![arrow_flight::Result { body }]))
            }
            CANCEL_QUERY => {
                let asked: ActionCancelQueryRequest = unpacked(request.get_ref())?;
                self.cancel(&client, &FlightInfo::decode(&*asked.info).map_err(|_| unread())?)?;
                // Both forms have the same numbers.
                let result = ActionCancelQueryResult { result: CancelStatus::Cancelled as i32 };
                Ok(reply(vec![arrow_flight::Result { body: result.as_any().encode_to_vec().into() }]))
            }
            other => Err(unsupported(format!("unknown action {other:?}"))),
        }
    }

    async fn list_actions(&self, _: Request<Empty>) -> Replies<ActionType> {
        let action = |name: &str, about: &str| ActionType { r#type: name.to_owned(), description: about.to_owned() };
        Ok(reply(vec![
            action(PREPARE, "Prepare a statement"),
            action(CLOSE, "Close a prepared statement"),
            action(CANCEL, "Cancel a query that runs"),
            action(CANCEL_QUERY, "Cancel a query that runs (older form)"),
        ]))
    }
}
