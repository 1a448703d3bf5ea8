//! The report.

use super::run::{Fleet, FleetRow};
use crate::harness::bars::Bar;
use crate::harness::bench::Measured;
use crate::harness::report::number::{count, ms, or_dash};
use crate::harness::report::plot::{Scale, bars};
use crate::harness::report::{Report, Section, Table};

impl Measured for Fleet {
    fn report(&self) -> Report {
        let same = if self.is_deterministic { "the same" } else { "NOT THE SAME" };
        let what = format!(
            "The same ensembles played by one process on one thread, and by workers of one thread each; broker and ledger run \
             on this machine too. Processor time is that of the process, or of all workers from their start to their end. \
             The content hashes of each experiment are {same}."
        );
        Report::new("manyworlds bench fleet", &self.machine, what).with([
            Bar::section(&self.bars),
            worlds(&self.rows),
            phases(&self.rows),
        ])
    }

    fn faults(&self) -> Vec<String> {
        let fault = "runs of the same ensemble stored different worlds: see the content hashes";
        if self.is_deterministic { Vec::new() } else { vec![fault.to_owned()] }
    }
}

fn worlds(rows: &[FleetRow]) -> Section {
    let table = Table::of(rows)
        .column("ensemble", |r| r.experiment.words())
        .column("played by", |r| r.name.clone())
        .column("worlds", |r| count(r.worlds.into()))
        .column("wall", |r| format!("{:.2} s", r.wall_s))
        .column("worlds/s", |r| count(r.worlds_per_s.round() as u64))
        .column("CPU a world", |r| format!("{:.4} ms", r.cpu_ms_per_world))
        .column("worlds a CPU-second", |r| count((1e3 / r.cpu_ms_per_world.max(1e-9)).round() as u64))
        .column("attempts a CPU-second", |r| or_dash(r.attempts_per_cpu_s.map(|n| format!("{:.2} M", n / 1e6))))
        .column("hash", |r| r.hash.clone());
    let plotted = |r: &FleetRow| (format!("{}, {}", r.experiment.words(), r.name), vec![Some(r.cpu_ms_per_world)]);
    let plotted: Vec<_> = rows.iter().map(plotted).collect();
    let svg = bars(&plotted, &["CPU a world"], Scale::Logarithmic, ms);
    Section::new("Worlds").table(table).plot("Processor time of a world", svg)
}

fn phases(rows: &[FleetRow]) -> Section {
    let shares = |r: &FleetRow| {
        let shares = r.phases.iter().map(|(name, share)| format!("{name} {:.1}%", share * 100.0));
        shares.collect::<Vec<_>>().join(", ")
    };
    let table = Table::of(rows)
        .column("ensemble", |r| r.experiment.words())
        .column("played by", |r| r.name.clone())
        .column("shares of the time of all ranges", |r| shares(r));
    Section::new("Where the time goes").table(table)
}
