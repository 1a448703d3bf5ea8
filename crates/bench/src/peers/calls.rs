//! Work: store a day of call records in batches, order them, and ask about hours and towers.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use arrow::array::AsArray as _;
use arrow::datatypes::{Date32Type, Decimal128Type, Int32Type};
use serde_json::Value;
use telecom::Traffic;
use world::Seed;

use super::compared::{Case, Outcome, Sample, Unit};
use super::found::Found;
use super::peer::Peer;
use super::scripts::{Scripts, engine};
use super::work::Work;
use super::workload::PeersWorkload;
use crate::cdr::dataset::Dataset;
use crate::error::BenchError;
use crate::harness::bench::Bench;
use crate::harness::child::{command, measure, measure_json};
use crate::harness::disk_space::{allocated_bytes, remove_folder};
use crate::harness::report::number::count;

/// Batches of the day, and the share of their rows.
const BATCHES: usize = 40;
const SHARE: f64 = 0.25;

/// 2025-10-01, in days since 1970.
const DAY: i32 = 20_362;
const HOURS: std::ops::RangeInclusive<i32> = 8..=10;
const TOWERS: std::ops::RangeInclusive<i32> = 1_000..=1_100;

/// The number of calls, their seconds and their cost in ten-thousandths.
const QUESTION: &str = "SELECT count(*) AS calls, sum(duration_seconds) AS seconds, \
                        CAST(sum(billing_amount) * 10000 AS BIGINT) AS billing FROM calls \
                        WHERE call_date = DATE '2025-10-01' AND call_hour BETWEEN 8 AND 10 \
                        AND cell_tower_id BETWEEN 1000 AND 1100";

pub(super) fn compare(
    bench: &Bench<'_, PeersWorkload>,
    found: &Found,
    scripts: &Scripts,
) -> Result<Vec<Case>, BenchError> {
    let seed = Seed(bench.workload.seed);
    let refuse = |e: telecom::TrafficError| BenchError::Workload { setting: "scale", reason: e.to_string() };
    let traffic = Traffic::new(BATCHES, SHARE * bench.workload.scale, seed).map_err(refuse)?;
    bench.check_stop("making call records")?;
    let dataset = Dataset::generate(&bench.data.join("calls-made"), &traffic, seed, bench.stop)?;
    let right = expected(&dataset)?;
    let stores = Stores { bench, found, scripts, dataset: &dataset };
    let (peers, rounds) = (found.of(Work::Calls), bench.workload.rounds);
    let note =
        |what: &str, who: Option<Peer>| bench.check_stop(&format!("{what}: {}", who.map_or("manyworlds", Peer::name)));
    let what = format!("insert of {} calls in {BATCHES} batches", count(dataset.rows()));
    let insert = Case::in_turns((Work::Calls, what, Unit::RecordsPerCpuS), rounds, &peers, |who| {
        note("inserting call records", who)?;
        stores.insert(who)
    })?;
    let stored = |case: &Case, peer: &Peer| case.failures.iter().all(|failure| failure.peer != *peer);
    let peers: Vec<Peer> = peers.into_iter().filter(|peer| stored(&insert, peer)).collect();
    // Rows can be ordered once: a second time finds them in order.
    let case = (Work::Calls, "ordering by hour and tower", Unit::RecordsPerCpuS);
    let cluster = Case::in_turns(case, 1, &peers, |who| {
        note("ordering call records", who)?;
        stores.cluster(who)
    })?;
    let peers: Vec<Peer> = peers.into_iter().filter(|peer| stored(&cluster, peer)).collect();
    let case = (Work::Calls, "three hours and 101 towers", Unit::CpuMs);
    let asked = Case::in_turns(case, rounds, &peers, |who| {
        bench.check_running()?;
        let (answer, sample) = stores.ask(who)?;
        Ok(Outcome { sample, differs: (answer != right).then(|| format!("{answer:?} instead of {right:?}")) })
    })?;
    Ok(vec![insert, cluster, asked])
}

