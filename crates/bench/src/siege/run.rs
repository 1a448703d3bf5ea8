//! Runs the siege, one life of the server after another.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use world::{Seed, Stream, World};

use super::actors::act;
use super::check::Reader;
use super::clock::Clock;
use super::counts::ActionCounts;
use super::disk::OwnDisk;
use super::findings::{Figures, Finding, Findings, Kind};
use super::front::{Campaign, Front, pick};
use super::known::Known;
use super::ledger::{Ledger, MessyLedger};
use super::messy;
use super::rows::TABLES;
use super::upkeep;
use crate::error::BenchError;
use crate::harness::bench::Bench;
use crate::harness::child::command;
use crate::harness::machine::Machine;
use crate::harness::server::RunningServer;
use crate::ingest::records::measurements;

/// Lives between two full checks; the others check only new rows.
const CHECK_ALL_EACH: u32 = 8;
/// Offsets from the machine's clock in seconds.
const CLOCKS: [i64; 6] = [0, 3_600, -3_600, 40_000, -40_000, 61];

#[derive(Debug, Clone, PartialEq, Serialize, clap::Args)]
pub struct SiegeWorkload {
    /// Run for this many minutes
    ///
    /// A finding ends the siege early.
    #[arg(long, value_name = "N", default_value_t = 5.0)]
    pub minutes: f64,
    /// Seed of all actions and faults
    ///
    /// Determines what each actor sends and queries, and when the disk is full, the clock steps or the server is killed.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// The root of a disk used only by the siege. The disk holds the data folder, and the siege may fill it.
    #[arg(skip)]
    pub disk: Option<PathBuf>,
}

/// The result.
#[derive(Debug, Serialize)]
pub struct Siege {
    pub machine: Machine,
    pub workload: SiegeWorkload,
    /// Duration, including checks.
    pub elapsed_s: f64,
    #[serde(flatten)]
    pub injected: Injected,
    /// Rows of exports that were compared at the end.
    pub rows_compared: u64,
    pub figures: Figures,
    pub findings: Vec<Finding>,
    #[serde(rename = "tallies")]
    pub actions: ActionCounts,
    /// Peak memory of the server, and of all its question processes together, in bytes.
    pub peaks: [u64; 2],
}

/// The faults that the siege injected.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Injected {
    /// Lives of the server: those ended by SIGKILL, and those ended in order.
    pub lives: [u32; 2],
    pub full_disks: u32,
    pub clock_steps: u32,
}

/// The plan of one life.
struct Plan {
    flags: Vec<String>,
    lasts: Duration,
    /// Whether the life ends by SIGKILL; otherwise by SIGTERM.
    is_killed: bool,
    /// When the disk becomes full, for how long, and how many bytes stay free.
    full: Option<(Duration, Duration, u64)>,
    /// When the clock steps, and its new offset.
    step: Option<(Duration, i64)>,
}

impl Plan {
    fn new(dice: &mut Stream) -> Self {
        let ms = |n: u32| Duration::from_millis(n.into());
        let lasts = ms(2_000 + dice.below(12_000));
        let within = |dice: &mut Stream| ms(dice.below(lasts.as_millis() as u32));
        let mut flags: Vec<String> = Vec::new();
        for (flag, values) in [
            ("--flush-rows", &["500", "5000", "50000"][..]),
            ("--flush-seconds", &["1", "3", "10"]),
            ("--compact", &["3", "8", "16"]),
            ("--partition", &["none", "none", "hour", "day"]),
            ("--memory", &["16", "256"]),
            ("--codec", &["zstd", "lz4"]),
        ] {
            flags.extend([flag.to_owned(), (*pick(dice, values)).to_owned()]);
        }
        Self {
            flags,
            lasts,
            is_killed: dice.chance(0.85),
            full: dice.chance(0.3).then(|| (within(dice), ms(500 + dice.below(3_500)), u64::from(dice.below(3)) << 18)),
            step: dice.chance(0.4).then(|| (within(dice), *pick(dice, &CLOCKS))),
        }
    }
}

