//! Work: append few events at a time, each time in a fresh process.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use world::Seed;

use super::compared::{Case, Outcome, Sample, Unit, differing_count};
use super::found::Found;
use super::peer::Peer;
use super::scripts::{LIMIT, Scripts, engine};
use super::sybil;
use super::work::Work;
use super::workload::PeersWorkload;
use crate::ask::events::Events;
use crate::error::BenchError;
use crate::harness::bench::Bench;
use crate::harness::child::{Input, Used, command, measure, measure_within};
use crate::harness::disk_space::{allocated_bytes, remove_folder};

const APPENDS: f64 = 30.0;
/// Events of an append.
const SMALL: usize = 10;

pub(super) fn compare(
    bench: &Bench<'_, PeersWorkload>,
    found: &Found,
    scripts: &Scripts,
) -> Result<Vec<Case>, BenchError> {
    let appends = bench.workload.scaled(APPENDS, 2);
    let events = Events::new(appends * SMALL, Seed(bench.workload.seed));
    let all = events.lines(0, events.len());
    let lines: Vec<&str> = all.split_inclusive('\n').collect();
    let parts: Vec<String> = lines.chunks(SMALL).map(<[&str]>::concat).collect();
    let case = (Work::Appends, format!("append of {SMALL} events, {appends} times"), Unit::CpuMs);
    let folder = bench.data.join("appends");
    let case = Case::in_turns(case, bench.workload.rounds, &found.of(Work::Appends), |who| {
        bench.check_stop(&format!("appending: {}", who.map_or("manyworlds", Peer::name)))?;
        remove_folder(&folder)?;
        fs::create_dir_all(&folder).map_err(BenchError::io("create", &folder))?;
        let at = Place { bench, found, scripts, folder: &folder };
        let samples = parts.iter().map(|part| at.append(who, part.as_bytes())).collect::<Result<Vec<_>, _>>()?;
        let differs = differing_count("events stored", at.count(who)?, events.len() as u64);
        Ok(Outcome { sample: Sample { disk_bytes: Some(allocated_bytes(&folder)?), ..sum(&samples) }, differs })
    })?;
    Ok(vec![case])
}

/// An empty folder, and who may append to it.
struct Place<'a> {
    bench: &'a Bench<'a, PeersWorkload>,
    found: &'a Found,
    scripts: &'a Scripts,
    folder: &'a Path,
}

impl Place<'_> {
    fn append(&self, who: Option<Peer>, lines: &[u8]) -> Result<Sample, BenchError> {
        let whole = |used: &Used| Sample::of(used, 1.0);
        match who {
            None => {
                let mut command = command(self.bench.program, ["append", "small", "--in", "json", "--data"]);
                command.arg(self.folder);
                Ok(whole(&measure(command, Some(lines))?.1))
            }
            Some(peer @ Peer::DuckdbCli) => {
                let rows = "read_json('/dev/stdin', format = 'newline_delimited')";
                let is_first = !self.folder.join("small.duckdb").exists();
                let insert = if is_first { "CREATE TABLE small AS" } else { "INSERT INTO small" };
                Ok(whole(&self.duckdb(peer, &format!("{insert} SELECT * FROM {rows}"), Some(lines))?.1))
            }
            Some(peer @ Peer::Sybil) => Ok(whole(&sybil::append(self.found.program(peer), self.folder, lines)?)),
            Some(peer) => Ok(self.script(peer, "append", Some(lines))?.1),
        }
    }

    fn count(&self, who: Option<Peer>) -> Result<u64, BenchError> {
        let counted = |printed: &[u8]| {
            let rows: Value = serde_json::from_slice(printed).unwrap_or_default();
            let said = || BenchError::Count {
                question: "count of appended events".to_owned(),
                said: String::from_utf8_lossy(printed).into_owned(),
            };
            rows.pointer("/0/count").and_then(Value::as_u64).ok_or_else(said)
        };
        match who {
            None => {
                let mut command =
                    command(self.bench.program, ["ask", "small", "--count", "--format", "json", "--data"]);
                command.arg(self.folder);
                counted(&measure(command, None)?.0)
            }
            Some(peer @ Peer::DuckdbCli) => counted(&self.duckdb(peer, "SELECT count(*) AS count FROM small", None)?.0),
            Some(peer @ Peer::Sybil) => sybil::count_appended(self.found.program(peer), self.folder),
            Some(peer) => Ok(self.script(peer, "count", None)?.0.as_u64().unwrap_or(0)),
        }
    }

    fn duckdb(&self, peer: Peer, statement: &str, input: Option<&[u8]>) -> Result<(Vec<u8>, Used), BenchError> {
        let mut command = Command::new(self.found.program(peer));
        command.args(["-init", "/dev/null", "-batch", "-json"]).arg(self.folder.join("small.duckdb"));
        command.args(["-c", statement]);
        measure_within(command, Input::of(input), LIMIT)
    }

    fn script(&self, peer: Peer, task: &str, input: Option<&[u8]>) -> Result<(Value, Sample), BenchError> {
        let words = [engine(peer).as_ref(), task.as_ref(), self.folder.as_os_str()];
        self.scripts.run(self.found.program(peer), "appends.py", words, (1.0, input))
    }
}

/// All appends of a round together.
fn sum(samples: &[Sample]) -> Sample {
    Sample {
        cpu_s: samples.iter().map(|s| s.cpu_s).sum(),
        start_cpu_s: samples.iter().map(|s| s.start_cpu_s).sum(),
        amount: samples.iter().map(|s| s.amount).sum(),
        peak_rss_bytes: samples.iter().map(|s| s.peak_rss_bytes).max().unwrap_or(0),
        disk_bytes: None,
    }
}
