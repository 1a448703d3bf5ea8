//! The process that answers queries.

use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use axum::http::StatusCode;
use ensemble::StoredEnsemble;
use rustix::fs::Mode;
use snapshot::Snapshot;
use sql::{Engine, Ensembles, MakeModel, Options, Rows, STACK_BYTES, Scope, Session, Spill, Unique, check_texts};
use table::{SIM, TableError, TableName};
use tokio::runtime::{Builder, Runtime};

use super::body::{Batches, Body, Sink};
use super::message::{Ask, Done, Failure, Format, Part, Question, Setup, Sql, Wanted, take};
use super::size::written_bytes;
use super::{memory, names};
use crate::error::{Refusal, UNKNOWN_NAME};
use crate::tables;
use crate::warm::Warm;

/// Threads for blocking calls. Each call that opens a table holds one thread while waiting for another, so there must
/// be more threads than such calls.
const BLOCKING: usize = table::CALLS_MAX + 4;
/// Bytes that a query may use beyond those counted: for files, growing hash tables and functions.
const UNCOUNTED_BYTES: u64 = 192 << 20;
/// Growth in bytes since the start at which the server should replace the process.
const GROWN_BYTES: u64 = 64 << 20;
/// Priority of queries under a busy processor: ingest comes first.
const NICE: i32 = 10;
/// Limit of temporary files, as a multiple of the memory limit.
const SPILL_TIMES: u64 = 16;

/// Answers the queries that arrive on standard input, a socket, until the server closes it.
///
/// # Errors
/// If standard input is not a socket, or the threads cannot start.
pub fn answer_questions(make_model: MakeModel) -> io::Result<()> {
    // Applies to this thread and to those that it starts.
    rustix::process::nice(NICE)?;
    let mut stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let Some(setup) = take::<Setup>(&mut stream)? else { return Ok(()) };
    let (send, questions) = mpsc::channel();
    let listening = stream.try_clone()?;
    // A closed socket means that the server is gone or has cancelled the query, so end at once.
    thread::Builder::new().name("listen".to_owned()).spawn(move || listen(listening, &send))?;
    let answering = thread::Builder::new().name("question".to_owned()).stack_size(STACK_BYTES);
    let answering = answering.spawn(move || answer_all(stream, setup, make_model, &questions))?;
    answering.join().unwrap_or_else(|_| Err(io::Error::other("a query panicked")))
}

fn listen(mut stream: UnixStream, send: &mpsc::Sender<Question>) {
    while let Ok(Some(question)) = take::<Question>(&mut stream) {
        if send.send(question).is_err() {
            return;
        }
    }
    std::process::exit(0);
}

fn answer_all(
    stream: UnixStream,
    setup: Setup,
    make_model: MakeModel,
    questions: &mpsc::Receiver<Question>,
) -> io::Result<()> {
    let runtime = start_runtime()?;
    let unique = setup.unique.iter().map(|(table, columns)| {
        let table = table.parse::<TableName>().map_err(|e| io::Error::new(io::ErrorKind::InvalidInput, e))?;
        Ok((table, columns.clone()))
    });
    let unique = unique.collect::<io::Result<_>>()?;
    let spill = Spill { folder: setup.spill.clone(), bytes: SPILL_TIMES * setup.memory_bytes as u64 };
    let options = Options { memory_bytes: setup.memory_bytes, spill: Some(spill), ..Options::default() };
    // DataFusion creates its folder in `spill` with the umask's mode. Caches beside tables have their own modes.
    let umask = rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let session = Session::new(options).map_err(io::Error::other)?;
    rustix::process::umask(umask);
    let began = memory::used()?;
    memory::limit(began + setup.memory_bytes as u64 + UNCOUNTED_BYTES)?;
    let mut answerer = Answerer { stream, setup, session, make_model, unique, warm: Warm::default() };
    for question in questions {
        if let Err(failure) = runtime.block_on(answerer.answer(question)) {
            Part::Failed(failure).put(&mut answerer.stream)?;
        }
        let grown = memory::used()? > began + GROWN_BYTES;
        Part::Done(Done { grown }).put(&mut answerer.stream)?;
    }
    Ok(())
}

