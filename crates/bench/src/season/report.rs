//! The report: as Markdown, and as one HTML page with plots.

use super::bars::Bar;
use super::reads::{Comparison, Read};
use super::run::Season;
use super::scaling::Scaling;
use super::sweeps::{Setting, Sweep, SweepKind, SweepPoint};
use super::writes::{HashCheck, Write};
use crate::harness::bars::Verdict;
use crate::harness::report::number::{bytes, count, ms, rate, short};
use crate::harness::report::plot::{Series, lines, shares, spans};
use crate::harness::report::{Block, OTHER_SCALE, Section, Table, html as page, markdown as text, on_machine};
use crate::harness::statistics::Latency;

/// The source system: bits per value, and elapsed milliseconds per world for outcomes alone and with plays.
const SOURCE_BITS: f64 = 8.7;
const SOURCE_MS: [f64; 2] = [106.0, 198.0];
const WORLDS: &str = "worlds";
const PHASES: [&str; 5] = ["simulate", "encode", "write", "commit", "wait"];

/// The report as Markdown with aligned tables.
pub fn markdown(season: &Season) -> String {
    text::render(&sections(season))
}

pub fn html(season: &Season) -> String {
    page::render(&sections(season))
}

fn sections(season: &Season) -> Vec<Section> {
    let mut sections = vec![introduction(season), bars(season), writes(season), phases(season), scaling(season)];
    sections.extend((!season.sweeps.is_empty()).then(|| sweeps(season)));
    sections.push(reads(season));
    sections.extend((!season.reads.sql.is_empty()).then(|| sql(&season.reads.sql)));
    sections.push(hashes(&season.hashes));
    sections
}

fn introduction(season: &Season) -> Section {
    let scales: Vec<String> = season.workload.scales.iter().map(|w| count(u64::from(*w))).collect();
    let what = format!(
        "Football seasons of {} worlds from seed {}; every season is written by a process of its own. Processor time is \
         user and system time of all threads; the store syncs what it commits.",
        scales.join(", "),
        season.workload.seed
    );
    Section {
        title: "manyworlds bench season",
        blocks: vec![Block::Text(on_machine(&season.machine)), Block::Text(what)],
    }
}

fn bars(season: &Season) -> Section {
    let row = |bar: &Bar| {
        let at = |w: u32| count(u64::from(w));
        let measured_at = bar.measured_worlds.map_or("-".to_owned(), at);
        let elsewhere = bar.measured_worlds.is_some_and(|w| w != bar.at_worlds);
        let verdict = bar.verdict.words().to_owned();
        [
            bar.what.to_owned(),
            bar.unit.to_owned(),
            at(bar.at_worlds),
            short(bar.bar),
            short(bar.aim),
            bar.measured.map_or("-".to_owned(), short),
            measured_at,
            if elsewhere && bar.verdict != Verdict::NotMeasured { format!("{verdict}{OTHER_SCALE}") } else { verdict },
        ]
    };
    let header = ["what", "unit", "at worlds", "bar", "aim", "measured", "at worlds", "verdict"];
    Section { title: "Bars", blocks: vec![Table::block(header, season.bars.iter().map(row))] }
}

fn kind(plays: bool) -> &'static str {
    if plays { "outcomes and plays" } else { "outcomes" }
}

fn writes(season: &Season) -> Section {
    let cost = |w: &Write| {
        [
            count(u64::from(w.worlds)),
            kind(w.plays).to_owned(),
            short(w.run.wall_s),
            short(w.run.cpu_s),
            short(w.cpu_ms_per_world),
            short(w.worlds_per_s),
            rate(w.values_per_s),
            if w.plays { rate(w.events_per_s) } else { "-".to_owned() },
            bytes(w.run.peak_rss_bytes),
        ]
    };
    let cost_header =
        ["worlds", "stored", "wall s", "CPU s", "CPU ms a world", "worlds/s", "values", "plays", "peak memory"];
    let size = |w: &Write| {
        let plays = |text: String| if w.plays { text } else { "-".to_owned() };
        [
            count(u64::from(w.worlds)),
            kind(w.plays).to_owned(),
            bytes(w.run.outcomes.bytes),
            short(w.run.outcomes.bits_per_value),
            short(w.ratio_to_raw),
            plays(count(w.run.events.rows)),
            plays(bytes(w.run.events.bytes)),
            plays(short(w.run.events.bytes_per_row)),
        ]
    };
    let size_header = [
        "worlds",
        "stored",
        "outcomes",
        "bits a value",
        "times smaller than doubles",
        "plays",
        "on disk",
        "bytes a play",
    ];
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
    let bits = lines(
        &by_scale(&|w| w.run.outcomes.bits_per_value)[..1],
        &[(3.9, "bar"), (SOURCE_BITS, "source system")],
        WORLDS,
    );
    let memory = lines(&by_scale(&|w| w.run.peak_rss_bytes as f64 / 1e6), &[(1500.0, "bar")], WORLDS);
    let source = format!(
        "The source system took {} ms (outcomes) and {} ms (with plays) of elapsed time a world on a laptop, and {SOURCE_BITS} \
         bits a value.",
        SOURCE_MS[0], SOURCE_MS[1]
    );
    let plot = |title, svg| Block::Plot { title, svg };
    let blocks = vec![
        Block::Text(source),
        Table::block(cost_header, season.writes.iter().map(cost)),
        plot("Processor time a world, ms", cpu),
        plot("Peak memory, MB", memory),
        Table::block(size_header, season.writes.iter().map(size)),
        plot("Outcomes on disk, bits a value", bits),
    ];
    Section { title: "Writing", blocks }
}

