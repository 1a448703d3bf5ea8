//! `manyworlds bench`: measures this program.

mod siege;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ::bench::{Bench, Measured, SqlError, ask, cdr, fleet, ingest, peers, season};
use anyhow::{Context as _, Result, bail};
use disk::Place;
use sql::{Engine, Options, Session};
use tempfile::TempDir;

use super::run;
use super::sql::open_engine;
use crate::ExitCode;
use crate::args::{BenchArgs, BenchWorkload, Format};
use crate::output::{note, print, print_json};

pub(crate) fn bench(workload: BenchWorkload) -> Result<ExitCode> {
    let mut sql = SqlSession::default();
    let mut ask = |data: &Path, statement: &str| sql.ask(data, statement);
    match workload {
        BenchWorkload::Season(args) => {
            let context = BenchContext::new("season", &args)?;
            run(async { context.finish(&season::season(&context.bench(), &mut ask).await?) })
        }
        BenchWorkload::Cdr(args) => {
            let context = BenchContext::new("cdr", &args)?;
            run(async { context.finish(&cdr::cdr(&context.bench()).await?) })
        }
        BenchWorkload::Ingest(args) => {
            let context = BenchContext::new("ingest", &args)?;
            run(async { context.finish(&ingest::ingest(&context.bench()).await?) })
        }
        BenchWorkload::Ask(args) => {
            let context = BenchContext::new("ask", &args)?;
            context.finish(&ask::ask(&context.bench())?)
        }
        BenchWorkload::Fleet { fleet, mut args } => {
            (args.workload.broker, args.workload.ledger) = (fleet.broker, fleet.ledger.ledger);
            let context = BenchContext::new("fleet", &args)?;
            context.finish(&fleet::fleet(&context.bench())?)
        }
        BenchWorkload::Peers(args) => {
            let context = BenchContext::new("peers", &args)?;
            let measured = peers::peers(&context.bench())?;
            if !measured.missing.is_empty() {
                note("scripts/peers.sh installs peers; --arc and --sybil name checkouts to build");
            }
            context.finish(&measured)
        }
        BenchWorkload::Siege(args) => siege::siege(args),
    }
}

/// A benchmark's arguments, work folder and output.
pub(super) struct BenchContext<'a, W: clap::Args> {
    name: &'static str,
    args: &'a BenchArgs<W>,
    data: PathBuf,
    /// Removes the work folder, unless the user named it.
    temporary: Option<TempDir>,
    program: Vec<OsString>,
    stop: Box<dyn Fn() -> bool>,
}

impl<'a, W: clap::Args> BenchContext<'a, W> {
    /// Creates the folders, and listens for Ctrl-C.
    pub(super) fn new(name: &'static str, args: &'a BenchArgs<W>) -> Result<Self> {
        if args.format.format == Format::Csv {
            bail!("bench {name} supports --format table and json");
        }
        if let Some(folder) = &args.report {
            fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        let temporary = || tempfile::Builder::new().prefix("manyworlds-bench-").tempdir();
        let (data, temporary) = match &args.data {
            Some(data) => (data.clone(), None),
            None => {
                temporary().map(|folder| (folder.path().to_owned(), Some(folder))).context("cannot create a folder")?
            }
        };
        let program = crate::program()?;
        let stop = Box::new(stop_on_signal("stopping after the current step")?);
        Ok(Self { name, args, data, temporary, program, stop })
    }

    pub(super) fn bench(&self) -> Bench<'_, W> {
        let Self { program, data, .. } = self;
        Bench { program, data, workload: &self.args.workload, note: &note, stop: &*self.stop }
    }

    /// Keeps the work folder, and returns it.
    pub(super) fn keep(self) -> PathBuf {
        self.temporary.map_or(self.data, TempDir::keep)
    }

    /// Prints the result in the requested format, and writes the requested reports.
    pub(super) fn finish(&self, measured: &impl Measured) -> Result<ExitCode> {
        let report = measured.report();
        // First, so that a report that cannot be written loses nothing.
        match self.args.format.format {
            Format::Json => print_json(measured)?,
            Format::Table | Format::Csv => print(&report.markdown())?,
        }
        if let Some(folder) = &self.args.report {
            for (ending, text) in [("md", report.markdown()), ("html", report.html())] {
                let path = folder.join(format!("{}.{ending}", self.name));
                fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
                note(&format!("wrote {}", path.display()));
            }
        }
        let faults = measured.faults();
        faults.iter().for_each(|fault| note(fault));
        Ok(ExitCode::from(u8::from(!faults.is_empty())))
    }
}

/// Runs SQL in one session for all statements, as a long-lived program would.
#[derive(Default)]
struct SqlSession(Option<(PathBuf, Engine)>);

impl SqlSession {
    /// The number of rows of an answer.
    fn ask(&mut self, data: &Path, statement: &str) -> Result<usize, SqlError> {
        // The benchmark blocks a worker thread of the runtime.
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async {
                if self.0.as_ref().is_none_or(|(open, _)| open != data) {
                    let session = Session::new(Options::default())?;
                    let engine = open_engine(&Place::Folder(data.to_owned()), &session).await?;
                    self.0 = Some((data.to_owned(), engine));
                }
                let mut count = 0;
                if let Some((_, engine)) = &self.0 {
                    let mut rows = engine.query(statement).await?;
                    while let Some(batch) = rows.next().await {
                        count += batch?.num_rows();
                    }
                }
                Ok(count)
            })
        })
    }
}

/// Listens for Ctrl-C, and prints `words` then. The returned function says whether it came, so that the current step
/// can finish.
pub(super) fn stop_on_signal(words: &'static str) -> Result<impl Fn() -> bool> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    ctrlc::set_handler(move || {
        note(words);
        asked.store(true, Ordering::SeqCst);
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(move || stop.load(Ordering::SeqCst))
}