/// A runtime with all its threads started, so that the memory limit covers only queries.
fn start_runtime() -> io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    builder.enable_all().thread_name("question").thread_stack_size(STACK_BYTES);
    let runtime = builder.max_blocking_threads(BLOCKING).thread_keep_alive(Duration::MAX).build()?;
    let barrier = Arc::new(Barrier::new(BLOCKING));
    let wait = |_| {
        let barrier = barrier.clone();
        runtime.spawn_blocking(move || {
            barrier.wait();
        })
    };
    let started: Vec<_> = (0..BLOCKING).map(wait).collect();
    runtime.block_on(async {
        for thread in started {
            thread.await.map_err(io::Error::other)?;
        }
        Ok::<_, io::Error>(())
    })?;
    Ok(runtime)
}

struct Answerer {
    stream: UnixStream,
    setup: Setup,
    session: Session,
    make_model: MakeModel,
    unique: Unique,
    warm: Warm,
}

impl Answerer {
    async fn answer(&mut self, question: Question) -> Result<(), Failure> {
        match question {
            Question::Sql(sql) => self.answer_sql(sql).await,
            Question::Ask(ask) => self.answer_ask(ask).await,
        }
    }

    async fn answer_sql(&mut self, question: Sql) -> Result<(), Failure> {
        let began = Instant::now();
        let engine = self.open(&question).await?;
        match &question.wanted {
            Wanted::Body(format) => {
                let rows = engine.query(&question.text).await?;
                self.body(rows, format, began).await
            }
            Wanted::Rows(values) => {
                let rows = engine.ask(&question.text, values).await?;
                self.rows(rows).await
            }
            Wanted::Names(wanted) => {
                let names = names::list(&engine, wanted).await?;
                let mut batches = self.batches(&names.schema())?;
                batches.write(&names).map_err(|e| unwritten(&e))?;
                finish(batches)
            }
            Wanted::Description(types) => {
                let asked = engine.describe(&question.text, types).await?;
                // Clients can send values of any type as text.
                let types = asked.types.iter().map(|oid| if *oid == 0 { TEXT } else { *oid }).collect();
                Part::Types(types).put(&mut self.stream).map_err(|e| unwritten(&e.into()))?;
                self.columns(&asked.columns)
            }
        }
    }

    async fn answer_ask(&mut self, asked: Ask) -> Result<(), Failure> {
        let began = Instant::now();
        let no_table = |refusal: Refusal| Failure::of(&refusal, "42P01");
        let no_name = |e: TableError| Refusal::new(StatusCode::NOT_FOUND, e.to_string()).of_kind(UNKNOWN_NAME);
        let table: TableName = asked.table.parse().map_err(|e| no_table(no_name(e)))?;
        let unique = self.unique.get(&table).map_or(&[][..], Vec::as_slice);
        let opened = Snapshot::reopen(&table.folder(&self.setup.data), unique, self.session.opened()).await?;
        let snapshot = opened.ok_or_else(|| no_table(tables::no_table(&self.setup.data, &table)))?;
        let cache = Some(ask::Cache::of(&snapshot.root));
        let options = ask::Options { memory_bytes: self.setup.memory_bytes, cache, ..ask::Options::default() };
        let answer = ask::answer(&snapshot, &asked.question, &options)?;
        Part::Notes(answer.notes).put(&mut self.stream).map_err(|e| unwritten(&e.into()))?;
        let (most, schema) = (self.setup.memory_bytes, answer.rows.schema());
        let mut writing = Writing::begin(&mut self.stream, most, &asked.format, &schema, began)?;
        writing.write(&answer.rows)?;
        writing.finish()
    }

