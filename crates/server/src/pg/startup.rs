//! Starts a connection: TLS, authentication, database.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use bytes::BytesMut;
use pgwire::messages::Message as _;
use pgwire::messages::cancel::CancelRequest;
use pgwire::messages::startup::{
    Authentication, BackendKeyData, GssEncRequest, NegotiateProtocolVersion, ParameterStatus, Password, SecretKey,
    SslRequest, Startup,
};
use pgwire::messages::{DecodeContext, ProtocolVersion};
use sql::postgres::{Login, setting};
use table::DATABASE;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::Shared;
use super::authorize::{UNKNOWN_TOKEN, authorize};
use super::commands::{is_utf8, schemas, timeout};
use super::error::PgError;
use super::session::{Session, Settings};
use super::statements::Asker;
use super::wire::Wire;

/// Settings that the server reports at startup, under PostgreSQL's names.
const TOLD: [&str; 9] = [
    "server_version",
    "server_encoding",
    "client_encoding",
    "DateStyle",
    "TimeZone",
    "IntervalStyle",
    "integer_datetimes",
    "standard_conforming_strings",
    "default_transaction_read_only",
];

/// Serves one connection until either side closes it.
pub(super) async fn converse(
    stream: TcpStream,
    shared: &Arc<Shared>,
    closing: watch::Receiver<bool>,
) -> io::Result<()> {
    // A second handle, to notice that the client is gone.
    let stream = stream.into_std()?;
    let watch = TcpStream::from_std(stream.try_clone()?)?;
    let stream = TcpStream::from_std(stream)?;
    let patience = shared.app.settings.request_timeout;
    let slow = || io::Error::new(io::ErrorKind::TimedOut, "no request came in time");
    let mut wire = Wire::new(stream);
    loop {
        let first = tokio::time::timeout(patience, wire.first()).await.map_err(|_| slow())??;
        let Some(first) = first else { return Ok(()) };
        if SslRequest::is_ssl_request_packet(&first) {
            let Some(tls) = &shared.tls else {
                wire.send_byte(b'N').await?;
                continue;
            };
            wire.send_byte(b'S').await?;
            let stream = tokio::time::timeout(patience, tls.acceptor().accept(wire.into_inner()?))
                .await
                .map_err(|_| slow())??;
            let mut wire = Wire::new(stream);
            let first = tokio::time::timeout(patience, wire.first()).await.map_err(|_| slow())??;
            let Some(first) = first else { return Ok(()) };
            return admit(wire, first, &watch, shared, true, closing).await;
        }
        if GssEncRequest::is_gss_enc_request_packet(&first) {
            wire.send_byte(b'N').await?;
            continue;
        }
        return admit(wire, first, &watch, shared, false, closing).await;
    }
}

/// Admits a client, or carries out its cancel request.
async fn admit<S: AsyncRead + AsyncWrite + Unpin>(
    mut wire: Wire<S>,
    mut first: BytesMut,
    watch: &TcpStream,
    shared: &Arc<Shared>,
    secure: bool,
    closing: watch::Receiver<bool>,
) -> io::Result<()> {
    let context = DecodeContext::new(ProtocolVersion::PROTOCOL3_0);
    if CancelRequest::is_cancel_request_packet(&first) {
        if let Ok(Some(request)) = CancelRequest::decode(&mut first, &context) {
            shared.running.cancel(request.pid, request.secret_key.as_i32().unwrap_or_default());
        }
        wire.close().await;
        return Ok(());
    }
    let entered = shared.running.enter()?;
    let peer = watch.peer_addr()?.ip();
    let introduced = async {
        let told = Startup::decode(&mut first, &context).ok().flatten();
        let told = told.ok_or_else(|| PgError::protocol("this server speaks version 3 of the PostgreSQL protocol"))?;
        introduce(&mut wire, &told, shared, secure, peer, entered.number).await
    };
    let patience = shared.app.settings.request_timeout + shared.app.settings.question_timeout;
    let introduced = match tokio::time::timeout(patience, introduced).await {
        Ok(introduced) => introduced,
        Err(_) => Err(PgError::fatal("08006", "the client did not log in in time")),
    };
    let (asker, settings) = match introduced {
        Ok(introduced) => introduced,
        Err(error) => {
            wire.put(&PgError { fatal: true, ..error }.response())?;
            wire.send().await?;
            wire.close().await;
            return Ok(());
        }
    };
    entered.slot.is_now_of(asker.access.name());
    welcome(&mut wire, &settings)?;
    wire.put(&BackendKeyData::new(entered.number, SecretKey::I32(entered.slot.secret)))?;
    Session::new(wire, asker, settings, watch, &entered.slot, &shared.running).run(closing).await
}

fn welcome<S: AsyncRead + AsyncWrite + Unpin>(wire: &mut Wire<S>, settings: &Settings) -> io::Result<()> {
    wire.put(&Authentication::Ok)?;
    for name in TOLD {
        let value = setting(&name.to_lowercase()).unwrap_or_default();
        wire.put(&ParameterStatus::new(name.to_owned(), value.to_owned()))?;
    }
    wire.put(&ParameterStatus::new("application_name".to_owned(), settings.application.clone()))
}

