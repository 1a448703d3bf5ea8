//! The runs of this server: which are playing, which wait, and how others ended.

mod supervise;

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use chrono::{SecondsFormat, Utc};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc, watch};

use super::message::{Goal, Job, Order, Progress, Report, Setup, Wish};
use super::process::Process;
use super::record::{self, Outcome, Record};
use super::refuse::conflict;
use crate::error::Refusal;

/// Maximum number of runs that wait.
const QUEUED_MAX: usize = 100;
/// Jobs that are prepared at once: each measures its model.
const PREPARED_MAX: usize = 2;
/// Time for a cancelled run to drop its ranges.
const CANCEL_WITHIN: Duration = Duration::from_secs(1);

/// What a run does now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Starting,
    /// Registered; it waits until another run ends.
    Queued,
    Running,
    /// Finishes the ranges in progress.
    Pausing,
    /// Drops the ranges in progress.
    Cancelling,
}

/// A run that plays or waits.
#[derive(Debug, Clone)]
pub(crate) struct Active {
    /// 0 until it is registered.
    pub(crate) version: u64,
    pub(crate) model: String,
    pub(crate) phase: Phase,
    pub(crate) worlds: u64,
    /// Worlds that were stored when its process began.
    pub(crate) before: u64,
    pub(crate) progress: Progress,
    pub(crate) started: String,
    /// When its process began to play.
    pub(crate) began: Option<Instant>,
    threads: Option<usize>,
    until: Option<Goal>,
    orders: Option<mpsc::UnboundedSender<Order>>,
}

#[derive(Debug, Default)]
struct State {
    active: BTreeMap<String, Active>,
    queue: VecDeque<String>,
    records: BTreeMap<String, Record>,
    /// Counts the runs whose process has ended.
    ended: u64,
    is_closing: bool,
}

/// The runs of a server.
#[derive(Debug)]
pub(crate) struct Runs {
    data: PathBuf,
    program: Vec<OsString>,
    /// Runs that play at once.
    most: usize,
    state: Mutex<State>,
    /// Records are written one after another.
    saving: tokio::sync::Mutex<()>,
    preparing: Semaphore,
    changed: watch::Sender<u64>,
    handle: Handle,
}