/// Besieges a server.
///
/// # Errors
/// If the siege cannot continue, because its files fail or a server does not start. Injected of the server are findings.
pub fn siege(bench: &Bench<'_, SiegeWorkload>) -> Result<Siege, BenchError> {
    let workload = bench.workload;
    let can_be = workload.minutes > 0.0 && workload.minutes <= 10_000.0;
    BenchError::require(can_be, "minutes", "give more than 0, and no more than 10,000")?;
    bench.check_empty()?;
    let started = Instant::now();
    let data = workload.disk.as_deref().unwrap_or(bench.data).join("data");
    let scratch = bench.data.join("scratch");
    for folder in [&data, &scratch] {
        fs::create_dir_all(folder).map_err(BenchError::io("create", folder))?;
    }
    let clock = Clock::new(&scratch)?;
    if !clock.is_there() {
        (bench.note)("the clock does not step: the library of faketime is not installed");
    }
    bench.check_stop("playing the ensemble that is asked")?;
    let campaign = Campaign {
        program: bench.program,
        data: &data,
        scratch: &scratch,
        seed: workload.seed,
        tables: measurements(TABLES as usize),
        clock,
        ledger: Ledger::default(),
        messy: MessyLedger::default(),
        findings: Findings::default(),
        actions: ActionCounts::default(),
        known: Known::find_out(bench.program, &data, &scratch)?,
        peaks: Default::default(),
    };
    let mut runner = Runner {
        bench,
        campaign: &campaign,
        disk: workload.disk.as_deref().map(OwnDisk::new),
        noted: 0,
        injected: Injected::default(),
        checked: [0; 2],
    };
    let until = Instant::now() + Duration::from_secs_f64(workload.minutes * 60.0);
    let rows_compared = runner.run(until)?;
    let injected = runner.injected;
    let (figures, findings) = campaign.findings.all();
    if let Some(disk) = workload.disk.as_ref().filter(|_| !findings.is_empty()) {
        keep(&disk.join("data"), &bench.data.join("data"))?;
    }
    Ok(Siege {
        machine: Machine::here(),
        workload: workload.clone(),
        elapsed_s: started.elapsed().as_secs_f64(),
        injected,
        rows_compared,
        figures,
        findings,
        actions: campaign.actions,
        peaks: campaign.peaks.map(AtomicU64::into_inner),
    })
}

/// Copies the data folder for later analysis: its disk ends with this process.
fn keep(from: &Path, to: &Path) -> Result<(), BenchError> {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status().map_err(BenchError::io("copy", from))?;
    if copied.success() { Ok(()) } else { Err(BenchError::io("copy", from)(std::io::Error::other(copied.to_string()))) }
}

/// A running siege.
struct Runner<'a> {
    bench: &'a Bench<'a, SiegeWorkload>,
    campaign: &'a Campaign<'a>,
    disk: Option<OwnDisk>,
    /// Number of findings already noted.
    noted: usize,
    injected: Injected,
    /// The first request and the first messy row not yet checked.
    checked: [u64; 2],
}

