//! A server in a separate process, and a minimal HTTP client.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use serde_json::Value;

use crate::support::program;

/// A running server; killed when dropped.
pub(crate) struct Served {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
    /// The address for clients of `PostgreSQL`, if any.
    pub(crate) postgres: Option<SocketAddr>,
    /// The address for clients of Arrow Flight, if any.
    pub(crate) flight: Option<SocketAddr>,
    stderr: BufReader<ChildStderr>,
}

/// A reply.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Served {
    pub(crate) fn start(data: &Path, words: &[&str]) -> Self {
        Self::start_on(data, &[&["--listen", "127.0.0.1:0"], words].concat())
    }

    /// Starts a server that listens on the address in `words`. It does not use the fleet of the tests' environment.
    pub(crate) fn start_on(data: &Path, words: &[&str]) -> Self {
        let mut command = program(&["serve"]);
        command.env_remove("MANYWORLDS_LEDGER").env_remove("MANYWORLDS_BROKER");
        Self::of(command.args(words).arg("--data").arg(data))
    }

    /// Starts a server with a command.
    pub(crate) fn of(command: &mut Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let (mut said, mut postgres, mut flight) = (String::new(), None, None);
        let address = loop {
            let before = said.len();
            assert!(stderr.read_line(&mut said).unwrap() > 0, "the server ended: {said}");
            if let Some((_, rest)) = said[before..].split_once("PostgreSQL clients on ") {
                postgres = Some(rest.trim().parse().unwrap());
            }
            if let Some((_, rest)) = said[before..].split_once("Flight SQL clients on ") {
                flight = Some(rest.trim().parse().unwrap());
            }
            if let Some((_, rest)) = said[before..].split_once("listening on ") {
                let url = rest.split(';').next().unwrap();
                break url.split_once("://").unwrap().1.parse().unwrap();
            }
        };
        Self { child, address, postgres, flight, stderr }
    }

    /// Sends one request on a new connection.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let own = if headers.iter().any(|(name, _)| *name == "host") { "" } else { "host: localhost\r\n" };
        let headers: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let (headers, length) = (headers.concat(), body.len());
        let head =
            format!("{method} {path} HTTP/1.1\r\n{own}connection: close\r\ncontent-length: {length}\r\n{headers}");
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        // The server may reply and close the connection before reading all bytes.
        let sent = stream.write_all(body);
        let mut reply = Vec::new();
        let read = stream.read_to_end(&mut reply);
        let split = reply.windows(4).position(|w| w == b"\r\n\r\n");
        let split = split.unwrap_or_else(|| panic!("no reply: sent {sent:?}, read {read:?}"));
        let head = String::from_utf8_lossy(&reply[..split]).into_owned();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let body = reply[split + 4..].to_vec();
        let body = if head.contains("transfer-encoding: chunked") { unchunked(&body) } else { body };
        Reply { status, head, body }
    }

    pub(crate) fn post(&self, path: &str, body: &[u8]) -> Reply {
        self.send("POST", path, &[], body)
    }

    /// The rows of an answer in SQL.
    pub(crate) fn sql(&self, sql: &str) -> Value {
        let reply = self.post_json("/api/v1/sql", &serde_json::json!({"sql": sql}));
        assert_eq!(reply.status, 200, "{sql}: {}", reply.text());
        reply.json()
    }

    pub(crate) fn post_json(&self, path: &str, body: &Value) -> Reply {
        self.send("POST", path, &[("content-type", "application/json")], body.to_string().as_bytes())
    }

    /// Asks the server to stop, which must succeed; returns its output.
    pub(crate) fn stop(self) -> String {
        let (code, said) = self.end();
        assert_eq!(code, Some(0), "{said}");
        said
    }

    /// Asks the server to stop, and waits for its end; returns its exit code and output.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Reply {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }
}

/// The number of running questions.
pub(crate) fn running(server: &Served) -> usize {
    let said = server.send("GET", "/metrics", &[], b"").text();
    let line = said.lines().find_map(|l| l.strip_prefix("manyworlds_questions_running "));
    line.unwrap_or_else(|| panic!("{said}")).parse().unwrap()
}

fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = body.windows(2).position(|w| w == b"\r\n") {
        let length = usize::from_str_radix(std::str::from_utf8(&body[..end]).unwrap().trim(), 16).unwrap();
        if length == 0 {
            break;
        }
        whole.extend(&body[end + 2..end + 2 + length]);
        body = &body[end + 4 + length..];
    }
    whole
}