/// The answer, counted from the records.
fn expected(dataset: &Dataset) -> Result<[i64; 3], BenchError> {
    let columns = ["call_date", "call_hour", "duration_seconds", "cell_tower_id", "billing_amount"];
    let mut answer = [0; 3];
    for batch in &dataset.batches {
        for rows in batch.read_columns(&columns)? {
            let [date, hour, seconds, tower, billing] = [0, 1, 2, 3, 4].map(|place| rows.column(place));
            let (date, hour) = (date.as_primitive::<Date32Type>(), hour.as_primitive::<Int32Type>());
            let (seconds, tower) = (seconds.as_primitive::<Int32Type>(), tower.as_primitive::<Int32Type>());
            let billing = billing.as_primitive::<Decimal128Type>();
            for row in 0..rows.num_rows() {
                if date.value(row) == DAY && HOURS.contains(&hour.value(row)) && TOWERS.contains(&tower.value(row)) {
                    answer[0] += 1;
                    answer[1] += i64::from(seconds.value(row));
                    answer[2] += billing.value(row) as i64;
                }
            }
        }
    }
    Ok(answer)
}

/// The records, and where each engine keeps them.
struct Stores<'a> {
    bench: &'a Bench<'a, PeersWorkload>,
    found: &'a Found,
    scripts: &'a Scripts,
    dataset: &'a Dataset,
}

impl Stores<'_> {
    fn folder(&self, who: Option<Peer>) -> PathBuf {
        self.bench.data.join("calls").join(who.map_or("ours", Peer::name))
    }

    /// Our command over our folder.
    fn ours(&self, words: &[&str]) -> Command {
        let mut command = command(self.bench.program, words);
        command.args(["--format", "json", "--data"]).arg(self.folder(None));
        command
    }

    fn theirs<'w>(
        &self,
        peer: Peer,
        task: &'w str,
        files: impl Iterator<Item = &'w Path>,
        amount: f64,
    ) -> Result<(Value, Sample), BenchError> {
        let folder = self.folder(Some(peer));
        let words: [OsString; 3] = [engine(peer).into(), task.into(), folder.into()];
        let words = words.into_iter().chain(files.map(|file| file.as_os_str().to_owned()));
        self.scripts.run(self.found.program(peer), "calls.py", words, (amount, None))
    }

    fn insert(&self, who: Option<Peer>) -> Result<Outcome, BenchError> {
        let (folder, amount) = (self.folder(who), self.dataset.rows() as f64);
        remove_folder(&folder)?;
        fs::create_dir_all(&folder).map_err(BenchError::io("create", &folder))?;
        let files = self.dataset.batches.iter().map(|batch| batch.path.as_path());
        let sample = match who {
            None => {
                let mut command = self.ours(&["table", "insert", "calls"]);
                command.args(["--cluster", "call_hour,cell_tower_id"]).args(files.map(AsRef::<OsStr>::as_ref));
                Sample::of(&measure(command, None)?.1, amount)
            }
            Some(peer) => self.theirs(peer, "insert", files, amount)?.1,
        };
        Ok(Sample { disk_bytes: Some(allocated_bytes(&folder)?), ..sample }.into())
    }

    fn cluster(&self, who: Option<Peer>) -> Result<Outcome, BenchError> {
        let amount = self.dataset.rows() as f64;
        let sample = match who {
            None => Sample::of(&measure(self.ours(&["table", "cluster", "calls"]), None)?.1, amount),
            Some(peer) => self.theirs(peer, "cluster", std::iter::empty(), amount)?.1,
        };
        Ok(Sample { disk_bytes: Some(allocated_bytes(&self.folder(who))?), ..sample }.into())
    }

    fn ask(&self, who: Option<Peer>) -> Result<([i64; 3], Sample), BenchError> {
        let (answer, sample) = match who {
            None => {
                let (rows, used): (Value, _) = measure_json(self.ours(&["sql", QUESTION]))?;
                let row = &rows[0];
                (
                    Value::from_iter(["calls", "seconds", "billing"].map(|name| row[name].clone())),
                    Sample::of(&used, 1.0),
                )
            }
            Some(peer) => self.theirs(peer, QUESTION, std::iter::empty(), 1.0)?,
        };
        let number = |place: usize| answer[place].as_i64();
        match (number(0), number(1), number(2)) {
            (Some(calls), Some(seconds), Some(billing)) => Ok(([calls, seconds, billing], sample)),
            _ => Err(BenchError::Count { question: QUESTION.to_owned(), said: answer.to_string() }),
        }
    }
}
