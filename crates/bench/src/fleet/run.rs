//! Runs the benchmark: one process, then one, two and more workers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

use crate::error::BenchError;
use crate::harness::bars::Bar;
use crate::harness::bench::Bench;
use crate::harness::child::{Running, command, measure, measure_json};
use crate::harness::disk_space::remove_folder;
use crate::harness::machine::Machine;
use crate::harness::report::number::count;

/// Time limit for the start of workers.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time limit for the end of a worker, which finishes its ranges first.
const WORKER_END_MAX: Duration = Duration::from_mins(5);

#[derive(Debug, Clone, PartialEq, Serialize, clap::Args)]
pub struct FleetWorkload {
    /// Play this many worlds of a small event
    #[arg(long, value_name = "N", default_value_t = 500_000)]
    pub worlds: u32,
    /// Play this many worlds of a big event
    ///
    /// 0 skips it.
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    pub big_worlds: u32,
    /// Play this many worlds that sleep 5 ms
    ///
    /// 0 skips them.
    #[arg(long, value_name = "N", default_value_t = 6_400)]
    pub sleeping_worlds: u32,
    /// Play this many worlds with two workers
    ///
    /// Of the small event, to final figures. 0 skips them.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub final_worlds: u32,
    /// Compare these numbers of workers
    ///
    /// Each has one thread.
    #[arg(long, value_name = "W,..", value_delimiter = ',', default_values_t = [1, 2, 3, 8])]
    pub workers: Vec<usize>,
    /// Address of the broker.
    #[arg(skip)]
    #[serde(skip)]
    pub broker: String,
    /// Address of the ledger.
    #[arg(skip)]
    #[serde(skip)]
    pub ledger: String,
}

/// A played ensemble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Experiment {
    Small,
    Big,
    /// Worlds that sleep.
    Sleeping,
    /// A million worlds of the small event.
    Final,
}

impl Experiment {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Small => "small event",
            Self::Big => "big event",
            Self::Sleeping => "worlds that sleep 5 ms",
            Self::Final => "small event, to final figures",
        }
    }
}

/// One ensemble, played by some number of workers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleetRow {
    pub experiment: Experiment,
    /// `embedded`, `fleet-1`, `fleet-2`, ..
    pub name: String,
    /// Workers; 0 for one process without a fleet, with one thread.
    pub workers: usize,
    pub worlds: u32,
    /// Elapsed time from the submission, or from the start of the process, to its end.
    pub wall_s: f64,
    /// Worlds per second of elapsed time.
    pub worlds_per_s: f64,
    /// Processor time of all processes per world.
    pub cpu_ms_per_world: f64,
    /// Attempts per second of processor time, if the ledger counted them.
    pub attempts_per_cpu_s: Option<f64>,
    /// Content hash of the outcomes.
    pub hash: String,
    /// Each phase's share of the time of ranges.
    pub phases: Vec<(String, f64)>,
}

/// Everything that was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fleet {
    pub machine: Machine,
    pub workload: FleetWorkload,
    pub rows: Vec<FleetRow>,
    /// Whether all rows of an experiment have the same content hash.
    pub is_deterministic: bool,
    pub bars: Vec<Bar>,
}

/// Runs the benchmark.
///
/// # Errors
/// If the broker or the ledger is unreachable, a process fails, or the user asks to stop.
pub fn fleet(bench: &Bench<'_, FleetWorkload>) -> Result<Fleet, BenchError> {
    let workload = bench.workload;
    let can_be = workload.worlds > 0 && !workload.workers.contains(&0);
    BenchError::require(can_be, "worlds and workers", "give 1 or more")?;
    bench.check_empty()?;
    let machine = Machine::here();
    let runner = Runner { bench, small: bench.data.join("small.toml"), big: bench.data.join("big.toml") };
    runner.write_events()?;
    let mut rows = Vec::new();
    rows.push(runner.embedded(Experiment::Small, workload.worlds)?);
    for workers in &workload.workers {
        rows.push(runner.fleet(Experiment::Small, workload.worlds, *workers)?);
    }
    if workload.big_worlds > 0 {
        rows.push(runner.embedded(Experiment::Big, workload.big_worlds)?);
        rows.push(runner.fleet(Experiment::Big, workload.big_worlds, 1)?);
    }
    if workload.sleeping_worlds > 0 {
        for workers in [1, 8] {
            rows.push(runner.fleet(Experiment::Sleeping, workload.sleeping_worlds, workers)?);
        }
    }
    if workload.final_worlds > 0 {
        rows.push(runner.fleet(Experiment::Final, workload.final_worlds, 2)?);
    }
    let same = |row: &FleetRow| rows.iter().filter(|r| r.experiment == row.experiment).all(|r| r.hash == row.hash);
    let is_deterministic = rows.iter().all(same);
    let bars = bars(&rows, workload.final_worlds);
    Ok(Fleet { machine, workload: workload.clone(), rows, is_deterministic, bars })
}