    /// An engine over the current data.
    async fn open(&self, question: &Sql) -> Result<Engine, Failure> {
        let setup = &self.setup;
        let scope = Scope { database: &question.database, databases: question.databases.as_deref() };
        let sees_ensembles = scope.sees(SIM);
        let ensembles = match &question.ensemble {
            Some(name) => {
                let found = self.warm.ensemble(&setup.data, name).await.map_err(|e| Failure::of(&e, "42704"))?;
                Ensembles::from(StoredEnsemble::clone(&found))
            }
            None if sees_ensembles => self.warm.ensembles(&setup.data).await?,
            None => Ensembles::default(),
        };
        let (data, make_model) = (&setup.data, self.make_model.clone());
        let engine = Engine::open_scoped(data, ensembles, make_model, &self.session, &self.unique, scope)?;
        Ok(match &question.login {
            Some(login) => engine.for_postgres(login)?,
            None => engine,
        })
    }

    async fn body(&mut self, mut rows: Rows, format: &Format, began: Instant) -> Result<(), Failure> {
        let mut writing = Writing::begin(&mut self.stream, self.setup.memory_bytes, format, &rows.schema(), began)?;
        while let Some(batch) = rows.next().await {
            writing.write(&batch?)?;
        }
        writing.finish()
    }

    fn columns(&mut self, schema: &Schema) -> Result<(), Failure> {
        let columns = Part::columns(schema).map_err(|e| unwritten(&e))?;
        columns.put(&mut self.stream).map_err(|e| unwritten(&e.into()))
    }

    async fn rows(&mut self, mut rows: Rows) -> Result<(), Failure> {
        let most = self.setup.memory_bytes;
        let mut batches = self.batches(&rows.schema())?;
        while let Some(batch) = rows.next().await {
            let batch = batch?;
            check_texts(&batch)?;
            // Rows that repeat nothing take about as much here.
            if written_bytes(&batch) > most.max(2 * batch.get_array_memory_size()) {
                return Err(too_large(most));
            }
            batches.write(&batch).map_err(|e| unwritten(&e))?;
        }
        finish(batches)
    }

    /// Sends the columns, and begins the rows.
    fn batches(&mut self, schema: &Schema) -> Result<Batches<Sink<'_>>, Failure> {
        self.columns(schema)?;
        Batches::new(schema, Sink::new(&mut self.stream, usize::MAX)).map_err(|e| unwritten(&e))
    }
}

fn finish(batches: Batches<Sink<'_>>) -> Result<(), Failure> {
    batches.finish().and_then(|mut sink| Ok(sink.flush()?)).map_err(|e| unwritten(&e))
}

/// A reply body on its way to the server, up to a number of bytes.
struct Writing<'a> {
    body: Body<Sink<'a>>,
    over: Arc<AtomicBool>,
    most: usize,
}

impl<'a> Writing<'a> {
    fn begin(
        stream: &'a mut UnixStream,
        most: usize,
        format: &Format,
        schema: &SchemaRef,
        began: Instant,
    ) -> Result<Self, Failure> {
        let sink = Sink::new(stream, most);
        let over = sink.over.clone();
        let body = Body::new(format, schema, sink, began);
        let body = body.map_err(|error| refused(&over, most, &error))?;
        Ok(Self { body, over, most })
    }

    fn write(&mut self, rows: &RecordBatch) -> Result<(), Failure> {
        if self.body.is_text() {
            check_texts(rows)?;
        }
        self.body.write(rows).map_err(|error| refused(&self.over, self.most, &error))
    }

    fn finish(self) -> Result<(), Failure> {
        let flushed = self.body.finish().and_then(|mut sink| Ok(sink.flush()?));
        flushed.map_err(|error| refused(&self.over, self.most, &error))
    }
}

/// The error for a body that could not be written.
fn refused(over: &AtomicBool, most: usize, error: &ArrowError) -> Failure {
    match error {
        _ if over.load(Ordering::Relaxed) => too_large(most),
        ArrowError::NotYetImplemented(_) => {
            Failure::new(StatusCode::BAD_REQUEST, "0A000", format!("{error}: CAST the column to another type"))
        }
        error => unwritten(error),
    }
}

/// PostgreSQL's OID of `text`.
const TEXT: u32 = 25;

fn too_large(most: usize) -> Failure {
    let text = format!("the answer exceeds {most} bytes: select fewer columns or rows");
    Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "53200", text)
}

fn unwritten(error: &ArrowError) -> Failure {
    Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "XX000", format!("cannot write the answer: {error}"))
}
