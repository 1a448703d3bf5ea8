//! The report.

use std::sync::atomic::{AtomicU64, Ordering};

use super::run::{Injected, Siege, SiegeWorkload};
use crate::harness::bench::Measured;
use crate::harness::report::number::{bytes, count, short};
use crate::harness::report::{Report, Section, Table};

impl Measured for Siege {
    fn report(&self) -> Report {
        let Injected { lives, full_disks, clock_steps } = self.injected;
        let [killed, ended] = lives.map(|lives| count(lives.into()));
        let what = format!(
            "{} s with seed {}: the server was killed {killed} times and ended in order {ended} times; the disk was full \
             {full_disks} times, the clock stepped {clock_steps} times. At the end every row was read and compared: {}.",
            short(self.elapsed_s),
            self.workload.seed,
            count(self.rows_compared)
        );
        let findings = || {
            let lines = self.findings.iter().map(|finding| format!("- {finding}\n"));
            Section::new("Findings").text(lines.collect::<String>())
        };
        Report::new("manyworlds bench siege", &self.machine, what)
            .with([figures(self), actions(self)])
            .with((!self.findings.is_empty()).then(findings))
    }

    fn faults(&self) -> Vec<String> {
        let SiegeWorkload { minutes, seed, .. } = self.workload;
        let again = format!("repeat it with manyworlds bench siege --minutes {minutes} --seed {seed}");
        if self.figures.holds() { Vec::new() } else { vec![again] }
    }
}

fn figures(siege: &Siege) -> Section {
    let figures = &siege.figures;
    let required = [
        ("requests acknowledged and lost", figures.lost),
        ("requests doubled, or back after they were refused or removed", figures.doubled),
        ("rows changed", figures.changed),
        ("wrong answers and refusals", figures.wrong),
        ("deaths and panics", figures.deaths),
    ];
    let others = [
        ("seconds without an answer, past the first of each silence", short(figures.silent_s)),
        ("longest silence, s", short(figures.longest_silence_s)),
        ("peak memory of the server", bytes(siege.peaks[0])),
        ("peak memory of its question processes together", bytes(siege.peaks[1])),
    ];
    let verdict = |measured| if measured == 0 { "met" } else { "MISSED" };
    let required = required.map(|(what, measured)| (what, count(measured), "0", verdict(measured)));
    let rows = required.into_iter().chain(others.map(|(what, measured)| (what, measured, "", "")));
    let table = Table::of(rows)
        .column("what", |(what, ..)| *what)
        .column("measured", |(_, measured, ..)| measured.clone())
        .column("bar", |(_, _, bar, _)| *bar)
        .column("", |(.., verdict)| *verdict);
    Section::new("Figures").table(table)
}

fn actions(siege: &Siege) -> Section {
    let counts = &siege.actions;
    let rows: [(&str, &AtomicU64); 13] = [
        ("requests with rows acknowledged", &counts.writes),
        ("refused for now: no room, a full disk", &counts.refused_writes),
        ("sent again under their key", &counts.repeated_writes),
        ("rows of mixed types and names", &counts.messy_rows),
        ("appends by processes", &counts.appends),
        ("insertions by processes", &counts.inserts),
        ("answers checked", &counts.answers),
        ("questions that found no place in time", &counts.busy),
        ("hostile questions, bodies and connections", &counts.hostile),
        ("upkeep by processes", &counts.upkeep),
        ("upkeep that refused", &counts.refused_upkeep),
        ("ensembles played, verified and dropped", &counts.ensembles),
        ("processes killed beside the server", &counts.killed_processes),
    ];
    let table = Table::of(rows)
        .column("what", |(what, _)| *what)
        .column("times", |(_, times)| count(times.load(Ordering::Relaxed)));
    Section::new("What was done").table(table)
}
