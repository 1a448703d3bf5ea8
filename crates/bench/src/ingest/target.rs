//! The loaded server, and its count of rows.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};

use serde_json::{Value, json};

use crate::error::BenchError;
use crate::harness::http::{Connection, Reply};

/// A server and its loaded database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    address: SocketAddr,
    host: String,
    pub(super) database: String,
    token: Option<String>,
    /// The path for bodies, if it is not the one of their format.
    pub(super) path: Option<String>,
}

impl Target {
    /// Reads an address such as `http://127.0.0.1:8080`. It must be on this machine unless `anywhere` is set.
    ///
    /// # Errors
    /// If the address is invalid or on another machine, or a name or the token is invalid.
    pub fn new(url: &str, anywhere: bool, database: &str, token: Option<&str>) -> Result<Self, BenchError> {
        let bad = |reason: String| BenchError::Address { given: url.to_owned(), reason };
        let host = url.strip_prefix("http://").ok_or_else(|| bad("give http://HOST:PORT".to_owned()))?;
        let host = host.strip_suffix('/').unwrap_or(host);
        if host.contains('/') || !host.contains(':') {
            return Err(bad("give http://HOST:PORT and no path".to_owned()));
        }
        let addresses: Vec<SocketAddr> = host.to_socket_addrs().map_err(|e| bad(e.to_string()))?.collect();
        let first = addresses.first().copied().ok_or_else(|| bad("no machine has this name".to_owned()))?;
        if let Some(elsewhere) = addresses.iter().find(|a| !a.ip().is_loopback())
            && !anywhere
        {
            return Err(BenchError::Elsewhere { given: url.to_owned(), address: *elsewhere });
        }
        let sendable = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic());
        if !sendable(database) || database.contains(['"', '\'', '&', '.', '/', '?', '%', '#', '+']) {
            return Err(BenchError::Workload { setting: "database", reason: format!("{database:?} is not a name") });
        }
        if token.is_some_and(|token| !sendable(token)) {
            let reason = "a token has no spaces and no letters beyond ASCII".to_owned();
            return Err(BenchError::Workload { setting: "token", reason });
        }
        let token = token.map(str::to_owned);
        Ok(Self { address: first, host: host.to_owned(), database: database.to_owned(), token, path: None })
    }

    /// Sends bodies to another path.
    pub(crate) fn with_path(self, path: Option<String>) -> Self {
        Self { path, ..self }
    }

    pub(super) fn connect(&self) -> Result<Connection, BenchError> {
        Connection::open(self.address).map_err(|source| self.gone(source))
    }

    /// The error for a lost server.
    pub(super) fn gone(&self, source: io::Error) -> BenchError {
        BenchError::Gone { address: self.address, acknowledged: 0, source }
    }

    /// The head of a POST to `path`, except for the length of its body.
    pub(super) fn head(&self, path: &str) -> String {
        let token = self.token.as_ref().map(|token| format!("authorization: Bearer {token}\r\n"));
        format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\nx-arc-database: {}\r\n{}",
            self.host,
            self.database,
            token.unwrap_or_default()
        )
    }

    /// Counts the rows of the tables `names`; 0 for missing tables.
    pub(super) fn count_rows(&self, names: &[String]) -> Result<u64, BenchError> {
        let mut connection = self.connect()?;
        let there =
            format!("SELECT table_name FROM information_schema.tables WHERE table_schema = '{}'", self.database);
        let there = self.ask(&mut connection, &there)?;
        let mut total = 0;
        for name in names.iter().filter(|name| there.iter().any(|row| row["table_name"] == name.as_str())) {
            let question = format!("SELECT count(*) AS n FROM \"{}\".\"{name}\"", self.database);
            let rows = self.ask(&mut connection, &question)?;
            let count = rows.first().and_then(|row| row["n"].as_u64());
            let said =
                || BenchError::Count { question: question.clone(), said: Value::Array(rows.clone()).to_string() };
            total += count.ok_or_else(said)?;
        }
        Ok(total)
    }

    fn ask(&self, connection: &mut Connection, question: &str) -> Result<Vec<Value>, BenchError> {
        let body = json!({"sql": question}).to_string();
        let head = self.head("/api/v1/sql") + "content-type: application/json\r\n";
        let request = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
        let reply = connection.send(request.as_bytes()).map_err(|source| self.gone(source))?;
        if reply.status != 200 {
            return Err(refused(&reply));
        }
        serde_json::from_slice(&reply.body).map_err(|_| BenchError::Count {
            question: question.to_owned(),
            said: String::from_utf8_lossy(&reply.body).into_owned(),
        })
    }
}

/// The error for a refusal, with the server's message.
pub(super) fn refused(reply: &Reply) -> BenchError {
    let said = match serde_json::from_slice::<Value>(&reply.body) {
        Ok(Value::Object(fields)) if fields.get("error").is_some_and(Value::is_string) => {
            fields["error"].as_str().unwrap_or_default().to_owned()
        }
        _ => String::from_utf8_lossy(&reply.body).into_owned(),
    };
    BenchError::Refused { status: reply.status, said }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_loaded_unless_told_otherwise() {
        let of = |url| Target::new(url, false, "default", None);
        assert!(
            of("http://127.0.0.1:8080").is_ok() && of("http://localhost:1/").is_ok() && of("http://[::1]:9").is_ok()
        );
        assert!(matches!(of("http://192.0.2.7:80"), Err(BenchError::Elsewhere { .. })));
        assert!(Target::new("http://192.0.2.7:80", true, "default", None).is_ok());
        for bad in ["127.0.0.1:8080", "https://127.0.0.1:8080", "http://127.0.0.1", "http://127.0.0.1:1/x", "http://:"]
        {
            assert!(matches!(of(bad), Err(BenchError::Address { .. })), "{bad}");
        }
    }

    #[test]
    fn names_and_tokens_cannot_end_a_head_or_a_statement() {
        let of = |database, token| Target::new("http://127.0.0.1:1", false, database, token);
        assert!(of("d-1_x", Some("token")).is_ok());
        for (database, token) in [("a b", None), ("a'b", None), ("", None), ("a", Some("a\r\nb")), ("a", Some(""))] {
            assert!(matches!(of(database, token), Err(BenchError::Workload { .. })), "{database:?} {token:?}");
        }
    }
}
