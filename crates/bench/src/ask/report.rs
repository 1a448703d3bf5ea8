//! The report.

use super::mixed_load::MixedLoad;
use super::run::{Ask, AskRow};
use crate::harness::bars::Bar;
use crate::harness::bench::Measured;
use crate::harness::child::Used;
use crate::harness::report::number::{bytes, count, ms, or_dash, short};
use crate::harness::report::plot::{Scale, bars};
use crate::harness::report::{Report, Section, Table};

impl Measured for Ask {
    fn report(&self) -> Report {
        let baseline = self.baseline.as_ref().map_or_else(
            || "DuckDB is not installed.".to_owned(),
            |version| format!("DuckDB is {version}, with the events in its own format."),
        );
        let what = format!(
            "{} events of ten fields over 28 days, in the order of their times, from seed {}. Every figure is of a process of \
             its own, from its start to its end; medians of {} turns, in which every question is asked of each. Every answer \
             was checked. The system counts a process's memory from before it became another program: none is told below \
             what this bench itself held. {baseline}",
            count(self.workload.events as u64),
            self.workload.seed,
            self.workload.repeat
        );
        Report::new("manyworlds bench ask", &self.machine, what)
            .with([Bar::section(&self.bars), loading(self), asking(&self.rows), appending(self)])
            .with(self.mixed_load.as_ref().map(all_at_once))
    }

    fn faults(&self) -> Vec<String> {
        Vec::new()
    }
}

fn loading(ask: &Ask) -> Section {
    let theirs = ask.baseline_load.zip(ask.baseline_disk_bytes).map(|(used, disk)| ("DuckDB", used, disk));
    let rows = [("manyworlds append", ask.load, ask.disk_bytes)].into_iter().chain(theirs);
    let per_cpu = |used: &Used| ask.workload.events as f64 / (used.cpu_ms / 1e3).max(1e-9);
    let table = Table::of(rows)
        .column("", |(who, ..)| *who)
        .column("wall", |(_, used, _)| ms(used.wall_ms))
        .column("CPU", |(_, used, _)| ms(used.cpu_ms))
        .column("records a CPU-second", |(_, used, _)| count(per_cpu(used).round() as u64))
        .column("peak memory", |(_, used, _)| bytes(used.peak_rss_bytes))
        .column("on disk", |(.., disk)| bytes(*disk));
    Section::new("Loading").text(format!("{} of JSON lines, read from a file.", bytes(ask.json_bytes))).table(table)
}

fn asking(rows: &[AskRow]) -> Section {
    let table = Table::of(rows)
        .column("question", |r| r.what)
        .column("CPU", |r| ms(r.fresh.cpu_ms))
        .column("wall", |r| ms(r.fresh.wall_ms))
        .column("peak memory", |r| bytes(r.fresh.peak_rss_bytes))
        .column("again CPU", |r| ms(r.again.cpu_ms))
        .column("again wall", |r| ms(r.again.wall_ms))
        .column("DuckDB CPU", |r| or_dash(r.baseline.map(|u| ms(u.cpu_ms))))
        .column("DuckDB wall", |r| or_dash(r.baseline.map(|u| ms(u.wall_ms))))
        .column("DuckDB memory", |r| or_dash(r.baseline.map(|u| bytes(u.peak_rss_bytes))))
        .column("Sybil CPU, elsewhere", |r| or_dash(r.reference[0].map(ms)))
        .column("DuckDB CPU, elsewhere", |r| or_dash(r.reference[1].map(ms)));
    let times = |r: &AskRow| vec![Some(r.fresh.cpu_ms), Some(r.again.cpu_ms), r.baseline.map(|u| u.cpu_ms)];
    let plotted: Vec<_> = rows.iter().map(|r| (r.what.to_owned(), times(r))).collect();
    let svg = bars(&plotted, &["manyworlds", "again", "DuckDB"], Scale::Logarithmic, ms);
    Section::new("Asking").table(table).plot("Processor time of a question", svg)
}

fn appending(ask: &Ask) -> Section {
    Section::new("Small appends").text(format!(
        "{} appends of ten events, each durable when its process ends: {} of processor time and {} of wall in the median, \
         {} of processor time in the mean, digests included.",
        count(ask.workload.appends as u64),
        ms(ask.append.cpu_ms),
        ms(ask.append.wall_ms),
        ms(ask.append_mean_cpu_ms)
    ))
}

fn all_at_once(load: &MixedLoad) -> Section {
    let words = format!(
        "For {} s: {} events appended, a thousand at a time; {} cores in all, the longest answer {}. Every answer counted all \
         that was acknowledged when it was asked.",
        short(load.elapsed_s),
        count(load.events),
        short(load.cores),
        ms(load.longest_answer_ms)
    );
    let table = Table::of(["append", "digest", "ask"].into_iter().zip(0_usize..))
        .column("", |(what, _)| *what)
        .column("processes", |(_, place)| count(load.processes[*place] as u64))
        .column("CPU s", |(_, place)| short(load.cpu_s[*place]))
        .column("% of a core", |(_, place)| short(load.cpu_s[*place] / load.elapsed_s * 100.0));
    Section::new("All at once").text(words).table(table)
}
