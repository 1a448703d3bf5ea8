//! Messages of the engine as records of Python's `logging`.
//!
//! Threads of the engine only append to a queue. A thread that waits for them in Python's name passes the records on, so
//! no thread of the engine ever waits for Python's lock.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use tracing::field::{Field, Visit};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

/// The logger. Each message belongs to a child of it, named for the part of the engine.
const LOGGER: &str = "manyworlds";
/// The crates whose messages a user can act on.
const PARTS: [&str; 9] = ["disk", "ensemble", "import", "ingest", "run", "snapshot", "sql", "table", "ask"];
/// Waiting records; the oldest give way.
const WAITING_MAX: usize = 10_000;

static WAITING: Mutex<VecDeque<Record>> = Mutex::new(VecDeque::new());
/// The lowest level of Python's that is wanted.
static WANTED: AtomicU8 = AtomicU8::new(30);

struct Record {
    level: u8,
    part: &'static str,
    text: String,
}

/// Python's number for a level.
fn number(level: Level) -> u8 {
    match level {
        Level::ERROR => 40,
        Level::WARN => 30,
        Level::INFO => 20,
        Level::DEBUG => 10,
        Level::TRACE => 5,
    }
}

struct Queue;

impl<S: Subscriber> Layer<S> for Queue {
    /// Python may change the level at any time.
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        let part = metadata.target().split("::").next().unwrap_or_default();
        number(*metadata.level()) >= WANTED.load(Ordering::Relaxed) && PARTS.contains(&part)
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut text = Text::default();
        event.record(&mut text);
        let metadata = event.metadata();
        let record =
            Record { level: number(*metadata.level()), part: metadata.target(), text: text.message + &text.fields };
        let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() == WAITING_MAX {
            waiting.pop_front();
        }
        waiting.push_back(record);
    }
}

/// A message, followed by its fields as `name=value`.
#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a String cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}

/// Begins to collect messages, unless this process logs them elsewhere, as commands do.
pub(crate) fn begin() {
    let _ = tracing_subscriber::registry().with(Queue).try_init();
}

/// Passes waiting records on, and learns which levels are wanted.
///
/// # Errors
/// If the handler of a signal raises meanwhile.
pub(crate) fn pass_on(py: Python<'_>) -> PyResult<()> {
    let pass = || -> PyResult<()> {
        let get = py.import("logging")?.getattr("getLogger")?;
        let wanted: i64 = get.call1((LOGGER,))?.call_method0("getEffectiveLevel")?.extract()?;
        WANTED.store(wanted.clamp(0, u8::MAX.into()) as u8, Ordering::Relaxed);
        let records = std::mem::take(&mut *WAITING.lock().unwrap_or_else(PoisonError::into_inner));
        for Record { level, part, text } in records {
            let logger = get.call1((format!("{LOGGER}.{}", part.replace("::", ".")),))?;
            logger.call_method1("log", (level, "%s", text))?;
        }
        Ok(())
    };
    match pass() {
        // A record that Python refuses does not fail a question.
        Err(error) if error.is_instance_of::<PyException>(py) => Ok(()),
        done => done,
    }
}
