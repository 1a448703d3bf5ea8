//! The methods of the protocol.

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::ipc::writer::IpcWriteOptions;
use arrow_flight::encode::{FlightDataEncoder, FlightDataEncoderBuilder};
use arrow_flight::error::{FlightError, Result as FlightResult};
use arrow_flight::flight_service_server::FlightService;
use arrow_flight::sql::{
    ActionCreatePreparedStatementRequest, ActionCreatePreparedStatementResult, Any, Command,
    DoPutPreparedStatementResult, ProstMessageExt,
};
use arrow_flight::{
    Action, ActionType, Criteria, Empty, FlightData, FlightDescriptor, FlightEndpoint, FlightInfo, HandshakeRequest,
    HandshakeResponse, IpcMessage, PollInfo, PutResult, SchemaAsIpc, SchemaResult, Ticket,
};
use axum::http::Uri;
use bytes::Bytes;
use futures::stream::{self, BoxStream};
use futures::{StreamExt as _, TryStreamExt as _};
use prost::Message as _;
use tonic::{Request, Response, Status, Streaming, async_trait};

use super::command::{self, Wants};
use super::constants;
use super::statement::{Statement, only_queries};
use super::status::{invalid, status, unsupported};
use super::{Client, parameters};
use crate::answers::{Answer, Piece, no_columns};
use crate::authenticate::token_of;

const PREPARE: &str = "CreatePreparedStatement";
const CLOSE: &str = "ClosePreparedStatement";

/// Answers each request from what it carries.
pub(super) struct Service;

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

/// The columns as clients get them: values instead of indices into dictionaries.
fn as_sent(columns: SchemaRef) -> SchemaRef {
    encoded(columns.clone(), stream::empty().boxed()).known_schema().unwrap_or(columns)
}

fn unsent(error: &impl ToString) -> Status {
    Status::internal(error.to_string())
}

fn in_bytes(columns: &Schema) -> Result<Bytes, Status> {
    let IpcMessage(bytes) = SchemaAsIpc::new(columns, &IpcWriteOptions::default())
        .try_into()
        .map_err(|e: arrow::error::ArrowError| unsent(&e))?;
    Ok(bytes)
}

/// The columns and rows of an answer. Waits for the columns, so that most errors come before any row.
async fn rows(mut answer: Answer) -> Result<(SchemaRef, BoxStream<'static, FlightResult<RecordBatch>>), Status> {
    let Some(Piece::Columns(columns)) = answer.piece().await.map_err(status)? else { return Err(status(no_columns())) };
    let rows = stream::try_unfold(answer, |mut answer| async move {
        while let Some(piece) = answer.piece().await.map_err(|e| FlightError::from(status(e)))? {
            if let Piece::Rows(batch) = piece {
                return Ok(Some((batch, answer)));
            }
        }
        Ok(None)
    });
    Ok((columns, rows.boxed()))
}

impl Service {
    /// Prepares a statement: its handle is all there is of it.
    async fn prepare(client: &Client, action: &Action) -> Result<Bytes, Status> {
        let request = Any::decode(&*action.body).ok().and_then(|any| any.unpack().ok().flatten());
        let request: ActionCreatePreparedStatementRequest =
            request.ok_or_else(|| invalid("the body of the action is not its request"))?;
        let statement = Statement::new(request.query);
        let asked = client.describe(&statement).await?;
        let parameters = parameters::schema(&asked.types);
        let result = ActionCreatePreparedStatementResult {
            prepared_statement_handle: statement.handle()?,
            dataset_schema: in_bytes(&as_sent(asked.columns))?,
            parameter_schema: if asked.types.is_empty() { Bytes::new() } else { in_bytes(&parameters)? },
        };
        Ok(result.as_any().encode_to_vec().into())
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
        let descriptor = request.into_inner();
        let wants = Wants::of_descriptor(&descriptor)?;
        let mut info = FlightInfo::new();
        if let Some(columns) = wants.columns(&client).await? {
            info = info.try_with_schema(&as_sent(columns)).map_err(|e| unsent(&e))?;
        }
        let endpoint = FlightEndpoint::new().with_ticket(wants.ticket(&descriptor)?);
        Ok(Response::new(info.with_endpoint(endpoint).with_descriptor(descriptor)))
    }

    async fn poll_flight_info(&self, _: Request<FlightDescriptor>) -> Result<Response<PollInfo>, Status> {
        Err(unsupported("PollFlightInfo is not supported: send GetFlightInfo"))
    }

    async fn get_schema(&self, request: Request<FlightDescriptor>) -> Result<Response<SchemaResult>, Status> {
        let client = client(&request)?;
        let wants = match Wants::of_descriptor(request.get_ref())? {
            Wants::Prepared(statement) => Wants::Statement(statement),
            other => other,
        };
        let columns = wants.columns(&client).await?.ok_or_else(|| status(no_columns()))?;
        Ok(Response::new(SchemaResult { schema: in_bytes(&as_sent(columns))? }))
    }

    async fn do_get(&self, request: Request<Ticket>) -> Replies<FlightData> {
        let client = client(&request)?;
        let (columns, rows) = match Wants::of(&request.get_ref().ticket)? {
            Wants::Statement(statement) | Wants::Prepared(statement) => rows(client.begin(statement)?).await?,
            Wants::Names(names) => rows(client.list(names)).await?,
            Wants::Rows(rows) => (rows.schema(), stream::iter([Ok(rows)]).boxed()),
        };
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
            "CancelFlightInfo" | "CancelQuery" => Err(unsupported("cancel a query by ending its stream")),
            other => Err(unsupported(format!("unknown action {other:?}"))),
        }
    }

    async fn list_actions(&self, _: Request<Empty>) -> Replies<ActionType> {
        let action = |name: &str, about: &str| ActionType { r#type: name.to_owned(), description: about.to_owned() };
        Ok(reply(vec![action(PREPARE, "Prepare a statement"), action(CLOSE, "Close a prepared statement")]))
    }
}