struct Runner<'a> {
    bench: &'a Bench<'a, FleetWorkload>,
    small: PathBuf,
    big: PathBuf,
}

impl Runner<'_> {
    fn write_events(&self) -> Result<(), BenchError> {
        for (which, path) in [("small", &self.small), ("big", &self.big)] {
            let (event, _) = measure(self.command(&["bingo", "example", which]), None)?;
            fs::write(path, event).map_err(BenchError::io("write", path))?;
        }
        Ok(())
    }

    fn event(&self, experiment: Experiment) -> &Path {
        if experiment == Experiment::Big { &self.big } else { &self.small }
    }

    /// A command of the program. The environment has the addresses of broker and ledger, because errors show arguments.
    fn command(&self, words: &[&str]) -> Command {
        let workload = self.bench.workload;
        let mut command = command(self.bench.program, words);
        command.env("MANYWORLDS_BROKER", &workload.broker).env("MANYWORLDS_LEDGER", &workload.ledger);
        command
    }

    /// What a command over a data folder prints.
    fn ask(mut command: Command, data: &Path) -> Result<Value, BenchError> {
        command.args(["--format", "json", "--data"]).arg(data);
        Ok(measure_json(command)?.0)
    }

    /// A separate folder for each row.
    fn folder(&self, experiment: Experiment, workers: usize) -> PathBuf {
        self.bench.data.join(format!("{experiment:?}-{workers}").to_lowercase())
    }

    fn embedded(&self, experiment: Experiment, worlds: u32) -> Result<FleetRow, BenchError> {
        self.bench.check_stop(&format!("{}, {} worlds, one process", experiment.words(), count(worlds.into())))?;
        let data = self.folder(experiment, 0);
        let mut command = self.command(&["run", "bingo", "--threads", "1", "--events", "replay", "--format", "json"]);
        command.args(["--worlds", &worlds.to_string(), "--event"]).arg(self.event(experiment)).arg("--data").arg(&data);
        let (summary, used) = measure_json::<Value>(command)?;
        let row = FleetRow {
            experiment,
            name: "embedded".to_owned(),
            workers: 0,
            worlds,
            wall_s: used.wall_ms / 1e3,
            worlds_per_s: f64::from(worlds) / (used.wall_ms / 1e3),
            cpu_ms_per_world: used.cpu_ms / f64::from(worlds),
            attempts_per_cpu_s: Some(self.attempts(experiment, &data)? / (used.cpu_ms / 1e3)),
            hash: text(&summary["hash"]),
            phases: shares(&summary["phases"], &["simulate", "encode", "write", "commit"]),
        };
        remove_folder(&data)?;
        Ok(row)
    }

    /// Attempts of all teams in all worlds, from one process.
    fn attempts(&self, experiment: Experiment, data: &Path) -> Result<f64, BenchError> {
        let teams: &[&str] =
            if experiment == Experiment::Big { &["north", "east", "south"] } else { &["alpha", "beta"] };
        let mut words = vec!["outcome", "bingo", "--outcome", "attempts"];
        words.extend(teams.iter().flat_map(|team| ["--entity", team]));
        Ok(Self::ask(self.command(&words), data)?.as_array().into_iter().flatten().map(total).sum())
    }

    fn fleet(&self, experiment: Experiment, worlds: u32, workers: usize) -> Result<FleetRow, BenchError> {
        let what = format!("{}, {} worlds, {workers} workers", experiment.words(), count(worlds.into()));
        self.bench.check_stop(&what)?;
        let data = self.folder(experiment, workers);
        fs::create_dir_all(&data).map_err(BenchError::io("make", &data))?;
        let is_slow = experiment == Experiment::Sleeping;
        let mut crew = Vec::new();
        for _ in 0..workers {
            let mut command = self.command(&["worker", "--concurrency", "1", "--world-pause-ms"]);
            command.arg(if is_slow { "5" } else { "0" }).arg("--data").arg(&data);
            crew.push(Running::start(&mut command, Stdio::null())?);
        }
        self.await_workers(workers)?;
        let name = format!("bench-{}", uuid::Uuid::new_v4().simple());
        let mut submit = self.command(&["submit", "bingo", "--watch", "--events", "replay", "--name", &name]);
        submit.args(["--worlds", &worlds.to_string(), "--event"]).arg(self.event(experiment));
        if is_slow {
            // Half a second each: a suitable size for a model that takes five milliseconds per world.
            submit.args(["--range-worlds", "100"]);
        }
        let started = Instant::now();
        let status = Self::ask(submit, &data)?;
        let wall_s = started.elapsed().as_secs_f64();
        let cpu_s = dismiss(crew)?.as_secs_f64();
        let outcomes = status["outcomes"].as_array();
        let attempts: f64 = outcomes.into_iter().flatten().filter(|o| o["outcome"] == "attempts").map(total).sum();
        let phases = ["wait", "claim", "simulate", "encode", "write", "commit", "note", "acknowledge"];
        let row = FleetRow {
            experiment,
            name: format!("fleet-{workers}"),
            workers,
            worlds,
            wall_s,
            worlds_per_s: f64::from(worlds) / wall_s,
            cpu_ms_per_world: cpu_s * 1e3 / f64::from(worlds),
            attempts_per_cpu_s: (attempts > 0.0).then(|| attempts / cpu_s),
            hash: text(&Self::ask(self.command(&["verify", &name]), &data)?["hash"]),
            phases: shares(&status["phases"], &phases),
        };
        remove_folder(&data)?;
        Ok(row)
    }

    /// Waits until all workers are alive; the measurement excludes their start.
    fn await_workers(&self, workers: usize) -> Result<(), BenchError> {
        let started = Instant::now();
        loop {
            let alive: Vec<Value> = measure_json(self.command(&["status", "--workers", "--format", "json"]))?.0;
            if alive.len() >= workers {
                return Ok(());
            }
            if started.elapsed() > PATIENCE {
                let said = format!("{} of {workers} workers are alive", alive.len());
                return Err(BenchError::Run { command: "manyworlds worker".to_owned(), said });
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// Ends all workers in order; returns their processor time.
fn dismiss(mut crew: Vec<Running>) -> Result<Duration, BenchError> {
    crew.iter().try_for_each(Running::terminate)?;
    let mut cpu = Duration::ZERO;
    for worker in &mut crew {
        let ended = worker.wait(WORKER_END_MAX, |_| ())?;
        if !ended.status.success() {
            return Err(worker.failed(ended.status.to_string()));
        }
        cpu += ended.rusage.utime + ended.rusage.stime;
    }
    Ok(cpu)
}

fn total(outcome: &Value) -> f64 {
    outcome["mean"].as_f64().unwrap_or_default() * outcome["worlds"].as_f64().unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Each phase's share of the seconds of all.
fn shares(seconds: &Value, phases: &[&str]) -> Vec<(String, f64)> {
    let of = |phase: &str| seconds[format!("{phase}_s")].as_f64().unwrap_or_default();
    let all: f64 = phases.iter().map(|phase| of(phase)).sum();
    phases.iter().map(|phase| ((*phase).to_owned(), of(phase) / all.max(1e-9))).collect()
}

fn bars(rows: &[FleetRow], final_worlds: u32) -> Vec<Bar> {
    let row = |experiment, workers| rows.iter().find(|r| r.experiment == experiment && r.workers == workers);
    let speed = |experiment, workers| row(experiment, workers).map(|r| r.worlds_per_s);
    let ratio = |experiment, many| Some(speed(experiment, many)? / speed(experiment, 1)?);
    let embedded = row(Experiment::Small, 0).map(|r| 1e3 / r.cpu_ms_per_world);
    let added = row(Experiment::Big, 1).zip(row(Experiment::Big, 0));
    let added = added.map(|(fleet, alone)| (fleet.cpu_ms_per_world / alone.cpu_ms_per_world - 1.0) * 100.0);
    let million = row(Experiment::Final, 2).filter(|_| final_worlds >= 1_000_000).map(|r| r.wall_s);
    let one = speed(Experiment::Small, 1);
    let (two, eight) = (ratio(Experiment::Small, 2), ratio(Experiment::Sleeping, 8));
    vec![
        Bar::new("small event, embedded, worlds a CPU-second", "worlds", [15_000.0, 40_000.0], embedded),
        Bar::new("small event, a fleet of 1, worlds a second", "worlds", [10_000.0, 30_000.0], one),
        Bar::new("2 workers against 1", "times", [1.7, 1.9], two),
        Bar::new("processor time that the fleet adds, big event", "%", [10.0, 3.0], added),
        Bar::new("worlds that sleep 5 ms, 8 workers against 1", "times", [7.2, 7.8], eight),
        Bar::new("1,000,000 small worlds to final figures", "s", [100.0, 40.0], million),
    ]
}
