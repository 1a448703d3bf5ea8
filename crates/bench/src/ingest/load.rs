//! A load: connections that send as fast as they are answered, or at a rate.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use run::Usage;
use serde::Serialize;

use super::error::LoadError;
use super::format::{BodyCodec, WireFormat};
use super::payload::Payloads;
use super::records::{Measurement, measurements};
use super::tally::Tally;
use super::target::{Target, refused};
use crate::harness::http::{Connection, Reply};
use crate::harness::report::number::{count, ms};

/// How often progress is told.
const PROGRESS: Duration = Duration::from_secs(5);
/// How long a refused connection waits at most before it sends again, and how often a waiting one looks up.
const WAIT_MAX: Duration = Duration::from_millis(100);
/// How often and after what pause a lost server is looked for.
const RECONNECTS: u32 = 5;
const RECONNECT_PAUSE: Duration = Duration::from_millis(200);

/// How fast requests are sent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pace {
    /// A connection sends its next request once the one before is answered.
    Max,
    /// So many records a second over all connections, each request at a time of its own; latency counts from that time,
    /// also where no connection was free to send it.
    Rate(f64),
}

/// What to send.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadPlan {
    /// In what.
    pub format: WireFormat,
    /// Compressed with what.
    pub compression: BodyCodec,
    /// How fast.
    pub pace: Pace,
    /// Over how many connections, 1 to 10,000.
    pub connections: usize,
    /// For how long, in seconds.
    pub seconds: f64,
    /// Records of a request, 1 to 1,000,000.
    pub batch: usize,
    /// Tables that requests go to in turn.
    pub tables: usize,
    /// Whether each request has a key by which it can be sent again.
    pub keys: bool,
    /// Seed of the values.
    pub seed: u64,
}

impl Default for LoadPlan {
    fn default() -> Self {
        Self {
            format: WireFormat::Columnar,
            compression: BodyCodec::None,
            pace: Pace::Max,
            connections: 8,
            seconds: 10.0,
            batch: 1_000,
            tables: 3,
            keys: false,
            seed: 1,
        }
    }
}

/// What a load came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadFigures {
    /// What was sent.
    pub plan: LoadPlan,
    /// From the first request to the last reply.
    pub elapsed_s: f64,
    /// Records acknowledged.
    pub acknowledged: u64,
    /// Records that the server has more than before.
    pub stored: u64,
    /// Records of requests that broke off, or were answered with a 5xx status: stored or not.
    pub uncertain: u64,
    /// Records acknowledged a second.
    pub records_per_s: f64,
    /// Requests by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Requests refused for want of room (429).
    pub refused_requests: u64,
    /// Requests that were due and not sent before the time was over.
    pub unsent_requests: u64,
    /// Connections that broke.
    pub broken_connections: u64,
    /// Bytes of a record in a body as sent.
    pub wire_bytes_per_record: f64,
    /// Half of the acknowledged requests took no longer.
    pub p50_ms: f64,
    /// 95 of 100 took no longer.
    pub p95_ms: f64,
    /// 99 of 100 took no longer.
    pub p99_ms: f64,
    /// The slowest one.
    pub max_ms: f64,
    /// Processor time of this side.
    pub load_cpu_s: f64,
}

impl LoadFigures {
    /// Whether the server has what it acknowledged, once; requests of which it said nothing may be there or not.
    pub fn is_stored(&self) -> bool {
        (self.acknowledged..=self.acknowledged + self.uncertain).contains(&self.stored)
    }
}

/// Loads a server, and then asks what it has stored. `note` is told of progress every five seconds; `stop` is asked
/// whether to end early.
///
/// # Errors
/// Where a setting cannot be, where the server is gone, and where it takes nothing of what is sent.
pub fn load(
    target: &Target,
    plan: &LoadPlan,
    note: &dyn Fn(&str),
    stop: &dyn Fn() -> bool,
) -> Result<LoadFigures, LoadError> {
    plan.check()?;
    let tables: Arc<[Measurement]> = measurements(plan.tables).into();
    let names: Vec<String> = tables.iter().map(|table| table.name.clone()).collect();
    let before = target.count_rows(&names)?;
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
        tallies: (0..plan.connections).map(|_| Mutex::default()).collect(),
    };
    let (total, elapsed) = drive.run(note, stop)?;
    let load_cpu_s = Usage::now().cpu.saturating_sub(cpu).as_secs_f64();
    let after = target.count_rows(&names)?;
    let stored = after.iter().map(|(name, rows)| rows.saturating_sub(before.get(name).copied().unwrap_or(0))).sum();
    Ok(LoadFigures {
        plan: plan.clone(),
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
    fn check(&self) -> Result<(), LoadError> {
        let refuse = |setting, reason: &str| Err(LoadError::Setting { setting, reason: reason.to_owned() });
        if !(1..=10_000).contains(&self.connections) {
            return refuse("connections", "give a number from 1 to 10,000");
        }
        if !(1..=1_000_000).contains(&self.batch) {
            return refuse("batch", "give a number of records from 1 to 1,000,000");
        }
        if !(1..=1_000).contains(&self.tables) {
            return refuse("tables", "give a number from 1 to 1,000");
        }
        if !(0.001..=1e6).contains(&self.seconds) {
            return refuse("seconds", "give a number from 0.001 to 1,000,000");
        }
        match self.pace {
            Pace::Rate(rate) if !(1e-3..=1e9).contains(&rate) => {
                refuse("rate", "give records a second, from 0.001 to 1,000,000,000")
            }
            _ => Ok(()),
        }
    }
}

/// A load under way.
struct Drive<'a> {
    target: &'a Target,
    plan: &'a LoadPlan,
    tables: Arc<[Measurement]>,
    started: Instant,
    end: Instant,
    /// Requests that some connection took up.
    claimed: AtomicU64,
    /// Whether to end early.
    stopped: AtomicBool,
    /// One a connection, so that none waits for another.
    tallies: Vec<Mutex<Tally>>,
}

