//! The report.

use super::reads::Read;
use super::run::Season;
use super::sweeps::{Sweep, SweepPoint};
use super::writes::{HashCheck, Write};
use crate::harness::bars::Bar;
use crate::harness::bench::Measured;
use crate::harness::report::number::{bytes, count, ms, or_dash, rate, short};
use crate::harness::report::plot::{Series, lines, shares, spans};
use crate::harness::report::{Report, Section, Table};
use crate::harness::statistics::Latency;

/// The source system: bits per value, and elapsed milliseconds per world for outcomes alone and with plays.
const SOURCE_BITS: f64 = 8.7;
const SOURCE_MS: [f64; 2] = [106.0, 198.0];
const WORLDS: &str = "worlds";
const PHASES: [&str; 5] = ["simulate", "encode", "write", "commit", "wait"];

impl Measured for Season {
    fn report(&self) -> Report {
        let scales: Vec<String> = self.workload.scales.iter().map(|w| count(u64::from(*w))).collect();
        let what = format!(
            "Football seasons of {} worlds from seed {}; every season is written by a process of its own. Processor time is \
             user and system time of all threads; the store syncs what it commits.",
            scales.join(", "),
            self.workload.seed
        );
        Report::new("manyworlds bench season", &self.machine, what)
            .with([Bar::section(&self.bars), writes(self), phases(self), scaling(self)])
            .with((!self.sweeps.is_empty()).then(|| sweeps(self)))
            .with([reads(self)])
            .with((!self.reads.sql.is_empty()).then(|| sql(self)))
            .with([hashes(&self.hashes)])
    }

    fn faults(&self) -> Vec<String> {
        let fault = "runs of the same plan stored different worlds: see the content hashes";
        if self.is_deterministic() { Vec::new() } else { vec![fault.to_owned()] }
    }
}

fn kind(plays: bool) -> &'static str {
    if plays { "outcomes and plays" } else { "outcomes" }
}

fn writes(season: &Season) -> Section {
    let source = format!(
        "The source system took {} ms (outcomes) and {} ms (with plays) of elapsed time a world on a laptop, and {SOURCE_BITS} \
         bits a value.",
        SOURCE_MS[0], SOURCE_MS[1]
    );
    let of_plays = |w: &Write, text: fn(&Write) -> String| or_dash(w.plays.then(|| text(w)));
    let costs = Table::of(&season.writes)
        .column("worlds", |w| count(u64::from(w.worlds)))
        .column("stored", |w| kind(w.plays))
        .column("wall s", |w| short(w.run.wall_s))
        .column("CPU s", |w| short(w.run.cpu_s))
        .column("CPU ms a world", |w| short(w.cpu_ms_per_world))
        .column("worlds/s", |w| short(w.worlds_per_s))
        .column("values", |w| rate(w.values_per_s))
        .column("plays", |w| of_plays(w, |w| rate(w.events_per_s)))
        .column("peak memory", |w| bytes(w.run.peak_rss_bytes));
    let sizes = Table::of(&season.writes)
        .column("worlds", |w| count(u64::from(w.worlds)))
        .column("stored", |w| kind(w.plays))
        .column("outcomes", |w| bytes(w.run.outcomes.bytes))
        .column("bits a value", |w| short(w.run.outcomes.bits_per_value))
        .column("times smaller than doubles", |w| short(w.ratio_to_raw))
        .column("plays", |w| of_plays(w, |w| count(w.run.events.rows)))
        .column("on disk", |w| of_plays(w, |w| bytes(w.run.events.bytes)))
        .column("bytes a play", |w| of_plays(w, |w| short(w.run.events.bytes_per_row)));
    let by_scale = |figure: &dyn Fn(&Write) -> f64| {
        let series = [("outcomes", false), ("outcomes and plays", true)].map(|(name, plays)| {
            let of_kind = season.writes.iter().filter(|w| w.plays == plays);
            let mut points: Vec<_> = of_kind.map(|w| (f64::from(w.worlds), figure(w))).collect();
            points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            Series { name, points }
        });
        Vec::from(series).into_iter().filter(|s| !s.points.is_empty()).collect::<Vec<_>>()
    };
    let cpu = lines(&by_scale(&|w| w.cpu_ms_per_world), &[(9.0, "bar, outcomes"), (18.0, "bar, with plays")], WORLDS);
    let bits = by_scale(&|w| w.run.outcomes.bits_per_value);
    let bits = lines(&bits[..1], &[(3.9, "bar"), (SOURCE_BITS, "source system")], WORLDS);
    let memory = lines(&by_scale(&|w| w.run.peak_rss_bytes as f64 / 1e6), &[(1500.0, "bar")], WORLDS);
    Section::new("Writing")
        .text(source)
        .table(costs)
        .plot("Processor time a world, ms", cpu)
        .plot("Peak memory, MB", memory)
        .table(sizes)
        .plot("Outcomes on disk, bits a value", bits)
}

fn phases(season: &Season) -> Section {
    let words = "Elapsed seconds, summed over the worker threads; commits are made beside them, so that part of what the \
                 threads wait is a commit's time.";
    let times = |w: &Write| {
        let p = &w.run.phases;
        [p.simulate_s, p.encode_s, p.write_s, p.commit_s, p.wait_s]
    };
    let table =
        Table::of(&season.writes).column("worlds", |w| count(u64::from(w.worlds))).column("stored", |w| kind(w.plays));
    let headers = ["simulate s", "encode s", "write s", "commit s", "wait s"].into_iter().enumerate();
    let table = headers.fold(table, |table, (place, header)| table.column(header, |w| short(times(w)[place])));
    let bar = |w: &Write| {
        let plays = if w.plays { " with plays" } else { "" };
        (format!("{}{plays}", count(u64::from(w.worlds))), times(w).to_vec())
    };
    let rows: Vec<_> = season.writes.iter().map(bar).collect();
    Section::new("Phases").text(words).table(table).plot("Where the time goes, by worlds", shares(&rows, &PHASES))
}

