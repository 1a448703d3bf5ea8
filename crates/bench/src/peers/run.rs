//! Runs the benchmark, work by work.

use std::collections::BTreeMap;

use serde::Serialize;

use super::compared::{Case, Failure, Row};
use super::found::{Found, Missing};
use super::installed::Installed;
use super::peer::Peer;
use super::scripts::Scripts;
use super::work::Work;
use super::workload::PeersWorkload;
use super::{appends, ask, calls, ingest, joint};
use crate::error::BenchError;
use crate::harness::bars::Bar;
use crate::harness::bench::Bench;
use crate::harness::machine::Machine;

/// Everything that was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Peers {
    pub machine: Machine,
    pub workload: PeersWorkload,
    /// The peers that are there.
    pub peers: BTreeMap<Peer, Installed>,
    /// The peers that are not.
    pub missing: Vec<Missing>,
    pub rows: Vec<Row>,
    /// What peers that are there could not do.
    pub failures: Vec<Failure>,
    pub bars: Vec<Bar>,
}

/// Runs each work on this program and on the peers that are there.
///
/// # Errors
/// If this program fails or answers wrongly, or the user asks to stop. Missing and failing peers are results.
pub fn peers(bench: &Bench<'_, PeersWorkload>) -> Result<Peers, BenchError> {
    let workload = bench.workload;
    workload.check()?;
    bench.check_empty()?;
    let machine = Machine::here();
    bench.check_stop("looking for peers")?;
    // Go builds in the folder of a checkout, so the path must not depend on where this program runs.
    let data = std::path::absolute(bench.data).map_err(BenchError::io("find", bench.data))?;
    let found = Found::look(workload, &data.join("builds"));
    for Missing { peer, reason } in &found.missing {
        (bench.note)(&format!("{}: {reason}", peer.name()));
    }
    let scripts = Scripts::write(bench.data.join("drivers"))?;
    let mut cases: Vec<Case> = Vec::new();
    for work in [Work::Ingest, Work::Ask, Work::Calls, Work::Joint, Work::Appends] {
        if !workload.is_wanted(work) || found.of(work).is_empty() {
            continue;
        }
        let compared = match work {
            Work::Ingest => ingest::compare(bench, &found),
            Work::Ask => ask::compare(bench, &found, &scripts),
            Work::Calls => calls::compare(bench, &found, &scripts),
            Work::Joint => joint::compare(bench, &found, &scripts),
            Work::Appends => appends::compare(bench, &found, &scripts),
        };
        // Ctrl-C ends the measured command, too.
        bench.check_running()?;
        cases.extend(compared?);
    }
    let rows: Vec<Row> = cases.iter().flat_map(Case::rows).collect();
    let failures = cases.into_iter().flat_map(|case| case.failures).collect();
    let workload = workload.clone();
    Ok(Peers { machine, workload, peers: found.there, missing: found.missing, bars: bars(&rows), rows, failures })
}

/// The bars on ratios, with the measured ones.
fn bars(rows: &[Row]) -> Vec<Bar> {
    let find = |peer, what: &str| rows.iter().find(|row| row.peer == peer && row.what.starts_with(what));
    let exact = |peer, what: &str| rows.iter().find(|row| row.peer == peer && row.what == what);
    let bar = |what: &str, goals, row: Option<&Row>| Bar::new(what, "x", goals, row.map(|row| row.ratio.median));
    let top = find(Peer::DuckdbCli, "the ten greatest");
    let memory = top.map(|row| 1.0 / row.memory_ratio);
    let bars = vec![
        bar("columnar ingest against Arc", [2.0, 3.0], exact(Peer::Arc, "columnar MessagePack")),
        bar("columnar zstd ingest against Arc", [2.5, 4.0], exact(Peer::Arc, "columnar MessagePack, zstd")),
        bar("rows in MessagePack against Arc", [6.0, 10.0], exact(Peer::Arc, "rows in MessagePack")),
        bar("line protocol against Arc", [7.0, 10.0], exact(Peer::Arc, "line protocol")),
        bar("line protocol against QuestDB", [6.0, 9.0], exact(Peer::Questdb, "line protocol")),
        bar("line protocol against VictoriaMetrics", [3.5, 5.0], exact(Peer::Victoriametrics, "line protocol")),
        bar("very many groups against DuckDB's command line", [1.3, 2.0], top),
        Bar::new("memory of very many groups, of DuckDB's command line", "x", [1.0, 0.5], memory),
        bar("count by hour against DuckDB's command line", [3.0, 5.0], exact(Peer::DuckdbCli, "count by hour")),
    ];
    bars.into_iter().filter(|bar| bar.measured.is_some()).collect()
}
