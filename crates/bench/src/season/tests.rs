//! Figures and reports of an invented season.

use ::run::{EventTotals, OutcomeTotals, Phases, Summary};
use table::Codec;

use super::bars::bars;
use super::reads::{Limit, Read, Reads};
use super::run::Season;
use super::scaling::scaling;
use super::sweeps::{Setting, Sweep, SweepKind, SweepPoint};
use super::workload::SeasonWorkload;
use super::writes::{Hashes, Write};
use crate::harness::bars::Grade;
use crate::harness::bench::Measured as _;
use crate::harness::machine::Machine;
use crate::harness::statistics::Latency;

/// A run of `worlds` that took `cpu_ms` per world.
fn summary(worlds: usize, cpu_ms: f64, hash: &str) -> Summary {
    let values = worlds as u64 * 246_528;
    Summary {
        ensemble: "season".to_owned(),
        version: 1,
        worlds,
        played: worlds,
        complete: true,
        is_enough: false,
        wall_s: cpu_ms * worlds as f64 / 2e3,
        cpu_s: cpu_ms * worlds as f64 / 1e3,
        peak_rss_bytes: 300_000_000,
        hash: hash.to_owned(),
        outcomes: OutcomeTotals { rows: 246_528, values, bytes: values / 2, bits_per_value: 4.0 },
        events: EventTotals { rows: 42_000, bytes: 336_000, bytes_per_row: 8.0, hash: None },
        phases: Phases { simulate_s: 3.0, encode_s: 4.0, write_s: 1.0, commit_s: 0.5, wait_s: 0.25 },
        threads: 2,
        known: Vec::new(),
    }
}

/// Two scales, one sweep, one read, and runs with different content.
pub(crate) fn example() -> Season {
    let write = |worlds, cpu_ms, plays| Write::of(summary(worlds, cpu_ms, "aa"), plays);
    let writes =
        vec![write(100, 8.0, false), write(1_000, 4.0, false), write(100, 8.0, true), write(1_000, 16.0, true)];
    let runs = [summary(50, 6.0, "bb"), summary(50, 6.0, "bb")];
    let sweep = |kind, plays, settings: [Setting; 2]| Sweep {
        kind,
        worlds: 50,
        plays,
        fixed: "ranges of 25 worlds".to_owned(),
        points: settings.map(|setting| SweepPoint::of(setting, &runs, &runs)).into(),
    };
    let sweeps = vec![
        sweep(SweepKind::Threads, false, [Setting::Count(1), Setting::Count(2)]),
        sweep(SweepKind::Codec, true, [Setting::Codec(Codec::Lz4), Setting::Codec(Codec::Zstd(3))]),
    ];
    let latency = |p50_ms| Latency { repeats: 9, p50_ms, p99_ms: 3.0 * p50_ms };
    let read = |id, cold, warm, p99_ms| Read {
        id,
        what: "a question".to_owned(),
        values: 5_000,
        cold: latency(cold),
        warm: latency(warm),
        limit: Limit { warm: true, p99_ms, met: true },
    };
    let reads = Reads {
        worlds: 1_000,
        reads: vec![read("R1", 20.0, 0.5, 100.0), read("R6", 0.2, 0.004, 10.0)],
        written_beside: 40,
        probability: 0.125,
        sql: Vec::new(),
    };
    let mut hashes = Hashes::default();
    hashes.add("one", &summary(50, 6.0, "bb"));
    hashes.add("other", &summary(50, 6.0, "cc"));
    hashes.add("alone", &summary(100, 8.0, "aa"));
    Season {
        machine: Machine {
            cores: 2,
            cpu_model: "A CPU".to_owned(),
            memory_bytes: 8_000_000_000,
            kernel: "6.1".to_owned(),
            load_before: 0.1,
        },
        workload: SeasonWorkload {
            scales: vec![100, 1_000],
            seed: 1,
            plays: true,
            threads: vec![1, 2],
            ranges: Vec::new(),
            codecs: vec![Codec::Lz4, Codec::Zstd(3)],
            sweep_worlds: 50,
            read_seconds: 1.0,
        },
        scaling: scaling(&writes),
        bars: bars(&writes, &sweeps, &reads),
        hashes: hashes.check(),
        writes,
        sweeps,
        reads,
    }
}

