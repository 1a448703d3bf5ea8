//! Work: a server stores rows that come over HTTP.

use std::path::Path;

use run::Usage;
use table::DATABASE;

use super::compared::{Case, Outcome, Sample, Unit, differing_count};
use super::found::Found;
use super::peer::Peer;
use super::servers::{PeerServer, accepts, path};
use super::work::Work;
use super::workload::PeersWorkload;
use crate::error::BenchError;
use crate::harness::bench::Bench;
use crate::harness::child::command;
use crate::harness::disk_space::{allocated_bytes, remove_folder};
use crate::harness::server::{RunningServer, ServerUsage};
use crate::ingest::{BodyCodec, LoadFigures, LoadPlan, Pace, Target, WireFormat, load_counting};

/// Requests of 1,000 records, the same number to each server: few records cost each more.
const REQUESTS: f64 = 1_000.0;
/// Time limit for a load.
const SECONDS_MAX: f64 = 300.0;

/// The forms of bodies, each with its name.
const FORMS: [(&str, WireFormat, BodyCodec); 7] = [
    ("columnar MessagePack", WireFormat::Columnar, BodyCodec::None),
    ("columnar MessagePack, gzip", WireFormat::Columnar, BodyCodec::Gzip),
    ("columnar MessagePack, zstd", WireFormat::Columnar, BodyCodec::Zstd),
    ("rows in MessagePack", WireFormat::Rows, BodyCodec::None),
    ("line protocol", WireFormat::Lp, BodyCodec::None),
    ("line protocol, gzip", WireFormat::Lp, BodyCodec::Gzip),
    ("line protocol, zstd", WireFormat::Lp, BodyCodec::Zstd),
];

pub(super) fn compare(bench: &Bench<'_, PeersWorkload>, found: &Found) -> Result<Vec<Case>, BenchError> {
    let mut cases = Vec::new();
    for (what, format, codec) in FORMS {
        let peers: Vec<Peer> =
            found.of(Work::Ingest).into_iter().filter(|peer| accepts(*peer, format, codec)).collect();
        if peers.is_empty() {
            continue;
        }
        let plan = LoadPlan {
            format,
            compression: codec,
            pace: Pace::Max,
            connections: 8,
            seconds: SECONDS_MAX,
            requests: Some(bench.workload.scaled(REQUESTS, 10) as u64),
            batch: 1_000,
            tables: 3,
            keys: false,
            seed: bench.workload.seed,
        };
        let case = (Work::Ingest, what, Unit::RecordsPerCpuS);
        cases.push(Case::in_turns(case, bench.workload.rounds, &peers, |who| {
            let folder = bench.data.join("server");
            bench.check_stop(&format!("{what}: {}", who.map_or("manyworlds", Peer::name)))?;
            let measured = match who {
                None => ours(bench, &plan, &folder),
                Some(peer) => theirs(bench, &plan, (peer, found.program(peer)), &folder),
            };
            remove_folder(&folder)?;
            measured
        })?);
    }
    Ok(cases)
}

fn ours(bench: &Bench<'_, PeersWorkload>, plan: &LoadPlan, folder: &Path) -> Result<Outcome, BenchError> {
    let mut words = command(bench.program, ["serve", "--listen", "127.0.0.1:0", "--durability", "sync", "--data"]);
    words.arg(folder);
    let server = RunningServer::start(words)?;
    let start = Usage::of(server.process.id()).cpu.as_secs_f64();
    let target = Target::new(&format!("http://{}", server.address), false, DATABASE, None)?;
    let loaded = crate::ingest::load(&target, plan, &|_| (), bench.stop)?;
    bench.check_running()?;
    let usage = server.stop()?;
    outcome(&loaded, ServerUsage { cpu_s: usage.cpu_s - start, ..usage }, folder)
}

fn theirs(
    bench: &Bench<'_, PeersWorkload>,
    plan: &LoadPlan,
    (peer, program): (Peer, &Path),
    folder: &Path,
) -> Result<Outcome, BenchError> {
    let server = PeerServer::start(peer, program, folder)?;
    let target = Target::new(&format!("http://{}", server.address), false, DATABASE, None)?;
    let target = target.with_path(path(peer));
    let count = |tables: &[String], at_least| server.count_rows(tables, at_least);
    let loaded = load_counting(&target, plan, &count, &|_| (), bench.stop)?;
    bench.check_running()?;
    outcome(&loaded, server.stop()?, folder)
}

fn outcome(loaded: &LoadFigures, usage: ServerUsage, folder: &Path) -> Result<Outcome, BenchError> {
    let sample = Sample {
        cpu_s: usage.cpu_s,
        start_cpu_s: 0.0,
        amount: loaded.stored as f64,
        peak_rss_bytes: usage.peak_rss_bytes,
        disk_bytes: Some(allocated_bytes(folder)?),
    };
    let differs = differing_count("records stored", loaded.stored, loaded.acknowledged);
    Ok(Outcome { sample, differs: differs.filter(|_| !loaded.is_stored()) })
}
