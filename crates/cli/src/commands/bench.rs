//! `manyworlds bench`: measures this program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ::bench::ask;
use ::bench::cdr::{CdrWorkload, GateStatus};
use ::bench::fleet::{self, FleetWorkload};
use ::bench::ingest::{self, IngestWorkload};
use ::bench::season::{self, SeasonWorkload};
use ::bench::{Bench, SqlError, cdr};
use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use sql::Engine;

use super::sql::open_engine;
use crate::args::{
    BenchAskArgs, BenchCdrArgs, BenchFleetArgs, BenchIngestArgs, BenchSeasonArgs, Format, FormatArgs, Place,
};
use crate::output::{note, print, print_json};

/// A benchmark's work folder, name and output.
pub(super) struct Desk<'a> {
    name: &'static str,
    report: Option<&'a Path>,
    format: Format,
    folder: Folder,
    program: PathBuf,
    stop: Arc<AtomicBool>,
}

impl<'a> Desk<'a> {
    /// Creates the folders, and listens for Ctrl-C.
    pub(super) fn new(
        name: &'static str,
        data: Option<&Path>,
        report: Option<&'a Path>,
        format: &FormatArgs,
    ) -> Result<Self> {
        if format.format == Format::Csv {
            bail!("bench {name} supports --format table and json");
        }
        report.map_or(Ok(()), |f| fs::create_dir_all(f).with_context(|| format!("cannot create {}", f.display())))?;
        Ok(Self {
            name,
            report,
            format: format.format,
            folder: Folder::new(data)?,
            program: std::env::current_exe().context("cannot find this program")?,
            stop: stop_on_signal("stopping after the current step")?,
        })
    }

    pub(super) fn stops(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    pub(super) fn bench<'b, W>(&'b self, workload: &'b W, stop: &'b dyn Fn() -> bool) -> Bench<'b, W> {
        Bench { program: &self.program, data: self.folder.path(), workload, note: &note, stop }
    }

    /// Keeps the work folder, and returns it.
    pub(super) fn keep(self) -> PathBuf {
        self.folder.keep()
    }

    /// Prints the result in the requested format.
    pub(super) fn print(&self, measured: &impl Serialize, markdown: &str) -> Result<()> {
        match self.format {
            Format::Json => print_json(measured),
            Format::Table | Format::Csv => print(markdown),
        }
    }

    /// Prints the result, and writes the requested reports.
    fn hand_in(&self, measured: &impl Serialize, markdown: &str, html: &str) -> Result<()> {
        for (folder, ending, text) in self.report.iter().flat_map(|f| [(f, "md", markdown), (f, "html", html)]) {
            let path = folder.join(format!("{}.{ending}", self.name));
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
            note(&format!("wrote {}", path.display()));
        }
        self.print(measured, markdown)
    }
}

pub(crate) async fn season(args: &BenchSeasonArgs) -> Result<ExitCode> {
    let desk = Desk::new("season", args.data.as_deref(), args.report.as_deref(), &args.format)?;
    let workload = SeasonWorkload {
        scales: args.scales.clone(),
        seed: args.seed,
        plays: !args.skip_plays,
        threads: args.threads_list.clone(),
        ranges: args.range_list.clone(),
        codecs: args.codecs.clone(),
        sweep_worlds: args.sweep_worlds,
        read_seconds: args.read_seconds,
    };
    let mut sql = SqlSession::default();
    let mut ask = |data: &Path, statement: &str| sql.ask(data, statement);
    let measured = season::season(&desk.bench(&workload, &|| desk.stops()), Some(&mut ask)).await?;
    desk.hand_in(&measured, &season::markdown(&measured), &season::html(&measured))?;
    if measured.is_deterministic() {
        return Ok(ExitCode::SUCCESS);
    }
    note("runs of the same plan stored different worlds: see the content hashes");
    Ok(ExitCode::from(1))
}

