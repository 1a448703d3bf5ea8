//! Work: load events, then ask questions about them in fresh processes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use world::Seed;

use super::compared::{Case, Outcome, Sample, Unit};
use super::found::Found;
use super::peer::Peer;
use super::scripts::{Scripts, engine};
use super::sybil;
use super::work::Work;
use super::workload::PeersWorkload;
use crate::ask::baseline::Baseline;
use crate::ask::events::{DAY_S, Events};
use crate::ask::expected::{DAY_ASKED, Expected};
use crate::ask::questions::{QUESTIONS, Question};
use crate::error::BenchError;
use crate::harness::bench::Bench;
use crate::harness::child::{command, measure};
use crate::harness::disk_space::{allocated_bytes, remove_folder};
use crate::harness::report::number::count;

const EVENTS: f64 = 1_500_000.0;

/// The events, and where each engine keeps them.
struct Stores<'a> {
    bench: &'a Bench<'a, PeersWorkload>,
    found: &'a Found,
    scripts: &'a Scripts,
    file: PathBuf,
    expected: Expected,
}

pub(super) fn compare(
    bench: &Bench<'_, PeersWorkload>,
    found: &Found,
    scripts: &Scripts,
) -> Result<Vec<Case>, BenchError> {
    let peers = found.of(Work::Ask);
    let events = Events::new(bench.workload.scaled(EVENTS, 1_000), Seed(bench.workload.seed));
    let file = bench.data.join("events.jsonl");
    bench.check_stop(&format!("making {} events", count(events.len() as u64)))?;
    let (expected, _) = Expected::write(&events, &file)?;
    // Its memory would count as that of the measured processes.
    drop(events);
    let what = format!("load of {} events from JSON", count(expected.events));
    let stores = Stores { bench, found, scripts, file, expected };
    let load = Case::in_turns((Work::Ask, what, Unit::RecordsPerCpuS), bench.workload.rounds, &peers, |who| {
        bench.check_stop(&format!("loading events: {}", who.map_or("manyworlds", Peer::name)))?;
        stores.load(who)
    })?;
    // Only those that have loaded the events can be asked.
    let loaded: Vec<Peer> = peers.into_iter().filter(|peer| load.failures.iter().all(|f| f.peer != *peer)).collect();
    let mut cases = vec![load];
    for question in &QUESTIONS {
        bench.check_stop(question.what)?;
        let case = (Work::Ask, question.what, Unit::CpuMs);
        cases.push(Case::in_turns(case, bench.workload.rounds, &loaded, |who| {
            bench.check_running()?;
            stores.ask(who, question)
        })?);
    }
    Ok(cases)
}

impl Stores<'_> {
    fn folder(&self, who: Option<Peer>) -> PathBuf {
        self.bench.data.join("events").join(who.map_or("ours", Peer::name))
    }

    /// Our command over our folder.
    fn ours(&self, words: &[&str]) -> Command {
        let mut command = command(self.bench.program, words);
        command.arg("--data").arg(self.folder(None));
        command
    }

    /// Loads the events anew.
    fn load(&self, who: Option<Peer>) -> Result<Outcome, BenchError> {
        let folder = self.folder(who);
        remove_folder(&folder)?;
        fs::create_dir_all(&folder).map_err(BenchError::io("create", &folder))?;
        let amount = self.expected.events as f64;
        let sample = match who {
            None => {
                let mut command = self.ours(&["append", "events", "--in", "json"]);
                command.arg(&self.file);
                Sample::of(&measure(command, None)?.1, amount)
            }
            Some(peer @ Peer::DuckdbCli) => {
                Sample::of(&Baseline::load(self.found.program(peer), &folder, &self.file)?.1, amount)
            }
            Some(peer @ Peer::Sybil) => sybil::load(self.found.program(peer), &folder, &self.file, amount)?,
            Some(peer) => {
                let words = [engine(peer).as_ref(), "load".as_ref(), self.file.as_os_str(), folder.as_os_str()];
                self.scripts.run(self.found.program(peer), "ask.py", words, (amount, None))?.1
            }
        };
        Ok(Sample { disk_bytes: Some(allocated_bytes(&folder)?), ..sample }.into())
    }

    fn ask(&self, who: Option<Peer>, question: &Question) -> Result<Outcome, BenchError> {
        let folder = self.folder(who);
        let (answer, sample) = match who {
            None => {
                // The answer must not come from the cache of an earlier round.
                remove_folder(&folder.join("default").join("events").join("_cache"))?;
                let mut command = self.ours(&["ask", "events", "--format", "json"]);
                command.args(question.words(&self.expected));
                let (answer, used) = measure(command, None)?;
                (answer, Sample::of(&used, 1.0))
            }
            Some(peer @ Peer::DuckdbCli) => {
                let baseline = Baseline::open(self.found.program(peer), &folder);
                let (answer, used) = baseline.answer(question, &self.expected)?;
                (answer, Sample::of(&used, 1.0))
            }
            Some(peer @ Peer::Sybil) => sybil::ask(self.found.program(peer), &folder, question.id, &self.expected)?,
            Some(peer) => self.ask_script(peer, question, &folder)?,
        };
        let differs = question.check(&answer, &self.expected).err().map(|error| error.to_string());
        Ok(Outcome { sample, differs })
    }

    fn ask_script(&self, peer: Peer, question: &Question, folder: &Path) -> Result<(Vec<u8>, Sample), BenchError> {
        let numbers = [self.expected.needle.to_string(), DAY_ASKED.to_string(), (DAY_ASKED + DAY_S).to_string()];
        let words = [engine(peer).as_ref(), question.id.as_ref(), folder.as_os_str()];
        let words = words.into_iter().chain(numbers.iter().map(AsRef::as_ref));
        let (answer, sample) = self.scripts.run(self.found.program(peer), "ask.py", words, (1.0, None))?;
        Ok((answer.to_string().into_bytes(), sample))
    }
}
