//! Work: count the stored worlds that meet several conditions at once.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use arrow::array::{AsArray as _, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, UInt64Type};
use arrow::error::ArrowError;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};

use super::compared::{Case, Outcome, Sample, Unit, differing_count};
use super::found::Found;
use super::peer::Peer;
use super::scripts::{Scripts, engine};
use super::work::Work;
use super::workload::PeersWorkload;
use crate::error::BenchError;
use crate::harness::bench::Bench;
use crate::harness::child::{command, measure, measure_json};
use crate::harness::disk_space::allocated_bytes;
use crate::harness::report::number::count;

const WORLDS: f64 = 200_000.0;

/// A condition on an outcome of an entity.
type Condition = (&'static str, &'static str, &'static str, f64);

/// The questions, each with its conditions.
const QUESTIONS: [(&str, &[Condition]); 2] = [
    (
        "five conditions on one entity",
        &[
            ("alpha", "points", ">=", 197.0),
            ("alpha", "tiles", ">=", 77.0),
            ("alpha", "attempts", "<=", 67.0),
            ("alpha", "row_10_opened", "<=", 40_000.0),
            ("alpha", "win_share", ">=", 0.5),
        ],
    ),
    (
        "three conditions on two entities",
        &[("alpha", "points", ">=", 197.0), ("beta", "points", ">=", 197.0), ("alpha", "win_share", "=", 1.0)],
    ),
];

pub(super) fn compare(
    bench: &Bench<'_, PeersWorkload>,
    found: &Found,
    scripts: &Scripts,
) -> Result<Vec<Case>, BenchError> {
    let worlds = bench.workload.scaled(WORLDS, 1_000);
    bench.check_stop(&format!("playing {} worlds", count(worlds as u64)))?;
    let stored = Stored::play(bench, worlds)?;
    let peers = found.of(Work::Joint);
    let mut cases = Vec::new();
    for (what, conditions) in QUESTIONS {
        let what = format!("{what}, {} worlds", count(worlds as u64));
        bench.check_stop(&what)?;
        let right = stored.right(worlds, conditions)?;
        let case = (Work::Joint, what, Unit::CpuMs);
        cases.push(Case::in_turns(case, bench.workload.rounds, &peers, |who| {
            bench.check_running()?;
            let (found, sample) = match who {
                None => stored.ours(bench, conditions)?,
                Some(peer) => stored.theirs(scripts, (peer, found.program(peer)), conditions)?,
            };
            Ok(Outcome { sample, differs: differing_count("worlds", found, right) })
        })?);
    }
    Ok(cases)
}

/// An ensemble, also as files for others.
struct Stored<'a>(&'a Path);

impl<'a> Stored<'a> {
    /// Plays worlds of the small example event, and exports them.
    fn play(bench: &'a Bench<'_, PeersWorkload>, worlds: usize) -> Result<Self, BenchError> {
        let stored = Self(bench.data);
        let event = stored.at("event.toml");
        let (example, _) = measure(command(bench.program, ["bingo", "example", "small"]), None)?;
        fs::write(&event, example).map_err(BenchError::io("write", &event))?;
        let (worlds, seed) = (worlds.to_string(), bench.workload.seed.to_string());
        let mut run =
            stored.command(bench, &["run", "bingo", "--events", "replay", "--name", "joint", "--seed", &seed]);
        run.args(["--worlds", &worlds]).arg("--event").arg(event);
        measure(run, None)?;
        let mut export = stored.command(bench, &["export", "joint", "--ensemble"]);
        export.arg("--to").arg(stored.at("worlds.parquet"));
        measure(export, None)?;
        Ok(stored)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(format!("joint-{name}"))
    }

    fn command(&self, bench: &Bench<'_, PeersWorkload>, words: &[&str]) -> Command {
        let mut command = command(bench.program, words);
        command.arg("--data").arg(self.at("store"));
        command
    }

