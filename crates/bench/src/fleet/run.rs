//! Runs the benchmark: one process, then one, two and more workers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

use super::crew::Crew;
use crate::error::BenchError;
use crate::harness::bars::Mark;
use crate::harness::bench::Bench;
use crate::harness::child::measure;
use crate::harness::disk_space::remove_folder;
use crate::harness::launch;
use crate::harness::machine::Machine;
use crate::harness::report::number::count;

/// Time limit for the start of workers.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleetWorkload {
    /// Worlds of the small event.
    pub worlds: u32,
    /// Worlds of the big event; 0 to skip it.
    pub big_worlds: u32,
    /// Worlds that sleep five milliseconds each; 0 to skip them.
    pub sleeping_worlds: u32,
    /// Worlds of the small event that two workers play to final figures; 0 to skip them.
    pub final_worlds: u32,
    /// Numbers of workers, each with one thread.
    pub workers: Vec<usize>,
    /// Address of the broker.
    #[serde(skip)]
    pub broker: String,
    /// Address of the ledger.
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
    pub bars: Vec<Mark>,
}

/// Runs the benchmark.
///
/// # Errors
/// If the broker or the ledger is unreachable, a process fails, or the user asks to stop.
pub fn fleet(bench: &Bench<'_, FleetWorkload>) -> Result<Fleet, BenchError> {
    let workload = bench.workload;
    if workload.worlds == 0 || workload.workers.contains(&0) {
        let reason = "give 1 or more".to_owned();
        return Err(BenchError::Workload { setting: "worlds and workers", reason });
    }
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
            let event = self.output(&["bingo", "example", which], |_| {})?;
            fs::write(path, event).map_err(BenchError::io("write", path))?;
        }
        Ok(())
    }

    fn event(&self, experiment: Experiment) -> &Path {
        if experiment == Experiment::Big { &self.big } else { &self.small }
    }

    fn output(&self, words: &[&str], more: impl Fn(&mut Command)) -> Result<Vec<u8>, BenchError> {
        let mut command = launch::command(self.bench.program);
        command.args(words);
        more(&mut command);
        Ok(measure(command, None)?.0)
    }

    /// Passes the addresses of broker and ledger in the environment, because errors show arguments.
    fn set_services(&self, command: &mut Command) {
        let workload = self.bench.workload;
        command.env("MANYWORLDS_BROKER", &workload.broker).env("MANYWORLDS_LEDGER", &workload.ledger);
    }

    /// A separate folder for each row.
    fn folder(&self, experiment: Experiment, workers: usize) -> PathBuf {
        self.bench.data.join(format!("{experiment:?}-{workers}").to_lowercase())
    }

    fn embedded(&self, experiment: Experiment, worlds: u32) -> Result<FleetRow, BenchError> {
        self.bench.check_stop(&format!("{}, {} worlds, one process", experiment.words(), count(worlds.into())))?;
        let data = self.folder(experiment, 0);
        let mut command = launch::command(self.bench.program);
        let worlds_text = worlds.to_string();
        command.args(["run", "bingo", "--threads", "1", "--events", "replay", "--format", "json", "--worlds"]);
        command.args([&worlds_text, "--event"]).arg(self.event(experiment)).arg("--data").arg(&data);
        let (printed, used) = measure(command, None)?;
        let summary = json("run", &printed)?;
        let phases = ["simulate", "encode", "write", "commit"];
        let seconds = |name: &str| summary["phases"][format!("{name}_s")].as_f64().unwrap_or_default();
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
            phases: shares(phases.iter().map(|name| ((*name).to_owned(), seconds(name))).collect()),
        };
        remove_folder(&data)?;
        Ok(row)
    }

    /// Attempts of all teams in all worlds, from one process.
    fn attempts(&self, experiment: Experiment, data: &Path) -> Result<f64, BenchError> {
        let teams: &[&str] =
            if experiment == Experiment::Big { &["north", "east", "south"] } else { &["alpha", "beta"] };
        let printed = self.output(&["outcome", "bingo", "--outcome", "attempts", "--format", "json"], |command| {
            for team in teams {
                command.args(["--entity", team]);
            }
            command.arg("--data").arg(data);
        })?;
        let outcomes = json("outcome", &printed)?;
        Ok(outcomes.as_array().into_iter().flatten().map(total).sum())
    }

    fn fleet(&self, experiment: Experiment, worlds: u32, workers: usize) -> Result<FleetRow, BenchError> {
        let what = format!("{}, {} worlds, {workers} workers", experiment.words(), count(worlds.into()));
        self.bench.check_stop(&what)?;
        let data = self.folder(experiment, workers);
        fs::create_dir_all(&data).map_err(BenchError::io("make", &data))?;
        let mut crew = Crew::new(self.bench.program);
        for _ in 0..workers {
            let mut command = launch::command(self.bench.program);
            command.args(["worker", "--concurrency", "1"]);
            self.set_services(&mut command);
            if experiment == Experiment::Sleeping {
                command.args(["--world-pause-ms", "5"]);
            }
            command.arg("--data").arg(&data);
            crew.add(command)?;
        }
        self.await_workers(workers)?;
        let name = format!("bench-{}", uuid::Uuid::new_v4().simple());
        let started = Instant::now();
        let printed =
            self.output(&["submit", "bingo", "--watch", "--events", "replay", "--format", "json"], |command| {
                self.set_services(command);
                command.args(["--name", &name]);
                command.args(["--worlds", &worlds.to_string(), "--event"]).arg(self.event(experiment));
                if experiment == Experiment::Sleeping {
                    // Half a second each: a suitable size for a model that takes five milliseconds per world.
                    command.args(["--range-worlds", "100"]);
                }
                command.arg("--data").arg(&data);
            })?;
        let wall_s = started.elapsed().as_secs_f64();
        let status = json("submit", &printed)?;
        let cpu = crew.dismiss()?.as_secs_f64();
        let hash = self.hash_of(&data, &name)?;
        let phases = ["wait", "claim", "simulate", "encode", "write", "commit", "note", "acknowledge"];
        let seconds = |name: &str| status["phases"][format!("{name}_s")].as_f64().unwrap_or_default();
        let outcomes = status["outcomes"].as_array();
        let attempts: f64 = outcomes.into_iter().flatten().filter(|o| o["outcome"] == "attempts").map(total).sum();
        let row = FleetRow {
            experiment,
            name: format!("fleet-{workers}"),
            workers,
            worlds,
            wall_s,
            worlds_per_s: f64::from(worlds) / wall_s,
            cpu_ms_per_world: cpu * 1e3 / f64::from(worlds),
            attempts_per_cpu_s: (attempts > 0.0).then(|| attempts / cpu),
            hash,
            phases: shares(phases.iter().map(|name| ((*name).to_owned(), seconds(name))).collect()),
        };
        remove_folder(&data)?;
        Ok(row)
    }

    /// Waits until all workers are alive; the measurement excludes their start.
    fn await_workers(&self, workers: usize) -> Result<(), BenchError> {
        let started = Instant::now();
        loop {
            let printed =
                self.output(&["status", "--workers", "--format", "json"], |command| self.set_services(command))?;
            let there = json("status", &printed)?.as_array().map_or(0, Vec::len);
            if there >= workers {
                return Ok(());
            }
            if started.elapsed() > PATIENCE {
                let said = format!("{there} of {workers} workers are alive");
                return Err(BenchError::Run { command: "manyworlds worker".to_owned(), said });
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn hash_of(&self, data: &Path, name: &str) -> Result<String, BenchError> {
        let printed = self.output(&["verify", name, "--format", "json"], |command| {
            command.arg("--data").arg(data);
        })?;
        Ok(text(&json("verify", &printed)?["hash"]))
    }
}

fn json(command: &str, printed: &[u8]) -> Result<Value, BenchError> {
    let command = format!("manyworlds {command}");
    serde_json::from_slice(printed).map_err(|source| BenchError::Summary { command, source })
}

fn total(outcome: &Value) -> f64 {
    outcome["mean"].as_f64().unwrap_or_default() * outcome["worlds"].as_f64().unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn shares(phases: Vec<(String, f64)>) -> Vec<(String, f64)> {
    let all: f64 = phases.iter().map(|(_, seconds)| seconds).sum();
    phases.into_iter().map(|(name, seconds)| (name, seconds / all.max(1e-9))).collect()
}

fn bars(rows: &[FleetRow], final_worlds: u32) -> Vec<Mark> {
    let row = |experiment, workers| rows.iter().find(|r| r.experiment == experiment && r.workers == workers);
    let ratio = |experiment, many, figure: fn(&FleetRow) -> f64| {
        let (few, many) = (row(experiment, 1)?, row(experiment, many)?);
        Some(figure(many) / figure(few))
    };
    let embedded = row(Experiment::Small, 0).map(|r| 1e3 / r.cpu_ms_per_world);
    let added = row(Experiment::Big, 1).zip(row(Experiment::Big, 0));
    let added = added.map(|(fleet, alone)| (fleet.cpu_ms_per_world / alone.cpu_ms_per_world - 1.0) * 100.0);
    let million = row(Experiment::Final, 2).filter(|_| final_worlds >= 1_000_000).map(|r| r.wall_s);
    vec![
        Mark::new("small event, embedded, worlds a CPU-second", "worlds", [15_000.0, 40_000.0], embedded),
        Mark::new(
            "small event, a fleet of 1, worlds a second",
            "worlds",
            [10_000.0, 30_000.0],
            row(Experiment::Small, 1).map(|r| r.worlds_per_s),
        ),
        Mark::new("2 workers against 1", "times", [1.7, 1.9], ratio(Experiment::Small, 2, |r| r.worlds_per_s)),
        Mark::new("processor time that the fleet adds, big event", "%", [10.0, 3.0], added),
        Mark::new(
            "worlds that sleep 5 ms, 8 workers against 1",
            "times",
            [7.2, 7.8],
            ratio(Experiment::Sleeping, 8, |r| r.worlds_per_s),
        ),
        Mark::new("1,000,000 small worlds to final figures", "s", [100.0, 40.0], million),
    ]
}
