//! Peers that are servers: how each is started, asked and ended.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use run::Usage;
use serde_json::Value;

use super::peer::Peer;
use crate::error::BenchError;
use crate::harness::child::Running;
use crate::harness::http::{Connection, Reply};
use crate::harness::machine::size_of;
use crate::harness::server::ServerUsage;
use crate::ingest::{BodyCodec, WireFormat};

/// Time limit for a server to start, to store what it has, and to end.
const PATIENCE: Duration = Duration::from_mins(2);
/// Time without new rows after which a server has stored all it will.
const QUIET: Duration = Duration::from_secs(15);
/// Time between looks at a server that starts, and between counts, which take its CPU time.
const PAUSE: Duration = Duration::from_millis(100);
const COUNT_PAUSE: Duration = Duration::from_millis(500);
/// The database of servers that have several.
const DATABASE: &str = "default";
/// Fields of a record: one peer counts each as a row.
const FIELDS: u64 = 3;

/// A peer's running server; killed when dropped.
pub(super) struct PeerServer {
    peer: Peer,
    process: Running,
    pub(super) address: SocketAddr,
    /// CPU time of its start.
    start: Duration,
}

/// Whether a peer accepts bodies of this form.
pub(super) fn accepts(peer: Peer, format: WireFormat, codec: BodyCodec) -> bool {
    match (peer, format, codec) {
        (Peer::Arc, WireFormat::Columnar | WireFormat::Rows | WireFormat::Lp, _) => true,
        (Peer::Questdb | Peer::Victoriametrics | Peer::Influxdb, WireFormat::Lp, codec) => codec != BodyCodec::Zstd,
        _ => false,
    }
}

/// The path for bodies, if it is not ours.
pub(super) fn path(peer: Peer) -> Option<String> {
    match peer {
        Peer::Questdb => Some("/write?precision=u".to_owned()),
        Peer::Victoriametrics | Peer::Influxdb => Some(format!("/write?db={DATABASE}&precision=u")),
        _ => None,
    }
}

impl PeerServer {
    /// Starts a server over an empty folder, and waits until it answers.
    pub(super) fn start(peer: Peer, program: &Path, folder: &Path) -> Result<Self, BenchError> {
        std::fs::create_dir_all(folder).map_err(BenchError::io("create", folder))?;
        let address = free_address().map_err(BenchError::io("find a free port for", program))?;
        let log = folder.with_extension("log");
        let errors = File::create(&log).map_err(BenchError::io("write", &log))?;
        let mut command = command(peer, program, folder, address)?;
        let process = Running::start(own_group(&mut command), Stdio::from(errors))?;
        let mut server = Self { peer, process, address, start: Duration::ZERO };
        server.wait_until_ready().map_err(|error| said(error, &log))?;
        server.start = Usage::of(server.process.id()).cpu;
        Ok(server)
    }

    fn wait_until_ready(&mut self) -> Result<(), BenchError> {
        let path = match self.peer {
            Peer::Arc | Peer::Victoriametrics => "/health",
            Peer::Influxdb => "/query?q=CREATE+DATABASE+%22default%22",
            _ => "/ping",
        };
        let method = if self.peer == Peer::Influxdb { "POST" } else { "GET" };
        let deadline = Instant::now() + PATIENCE;
        while self.process.is_alive() && Instant::now() < deadline {
            let is_open = TcpStream::connect_timeout(&self.address, PAUSE).is_ok();
            if is_open && self.request(method, path).is_ok_and(|reply| reply.status < 300) {
                return Ok(());
            }
            sleep(PAUSE);
        }
        Err(self.process.failed(format!("it does not answer on {}", self.address)))
    }

    fn request(&self, method: &str, path: &str) -> Result<Reply, BenchError> {
        self.send(&format!("{method} {path} HTTP/1.1\r\nhost: {}\r\ncontent-length: 0\r\n\r\n", self.address))
    }

    fn send(&self, request: &str) -> Result<Reply, BenchError> {
        let gone = |source| BenchError::Gone { address: self.address, acknowledged: 0, source };
        Connection::open(self.address).and_then(|mut connection| connection.send(request.as_bytes())).map_err(gone)
    }

    /// Counts the stored rows of tables, once there are `at_least` or no more come.
    pub(super) fn count_rows(&self, tables: &[String], at_least: u64) -> Result<u64, BenchError> {
        // Most store the last rows a moment later, and a count takes their CPU time.
        sleep(COUNT_PAUSE);
        let (mut count, mut grown) = (self.count_once(tables)?, Instant::now());
        // It stores before it replies, and keeps one of several equal records.
        let is_final = self.peer == Peer::Influxdb;
        while !is_final && count < at_least && grown.elapsed() < QUIET {
            sleep(COUNT_PAUSE);
            let now = self.count_once(tables)?;
            if now != count {
                (count, grown) = (now, Instant::now());
            }
        }
        Ok(count)
    }

    fn count_once(&self, tables: &[String]) -> Result<u64, BenchError> {
        if self.peer == Peer::Victoriametrics {
            let reply = self.request("GET", "/metrics")?;
            return Ok(stored_samples(&String::from_utf8_lossy(&reply.body)) / FIELDS);
        }
        tables.iter().map(|table| self.count_table(table)).sum()
    }

