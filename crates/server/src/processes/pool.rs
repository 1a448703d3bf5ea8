//! The query processes of a server.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::StatusCode;
use ingest::StoreOptions;
use tokio::runtime::Handle;

use super::message::{Failure, Part, Question, Setup};
use super::process::{Process, remove};
use crate::error::Refusal;
use crate::questions::Place;

/// Subfolder of the data folder for queries' temporary files.
const SPILL: &str = ".manyworlds.spill";

/// Idle processes, and the settings to start more.
#[derive(Debug)]
pub(crate) struct Pool {
    program: Vec<OsString>,
    setup: Setup,
    /// Processes started so far.
    started: AtomicU64,
    /// `None` once the pool is closed.
    waiting: Mutex<Option<Vec<Process>>>,
    handle: Handle,
}

impl Pool {
    /// A pool of `program` over the folder `data`; no other server uses this folder. `handle` starts the processes, the
    /// first one at once.
    pub(crate) fn new(
        program: Vec<OsString>,
        data: &Path,
        memory_bytes: usize,
        store: &StoreOptions,
        handle: Handle,
    ) -> io::Result<Arc<Self>> {
        let spill = data.join(SPILL);
        // Remove temporary files of a killed server.
        remove(&spill)?;
        let unique = store.unique.iter().map(|(table, columns)| (table.to_string(), columns.clone())).collect();
        let setup = Setup { data: data.to_owned(), memory_bytes, spill, unique };
        let (started, waiting) = (AtomicU64::new(0), Mutex::new(Some(Vec::new())));
        let pool = Arc::new(Self { program, setup, started, waiting, handle });
        pool.replenish();
        Ok(pool)
    }

    /// Runs a query. It keeps `place` until its process is done.
    pub(crate) async fn ask(self: &Arc<Self>, place: Place, question: &Question) -> Result<Answering, Refusal> {
        let mut place = Some(place);
        loop {
            let process = match self.next() {
                Some(process) => process,
                None => self.start().await.map_err(|error| {
                    tracing::error!(%error, "cannot start a query process");
                    let text = format!("cannot start a query process: {error}");
                    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, text).later(5)
                })?,
            };
            // From here on, a question that is given up ends its process.
            let mut answering = Answering { pool: self.clone(), process: Some(process), place: place.take() };
            // A process may have died while idle: try the next.
            if answering.ask(question).await {
                return Ok(answering);
            }
            place = answering.place.take();
        }
    }

    fn idle(&self) -> MutexGuard<'_, Option<Vec<Process>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Option<Process> {
        self.idle().as_mut()?.pop()
    }

    /// Ends all idle processes, and removes the temporary files. Blocks.
    pub(crate) fn close(&self) {
        let idle = self.idle().take();
        idle.into_iter().flatten().for_each(Process::end);
        if let Err(error) = remove(&self.setup.spill) {
            tracing::warn!(%error, "cannot remove the temporary files of queries");
        }
    }

    async fn start(&self) -> io::Result<Process> {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let setup = Setup { spill: self.setup.spill.join(number.to_string()), ..self.setup.clone() };
        Process::start(&self.program, &setup).await
    }

    /// Keeps an idle process, or ends it if the pool is closed.
    fn keep(&self, process: Process) {
        match &mut *self.idle() {
            Some(idle) => idle.push(process),
            None => process.end(),
        }
    }

    /// Starts a process if none is idle.
    fn replenish(self: &Arc<Self>) {
        if self.idle().as_ref().is_none_or(|idle| !idle.is_empty()) {
            return;
        }
        let pool = self.clone();
        self.handle.spawn(async move {
            match pool.start().await {
                Ok(process) => pool.keep(process),
                // The next query tries again and reports the error.
                Err(error) => tracing::error!(%error, "cannot start a query process"),
            }
        });
    }

    /// Ends a process, then frees the place of its query.
    fn discard(self: &Arc<Self>, process: Process, place: Option<Place>) {
        self.handle.spawn_blocking(move || {
            process.end();
            drop(place);
        });
        self.replenish();
    }
}

/// A running answer. Dropping it early kills the process.
#[derive(Debug)]
pub(crate) struct Answering {
    pool: Arc<Pool>,
    /// Both `None` at the end.
    process: Option<Process>,
    place: Option<Place>,
}

impl Answering {
    /// Hands the question to the process; returns whether it lives and takes it.
    async fn ask(&mut self, question: &Question) -> bool {
        let Some(process) = &mut self.process else { return false };
        process.is_alive() && process.ask(question).await.is_ok()
    }

    /// The next part of the answer; `None` at its end.
    pub(crate) async fn next(&mut self) -> Result<Option<Part>, Failure> {
        let Some(process) = &mut self.process else { return Ok(None) };
        let mut failed = None;
        loop {
            match process.part().await {
                Ok(Part::Done(done)) => {
                    self.end(done.grown);
                    return failed.map_or(Ok(None), Err);
                }
                Ok(Part::Failed(failure)) => failed = Some(failure),
                Ok(part) => return Ok(Some(part)),
                Err(error) => {
                    tracing::debug!(%error, "a query process failed");
                    return Err(process.last_words().await);
                }
            }
        }
    }

    /// Returns the process to the pool. A process that has grown ends instead, to free its memory.
    fn end(&mut self, grown: bool) {
        let Some(process) = self.process.take() else { return };
        if grown {
            self.pool.discard(process, self.place.take());
        } else {
            self.pool.keep(process);
            self.place = None;
        }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.end(true);
    }
}
