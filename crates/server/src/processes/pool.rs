//! The processes that answer the questions of a server.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::StatusCode;
use ingest::StoreOptions;
use tokio::runtime::Handle;

use super::message::{Failure, Part, Question, Setup};
use super::process::Process;
use crate::error::Refusal;
use crate::questions::Place;

/// The folder in a data folder that temporary files of questions go to.
const SPILL: &str = ".manyworlds.spill";

/// Processes that wait for questions, and what it takes to start more.
#[derive(Debug)]
pub(crate) struct Pool {
    program: Vec<OsString>,
    setup: Setup,
    /// Processes that were started.
    started: AtomicU64,
    waiting: Mutex<Vec<Process>>,
    handle: Handle,
}

impl Pool {
    /// Processes of `program` that ask about the folder `data`, which nobody else serves. They are started by `handle`,
    /// the first one at once.
    ///
    /// # Errors
    /// Where the folder for temporary files cannot be emptied.
    pub(crate) fn new(
        program: Vec<OsString>,
        data: &Path,
        memory_bytes: usize,
        store: &StoreOptions,
        handle: Handle,
    ) -> io::Result<Arc<Self>> {
        let spill = data.join(SPILL);
        // A server that was killed left what its questions had there.
        match fs::remove_dir_all(&spill) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let unique = store.unique.iter().map(|(table, columns)| (table.to_string(), columns.clone())).collect();
        let setup = Setup { data: data.to_owned(), memory_bytes, spill, unique };
        let (started, waiting) = (AtomicU64::new(0), Mutex::default());
        let pool = Arc::new(Self { program, setup, started, waiting, handle });
        pool.replenish();
        Ok(pool)
    }

    /// Asks a question, which has `place` until its process is done with it.
    ///
    /// # Errors
    /// Where no process can be had.
    pub(crate) async fn ask(self: &Arc<Self>, place: Place, question: &Question) -> Result<Answering, Refusal> {
        loop {
            let mut process = match self.next() {
                Some(process) => process,
                None => self.start().await.map_err(|error| {
                    tracing::error!(%error, "cannot start a query process");
                    let text = format!("cannot start a query process: {error}");
                    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, text).later(5)
                })?,
            };
            // One that ended while it waited is no fault of the question.
            if process.is_alive() && process.ask(question).await.is_ok() {
                return Ok(Answering { pool: self.clone(), process: Some(process), place: Some(place) });
            }
            self.discard(process, None);
        }
    }

    fn next(&self) -> Option<Process> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    async fn start(&self) -> io::Result<Process> {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let setup = Setup { spill: self.setup.spill.join(number.to_string()), ..self.setup.clone() };
        Process::start(&self.program, &setup).await
    }

    fn keep(&self, process: Process) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(process);
    }

    /// Starts a process where none waits.
    fn replenish(self: &Arc<Self>) {
        if !self.waiting.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
            return;
        }
        let pool = self.clone();
        self.handle.spawn(async move {
            match pool.start().await {
                Ok(process) => pool.keep(process),
                // The next question tries again, and says so.
                Err(error) => tracing::error!(%error, "cannot start a query process"),
            }
        });
    }

    /// Ends a process; the place of its question is free after that.
    fn discard(self: &Arc<Self>, process: Process, place: Option<Place>) {
        self.handle.spawn_blocking(move || {
            process.end();
            drop(place);
        });
        self.replenish();
    }
}

/// An answer on its way. Where it is dropped before its end, the process is killed.
#[derive(Debug)]
pub(crate) struct Answering {
    pool: Arc<Pool>,
    /// Both `None` at the end.
    process: Option<Process>,
    place: Option<Place>,
}

impl Answering {
    /// The next part of the answer; `None` at its end.
    ///
    /// # Errors
    /// Why there is no more.
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

    /// The process has answered; one that holds much memory gives it back by ending.
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