/// Authenticates a client.
async fn introduce<S: AsyncRead + AsyncWrite + Unpin>(
    wire: &mut Wire<S>,
    told: &Startup,
    shared: &Arc<Shared>,
    secure: bool,
    peer: IpAddr,
    pid: i32,
) -> Result<(Asker, Settings), PgError> {
    let broken = |error: io::Error| PgError::fatal("08006", error.to_string());
    if shared.tls.is_some() && !secure {
        return Err(PgError::fatal("28000", "this server requires TLS: connect with sslmode=require"));
    }
    let extensions: Vec<String> = told.parameters.keys().filter(|name| name.starts_with("_pq_.")).cloned().collect();
    if told.protocol_number_minor > 0 || !extensions.is_empty() {
        wire.put(&NegotiateProtocolVersion::new(0, extensions)).map_err(broken)?;
    }
    let settings = Settings::of(&told.parameters)?;
    let mut token = None;
    if shared.app.tokens.is_some() {
        wire.put(&Authentication::CleartextPassword).map_err(broken)?;
        wire.send().await.map_err(broken)?;
        token = Some(password(wire).await?);
    }
    let access = match authorize(&shared.app, token.as_deref()) {
        Ok(access) => access,
        Err(refused) => {
            if refused.code == UNKNOWN_TOKEN && !shared.app.failures.slow_down(peer).await {
                return Err(PgError::fatal("53300", "too many failed logins: retry with a valid token"));
            }
            return Err(refused);
        }
    };
    access.may_read()?;
    let user = name(&told.parameters, "user");
    let login = Login { database: DATABASE.to_owned(), schema: DATABASE.to_owned(), user, pid };
    let mut asker = Asker { app: shared.app.clone(), access, login };
    let wanted = told.parameters.get("database").filter(|name| !name.is_empty()).unwrap_or(&asker.login.user);
    asker.login.database = database(wanted, &asker).await?;
    asker.look_in(&settings.path).await?;
    Ok((asker, Settings { token, ..settings }))
}

async fn password<S: AsyncRead + AsyncWrite + Unpin>(wire: &mut Wire<S>) -> Result<String, PgError> {
    match wire.next_unauthorized().await {
        Ok(Some((b'p', mut body))) => {
            let length = body.len() + 4;
            let read = Password::decode_body(&mut body, length, &DecodeContext::default());
            read.map(|read| read.password).map_err(|e| PgError::protocol(e.to_string()))
        }
        Ok(Some((kind, _))) => {
            Err(PgError::protocol(format!("expected a password, not a message of kind {:?}", char::from(kind))))
        }
        Ok(None) => Err(PgError::fatal("08006", "the client went away")),
        Err(error) => Err(PgError::protocol(error.to_string())),
    }
}

/// The start of a name that the client gives. Queries can return it many times.
fn name(parameters: &BTreeMap<String, String>, of: &str) -> String {
    let name = parameters.get(of).map_or("", String::as_str);
    name[..name.floor_char_boundary(64)].to_owned()
}

/// The requested database. Clients without a database send their user name.
async fn database(wanted: &str, asker: &Asker) -> Result<String, PgError> {
    let found = asker.clone().databases().await?;
    if found.iter().any(|name| name == wanted) {
        return Ok(wanted.to_owned());
    }
    if wanted == asker.login.user {
        return match found.iter().find(|name| *name == DATABASE).or(found.first()) {
            Some(name) => Ok(name.clone()),
            None => Err(PgError::fatal("42501", "the token gives access to no existing database")),
        };
    }
    asker.access.may_read_of(wanted)?;
    Err(PgError::fatal("3D000", format!("unknown database {wanted:?} (databases: {})", found.join(", "))))
}

impl Settings {
    /// Reads the settings from the startup parameters.
    fn of(parameters: &BTreeMap<String, String>) -> Result<Self, PgError> {
        let mut settings = Self::default();
        if let Some(encoding) = parameters.get("client_encoding").filter(|encoding| !is_utf8(encoding)) {
            return Err(PgError::fatal("22023", format!("unsupported encoding {encoding:?}: use UTF8")));
        }
        settings.application = name(parameters, "application_name");
        let options = parameters.get("options").map(|options| options.replace("-c ", " ").replace("--", " "));
        let options = options.unwrap_or_default();
        let pairs = options.split_whitespace().filter_map(|option| option.trim_start_matches("-c").split_once('='));
        for (name, value) in pairs {
            if name.eq_ignore_ascii_case("statement_timeout") {
                settings.timeout = timeout(value)?;
            } else if name.eq_ignore_ascii_case("search_path") {
                settings.path = schemas(value);
            }
        }
        if let Some(value) = parameters.get("search_path") {
            settings.path = schemas(value);
        }
        if let Some(value) = parameters.get("statement_timeout") {
            settings.timeout = timeout(value)?;
        }
        Ok(settings)
    }
}
