//! Settings of a server.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use decode::Limits;
use ingest::StoreOptions;
use serde::Serialize;

/// PEM files; the server reloads them when they change.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The server's certificate, followed by its intermediate certificates.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// The services of a fleet. The addresses hold passwords.
#[derive(Clone)]
pub struct FleetSettings {
    /// The ledger, as `postgres://user:password@host:port/database`.
    pub ledger: String,
    /// The broker, as `amqp://user:password@host:port/vhost`; without one, nothing can be submitted.
    pub broker: Option<String>,
}

/// Omits the addresses.
impl std::fmt::Debug for FleetSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FleetSettings").finish_non_exhaustive()
    }
}

/// A setting as its operator gave it, for reports.
#[derive(Debug, Clone, Serialize)]
pub struct ShownSetting {
    pub name: String,
    /// `None` if it is not set, or secret.
    pub value: Option<String>,
    /// Where the value comes from, such as a file or an environment variable.
    pub source: String,
    /// Whether the value is left out because it holds a password.
    pub secret: bool,
}

#[derive(Debug, Clone)]
pub struct Settings {
    pub data: PathBuf,
    /// The address to listen on; port 0 picks a free port.
    pub listen: SocketAddr,
    /// Accepted host names, in addition to `localhost` and the listening address. The server rejects requests for other
    /// hosts.
    pub hosts: Vec<String>,
    /// The address to listen on for PostgreSQL clients, if any.
    pub postgres: Option<SocketAddr>,
    /// The address to listen on for Arrow Flight clients, if any.
    pub flight: Option<SocketAddr>,
    /// The token file. Without one, the server accepts only local connections, and grants them all permissions.
    pub token_file: Option<PathBuf>,
    /// Serve TLS only.
    pub tls: Option<TlsFiles>,
    pub store: StoreOptions,
    /// Limits of one request.
    pub limits: Limits,
    /// Maximum concurrent connections; others wait.
    pub connections: usize,
    /// Time limit for a request's head, for its body, and for an idle connection.
    pub request_timeout: Duration,
    /// All settings as they were given.
    pub shown: Vec<ShownSetting>,
    /// Maximum concurrent queries; others wait.
    pub questions: usize,
    pub question_timeout: Duration,
    /// Memory of one query in bytes; larger queries spill to temporary files.
    pub question_memory: usize,
    /// The command of a query process, with arguments: a program that calls [`crate::answer_questions`].
    pub question_program: Vec<OsString>,
    /// Maximum runs that play at once; others wait.
    pub runs: usize,
    /// The command of a process that plays a run, with arguments: a program that calls [`crate::play_run`].
    pub run_program: Vec<OsString>,
    /// The fleet that requests may use.
    pub fleet: Option<FleetSettings>,
}

impl Settings {
    /// The defaults, for a data folder.
    pub fn new(data: PathBuf) -> Self {
        Self {
            data,
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            hosts: Vec::new(),
            postgres: None,
            flight: None,
            token_file: None,
            tls: None,
            store: StoreOptions::default(),
            limits: Limits::default(),
            connections: 1024,
            request_timeout: Duration::from_secs(30),
            shown: Vec::new(),
            questions: 4,
            question_timeout: Duration::from_mins(1),
            question_memory: 256 << 20,
            question_program: Vec::new(),
            runs: 2,
            run_program: Vec::new(),
            fleet: None,
        }
    }
}