impl Runs {
    /// The runs over a data folder, which no other server uses. `handle` waits for the processes.
    ///
    /// # Errors
    /// If the records of earlier runs cannot be read.
    pub(crate) fn new(data: &Path, program: Vec<OsString>, most: usize, handle: Handle) -> io::Result<Arc<Self>> {
        let state = Mutex::new(State { records: record::read(data)?, ..State::default() });
        let (saving, preparing) = (tokio::sync::Mutex::default(), Semaphore::new(PREPARED_MAX));
        let changed = watch::Sender::new(0);
        Ok(Arc::new(Self { data: data.to_owned(), program, most, state, saving, preparing, changed, handle }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notify(&self) {
        self.changed.send_modify(|changes| *changes += 1);
    }

    /// Notifies of changes of any run.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// The runs that play or wait, and the records of all others.
    pub(crate) fn all(&self) -> (BTreeMap<String, Active>, BTreeMap<String, Record>) {
        let state = self.state();
        (state.active.clone(), state.records.clone())
    }

    /// Counts the runs whose process has ended: what they stored is in the tables.
    pub(crate) fn ended(&self) -> u64 {
        self.state().ended
    }

    /// Whether a run of this name plays or waits.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.state().active.contains_key(name)
    }

    /// Registers an ensemble and plays it, at once or when another run has ended. Goes on if the caller does not wait.
    ///
    /// # Errors
    /// If the wish is refused, or too many runs wait.
    pub(crate) async fn start(self: &Arc<Self>, name: String, wish: Wish) -> Result<(), Refusal> {
        let mut active = Active::new(&wish.model, u64::from(wish.worlds));
        (active.threads, active.until) = (wish.threads, wish.until.clone());
        let play = self.admit(&name, active)?;
        self.launch(name, Job::Start { wish: Box::new(wish), play }).await
    }

    /// Continues a version of an ensemble, at once or when another run has ended.
    ///
    /// # Errors
    /// If it cannot be played here, or too many runs wait.
    pub(crate) async fn resume(self: &Arc<Self>, name: String, mut active: Active) -> Result<(), Refusal> {
        if let Some(record) = self.state().records.get(&name).filter(|record| record.version == active.version) {
            (active.threads, active.until) = (record.threads, record.until.clone());
            active.started.clone_from(&record.started);
        }
        let job = active.job(&name);
        if self.admit(&name, active)? {
            return self.launch(name, job).await;
        }
        self.enqueue(&name);
        Ok(())
    }

    /// Submits an ensemble to a fleet by a process of its own. Returns its name. The process is waited for, also if the
    /// caller is not there any more.
    pub(crate) async fn submit(
        self: &Arc<Self>,
        wish: Wish,
        ledger: String,
        broker: String,
    ) -> Result<String, Refusal> {
        let runs = self.clone();
        let submitted = tokio::spawn(async move { runs.submit_here(wish, ledger, broker).await });
        submitted.await.map_err(|error| Refusal::internal(error.to_string()))?
    }

    async fn submit_here(&self, wish: Wish, ledger: String, broker: String) -> Result<String, Refusal> {
        let _place = self.preparing.acquire().await.map_err(closing)?;
        let job = Job::Submit { wish: Box::new(wish), ledger, broker };
        let setup = Setup { data: self.data.clone(), job };
        let mut process = Process::start(&self.program, &setup).await.map_err(|error| unstarted(&error))?;
        let said = process.report().await;
        let end = process.end().await;
        match said {
            Some(Report::Begun(begun)) => Ok(begun.name),
            Some(Report::Refused(refused)) => Err(refused.into()),
            _ => Err(Refusal::internal(end.reason())),
        }
    }

    /// Reserves the name; returns whether there is room to play at once.
    fn admit(&self, name: &str, active: Active) -> Result<bool, Refusal> {
        let mut state = self.state();
        if state.is_closing {
            return Err(closing(()));
        }
        if state.active.contains_key(name) {
            return Err(conflict(format!("ensemble {name:?} is being played already")));
        }
        if state.queue.len() >= QUEUED_MAX {
            let text = format!("{QUEUED_MAX} runs wait already: cancel some, or retry when others have ended");
            return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, text).later(60));
        }
        let play = state.playing() < self.most;
        state.active.insert(name.to_owned(), active);
        drop(state);
        self.notify();
        Ok(play)
    }

    /// Lets a registered run wait for room; returns whether it does: it may have been stopped meanwhile.
    fn enqueue(self: &Arc<Self>, name: &str) -> bool {
        let waits = self.state().enqueue(name);
        self.advance();
        self.notify();
        waits
    }

    /// Starts runs that wait, while there is room.
    fn advance(self: &Arc<Self>) {
        loop {
            let (name, job) = {
                let mut state = self.state();
                if state.is_closing || state.playing() >= self.most {
                    return;
                }
                let Some(name) = state.queue.pop_front() else { return };
                let Some(active) = state.active.get_mut(&name) else { continue };
                active.phase = Phase::Starting;
                let job = active.job(&name);
                (name, job)
            };
            let runs = self.clone();
            self.handle.spawn(async move {
                if let Err(refusal) = runs.launch(name.clone(), job).await {
                    tracing::warn!(name, reason = refusal.text(), "a run that waited could not start");
                }
            });
        }
    }

    /// Asks a run to stop at the end of its ranges, or takes it out of the queue.
    pub(crate) async fn pause(self: &Arc<Self>, name: &str) {
        self.stop(name, Order::Pause, Phase::Pausing, Outcome::Paused).await;
    }

    /// Asks a run to drop its ranges and stop, or takes it out of the queue.
    pub(crate) async fn cancel(self: &Arc<Self>, name: &str) {
        self.stop(name, Order::Cancel, Phase::Cancelling, Outcome::Cancelled).await;
    }

    async fn stop(self: &Arc<Self>, name: &str, order: Order, phase: Phase, outcome: Outcome) {
        let record = {
            let mut state = self.state();
            let Some(active) = state.active.get_mut(name) else { return };
            if active.phase == Phase::Queued {
                let record = active.record(Some(outcome), None);
                state.active.remove(name);
                state.queue.retain(|queued| queued != name);
                state.records.insert(name.to_owned(), record.clone());
                Some(record)
            } else if active.phase == Phase::Cancelling {
                None
            } else {
                active.phase = phase;
                // A process that has just ended needs no order.
                active.orders.iter().for_each(|orders| _ = orders.send(order));
                None
            }
        };
        if let Some(record) = record {
            self.save(name, Some(record)).await;
        }
        self.notify();
    }