impl Runner<'_> {
    /// Runs lives until a time or a finding, then checks every row.
    fn run(&mut self, until: Instant) -> Result<u64, BenchError> {
        let mut life = 0;
        while Instant::now() < until && self.noted == 0 {
            if (self.bench.stop)() {
                return Err(BenchError::Stopped);
            }
            life += 1;
            let mut dice = Stream::new(Seed(self.campaign.seed), World(life), 0, 0);
            self.live(life, &Plan::new(&mut dice))?;
            self.note_findings();
            if dice.chance(0.4) {
                upkeep::between(self.campaign, life, &mut dice)?;
            }
            self.check(life, life % CHECK_ALL_EACH == 0)?;
            self.note_findings();
        }
        (self.bench.note)("comparing every row");
        self.check(life, true)?;
        let compared = Reader { campaign: self.campaign, life }.check_exports()?;
        self.note_findings();
        Ok(compared)
    }

    /// Starts a server, runs all actors against it, and ends it.
    fn live(&mut self, life: u32, plan: &Plan) -> Result<(), BenchError> {
        let mut server = RunningServer::start(self.command(plan))?;
        let postgres =
            server.postgres.ok_or_else(|| BenchError::Wrong("the server does not speak PostgreSQL".to_owned()))?;
        let front = Front {
            campaign: self.campaign,
            life,
            address: server.address,
            postgres,
            server: server.process.id(),
            over: AtomicBool::new(false),
            disk_full: AtomicBool::new(false),
        };
        let mut dead = None;
        act(&front, || {
            let conducted = self.conduct(&front, plan, &mut server, &mut dead);
            // The actors must end even after an error.
            front.over.store(true, Ordering::SeqCst);
            if plan.is_killed && dead.is_none() {
                server.process.kill()?;
            }
            conducted
        })?;
        let panics: Vec<String> = server.said().into_iter().filter(|line| line.contains("panicked at")).collect();
        if !panics.is_empty() {
            self.campaign.findings.add(Kind::Death, life, panics.len() as u64, panics.join(" | "));
        }
        if let Some(status) = dead {
            self.campaign.findings.add(Kind::Death, life, 1, format!("the server died by itself: {status}"));
            return Ok(());
        }
        self.injected.lives[usize::from(!plan.is_killed)] += 1;
        if plan.is_killed {
            return Ok(());
        }
        if let Err(error) = server.stop() {
            self.campaign.findings.add(Kind::Death, life, 1, format!("the server did not end in order: {error}"));
        }
        Ok(())
    }

    fn command(&self, plan: &Plan) -> Command {
        let mut command = command(self.bench.program, ["serve", "--listen", "127.0.0.1:0", "--pg", "127.0.0.1:0"]);
        command.args(&plan.flags);
        command.args(["--question-seconds", "3", "--question-memory", "64", "--request-seconds", "10"]);
        command.arg("--data").arg(self.campaign.data);
        self.campaign.clock.give(&mut command);
        command
    }

    /// Fills the disk, steps the clock and waits as planned, then frees the disk.
    fn conduct(
        &mut self,
        front: &Front<'_>,
        plan: &Plan,
        server: &mut RunningServer,
        dead: &mut Option<std::process::ExitStatus>,
    ) -> Result<(), BenchError> {
        let started = Instant::now();
        let (mut full, mut step) = (plan.full.filter(|_| self.disk.is_some()), plan.step);
        let mut full_until = None;
        while started.elapsed() < plan.lasts && dead.is_none() && !(self.bench.stop)() {
            let since = started.elapsed();
            if let Some((_, off)) = step.take_if(|(at, _)| since >= *at).filter(|_| self.campaign.clock.is_there()) {
                self.campaign.clock.step(off)?;
                self.injected.clock_steps += 1;
            }
            if let (Some((_, lasts, left)), Some(disk)) = (full.take_if(|(at, _, _)| since >= *at), &self.disk) {
                front.disk_full.store(true, Ordering::SeqCst);
                disk.fill(left)?;
                full_until = Some(since + lasts);
                self.injected.full_disks += 1;
            }
            if let (Some(_), Some(disk)) = (full_until.take_if(|until| since >= *until), &self.disk) {
                disk.release()?;
            }
            *dead = server.process.ended()?.map(|ended| ended.status);
            std::thread::sleep(Duration::from_millis(10));
        }
        front.over.store(true, Ordering::SeqCst);
        if full_until.is_some() && plan.is_killed {
            // Kill the server while the disk is full.
            server.process.kill()?;
        }
        self.disk.as_ref().map_or(Ok(()), OwnDisk::release)
    }

    /// Compares stored with acknowledged rows, all or only new ones.
    fn check(&mut self, life: u32, all: bool) -> Result<(), BenchError> {
        let reader = Reader { campaign: self.campaign, life };
        let [requests, rows] = if all { [0, 0] } else { self.checked };
        // A kept request may be older than checked ones.
        let requests = self.campaign.ledger.first_kept().map_or(requests, |kept| requests.min(kept));
        let seen = [self.campaign.ledger.len(), self.campaign.messy.rows().len() as u64];
        reader.check(requests)?;
        messy::check(&reader, rows)?;
        self.checked = seen;
        Ok(())
    }

    fn note_findings(&mut self) {
        let new = self.campaign.findings.since(self.noted);
        for finding in &new {
            (self.bench.note)(&finding.to_string());
        }
        self.noted += new.len();
    }
}
