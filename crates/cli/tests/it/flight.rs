//! A client of Arrow Flight SQL, which reads no more of an answer than a test asks for.

use std::net::SocketAddr;

use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::sql::{Any, CommandStatementQuery};
use arrow_flight::{Action, FlightData, FlightDescriptor, FlightInfo, Ticket};
use hyper::body::Incoming;
use hyper::client::conn::http2;
use hyper::{Request, Response, Uri};
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message as _;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tonic::body::Body;
use tonic::{Code, Status, Streaming};
use tower::util::BoxCloneService;

type Sender = BoxCloneService<Request<Body>, Response<Incoming>, hyper::Error>;

/// A connection.
pub(crate) struct Client {
    service: FlightServiceClient<Sender>,
    headers: Vec<(&'static str, String)>,
    runtime: Runtime,
}

impl Client {
    /// Connects; all requests carry `headers`.
    pub(crate) fn open(address: SocketAddr, headers: &[(&'static str, &str)]) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let sender = runtime.block_on(async {
            let stream = TcpStream::connect(address).await.unwrap();
            let handshake = http2::handshake::<_, _, Body>(TokioExecutor::new(), TokioIo::new(stream));
            let (sender, connection) = handshake.await.unwrap();
            // The server may end the connection first.
            tokio::spawn(async move { drop(connection.await) });
            sender
        });
        let sender = tower::service_fn(move |request| sender.clone().send_request(request));
        let origin = Uri::builder().scheme("http").authority(address.to_string()).path_and_query("/").build().unwrap();
        let service = FlightServiceClient::with_origin(BoxCloneService::new(sender), origin);
        let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        Self { service, headers, runtime }
    }

    fn request<T>(&self, message: T) -> tonic::Request<T> {
        let mut request = tonic::Request::new(message);
        for (name, value) in &self.headers {
            request.metadata_mut().insert(*name, value.parse().unwrap());
        }
        request
    }

    /// The plan of a query: its columns and its ticket.
    pub(crate) fn info(&mut self, cmd: impl Into<Vec<u8>>) -> Result<FlightInfo, Status> {
        let descriptor = FlightDescriptor::new_cmd(cmd.into());
        let request = self.request(descriptor);
        Ok(self.runtime.block_on(self.service.get_flight_info(request))?.into_inner())
    }

    /// Starts to read the rows of a ticket.
    pub(crate) fn get(&mut self, ticket: impl Into<Vec<u8>>) -> Result<Streaming<FlightData>, Status> {
        let request = self.request(Ticket::new(ticket.into()));
        Ok(self.runtime.block_on(self.service.do_get(request))?.into_inner())
    }

    /// Starts a query and reads its columns.
    pub(crate) fn begin(&mut self, sql: &str) -> Result<Streaming<FlightData>, Status> {
        let info = self.info(query(sql))?;
        let ticket = info.endpoint[0].ticket.clone().unwrap();
        let mut rows = self.get(ticket.ticket)?;
        assert!(!self.next(&mut rows)?.unwrap().data_header.is_empty());
        Ok(rows)
    }

    /// The next message of an answer.
    pub(crate) fn next(&self, rows: &mut Streaming<FlightData>) -> Result<Option<FlightData>, Status> {
        self.runtime.block_on(rows.message())
    }

    /// Runs a query; returns the number of messages with rows.
    pub(crate) fn ask(&mut self, sql: &str) -> Result<usize, Status> {
        let mut rows = self.begin(sql)?;
        let mut messages = 0;
        while self.next(&mut rows)?.is_some() {
            messages += 1;
        }
        Ok(messages)
    }

    pub(crate) fn action(&mut self, name: &str, body: Vec<u8>) -> Result<(), Status> {
        let request = self.request(Action::new(name, body));
        let mut results = self.runtime.block_on(self.service.do_action(request))?.into_inner();
        while self.runtime.block_on(results.message())?.is_some() {}
        Ok(())
    }

    pub(crate) fn put(&mut self, data: Vec<FlightData>) -> Result<(), Status> {
        let request = self.request(futures::stream::iter(data));
        let mut results = self.runtime.block_on(self.service.do_put(request))?.into_inner();
        while self.runtime.block_on(results.message())?.is_some() {}
        Ok(())
    }
}

/// The command that asks in SQL.
pub(crate) fn query(sql: &str) -> Vec<u8> {
    let command = CommandStatementQuery { query: sql.to_owned(), transaction_id: None };
    Any::pack(&command).unwrap().encode_to_vec()
}

/// The code of the error that a request ends with, and its text.
pub(crate) fn refused<T>(result: Result<T, Status>) -> (Code, String) {
    let status = result.err().unwrap();
    (status.code(), status.message().to_owned())
}
