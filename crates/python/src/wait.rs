//! Runs work without Python's lock, and ends it when a signal arrives.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use crate::failure::Failure;
use crate::logging;

/// Time between looks for signals.
const LOOK_EACH: Duration = Duration::from_millis(50);

/// The threads of this process, and its number: a fork copies no threads.
static RUNTIME: OnceLock<(u32, Runtime)> = OnceLock::new();

/// The threads for files and SQL, started by the first question.
pub(crate) fn runtime() -> Result<&'static Runtime, Failure> {
    if RUNTIME.get().is_none() {
        let mut builder = Builder::new_multi_thread();
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).max(2);
        let builder = builder.worker_threads(threads).thread_name("manyworlds").thread_stack_size(sql::STACK_BYTES);
        let started = builder.enable_all().build().map_err(Failure::storage)?;
        // Another thread may have been first; its runtime serves both.
        let _ = RUNTIME.set((std::process::id(), started));
        logging::begin();
    }
    match RUNTIME.get() {
        Some((process, runtime)) if *process == std::process::id() => Ok(runtime),
        _ => Err(Failure::forked()),
    }
}

/// Waits for a future. Drops it, and raises, when a signal's handler raises.
pub(crate) fn wait<T, E>(py: Python<'_>, work: impl Future<Output = Result<T, E>> + Send + 'static) -> PyResult<T>
where
    T: Send + 'static,
    E: Into<Failure> + Send + 'static,
{
    look_around(py)?;
    let mut task = Task::start(work)?;
    loop {
        let done = task.poll(py)?;
        look_around(py).inspect_err(|_| task.work.abort())?;
        if let Some(done) = done {
            return Ok(done.map_err(Into::into)?);
        }
    }
}

/// Work in progress, and where its result arrives. The waiting thread's own clock says when to look for signals: timers of
/// the runtime stand still while all of its threads compute.
struct Task<T> {
    work: JoinHandle<()>,
    result: Receiver<T>,
}

impl<T: Send + 'static> Task<T> {
    fn start(work: impl Future<Output = T> + Send + 'static) -> Result<Self, Failure> {
        let (send, result) = sync_channel(1);
        // Nobody waits for the result after a signal.
        let work = runtime()?.spawn(async move { drop(send.send(work.await)) });
        Ok(Self { work, result })
    }

    /// The result, if it arrives before the next look for signals.
    fn poll(&mut self, py: Python<'_>) -> PyResult<Option<T>> {
        let Self { work, result } = self;
        match py.detach(move || result.recv_timeout(LOOK_EACH)) {
            Ok(done) => Ok(Some(done)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            // The work panicked.
            Err(RecvTimeoutError::Disconnected) => {
                let runtime = runtime()?;
                let ended = py.detach(|| runtime.block_on(work));
                Err(Failure::storage(ended.err().map_or_else(|| "the work ended".to_owned(), |e| e.to_string())).into())
            }
        }
    }
}

/// As [`wait`], for work that ends in good order. Calls `look` between looks for signals, and `stop` after each signal
/// whose handler raises and each error of `look`. Waits for the end in any case, then raises the first error.
pub(crate) fn wait_to_end<T, E>(
    py: Python<'_>,
    work: impl Future<Output = Result<T, E>> + Send + 'static,
    stop: impl Fn() -> PyResult<()>,
    mut look: impl FnMut() -> PyResult<()>,
) -> PyResult<T>
where
    T: Send + 'static,
    E: Into<Failure> + Send + 'static,
{
    look_around(py)?;
    let mut task = Task::start(work)?;
    let mut raised = None;
    let done = loop {
        let done = task.poll(py)?;
        if let Err(error) = look_around(py).and_then(|()| look()) {
            raised.get_or_insert(error);
            // The first error says more.
            let _ = stop();
        }
        if let Some(done) = done {
            break done;
        }
    };
    match raised {
        Some(raised) => Err(raised),
        None => Ok(done.map_err(Into::into)?),
    }
}

/// As [`wait`], for work that blocks and cannot be ended: after a signal it ends unnoticed.
pub(crate) fn wait_blocking<T, E>(py: Python<'_>, work: impl FnOnce() -> Result<T, E> + Send + 'static) -> PyResult<T>
where
    T: Send + 'static,
    E: Into<Failure> + Send + 'static,
{
    wait(py, async { tokio::task::spawn_blocking(work).await.map_err(Failure::storage)?.map_err(Into::into) })
}

/// Does short work on this thread. `work` asks its argument now and then whether to go on.
pub(crate) fn work<T, E>(py: Python<'_>, work: impl FnOnce(&dyn Fn() -> bool) -> Result<T, E> + Send) -> PyResult<T>
where
    T: Send,
    E: Into<Failure> + Send,
{
    let (done, raised) = py.detach(|| {
        let (looked, raised) = (Cell::new(Instant::now()), RefCell::new(None));
        let done = work(&|| {
            if looked.get().elapsed() >= LOOK_EACH {
                looked.set(Instant::now());
                *raised.borrow_mut() = Python::attach(check_signals).err();
            }
            raised.borrow().is_none()
        });
        (done, raised.into_inner())
    });
    match raised {
        Some(raised) => Err(raised),
        None => Ok(done.map_err(Into::into)?),
    }
}

/// Looks for signals, and passes messages on to Python's `logging`.
fn look_around(py: Python<'_>) -> PyResult<()> {
    py.check_signals()?;
    logging::pass_on(py)
}

fn check_signals(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}