#[test]
fn every_season_is_written_once_and_the_one_that_is_asked_last() {
    let seasons =
        |scales: &[u32], plays| SeasonWorkload { scales: scales.to_vec(), plays, ..example().workload }.seasons();
    assert_eq!(seasons(&[100, 1_000], true), [(100, false), (100, true), (1_000, true), (1_000, false)]);
    assert_eq!(seasons(&[1_000, 100, 1_000], false), [(100, false), (1_000, false)]);
    assert_eq!(seasons(&[7], true), [(7, true), (7, false)]);
}

#[test]
fn growth_beyond_the_worlds_own_is_told() {
    let season = example();
    let verdicts: Vec<_> = season.scaling.iter().map(|s| (s.worlds, s.plays, s.growth, s.verdict)).collect();
    assert_eq!(verdicts, [(100, false, 0.5, Grade::Pass), (100, true, 2.0, Grade::Fail)]);
    let grown = |figure| scaling(&[Write::of(summary(10, 8.0, ""), false), Write::of(summary(20, figure, ""), false)]);
    assert_eq!(grown(8.8)[0].verdict, Grade::Pass);
    assert_eq!(grown(9.6)[0].verdict, Grade::Warn);
    let unmeasurable = [Write::of(summary(10, 0.0, ""), false), Write::of(summary(20, 1.0, ""), false)];
    assert_eq!(scaling(&unmeasurable)[0].verdict, Grade::Pass);
}

#[test]
fn runs_that_stored_something_else_are_named() {
    let season = example();
    assert!(!season.is_deterministic());
    let different: Vec<_> = season.hashes.iter().map(|h| (h.worlds, h.runs, h.different.len())).collect();
    assert_eq!(different, [(50, 2, 1), (100, 1, 0)]);
}

#[test]
fn bars_take_the_nearest_scale() {
    let bars = example().bars;
    let of = |what: &str| {
        bars.iter().find(|b| b.what.starts_with(what)).map(|b| (b.measured, b.scale.unwrap().measured_worlds))
    };
    assert_eq!(of("processor time a world, outcomes and plays"), Some((Some(16.0), Some(1_000))));
    assert_eq!(of("two threads"), Some((Some(1.0), Some(50))));
    assert_eq!(of("five-leg"), Some((Some(0.004), Some(1_000))));
    assert_eq!(of("correlation"), Some((None, None)));
}

#[test]
fn the_report_says_what_was_measured() {
    let text = example().report().markdown();
    let expect = |line: &str| assert!(text.contains(line), "{line:?} is not in\n{text}");
    expect("# manyworlds bench season\n");
    expect("Measured on 2 cores of A CPU, 8.00 GB of memory, Linux 6.1; load before the first run 0.10.");
    expect("| processor time a world, outcomes ");
    expect("| met, and the aim (other scale) |");
    expect("| missed (other scale)");
    expect("| not measured");
    expect("| 100 to 1,000 | outcomes           |           8.00 |  0.500 | PASS   |");
    expect("| 100 to 1,000 | outcomes and plays |           8.00 |   2.00 | FAIL   |");
    expect("| codec  | on disk | bits a value | bytes a play | CPU ms a world | encode s |");
    expect("| lz4    | 6.50 MB |         4.00 |         8.00 |           6.00 |     4.00 |");
    expect("| zstd:3 | 6.50 MB |         4.00 |         8.00 |           6.00 |     4.00 |");
    expect("warm p99 under 10.0 ms");
    expect("| DIFFERENT: other |");
    assert!(!text.contains("SQL"), "{text}");
}

#[test]
fn tables_are_aligned() {
    let text = example().report().markdown();
    let lines: Vec<&str> = text.lines().collect();
    for pair in lines.windows(2).filter(|p| p.iter().all(|l| l.starts_with('|'))) {
        assert_eq!(pair[0].chars().count(), pair[1].chars().count(), "{}\n{}", pair[0], pair[1]);
        assert_eq!(pair[0].matches('|').count(), pair[1].matches('|').count());
    }
}

#[test]
fn the_page_needs_nothing_else() {
    let mut season = example();
    season.machine.cpu_model = "<b>&".to_owned();
    let page = season.report().html();
    assert_eq!(page.matches("<svg").count(), 5);
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("&lt;b&gt;&amp;"));
    for outside in ["http:", "https:", "<script", "@import", "url(", "NaN", "inf"] {
        assert!(!page.contains(outside), "{outside:?}");
    }
    for tag in ["section", "table", "tr", "td", "svg", "text", "figure"] {
        let opened = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}