    fn count_table(&self, table: &str) -> Result<u64, BenchError> {
        let reply = match self.peer {
            Peer::Questdb => self.request("GET", &format!("/exec?query=select+count()+from+%22{table}%22"))?,
            Peer::Influxdb => {
                self.request("GET", &format!("/query?db={DATABASE}&q=SELECT+count(*)+FROM+%22{table}%22"))?
            }
            _ => {
                let body = format!("{{\"sql\":\"SELECT count(*) AS n FROM {DATABASE}.{table}\"}}");
                self.send(&format!(
                    "POST /api/v1/query HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
                     content-length: {}\r\n\r\n{body}",
                    self.address,
                    body.len()
                ))?
            }
        };
        let said = String::from_utf8_lossy(&reply.body).into_owned();
        let answer: Value = serde_json::from_str(&said).unwrap_or_default();
        let count = match self.peer {
            Peer::Questdb if reply.status == 400 && said.contains("does not exist") => Some(0),
            Peer::Questdb => answer.pointer("/dataset/0/0").and_then(Value::as_u64),
            Peer::Influxdb => match answer.pointer("/results/0/series") {
                // The first column is the time; each field has a count.
                Some(series) => series.pointer("/0/values/0/1").and_then(Value::as_u64),
                None => answer.pointer("/results/0/statement_id").map(|_| 0),
            },
            // A table without a file has no rows, not even one with a count.
            _ => match answer.pointer("/data/0/0") {
                Some(count) => count.as_u64(),
                None => (answer["success"] == true).then_some(0),
            },
        };
        count.ok_or_else(|| BenchError::Count { question: format!("count of {table}"), said })
    }

    /// Ends the server; returns what it used since it was ready. It may need to write what it holds in memory.
    pub(super) fn stop(mut self) -> Result<ServerUsage, BenchError> {
        let peak = |id| size_of(id, "VmHWM:");
        let mut peak_rss_bytes = peak(self.process.id());
        self.process.terminate()?;
        // How it ends says nothing: Java ends by the signal.
        let ended = self.process.wait(PATIENCE, |id| peak_rss_bytes = peak_rss_bytes.max(peak(id)))?;
        let cpu = (ended.rusage.utime + ended.rusage.stime).saturating_sub(self.start);
        Ok(ServerUsage { cpu_s: cpu.as_secs_f64(), peak_rss_bytes })
    }
}

/// A process group of its own, so that Ctrl-C ends only the benchmark, which then ends the server.
fn own_group(command: &mut Command) -> &mut Command {
    use std::os::unix::process::CommandExt as _;
    command.process_group(0)
}

/// A failed start, with the server's last line.
fn said(error: BenchError, log: &Path) -> BenchError {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    match (error, text.lines().rfind(|line| !line.trim().is_empty())) {
        (BenchError::Run { command, said }, Some(line)) => BenchError::Run { command, said: format!("{said}: {line}") },
        (error, _) => error,
    }
}

/// An address of this machine that nothing listens on.
fn free_address() -> std::io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
}

/// Samples in the storage, by the metrics of a server; those that wait in memory are not in it.
pub(super) fn stored_samples(metrics: &str) -> u64 {
    let stored = metrics.lines().filter_map(|line| line.strip_prefix("vm_rows{type=\"storage/"));
    stored.filter_map(|line| line.split(' ').next_back()?.parse::<f64>().ok()).sum::<f64>() as u64
}

/// The command that starts a server on loopback only, with its shipped settings otherwise.
fn command(peer: Peer, program: &Path, folder: &Path, address: SocketAddr) -> Result<Command, BenchError> {
    let mut command = Command::new(program);
    let here = address.to_string();
    match peer {
        Peer::Victoriametrics => {
            command.args(["-httpListenAddr", &here, "-retentionPeriod", "100y", "-storageDataPath"]).arg(folder);
        }
        Peer::Influxdb => {
            command.args(["-config", "/dev/null"]);
            for (name, part) in [("META_DIR", "meta"), ("DATA_DIR", "data"), ("DATA_WAL_DIR", "wal")] {
                command.env(format!("INFLUXDB_{name}"), folder.join(part));
            }
            for (name, value) in [
                ("HTTP_BIND_ADDRESS", &*here),
                ("BIND_ADDRESS", "127.0.0.1:0"),
                ("REPORTING_ENABLED", "false"),
                ("REPORTING_DISABLED", "true"),
                ("MONITOR_STORE_ENABLED", "false"),
            ] {
                command.env(format!("INFLUXDB_{name}"), value);
            }
        }
        Peer::Questdb => {
            command = Command::new("java");
            command.arg("-p").arg(program).args(["-m", "io.questdb/io.questdb.ServerMain", "-d"]).arg(folder);
            command.env("QDB_HTTP_BIND_TO", &here);
            for feature in ["HTTP_MIN", "PG", "LINE_TCP", "TELEMETRY"] {
                command.env(format!("QDB_{feature}_ENABLED"), "false");
            }
        }
        _ => {
            // It reads the shipped settings from the folder that it runs in.
            let (from, to) = (program.with_file_name("arc.toml"), folder.join("arc.toml"));
            std::fs::copy(&from, &to).map_err(BenchError::io("copy", &from))?;
            command.current_dir(folder).env("ARC_SERVER_PORT", address.port().to_string());
            command.env("ARC_SERVER_HOST", "127.0.0.1");
            command.env("ARC_AUTH_ENABLED", "false").env("ARC_TELEMETRY_ENABLED", "false");
        }
    }
    Ok(command)
}
