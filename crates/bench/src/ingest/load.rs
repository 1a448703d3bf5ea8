//! A load: connections that send requests as fast as the server answers, or at a fixed rate.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use run::Usage;
use serde::Serialize;

use super::counts::LoadCounts;
use super::format::{BodyCodec, WireFormat};
use super::payload::Payloads;
use super::records::{Measurement, measurements};
use super::target::{Target, refused};
use crate::error::BenchError;
use crate::harness::http::{Connection, Reply};
use crate::harness::report::number::{count, ms};

/// Time between notes on progress.
const PROGRESS: Duration = Duration::from_secs(5);
/// Longest wait of a refused connection, and the time between checks for the end while waiting.
const WAIT_MAX: Duration = Duration::from_millis(100);
/// Attempts to reach a lost server, and the pause between them.
const RECONNECTS: u32 = 5;
const RECONNECT_PAUSE: Duration = Duration::from_millis(200);

/// The rate of requests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pace {
    /// Each connection sends its next request after the last reply.
    Max,
    /// A fixed number of records per second over all connections. Each request's latency counts from its due time, even
    /// if no connection was free.
    Rate(f64),
}

// Describes the requests to send. A doc comment would replace the help of `loadgen`.
#[derive(Debug, Clone, PartialEq, Serialize, clap::Args)]
pub struct LoadPlan {
    /// Choose the wire format
    #[arg(long, value_name = "FORMAT", default_value_t = WireFormat::Columnar)]
    pub format: WireFormat,
    /// Compress requests with this codec
    #[arg(long = "compress", value_name = "CODEC", default_value_t = BodyCodec::None)]
    pub compression: BodyCodec,
    #[arg(skip = Pace::Max)]
    pub pace: Pace,
    /// Open this many connections
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub connections: usize,
    /// Send for this many seconds
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    pub seconds: f64,
    /// End after this many requests, if time is not up before.
    #[arg(skip)]
    pub requests: Option<u64>,
    /// Put this many records in a request
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub batch: usize,
    /// Spread requests over this many tables
    ///
    /// They are named cpu, mem, disk, cpu2 and so on.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub tables: usize,
    /// Retry requests on broken connections
    ///
    /// Each request has an idempotency key, so that the server stores its rows once.
    #[arg(long)]
    pub keys: bool,
    /// Seed of the generated values
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadFigures {
    /// Time from the first request to the last reply.
    pub elapsed_s: f64,
    pub acknowledged: u64,
    /// Records that the server gained during the load.
    pub stored: u64,
    /// Records of broken requests and of 5xx replies; the server may have stored them.
    pub uncertain: u64,
    /// Acknowledged records per second.
    pub records_per_s: f64,
    /// Requests by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Requests refused for lack of memory (429).
    pub refused_requests: u64,
    /// Due requests that were not sent in time.
    pub unsent_requests: u64,
    pub broken_connections: u64,
    pub wire_bytes_per_record: f64,
    /// Median latency of acknowledged requests.
    pub p50_ms: f64,
    pub p95_ms: f64,
    pub p99_ms: f64,
    pub max_ms: f64,
    pub load_cpu_s: f64,
}

impl LoadFigures {
    /// Whether the server has all acknowledged records exactly once. It may have stored uncertain ones.
    pub fn is_stored(&self) -> bool {
        (self.acknowledged..=self.acknowledged + self.uncertain).contains(&self.stored)
    }
}

/// Loads a server, then counts its stored rows. Calls `note` with progress every five seconds, and ends early once
/// `stop` returns true.
///
/// # Errors
/// If a setting is invalid, the server is unreachable, or it refuses requests.
pub fn load(
    target: &Target,
    plan: &LoadPlan,
    note: &dyn Fn(&str),
    stop: &dyn Fn() -> bool,
) -> Result<LoadFigures, BenchError> {
    load_counting(target, plan, &|names, _| target.count_rows(names), note, stop)
}

/// Counts the rows of tables, once the server has stored at least this many or will store no more.
pub(crate) type CountRows<'a> = &'a dyn Fn(&[String], u64) -> Result<u64, BenchError>;

/// [`load`] with another way to count rows, for servers that are not this program's.
pub(crate) fn load_counting(
    target: &Target,
    plan: &LoadPlan,
    count: CountRows<'_>,
    note: &dyn Fn(&str),
    stop: &dyn Fn() -> bool,
) -> Result<LoadFigures, BenchError> {
    plan.check()?;
    let tables: Arc<[Measurement]> = measurements(plan.tables).into();
    let names: Vec<String> = tables.iter().map(|table| table.name.clone()).collect();
    let before = count(&names, 0)?;
    let cpu = Usage::now().cpu;
    let started = Instant::now();
    let drive = Drive {
        target,
        plan,
        tables,
        started,
        end: started + Duration::from_secs_f64(plan.seconds),
        claimed: AtomicU64::new(0),
        stopped: AtomicBool::new(false),
        counts: (0..plan.connections).map(|_| Mutex::default()).collect(),
    };
    let (total, elapsed) = drive.run(note, stop)?;
    let load_cpu_s = Usage::now().cpu.saturating_sub(cpu).as_secs_f64();
    let stored = count(&names, before + total.acknowledged)?.saturating_sub(before);
    Ok(LoadFigures {
        elapsed_s: elapsed.as_secs_f64(),
        acknowledged: total.acknowledged,
        stored,
        uncertain: total.uncertain,
        records_per_s: total.acknowledged as f64 / elapsed.as_secs_f64(),
        refused_requests: total.refused(),
        unsent_requests: drive.unsent(),
        broken_connections: total.broken,
        wire_bytes_per_record: total.body_bytes as f64 / total.acknowledged.max(1) as f64,
        p50_ms: total.quantile_ms(0.5),
        p95_ms: total.quantile_ms(0.95),
        p99_ms: total.quantile_ms(0.99),
        max_ms: total.max_ms(),
        load_cpu_s,
        statuses: total.statuses,
    })
}

impl LoadPlan {
    fn check(&self) -> Result<(), BenchError> {
        let require = BenchError::require;
        require((1..=10_000).contains(&self.connections), "connections", "give a number from 1 to 10,000")?;
        let batch = "give a number of records from 1 to 1,000,000";
        require((1..=1_000_000).contains(&self.batch), "batch", batch)?;
        require((1..=1_000).contains(&self.tables), "tables", "give a number from 1 to 1,000")?;
        require((0.001..=1e6).contains(&self.seconds), "seconds", "give a number from 0.001 to 1,000,000")?;
        let is_rate = !matches!(self.pace, Pace::Rate(rate) if !(1e-3..=1e9).contains(&rate));
        require(is_rate, "rate", "give records a second, from 0.001 to 1,000,000,000")
    }

