//! What a server is told.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use decode::Limits;
use ingest::StoreOptions;

/// Files in PEM, read again when they change.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The server's certificate, and those between it and one that clients trust.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// Settings of a server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The data folder.
    pub data: PathBuf,
    /// Where it listens; port 0 takes any that is free.
    pub listen: SocketAddr,
    /// Names under which it is asked, besides `localhost` and the address that it listens on: a request to another
    /// name is refused.
    pub hosts: Vec<String>,
    /// Where it listens for clients of PostgreSQL, if it does.
    pub postgres: Option<SocketAddr>,
    /// The file of tokens; without one everybody on this machine may do everything, and nobody else anything.
    pub token_file: Option<PathBuf>,
    /// Serve TLS, and nothing else.
    pub tls: Option<TlsFiles>,
    /// How rows are taken in.
    pub store: StoreOptions,
    /// What one request may hold.
    pub limits: Limits,
    /// Connections at once; those past it wait to be accepted.
    pub connections: usize,
    /// How long the head of a request may take to arrive, how long its body, and how long a connection may be idle.
    pub request_timeout: Duration,
    /// Questions that are answered at once; those past it wait.
    pub questions: usize,
    /// How long a question may take.
    pub question_timeout: Duration,
    /// Memory of one question; what needs more goes to temporary files.
    pub question_memory: usize,
    /// A program and its words that does what [`crate::answer_questions`] does: one process for each question in SQL.
    pub question_program: Vec<OsString>,
}

impl Settings {
    /// The defaults, for a data folder.
    pub fn new(data: PathBuf) -> Self {
        Self {
            data,
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            hosts: Vec::new(),
            postgres: None,
            token_file: None,
            tls: None,
            store: StoreOptions::default(),
            limits: Limits::default(),
            connections: 1024,
            request_timeout: Duration::from_secs(30),
            questions: 4,
            question_timeout: Duration::from_mins(1),
            question_memory: 256 << 20,
            question_program: Vec::new(),
        }
    }
}