    /// Notes that a stopped run is not to be continued.
    pub(crate) async fn abandon(&self, name: &str, active: Active) {
        let record = {
            let mut state = self.state();
            let known = state.records.get(name).filter(|record| record.version == active.version).cloned();
            let record = Record {
                outcome: Some(Outcome::Cancelled),
                error: None,
                ..known.unwrap_or_else(|| active.record(None, None))
            };
            state.records.insert(name.to_owned(), record.clone());
            record
        };
        self.save(name, Some(record)).await;
        self.notify();
    }

    /// Stops all runs at the end of their ranges, within `grace`; those that take longer are dropped.
    pub(crate) async fn close(self: &Arc<Self>, grace: Duration) {
        let playing: Vec<String> = {
            let mut state = self.state();
            state.is_closing = true;
            state.queue.clear();
            state.active.retain(|_, active| active.phase != Phase::Queued);
            // Also those that would wait.
            state.active.keys().cloned().collect()
        };
        for name in &playing {
            self.pause(name).await;
        }
        let mut changes = self.changes();
        let ended = async {
            while !self.state().active.is_empty() {
                if changes.changed().await.is_err() {
                    return;
                }
            }
        };
        tokio::pin!(ended);
        if tokio::time::timeout(grace, &mut ended).await.is_ok() {
            return;
        }
        tracing::warn!("dropped ranges of runs that did not end in time");
        let left: Vec<mpsc::UnboundedSender<Order>> =
            self.state().active.values().filter_map(|active| active.orders.clone()).collect();
        // As for a pause: the run can be resumed.
        left.iter().for_each(|orders| _ = orders.send(Order::Cancel));
        if tokio::time::timeout(5 * CANCEL_WITHIN, ended).await.is_err() {
            tracing::error!("processes of runs were not ended");
        }
    }

    fn change(&self, name: &str, change: impl FnOnce(&mut Active)) {
        if let Some(active) = self.state().active.get_mut(name) {
            change(active);
        }
    }

    async fn save(&self, name: &str, record: Option<Record>) {
        let _turn = self.saving.lock().await;
        let (data, of) = (self.data.clone(), name.to_owned());
        let saved = tokio::task::spawn_blocking(move || record::write(&data, &of, record.as_ref())).await;
        if let Err(error) = saved.unwrap_or_else(|panic| Err(io::Error::other(panic))) {
            // The worlds are safe; after a restart the run counts as paused.
            tracing::error!(%error, name, "cannot keep the record of a run");
        }
    }
}

impl State {
    /// Runs that use processors.
    fn playing(&self) -> usize {
        self.active.values().filter(|active| active.phase != Phase::Queued).count()
    }

    fn enqueue(&mut self, name: &str) -> bool {
        let Some(active) = self.active.get_mut(name).filter(|active| active.phase == Phase::Starting) else {
            return false;
        };
        active.phase = Phase::Queued;
        active.orders = None;
        self.queue.push_back(name.to_owned());
        true
    }
}

impl Active {
    pub(crate) fn new(model: &str, worlds: u64) -> Self {
        Self {
            version: 0,
            model: model.to_owned(),
            phase: Phase::Starting,
            worlds,
            before: 0,
            progress: Progress::default(),
            started: Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true),
            began: None,
            threads: None,
            until: None,
            orders: None,
        }
    }

    /// A run of a stored version.
    pub(crate) fn of(newest: &ensemble::Newest) -> Self {
        let (version, before) = (newest.version, newest.stored as u64);
        Self { version, before, ..Self::new(&newest.model, newest.planned as u64) }
    }

    fn job(&self, name: &str) -> Job {
        let (version, threads, until) = (self.version, self.threads, self.until.clone());
        Job::Resume { name: name.to_owned(), version, threads, until }
    }

    fn record(&self, outcome: Option<Outcome>, error: Option<String>) -> Record {
        let (version, started) = (self.version, self.started.clone());
        Record { version, started, threads: self.threads, until: self.until.clone(), outcome, error }
    }
}

fn closing<T>(_: T) -> Refusal {
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "the server is closing").later(5)
}

fn unstarted(error: &io::Error) -> Refusal {
    tracing::error!(%error, "cannot start a process that plays a run");
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, format!("cannot start a process that plays the run: {error}"))
        .later(5)
}