fn scaling(season: &Season) -> Section {
    let words = "Growth is processor time a world at the largest scale by that at the smaller one: 1 is linear, less means \
                 that the smaller one still carries fixed costs. PASS up to 1.10, WARN up to 1.25.";
    let table = Table::of(&season.scaling)
        .column("worlds", |s| format!("{} to {}", count(u64::from(s.worlds)), count(u64::from(s.largest))))
        .column("stored", |s| kind(s.plays))
        .column("CPU ms a world", |s| short(s.cpu_ms_per_world))
        .column("growth", |s| short(s.growth))
        .column("linear", |s| s.verdict);
    Section::new("Linear scaling").text(words).table(table)
}

fn sweeps(season: &Season) -> Section {
    let words = "Each setting three times in rotated order; medians. The speed-up is by elapsed time against the first \
                 setting, repeat by repeat.";
    let section = Section::new("Threads, ranges, compression").text(words);
    season.sweeps.iter().filter(|s| !s.points.is_empty()).fold(section, |section, sweep| {
        let (by, worlds) = (sweep.kind.word(), count(u64::from(sweep.worlds)));
        let words = format!("By {by}: {worlds} worlds, {}, {}.", kind(sweep.plays), sweep.fixed);
        section.text(words).table(points(sweep))
    })
}

/// Shows size and cost together, because both decide the choice of a codec.
fn points(sweep: &Sweep) -> Table<&SweepPoint> {
    Table::of(&sweep.points)
        .column(sweep.kind.word(), |p| p.setting)
        .column("on disk", |p| bytes(p.stored_bytes))
        .column("bits a value", |p| short(p.bits_per_value))
        .column("bytes a play", |p| or_dash(sweep.plays.then(|| short(p.bytes_per_play))))
        .column("CPU ms a world", |p| short(p.cpu_ms_per_world))
        .column("encode s", |p| short(p.encode_s))
        .column("CPU s", |p| short(p.cpu_s))
        .column("commit s", |p| short(p.commit_s))
        .column("wall s", |p| short(p.wall_s))
        .column("speed-up", |p| short(p.speed_up))
        .column("peak memory", |p| bytes(p.peak_rss_bytes))
}

fn reads(season: &Season) -> Section {
    let reads = &season.reads;
    let words = format!(
        "The season of {} worlds. Cold is the first read after opening, from files that the system may have in memory; warm \
         is the same read again, of columns that this process has kept and shares without copying. R5 was read while another \
         season was written on the other cores, which committed {} worlds meanwhile; every answer was the idle one. The \
         five-leg price, probability {:.4}, equals brute force.",
        count(reads.worlds as u64),
        count(reads.written_beside as u64),
        reads.probability
    );
    let required =
        |r: &Read| format!("{} p99 under {}", if r.limit.warm { "warm" } else { "cold" }, ms(r.limit.p99_ms));
    let table = Table::of(&reads.reads)
        .column("", |r| r.id)
        .column("question", |r| r.what.clone())
        .column("cold p50", |r| ms(r.cold.p50_ms))
        .column("cold p99", |r| ms(r.cold.p99_ms))
        .column("repeats", |r| count(r.cold.repeats as u64))
        .column("warm p50", |r| ms(r.warm.p50_ms))
        .column("warm p99", |r| ms(r.warm.p99_ms))
        .column("repeats", |r| count(r.warm.repeats as u64))
        .column("required", |r| required(r))
        .column("verdict", |r| if r.limit.met { "met" } else { "missed" });
    let span = |l: &Latency| (l.p50_ms, l.p99_ms);
    let spans_of = |r: &Read| (format!("{} {}", r.id, r.what), vec![span(&r.cold), span(&r.warm)]);
    let rows: Vec<_> = reads.reads.iter().map(spans_of).collect();
    Section::new("Reading")
        .text(words)
        .table(table)
        .plot("Reads, from p50 (dot) to p99", spans(&rows, &["cold", "warm"]))
}

fn sql(season: &Season) -> Section {
    let comparisons = &season.reads.sql;
    let table = Table::of(comparisons)
        .column("question", |c| c.what.clone())
        .column("native p50", |c| ms(c.native.p50_ms))
        .column("native p99", |c| ms(c.native.p99_ms))
        .column("SQL first", |c| ms(c.sql_first.p50_ms))
        .column("SQL p50", |c| ms(c.sql.p50_ms))
        .column("SQL p99", |c| ms(c.sql.p99_ms))
        .column("SQL rows", |c| count(c.rows as u64));
    let section = Section::new("Native call against SQL").table(table);
    comparisons.iter().fold(section, |section, c| section.text(c.statement.clone()))
}

fn hashes(checks: &[HashCheck]) -> Section {
    let words = "Runs of as many worlds must store the same, whatever their threads, range size and compression.";
    let hash = |text: &str| format!("#{}", text.chars().take(16).collect::<String>());
    let content = |h: &HashCheck| match &h.different[..] {
        [] => "same".to_owned(),
        different => format!("DIFFERENT: {}", different.join("; ")),
    };
    let table = Table::of(checks)
        .column("worlds", |h| count(h.worlds as u64))
        .column("runs", |h| count(h.runs as u64))
        .column("outcomes", |h| hash(&h.outcomes))
        .column("plays", |h| or_dash(h.events.as_deref().map(hash)))
        .column("content", |h| content(h));
    Section::new("Content hashes").text(words).table(table)
}
