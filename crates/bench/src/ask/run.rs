//! Runs the benchmark: load, ask, append, then all at once.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde::Serialize;
use world::Seed;

use super::baseline::Baseline;
use super::events::Events;
use super::expected::Expected;
use super::mixed_load::{MixedLoad, MixedLoadPlan, mixed_load};
use super::questions::{QUESTIONS, Question};
use crate::error::BenchError;
use crate::harness::bars::Bar;
use crate::harness::bench::Bench;
use crate::harness::child::{Used, command, measure};
use crate::harness::disk_space::{folder_bytes, remove_folder};
use crate::harness::machine::Machine;
use crate::harness::report::number::{bytes, count, ms};
use crate::harness::statistics::median;

/// Events of a small append.
const SMALL: usize = 10;

#[derive(Debug, Clone, PartialEq, Serialize, clap::Args)]
pub struct AskWorkload {
    /// Load this many events
    #[arg(long, value_name = "N", default_value_t = 9_043_968)]
    pub events: usize,
    /// Seed of the events
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Repeat each query and report medians
    #[arg(long, value_name = "R", default_value_t = 7)]
    pub repeat: usize,
    /// Append ten events this many times
    #[arg(long, value_name = "N", default_value_t = 300)]
    pub appends: usize,
    #[command(flatten)]
    #[serde(rename = "storm")]
    pub mixed_load: MixedLoadPlan,
    /// Compare with this DuckDB program
    ///
    /// Skipped if it is not installed.
    #[arg(long, value_name = "PROGRAM", default_value = "duckdb")]
    pub duckdb: PathBuf,
}

/// Everything that was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ask {
    pub machine: Machine,
    pub workload: AskWorkload,
    /// The version of DuckDB, if installed.
    #[serde(rename = "rival")]
    pub baseline: Option<String>,
    pub json_bytes: u64,
    pub load: Used,
    /// Loading the events into DuckDB.
    #[serde(rename = "rival_load")]
    pub baseline_load: Option<Used>,
    /// Bytes of the loaded events on disk.
    pub disk_bytes: u64,
    #[serde(rename = "rival_disk_bytes")]
    pub baseline_disk_bytes: Option<u64>,
    /// The questions.
    pub rows: Vec<AskRow>,
    /// Medians of a small append.
    pub append: Used,
    /// Mean processor time of a small append; includes flushes.
    pub append_mean_cpu_ms: f64,
    #[serde(rename = "storm")]
    pub mixed_load: Option<MixedLoad>,
    pub bars: Vec<Bar>,
}

/// Time and memory of one question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AskRow {
    pub id: &'static str,
    /// The question in plain words.
    pub what: &'static str,
    /// With an empty cache.
    pub fresh: Used,
    /// With the cached state of an earlier answer.
    pub again: Used,
    /// DuckDB, reading its own format.
    #[serde(rename = "rival")]
    pub baseline: Option<Used>,
    /// Published CPU milliseconds of this program's predecessor and of DuckDB with its own format.
    pub reference: [Option<f64>; 2],
}

/// Runs the benchmark. The folder keeps the table of events.
///
/// # Errors
/// If a process fails, an answer is wrong, or the user asks to stop.
pub fn ask(bench: &Bench<'_, AskWorkload>) -> Result<Ask, BenchError> {
    let workload = bench.workload;
    workload.check()?;
    bench.check_empty()?;
    let machine = Machine::here();
    let runner = Runner { bench, store: bench.data.join("store"), file: bench.data.join("events.jsonl") };
    bench.check_stop(&format!("making {} events", count(workload.events as u64)))?;
    // Made again for the appends: in between their memory would count as that of the measured processes.
    let events = || Events::new(workload.events, Seed(workload.seed));
    let (expected, json_bytes) = Expected::write(&events(), &runner.file)?;
    bench.check_stop(&format!("loading {} of JSON", bytes(json_bytes)))?;
    let load = runner.load()?;
    let disk_bytes = folder_bytes(&runner.store)?;
    let version = Baseline::version(&workload.duckdb);
    let baseline = match &version {
        Some(version) => {
            bench.check_stop(&format!("loading the same into DuckDB {version}"))?;
            Some(Baseline::load(&workload.duckdb, bench.data, &runner.file)?)
        }
        None => None,
    };
    fs::remove_file(&runner.file).map_err(BenchError::io("remove", &runner.file))?;
    let rows = runner.ask_all(&expected, baseline.as_ref().map(|(baseline, _)| baseline))?;
    bench.check_stop(&format!("{} appends of {SMALL} events", count(workload.appends as u64)))?;
    let events = events();
    let (append, append_mean_cpu_ms) = runner.append_small(&events)?;
    let mixed_load = (workload.mixed_load.seconds > 0.0).then(|| {
        bench.check_stop(&format!("all at once for {:.0} s", workload.mixed_load.seconds))?;
        mixed_load(bench.program, &runner.store, &events, workload.mixed_load, bench.stop)
    });
    let mut measured = Ask {
        machine,
        workload: workload.clone(),
        baseline: version,
        json_bytes,
        load,
        baseline_disk_bytes: baseline.as_ref().map(|(baseline, _)| baseline.bytes()).transpose()?,
        baseline_load: baseline.map(|(_, used)| used),
        disk_bytes,
        rows,
        append,
        append_mean_cpu_ms,
        mixed_load: mixed_load.transpose()?,
        bars: Vec::new(),
    };
    measured.bars = bars(&measured);
    Ok(measured)
}

impl AskWorkload {
    fn check(&self) -> Result<(), BenchError> {
        let events = "give a number from 1,000 to 100,000,000";
        BenchError::require((1_000..=100_000_000).contains(&self.events), "events", events)?;
        BenchError::require(self.repeat > 0 && self.appends > 0, "repeat and appends", "give 1 or more")
    }
}