fn phase_times(write: &Write) -> [f64; 5] {
    let p = &write.run.phases;
    [p.simulate_s, p.encode_s, p.write_s, p.commit_s, p.wait_s]
}

fn phases(season: &Season) -> Section {
    let row = |w: &Write| {
        let [a, b, c, d, e] = phase_times(w).map(short);
        [count(u64::from(w.worlds)), kind(w.plays).to_owned(), a, b, c, d, e]
    };
    let header = ["worlds", "stored", "simulate s", "encode s", "write s", "commit s", "wait s"];
    let bar = |w: &Write| {
        let plays = if w.plays { " with plays" } else { "" };
        (format!("{}{plays}", count(u64::from(w.worlds))), phase_times(w).to_vec())
    };
    let rows: Vec<_> = season.writes.iter().map(bar).collect();
    let words = "Elapsed seconds, summed over the worker threads; commits are made beside them, so that part of what the \
                 threads wait is a commit's time.";
    let blocks = vec![
        Block::Text(words.to_owned()),
        Table::block(header, season.writes.iter().map(row)),
        Block::Plot { title: "Where the time goes, by worlds", svg: shares(&rows, &PHASES) },
    ];
    Section { title: "Phases", blocks }
}

fn scaling(season: &Season) -> Section {
    let row = |s: &Scaling| {
        [
            format!("{} to {}", count(u64::from(s.worlds)), count(u64::from(s.largest))),
            kind(s.plays).to_owned(),
            short(s.cpu_ms_per_world),
            short(s.growth),
            s.verdict.word().to_owned(),
        ]
    };
    let header = ["worlds", "stored", "CPU ms a world", "growth", "linear"];
    let words = "Growth is processor time a world at the largest scale by that at the smaller one: 1 is linear, less means \
                 that the smaller one still carries fixed costs. PASS up to 1.10, WARN up to 1.25.";
    let table = Table::block(header, season.scaling.iter().map(row));
    Section { title: "Linear scaling", blocks: vec![Block::Text(words.to_owned()), table] }
}

fn sweeps(season: &Season) -> Section {
    let words = "Each setting three times in rotated order; medians. The speed-up is by elapsed time against the first \
                 setting, repeat by repeat.";
    let mut blocks = vec![Block::Text(words.to_owned())];
    for sweep in season.sweeps.iter().filter(|s| !s.points.is_empty()) {
        let worlds = count(u64::from(sweep.worlds));
        blocks.push(Block::Text(format!(
            "By {}: {worlds} worlds, {}, {}.",
            sweep.kind.word(),
            kind(sweep.plays),
            sweep.fixed
        )));
        blocks.push(sweep_table(sweep));
    }
    Section { title: "Threads, ranges, compression", blocks }
}

fn sweep_table(sweep: &Sweep) -> Block {
    match sweep.kind {
        SweepKind::Threads => cost_table("threads", sweep),
        SweepKind::RangeWorlds => cost_table("range worlds", sweep),
        SweepKind::Codec => codec_table(sweep),
    }
}

fn bytes_a_play(sweep: &Sweep, point: &SweepPoint) -> String {
    if sweep.plays { short(point.bytes_per_play) } else { "-".to_owned() }
}

