//! The report: as Markdown, and as one HTML page with plots.

use super::mixed_load::MixedLoad;
use super::run::{Ask, AskRow};
use crate::harness::bars::Mark;
use crate::harness::child::Used;
use crate::harness::report::number::{bytes, count, ms, short};
use crate::harness::report::plot::{Scale, bars};
use crate::harness::report::{Block, Section, Table, html as page, markdown as text, on_machine};

/// The report as Markdown with aligned tables.
pub fn markdown(ask: &Ask) -> String {
    text::render(&sections(ask))
}

pub fn html(ask: &Ask) -> String {
    page::render(&sections(ask))
}

fn sections(ask: &Ask) -> Vec<Section> {
    let mut sections = vec![head(ask), Mark::section(&ask.bars), loading(ask), asking(ask), appending(ask)];
    sections.extend(ask.mixed_load.as_ref().map(all_at_once));
    sections
}

fn head(ask: &Ask) -> Section {
    let baseline = ask.baseline.as_ref().map_or_else(
        || "DuckDB is not installed.".to_owned(),
        |version| format!("DuckDB is {version}, with the events in its own format."),
    );
    let what = format!(
        "{} events of ten fields over 28 days, in the order of their times, from seed {}. Every figure is of a process of its \
         own, from its start to its end; medians of {} turns, in which every question is asked of each. Every answer was \
         checked. The system counts a process's memory from before it became another program: none is told below what this \
         bench itself held. {baseline}",
        count(ask.workload.events as u64),
        ask.workload.seed,
        ask.workload.repeat
    );
    Section { title: "manyworlds bench ask", blocks: vec![Block::Text(on_machine(&ask.machine)), Block::Text(what)] }
}

fn loading(ask: &Ask) -> Section {
    let row = |who: &str, used: &Used, disk: u64| {
        let per_cpu = ask.workload.events as f64 / (used.cpu_ms / 1e3).max(1e-9);
        [
            who.to_owned(),
            ms(used.wall_ms),
            ms(used.cpu_ms),
            count(per_cpu.round() as u64),
            bytes(used.peak_rss_bytes),
            bytes(disk),
        ]
    };
    let theirs = ask.baseline_load.as_ref().zip(ask.baseline_disk_bytes).map(|(used, disk)| row("DuckDB", used, disk));
    let rows = [row("manyworlds append", &ask.load, ask.disk_bytes)].into_iter().chain(theirs);
    let header = ["", "wall", "CPU", "records a CPU-second", "peak memory", "on disk"];
    let words = format!("{} of JSON lines, read from a file.", bytes(ask.json_bytes));
    Section { title: "Loading", blocks: vec![Block::Text(words), Table::block(header, rows)] }
}

fn asking(ask: &Ask) -> Section {
    let or_none = |figure: Option<String>| figure.unwrap_or_else(|| "-".to_owned());
    let row = |row: &AskRow| {
        [
            row.what.to_owned(),
            ms(row.fresh.cpu_ms),
            ms(row.fresh.wall_ms),
            bytes(row.fresh.peak_rss_bytes),
            ms(row.again.cpu_ms),
            ms(row.again.wall_ms),
            or_none(row.baseline.map(|u| ms(u.cpu_ms))),
            or_none(row.baseline.map(|u| ms(u.wall_ms))),
            or_none(row.baseline.map(|u| bytes(u.peak_rss_bytes))),
            or_none(row.reference[0].map(ms)),
            or_none(row.reference[1].map(ms)),
        ]
    };
    let header = [
        "question",
        "CPU",
        "wall",
        "peak memory",
        "again CPU",
        "again wall",
        "DuckDB CPU",
        "DuckDB wall",
        "DuckDB memory",
        "Sybil CPU, elsewhere",
        "DuckDB CPU, elsewhere",
    ];
    let times = |row: &AskRow| {
        let ours = [Some(row.fresh.cpu_ms), Some(row.again.cpu_ms)];
        (row.what.to_owned(), ours.into_iter().chain([row.baseline.map(|u| u.cpu_ms)]).collect())
    };
    let plotted: Vec<(String, Vec<Option<f64>>)> = ask.rows.iter().map(times).collect();
    let blocks = vec![
        Table::block(header, ask.rows.iter().map(row)),
        Block::Plot {
            title: "Processor time of a question",
            svg: bars(&plotted, &["manyworlds", "again", "DuckDB"], Scale::Logarithmic, ms),
        },
    ];
    Section { title: "Asking", blocks }
}

fn appending(ask: &Ask) -> Section {
    let words = format!(
        "{} appends of ten events, each durable when its process ends: {} of processor time and {} of wall in the median, \
         {} of processor time in the mean, digests included.",
        count(ask.workload.appends as u64),
        ms(ask.append.cpu_ms),
        ms(ask.append.wall_ms),
        ms(ask.append_mean_cpu_ms)
    );
    Section { title: "Small appends", blocks: vec![Block::Text(words)] }
}

fn all_at_once(mixed_load: &MixedLoad) -> Section {
    let row = |place: usize, what: &str| {
        [
            what.to_owned(),
            count(mixed_load.processes[place] as u64),
            short(mixed_load.cpu_s[place]),
            short(mixed_load.cpu_s[place] / mixed_load.elapsed_s * 100.0),
        ]
    };
    let words = format!(
        "For {} s: {} events appended, a thousand at a time; {} cores in all, the longest answer {}. Every answer counted all \
         that was acknowledged when it was asked.",
        short(mixed_load.elapsed_s),
        count(mixed_load.events),
        short(mixed_load.cores),
        ms(mixed_load.longest_answer_ms)
    );
    let rows = [row(0, "append"), row(1, "digest"), row(2, "ask")];
    let table = Table::block(["", "processes", "CPU s", "% of a core"], rows);
    Section { title: "All at once", blocks: vec![Block::Text(words), table] }
}