    /// Seconds between requests at a fixed rate.
    fn interval_s(&self) -> Option<f64> {
        match self.pace {
            Pace::Max => None,
            Pace::Rate(records_per_s) => Some(self.batch as f64 / records_per_s),
        }
    }
}

/// A running load.
struct Drive<'a> {
    target: &'a Target,
    plan: &'a LoadPlan,
    tables: Arc<[Measurement]>,
    started: Instant,
    end: Instant,
    /// Requests that connections have begun.
    claimed: AtomicU64,
    stopped: AtomicBool,
    /// One per connection, so that connections share no lock.
    counts: Vec<Mutex<LoadCounts>>,
}

impl Drive<'_> {
    /// Runs the load; returns the counts of all connections and the duration.
    fn run(&self, note: &dyn Fn(&str), stop: &dyn Fn() -> bool) -> Result<(LoadCounts, Duration), BenchError> {
        thread::scope(|scope| {
            let mut threads = Vec::new();
            for connection in 0..self.plan.connections {
                let started = thread::Builder::new().stack_size(256 << 10).spawn_scoped(scope, move || {
                    let driven = self.drive(connection);
                    // If one connection gives up, stop the others.
                    self.stopped.fetch_or(driven.is_err(), Ordering::SeqCst);
                    driven
                });
                match started {
                    Ok(started) => threads.push(started),
                    Err(source) => {
                        self.stopped.store(true, Ordering::SeqCst);
                        return Err(BenchError::Load { doing: "start a thread for a connection", source });
                    }
                }
            }
            let mut total = LoadCounts::default();
            let mut told = Instant::now();
            while !threads.iter().all(thread::ScopedJoinHandle::is_finished) {
                thread::sleep(Duration::from_millis(20));
                self.stopped.fetch_or(stop(), Ordering::SeqCst);
                if told.elapsed() >= PROGRESS {
                    let taken = self.take();
                    note(&self.progress(&taken, told.elapsed()));
                    total.add(&taken);
                    told = Instant::now();
                }
            }
            let elapsed = self.started.elapsed();
            total.add(&self.take());
            for driven in threads.into_iter().map(thread::ScopedJoinHandle::join) {
                match driven {
                    Ok(Ok(())) => {}
                    Ok(Err(BenchError::Gone { address, source, .. })) => {
                        return Err(BenchError::Gone { address, source, acknowledged: total.acknowledged });
                    }
                    Ok(Err(error)) => return Err(error),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            Ok((total, elapsed))
        })
    }

    /// Sends the requests of one connection.
    fn drive(&self, number: usize) -> Result<(), BenchError> {
        let plan = self.plan;
        let made = |source| BenchError::Load { doing: "make a request", source };
        let payloads = Payloads::new(plan.format, plan.compression, self.tables.clone(), plan.batch, plan.seed, number);
        let mut payloads = payloads.map_err(made)?;
        let heads: Vec<String> = self.tables.iter().map(|table| self.head(table)).collect();
        let mut connection = self.target.connect()?;
        let mut request = Vec::new();
        while let Some(slot) = self.claim() {
            let (table, body) = payloads.next_body().map_err(made)?;
            let body_bytes = body.len();
            request.clear();
            request.extend(heads[table].as_bytes());
            if plan.keys {
                request.extend(format!("idempotency-key: {}\r\n", uuid::Uuid::new_v4()).bytes());
            }
            request.extend(format!("content-length: {body_bytes}\r\n\r\n").bytes());
            request.extend(body);
            let due = self.due(slot);
            if !self.wait_until(due) {
                return Ok(());
            }
            let from = due.unwrap_or_else(Instant::now);
            let reply = self.send(&mut connection, &request, number)?;
            let Some(reply) = reply else { continue };
            self.settle(&reply, number, body_bytes, from.elapsed())?;
        }
        Ok(())
    }

    fn head(&self, table: &Measurement) -> String {
        let path = || self.plan.format.path(&self.target.database, &table.name);
        let head = self.target.head(&self.target.path.clone().unwrap_or_else(path));
        match self.plan.compression {
            BodyCodec::None => head,
            codec => format!("{head}content-encoding: {codec}\r\n"),
        }
    }

    /// Claims the number of the next request, unless time is up.
    fn claim(&self) -> Option<u64> {
        if self.stopped.load(Ordering::SeqCst) || Instant::now() >= self.end {
            return None;
        }
        let slot = self.claimed.fetch_add(1, Ordering::SeqCst);
        let is_asked_for = self.plan.requests.is_none_or(|requests| slot < requests);
        (is_asked_for && self.due(slot).is_none_or(|due| due < self.end)).then_some(slot)
    }

    /// The due time of a request; `None` to send it at once.
    fn due(&self, slot: u64) -> Option<Instant> {
        self.plan.interval_s().map(|interval| self.started + Duration::from_secs_f64(interval * slot as f64))
    }

    /// Waits until a request is due; returns false if the load ends first.
    fn wait_until(&self, due: Option<Instant>) -> bool {
        while let Some(early) = due.and_then(|due| due.checked_duration_since(Instant::now())) {
            if self.stopped.load(Ordering::SeqCst) {
                return false;
            }
            thread::sleep(early.min(WAIT_MAX));
        }
        true
    }

    /// Due requests that no connection began.
    fn unsent(&self) -> u64 {
        let due = self.plan.interval_s().map_or(0, |interval| (self.plan.seconds / interval).ceil() as u64);
        due.saturating_sub(self.claimed.load(Ordering::SeqCst))
    }

    /// Sends a request and returns the reply; `None` if the connection broke and the outcome is unknown. Retries a
    /// request with an idempotency key.
    fn send(&self, connection: &mut Connection, request: &[u8], number: usize) -> Result<Option<Reply>, BenchError> {
        let mut tries = 0;
        loop {
            let source = match connection.send(request) {
                Ok(reply) => return Ok(Some(reply)),
                Err(source) => source,
            };
            tries += 1;
            self.with_counts(number, |counts| counts.broken += 1);
            let found = self.reconnect(connection).is_ok();
            if found && self.plan.keys && tries < RECONNECTS {
                continue;
            }
            self.with_counts(number, |counts| counts.uncertain += self.plan.batch as u64);
            if found {
                return Ok(None);
            }
            return Err(self.target.gone(source));
        }
    }

    fn reconnect(&self, connection: &mut Connection) -> io::Result<()> {
        let mut tried = connection.reopen();
        for _ in 1..RECONNECTS {
            if tried.is_ok() || self.stopped.load(Ordering::SeqCst) {
                break;
            }
            thread::sleep(RECONNECT_PAUSE);
            tried = connection.reopen();
        }
        tried
    }

    /// Counts a reply. If the server asks for a pause, waits, unless the load has a fixed rate.
    fn settle(&self, reply: &Reply, number: usize, body_bytes: usize, took: Duration) -> Result<(), BenchError> {
        let records = self.plan.batch as u64;
        self.with_counts(number, |counts| {
            counts.status(reply.status);
            match reply.status {
                200..=299 => counts.acknowledge(records, body_bytes, took),
                // The server may have stored the rows before it failed.
                500.. => counts.uncertain += records,
                _ => {}
            }
        });
        match reply.status {
            429 | 500.. if self.plan.pace == Pace::Max => {
                thread::sleep(reply.retry_after.unwrap_or(WAIT_MAX).min(WAIT_MAX));
            }
            200..=299 | 429 | 500.. => {}
            _ => return Err(refused(reply)),
        }
        Ok(())
    }

    fn with_counts(&self, number: usize, change: impl FnOnce(&mut LoadCounts)) {
        change(&mut self.counts[number].lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Takes the counts of all connections since the last call.
    fn take(&self) -> LoadCounts {
        let mut sum = LoadCounts::default();
        for counts in &self.counts {
            sum.add(&std::mem::take(&mut *counts.lock().unwrap_or_else(PoisonError::into_inner)));
        }
        sum
    }

    fn progress(&self, taken: &LoadCounts, over: Duration) -> String {
        format!(
            "{:>4.0} s  {:>12} records/s  p50 {:>8}  p95 {:>8}  p99 {:>8}  429: {}",
            self.started.elapsed().as_secs_f64(),
            count((taken.acknowledged as f64 / over.as_secs_f64()).round() as u64),
            ms(taken.quantile_ms(0.5)),
            ms(taken.quantile_ms(0.95)),
            ms(taken.quantile_ms(0.99)),
            count(taken.refused()),
        )
    }
}