    fn ours(&self, bench: &Bench<'_, PeersWorkload>, conditions: &[Condition]) -> Result<(u64, Sample), BenchError> {
        let mut command = self.command(bench, &["probability", "joint", "--format", "json"]);
        for (entity, outcome, compare, number) in conditions {
            command.arg("--condition").arg(format!("{entity}:{outcome} {compare} {number}"));
        }
        let (answer, used): (Value, _) = measure_json(command)?;
        let worlds = worlds_in(&answer["hits"])?;
        Ok((worlds, Sample { disk_bytes: Some(allocated_bytes(&self.at("store"))?), ..Sample::of(&used, 1.0) }))
    }

    fn theirs(
        &self,
        scripts: &Scripts,
        (peer, python): (Peer, &Path),
        conditions: &[Condition],
    ) -> Result<(u64, Sample), BenchError> {
        let (arrays, file) = (self.at("arrays"), self.at("worlds.parquet"));
        if peer == Peer::Numpy && !arrays.exists() {
            fs::create_dir_all(&arrays).map_err(BenchError::io("create", &arrays))?;
            let words = ["numpy".as_ref(), "prepare".as_ref(), file.as_os_str(), arrays.as_os_str()];
            scripts.run(python, "joint.py", words, (1.0, None))?;
        }
        let source = if peer == Peer::Numpy { arrays } else { file };
        let disk_bytes = allocated_bytes(&source)?;
        let conditions = json!(conditions).to_string();
        let words: [&OsStr; 4] = [engine(peer).as_ref(), "count".as_ref(), source.as_os_str(), conditions.as_ref()];
        let (answer, sample) = scripts.run(python, "joint.py", words, (1.0, None))?;
        Ok((worlds_in(&answer)?, Sample { disk_bytes: Some(disk_bytes), ..sample }))
    }

    /// The number of worlds that meet the conditions, counted from the exported rows.
    fn right(&self, worlds: usize, conditions: &[Condition]) -> Result<u64, BenchError> {
        let path = self.at("worlds.parquet");
        let failed = |source| BenchError::Segment { path: path.clone(), source };
        let file = File::open(&path).map_err(BenchError::io("open", &path))?;
        let mut met = vec![0; worlds];
        let rows = ParquetRecordBatchReaderBuilder::try_new(file)
            .and_then(ParquetRecordBatchReaderBuilder::build)
            .map_err(failed)?;
        for rows in rows {
            count_met(&rows.map_err(BenchError::rows(&path))?, conditions, &mut met)
                .map_err(BenchError::rows(&path))?;
        }
        Ok(met.iter().filter(|met| **met == conditions.len()).count() as u64)
    }
}

/// Adds to each world the number of conditions that its rows meet. A row is an entity in a world.
fn count_met(rows: &RecordBatch, conditions: &[Condition], met: &mut [usize]) -> Result<(), ArrowError> {
    let column = |name: &str, ty: &DataType| {
        let array = rows.column_by_name(name).ok_or_else(|| ArrowError::SchemaError(format!("no column {name}")))?;
        cast(array, ty)
    };
    let (entities, worlds) = (column("entity", &DataType::Utf8)?, column("world", &DataType::UInt64)?);
    let (entities, worlds) = (entities.as_string::<i32>(), worlds.as_primitive::<UInt64Type>());
    for (entity, outcome, compare, number) in conditions {
        let values = column(outcome, &DataType::Float64)?;
        for (row, value) in values.as_primitive::<Float64Type>().iter().enumerate() {
            let holds = value.is_some_and(|value| match *compare {
                ">=" => value >= *number,
                "<=" => value <= *number,
                _ => value == *number,
            });
            if holds && entities.value(row) == *entity {
                met[worlds.value(row) as usize] += 1;
            }
        }
    }
    Ok(())
}

/// A number of worlds in an answer.
fn worlds_in(answer: &Value) -> Result<u64, BenchError> {
    let said = || BenchError::Count { question: "worlds".to_owned(), said: answer.to_string() };
    answer.as_u64().ok_or_else(said)
}
