//! The report as Markdown.

use std::sync::atomic::{AtomicU64, Ordering};

use super::findings::Finding;
use super::run::Siege;
use crate::harness::report::number::{bytes, count, short};
use crate::harness::report::{Block, Section, Table, markdown as text, on_machine};

/// The report as Markdown with aligned tables.
pub fn markdown(siege: &Siege) -> String {
    let mut sections = vec![head(siege), figures(siege), done(siege)];
    if !siege.findings.is_empty() {
        sections.push(findings(siege));
    }
    text::render(&sections)
}

fn head(siege: &Siege) -> Section {
    let [killed, ended] = siege.lives.map(|lives| count(lives.into()));
    let what = format!(
        "{} s with seed {}: the server was killed {killed} times and ended in order {ended} times; the disk was full {} times, \
         the clock stepped {} times. At the end every row was read and compared: {}.",
        short(siege.elapsed_s),
        siege.workload.seed,
        siege.full_disks,
        siege.clock_steps,
        count(siege.rows_compared)
    );
    Section {
        title: "manyworlds bench siege",
        blocks: vec![Block::Text(on_machine(&siege.machine)), Block::Text(what)],
    }
}

fn figures(siege: &Siege) -> Section {
    let figures = &siege.figures;
    let must = |what: &str, measured: u64| {
        let verdict = if measured == 0 { "met" } else { "MISSED" };
        [what.to_owned(), count(measured), "0".to_owned(), verdict.to_owned()]
    };
    let told = |what: &str, measured: String| [what.to_owned(), measured, String::new(), String::new()];
    let rows = [
        must("requests acknowledged and lost", figures.lost),
        must("requests doubled, or back after they were refused or removed", figures.doubled),
        must("rows changed", figures.changed),
        must("wrong answers and refusals", figures.wrong),
        must("deaths and panics", figures.deaths),
        told("seconds without an answer, past the first of each silence", short(figures.silent_s)),
        told("longest silence, s", short(figures.longest_silence_s)),
        told("peak memory of the server", bytes(siege.peaks[0])),
        told("peak memory of its question processes together", bytes(siege.peaks[1])),
    ];
    Section { title: "Figures", blocks: vec![Table::block(["what", "measured", "bar", ""], rows)] }
}

fn done(siege: &Siege) -> Section {
    let tallies = &siege.tallies;
    let row = |what: &str, tally: &AtomicU64| [what.to_owned(), count(tally.load(Ordering::Relaxed))];
    let rows = [
        row("requests with rows acknowledged", &tallies.writes),
        row("refused for now: no room, a full disk", &tallies.refused_writes),
        row("sent again under their key", &tallies.repeated_writes),
        row("rows of mixed types and names", &tallies.messy_rows),
        row("appends by processes", &tallies.appends),
        row("insertions by processes", &tallies.inserts),
        row("answers checked", &tallies.answers),
        row("questions that found no place in time", &tallies.busy),
        row("hostile questions, bodies and connections", &tallies.hostile),
        row("upkeep by processes", &tallies.upkeep),
        row("upkeep that refused", &tallies.refused_upkeep),
        row("ensembles played, verified and dropped", &tallies.ensembles),
        row("processes killed beside the server", &tallies.killed_processes),
    ];
    Section { title: "What was done", blocks: vec![Table::block(["what", "times"], rows)] }
}

fn findings(siege: &Siege) -> Section {
    let line = |finding: &Finding| format!("- {finding}\n");
    Section { title: "Findings", blocks: vec![Block::Text(siege.findings.iter().map(line).collect())] }
}