pub(crate) async fn cdr(args: &BenchCdrArgs) -> Result<ExitCode> {
    let desk = Desk::new("cdr", args.data.as_deref(), args.report.as_deref(), &args.format)?;
    let workload = CdrWorkload {
        batches: args.batches,
        scale: args.scale,
        repeat: args.repeat,
        seed: args.seed,
        input: args.input.clone(),
        bloom: args.bloom.clone(),
        cluster: args.cluster.clone(),
        lookup: args.lookup.clone(),
    };
    let measured = cdr::cdr(&desk.bench(&workload, &|| desk.stops())).await?;
    desk.hand_in(&measured, &cdr::markdown(&measured), &cdr::html(&measured))?;
    if measured.passes() {
        return Ok(ExitCode::SUCCESS);
    }
    for gate in measured.gates.iter().filter(|g| g.status == GateStatus::Fail) {
        note(&format!("FAIL {}: {} ({})", gate.name, gate.value, gate.detail));
    }
    Ok(ExitCode::from(1))
}

pub(crate) fn fleet(args: &BenchFleetArgs) -> Result<ExitCode> {
    let desk = Desk::new("fleet", args.data.as_deref(), args.report.as_deref(), &args.format)?;
    let workload = FleetWorkload {
        worlds: args.worlds,
        big_worlds: args.big_worlds,
        sleeping_worlds: args.sleeping_worlds,
        final_worlds: args.final_worlds,
        workers: args.workers.clone(),
        broker: args.fleet.broker.clone(),
        ledger: args.fleet.ledger.ledger.clone(),
    };
    let measured = fleet::fleet(&desk.bench(&workload, &|| desk.stops()))?;
    desk.hand_in(&measured, &fleet::markdown(&measured), &fleet::html(&measured))?;
    if measured.is_deterministic {
        return Ok(ExitCode::SUCCESS);
    }
    note("runs of the same ensemble stored different worlds: see the content hashes");
    Ok(ExitCode::from(1))
}

pub(crate) async fn ingest(args: &BenchIngestArgs) -> Result<ExitCode> {
    let desk = Desk::new("ingest", args.data.as_deref(), args.report.as_deref(), &args.format)?;
    let workload = IngestWorkload {
        sweeps: args.sweeps(),
        seconds: args.seconds,
        overload_seconds: args.overload_seconds.unwrap_or(args.seconds),
        connections: args.connections,
        rate: args.rate,
        seed: args.seed,
    };
    let measured = ingest::ingest(&desk.bench(&workload, &|| desk.stops())).await?;
    desk.hand_in(&measured, &ingest::markdown(&measured), &ingest::html(&measured))?;
    if measured.is_stored() {
        return Ok(ExitCode::SUCCESS);
    }
    for row in measured.rows.iter().filter(|row| !row.is_stored()) {
        note(&format!(
            "{}: {} records acknowledged, {} counted by the server, {} in segments",
            row.setting, row.acknowledged, row.stored, row.in_segments
        ));
    }
    Ok(ExitCode::from(1))
}

pub(crate) fn ask(args: &BenchAskArgs) -> Result<ExitCode> {
    let desk = Desk::new("ask", args.data.as_deref(), args.report.as_deref(), &args.format)?;
    let measured = ask::ask(&desk.bench(&args.workload(), &|| desk.stops()))?;
    desk.hand_in(&measured, &ask::markdown(&measured), &ask::html(&measured))?;
    Ok(ExitCode::SUCCESS)
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
                    self.0 = Some((data.to_owned(), open_engine(&Place::Folder(data.to_owned())).await?));
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

/// The work folder of a benchmark.
enum Folder {
    Kept(PathBuf),
    Temporary(tempfile::TempDir),
}

impl Folder {
    fn new(given: Option<&Path>) -> Result<Self> {
        Ok(match given {
            Some(path) => Self::Kept(path.to_owned()),
            None => Self::Temporary(
                tempfile::Builder::new()
                    .prefix("manyworlds-bench-")
                    .tempdir()
                    .context("cannot create a temporary folder")?,
            ),
        })
    }

    /// Keeps it, and returns its path.
    fn keep(self) -> PathBuf {
        match self {
            Self::Kept(path) => path,
            Self::Temporary(folder) => folder.keep(),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::Temporary(folder) => folder.path(),
        }
    }
}

/// Turns true at Ctrl-C and prints `words`, so that the current step can finish.
pub(super) fn stop_on_signal(words: &'static str) -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    ctrlc::set_handler(move || {
        note(words);
        asked.store(true, Ordering::SeqCst);
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(stop)
}