/// The files of the benchmark.
struct Runner<'a> {
    bench: &'a Bench<'a, AskWorkload>,
    store: PathBuf,
    file: PathBuf,
}

impl Runner<'_> {
    fn command(&self, words: &[&str]) -> Command {
        let mut command = command(self.bench.program, words);
        command.arg("--data").arg(&self.store);
        command
    }

    fn load(&self) -> Result<Used, BenchError> {
        let mut command = self.command(&["append", "events", "--in", "json"]);
        command.arg(&self.file);
        let used = measure(command, None)?.1;
        let per_cpu = self.bench.workload.events as f64 / (used.cpu_ms / 1e3);
        (self.bench.note)(&format!("{} records a CPU-second", count(per_cpu.round() as u64)));
        Ok(used)
    }

    /// Asks the questions in turn, so that other load on the machine affects all equally.
    fn ask_all(&self, expected: &Expected, baseline: Option<&Baseline>) -> Result<Vec<AskRow>, BenchError> {
        let mut used: Vec<[Vec<Used>; 3]> = vec![Default::default(); QUESTIONS.len()];
        for turn in 0..self.bench.workload.repeat {
            self.bench.check_stop(&format!("asking, turn {} of {}", turn + 1, self.bench.workload.repeat))?;
            for (question, [fresh, again, theirs]) in QUESTIONS.iter().zip(&mut used) {
                remove_folder(&self.store.join("default").join("events").join("_cache"))?;
                fresh.push(self.ask(question, expected)?);
                again.push(self.ask(question, expected)?);
                theirs.extend(baseline.map(|baseline| baseline.ask(question, expected)).transpose()?);
            }
        }
        let row = |(question, used): (&Question, [Vec<Used>; 3])| {
            let [fresh, again, theirs] = used;
            AskRow {
                id: question.id,
                what: question.what,
                fresh: middle(&fresh),
                again: middle(&again),
                baseline: (!theirs.is_empty()).then(|| middle(&theirs)),
                reference: question.reference,
            }
        };
        let rows: Vec<AskRow> = QUESTIONS.iter().zip(used).map(row).collect();
        for AskRow { what, fresh, again, .. } in &rows {
            (self.bench.note)(&format!("{what}: {} of processor time, again {}", ms(fresh.cpu_ms), ms(again.cpu_ms)));
        }
        Ok(rows)
    }

    fn ask(&self, question: &Question, expected: &Expected) -> Result<Used, BenchError> {
        let mut command = self.command(&["ask", "events", "--format", "json"]);
        command.args(question.words(expected));
        let (answer, used) = measure(command, None)?;
        question.check(&answer, expected)?;
        Ok(used)
    }

    fn append_small(&self, events: &Events) -> Result<(Used, f64), BenchError> {
        let once = |n: usize| {
            let lines = events.lines(n * SMALL % (events.len() - SMALL), SMALL);
            Ok(measure(self.command(&["append", "small", "--in", "json"]), Some(lines.as_bytes()))?.1)
        };
        let used = (0..self.bench.workload.appends).map(once).collect::<Result<Vec<_>, BenchError>>()?;
        let mean = used.iter().map(|u| u.cpu_ms).sum::<f64>() / used.len() as f64;
        Ok((middle(&used), mean))
    }
}

/// Median times, and the largest peak memory.
fn middle(used: &[Used]) -> Used {
    let of = |figure: fn(&Used) -> f64| median(&used.iter().map(figure).collect::<Vec<_>>());
    Used {
        cpu_ms: of(|u| u.cpu_ms),
        wall_ms: of(|u| u.wall_ms),
        peak_rss_bytes: used.iter().map(|u| u.peak_rss_bytes).max().unwrap_or(0),
    }
}

/// The bars for nine million events on two cores.
fn bars(ask: &Ask) -> Vec<Bar> {
    let question = |q: &Question| {
        let row = ask.rows.iter().find(|row| row.id == q.id)?;
        Some(Bar::new(format!("{}, fresh process", q.what), "CPU ms", q.goal?, Some(row.fresh.cpu_ms)))
    };
    let again = ask.rows.iter().find(|row| row.id == "host").map(|row| row.again.cpu_ms);
    let largest = ask.rows.iter().filter(|row| row.id != "top").map(|row| row.fresh.peak_rss_bytes).max();
    let per_cpu = ask.workload.events as f64 / (ask.load.cpu_ms / 1e3).max(1e-9);
    let mixed_load = ask.mixed_load.as_ref();
    let append = format!("append {SMALL} records, durable, fresh process");
    let mut bars: Vec<Bar> = QUESTIONS.iter().filter_map(question).collect();
    bars.extend([
        Bar::new("the same question again", "CPU ms", [40.0, 15.0], again),
        Bar::new(append, "CPU ms", [13.0, 5.0], Some(ask.append.cpu_ms)),
        Bar::new("bulk load, records a CPU-second", "K", [600.0, 1_500.0], Some(per_cpu / 1e3)),
        Bar::new("on disk", "MB", [57.0, 45.0], Some(ask.disk_bytes as f64 / 1e6)),
        Bar::new("memory of the largest question", "MB", [400.0, 200.0], largest.map(|b| b as f64 / 1e6)),
        Bar::new("all at once", "% of a core", [40.0, 20.0], mixed_load.map(|s| s.cores * 100.0)),
        Bar::new("all at once: the longest answer", "ms", [1_000.0, 1_000.0], mixed_load.map(|s| s.longest_answer_ms)),
    ]);
    bars
}