fn cost_table(what: &'static str, sweep: &Sweep) -> Block {
    let header = [
        what,
        "wall s",
        "CPU s",
        "CPU ms a world",
        "speed-up",
        "commit s",
        "peak memory",
        "bits a value",
        "bytes a play",
    ];
    let row = |p: &SweepPoint| {
        [
            match p.setting {
                Setting::Count(n) => count(u64::from(n)),
                Setting::Codec(codec) => codec.to_string(),
            },
            short(p.wall_s),
            short(p.cpu_s),
            short(p.cpu_ms_per_world),
            short(p.speed_up),
            short(p.commit_s),
            bytes(p.peak_rss_bytes),
            short(p.bits_per_value),
            bytes_a_play(sweep, p),
        ]
    };
    Table::block(header, sweep.points.iter().map(row))
}

/// Shows size and cost together, because both decide the choice of a codec.
fn codec_table(sweep: &Sweep) -> Block {
    let header = [
        "codec",
        "on disk",
        "bits a value",
        "bytes a play",
        "CPU ms a world",
        "encode s",
        "wall s",
        "speed-up",
        "peak memory",
    ];
    let row = |p: &SweepPoint| {
        [
            p.setting.to_string(),
            bytes(p.stored_bytes),
            short(p.bits_per_value),
            bytes_a_play(sweep, p),
            short(p.cpu_ms_per_world),
            short(p.encode_s),
            short(p.wall_s),
            short(p.speed_up),
            bytes(p.peak_rss_bytes),
        ]
    };
    Table::block(header, sweep.points.iter().map(row))
}

fn reads(season: &Season) -> Section {
    let reads = &season.reads;
    let row = |r: &Read| {
        let limit = &r.limit;
        [
            r.id.to_owned(),
            r.what.clone(),
            ms(r.cold.p50_ms),
            ms(r.cold.p99_ms),
            count(r.cold.repeats as u64),
            ms(r.warm.p50_ms),
            ms(r.warm.p99_ms),
            count(r.warm.repeats as u64),
            format!("{} p99 under {}", if limit.warm { "warm" } else { "cold" }, ms(limit.p99_ms)),
            if limit.met { "met" } else { "missed" }.to_owned(),
        ]
    };
    let header =
        ["", "question", "cold p50", "cold p99", "repeats", "warm p50", "warm p99", "repeats", "required", "verdict"];
    let words = format!(
        "The season of {} worlds. Cold is the first read after opening, from files that the system may have in memory; warm \
         is the same read again, of columns that this process has kept and shares without copying. R5 was read while another season was written on the other cores, which committed {} worlds \
         meanwhile; every answer was the idle one. The five-leg price, probability {:.4}, equals brute force.",
        count(reads.worlds as u64),
        count(reads.written_beside as u64),
        reads.probability
    );
    let span = |l: &Latency| (l.p50_ms, l.p99_ms);
    let spans_of = |r: &Read| (format!("{} {}", r.id, r.what), vec![span(&r.cold), span(&r.warm)]);
    let rows: Vec<_> = reads.reads.iter().map(spans_of).collect();
    let blocks = vec![
        Block::Text(words),
        Table::block(header, reads.reads.iter().map(row)),
        Block::Plot { title: "Reads, from p50 (dot) to p99", svg: spans(&rows, &["cold", "warm"]) },
    ];
    Section { title: "Reading", blocks }
}

fn sql(comparisons: &[Comparison]) -> Section {
    let row = |c: &Comparison| {
        [
            c.what.clone(),
            ms(c.native.p50_ms),
            ms(c.native.p99_ms),
            ms(c.sql_first.p50_ms),
            ms(c.sql.p50_ms),
            ms(c.sql.p99_ms),
            count(c.rows as u64),
        ]
    };
    let header = ["question", "native p50", "native p99", "SQL first", "SQL p50", "SQL p99", "SQL rows"];
    let mut blocks = vec![Table::block(header, comparisons.iter().map(row))];
    blocks.extend(comparisons.iter().map(|c| Block::Text(c.statement.clone())));
    Section { title: "Native call against SQL", blocks }
}

fn hashes(checks: &[HashCheck]) -> Section {
    let row = |h: &HashCheck| {
        let verdict =
            if h.different.is_empty() { "same".to_owned() } else { format!("DIFFERENT: {}", h.different.join("; ")) };
        let hash = |text: &str| text.chars().take(16).collect::<String>();
        [
            count(h.worlds as u64),
            count(h.runs as u64),
            format!("#{}", hash(&h.outcomes)),
            h.events.as_deref().map_or("-".to_owned(), |e| format!("#{}", hash(e))),
            verdict,
        ]
    };
    let words = "Runs of as many worlds must store the same, whatever their threads, range size and compression.";
    let table = Table::block(["worlds", "runs", "outcomes", "plays", "content"], checks.iter().map(row));
    Section { title: "Content hashes", blocks: vec![Block::Text(words.to_owned()), table] }
}
