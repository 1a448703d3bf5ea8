//! The report: as Markdown, and as one HTML page with plots.

use super::run::{Fleet, FleetRow};
use crate::harness::bars::Mark;
use crate::harness::report::number::{count, ms};
use crate::harness::report::plot::{Scale, bars};
use crate::harness::report::{Block, Section, Table, html as page, markdown as text, on_machine};

/// The report as Markdown with aligned tables.
pub fn markdown(fleet: &Fleet) -> String {
    text::render(&sections(fleet))
}

pub fn html(fleet: &Fleet) -> String {
    page::render(&sections(fleet))
}

fn sections(fleet: &Fleet) -> Vec<Section> {
    vec![head(fleet), Mark::section(&fleet.bars), rows(fleet), phases(fleet)]
}

fn head(fleet: &Fleet) -> Section {
    let same = if fleet.is_deterministic { "the same" } else { "NOT THE SAME" };
    let what = format!(
        "The same ensembles played by one process on one thread, and by workers of one thread each; broker and ledger run on \
         this machine too. Processor time is that of the process, or of all workers from their start to their end. The \
         content hashes of each experiment are {same}."
    );
    Section {
        title: "manyworlds bench fleet",
        blocks: vec![Block::Text(on_machine(&fleet.machine)), Block::Text(what)],
    }
}

fn rows(fleet: &Fleet) -> Section {
    let row = |row: &FleetRow| {
        [
            row.experiment.words().to_owned(),
            row.name.clone(),
            count(row.worlds.into()),
            format!("{:.2} s", row.wall_s),
            count(row.worlds_per_s.round() as u64),
            format!("{:.4} ms", row.cpu_ms_per_world),
            count((1e3 / row.cpu_ms_per_world.max(1e-9)).round() as u64),
            row.attempts_per_cpu_s.map_or_else(|| "-".to_owned(), |n| format!("{:.2} M", n / 1e6)),
            row.hash.clone(),
        ]
    };
    let header = [
        "ensemble",
        "played by",
        "worlds",
        "wall",
        "worlds/s",
        "CPU a world",
        "worlds a CPU-second",
        "attempts a CPU-second",
        "hash",
    ];
    let plotted: Vec<(String, Vec<Option<f64>>)> = fleet
        .rows
        .iter()
        .map(|r| (format!("{}, {}", r.experiment.words(), r.name), vec![Some(r.cpu_ms_per_world)]))
        .collect();
    let blocks = vec![
        Table::block(header, fleet.rows.iter().map(row)),
        Block::Plot {
            title: "Processor time of a world",
            svg: bars(&plotted, &["CPU a world"], Scale::Logarithmic, ms),
        },
    ];
    Section { title: "Worlds", blocks }
}

fn phases(fleet: &Fleet) -> Section {
    let told = |row: &FleetRow| {
        let phases = row.phases.iter().map(|(name, share)| format!("{name} {:.1}%", share * 100.0));
        [row.experiment.words().to_owned(), row.name.clone(), phases.collect::<Vec<_>>().join(", ")]
    };
    let header = ["ensemble", "played by", "shares of the time of all ranges"];
    Section { title: "Where the time goes", blocks: vec![Table::block(header, fleet.rows.iter().map(told))] }
}