impl Drive<'_> {
    /// Everything that was counted, and how long it took.
    fn run(&self, note: &dyn Fn(&str), stop: &dyn Fn() -> bool) -> Result<(Tally, Duration), LoadError> {
        thread::scope(|scope| {
            let mut threads = Vec::new();
            for connection in 0..self.plan.connections {
                let started = thread::Builder::new().stack_size(256 << 10).spawn_scoped(scope, move || {
                    let driven = self.drive(connection);
                    // Where one connection has to give up, the others would go on in vain.
                    self.stopped.fetch_or(driven.is_err(), Ordering::SeqCst);
                    driven
                });
                match started {
                    Ok(started) => threads.push(started),
                    Err(source) => {
                        self.stopped.store(true, Ordering::SeqCst);
                        return Err(LoadError::Io { doing: "start a thread for a connection", source });
                    }
                }
            }
            let mut total = Tally::default();
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
                    Ok(Err(LoadError::Gone { address, source, .. })) => {
                        return Err(LoadError::Gone { address, source, acknowledged: total.acknowledged });
                    }
                    Ok(Err(error)) => return Err(error),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            Ok((total, elapsed))
        })
    }

    /// Requests of one connection, one after the other.
    fn drive(&self, number: usize) -> Result<(), LoadError> {
        let plan = self.plan;
        let made = |source| LoadError::Io { doing: "make a request", source };
        let payloads = Payloads::new(plan.format, plan.compression, self.tables.clone(), plan.batch, plan.seed, number);
        let mut payloads = payloads.map_err(made)?;
        let heads: Vec<String> = self.tables.iter().map(|table| self.head(table)).collect();
        let mut connection = self.connect()?;
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
        let head = self.target.head(&self.plan.format.path(&self.target.database, &table.name));
        match self.plan.compression {
            BodyCodec::None => head,
            codec => format!("{head}content-encoding: {codec}\r\n"),
        }
    }

    /// The number of the next request, while there is time for one.
    fn claim(&self) -> Option<u64> {
        if self.stopped.load(Ordering::SeqCst) || Instant::now() >= self.end {
            return None;
        }
        let slot = self.claimed.fetch_add(1, Ordering::SeqCst);
        self.due(slot).is_none_or(|due| due < self.end).then_some(slot)
    }

    /// When a request is to be sent; None is at once.
    fn due(&self, slot: u64) -> Option<Instant> {
        self.plan.interval_s().map(|interval| self.started + Duration::from_secs_f64(interval * slot as f64))
    }

    /// Waits until a request is due; false where the load ends before.
    fn wait_until(&self, due: Option<Instant>) -> bool {
        while let Some(early) = due.and_then(|due| due.checked_duration_since(Instant::now())) {
            if self.stopped.load(Ordering::SeqCst) {
                return false;
            }
            thread::sleep(early.min(WAIT_MAX));
        }
        true
    }

    /// Requests that were due before the end and that no connection came to.
    fn unsent(&self) -> u64 {
        let due = self.plan.interval_s().map_or(0, |interval| (self.plan.seconds / interval).ceil() as u64);
        due.saturating_sub(self.claimed.load(Ordering::SeqCst))
    }

    fn connect(&self) -> Result<Connection, LoadError> {
        let gone = |source| LoadError::Gone { address: self.target.address, acknowledged: 0, source };
        Connection::open(self.target.address).map_err(gone)
    }

    /// The reply; None where the connection broke and what became of the request is not known. With a key it is sent
    /// again, and then it is known.
    fn send(&self, connection: &mut Connection, request: &[u8], number: usize) -> Result<Option<Reply>, LoadError> {
        let mut tries = 0;
        loop {
            let source = match connection.send(request) {
                Ok(reply) => return Ok(Some(reply)),
                Err(source) => source,
            };
            tries += 1;
            self.with_tally(number, |tally| tally.broken += 1);
            let found = self.reconnect(connection).is_ok();
            if found && self.plan.keys && tries < RECONNECTS {
                continue;
            }
            self.with_tally(number, |tally| tally.uncertain += self.plan.batch as u64);
            if found {
                return Ok(None);
            }
            return Err(LoadError::Gone { address: self.target.address, acknowledged: 0, source });
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

    /// Counts a reply; waits where the server asks for it and nothing says when to send.
    fn settle(&self, reply: &Reply, number: usize, body_bytes: usize, took: Duration) -> Result<(), LoadError> {
        let records = self.plan.batch as u64;
        self.with_tally(number, |tally| {
            tally.status(reply.status);
            match reply.status {
                200..=299 => tally.acknowledge(records, body_bytes, took),
                // Whether the server had stored something when it failed is not known.
                500.. => tally.uncertain += records,
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

    fn with_tally(&self, number: usize, change: impl FnOnce(&mut Tally)) {
        change(&mut self.tallies[number].lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// What all connections counted since this was asked last.
    fn take(&self) -> Tally {
        let mut sum = Tally::default();
        for tally in &self.tallies {
            let taken = tally.lock().unwrap_or_else(PoisonError::into_inner).take();
            sum.add(&taken);
        }
        sum
    }

    fn progress(&self, taken: &Tally, over: Duration) -> String {
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

impl LoadPlan {
    /// Seconds from one request to the next, where a rate is kept.
    fn interval_s(&self) -> Option<f64> {
        match self.pace {
            Pace::Max => None,
            Pace::Rate(records_per_s) => Some(self.batch as f64 / records_per_s),
        }
    }
}
