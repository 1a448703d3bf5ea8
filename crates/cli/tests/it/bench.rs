//! The season benchmark at minimum size.

use serde_json::Value;

use crate::support::{failure, json, program};

const TINY: [&str; 10] =
    ["bench", "season", "--scales", "4,8", "--sweep-worlds", "4", "--codecs", "none,lz4", "--read-seconds", "0.02"];

#[test]
fn a_tiny_bench_measures_everything() {
    let folder = tempfile::tempdir().unwrap();
    let (data, report) = (folder.path().join("data"), folder.path().join("report"));
    let report_at = report.to_str().unwrap();
    let season = json(&data, &[&TINY[..], &["--report", report_at, "--range-list", "2,4"]].concat());
    let count = |section: &str| season[section].as_array().unwrap().len();
    assert_eq!([count("writes"), count("scaling"), count("sweeps"), count("hashes")], [4, 2, 3, 2]);
    let codecs: Vec<&Value> = season["sweeps"][2]["points"].as_array().unwrap().iter().map(|p| &p["setting"]).collect();
    assert_eq!(codecs, ["none", "lz4"]);
    let stored = |place: usize| season["sweeps"][2]["points"][place]["stored_bytes"].as_u64().unwrap();
    assert!(stored(1) < stored(0), "compressed {} bytes, plain {}", stored(1), stored(0));
    assert_eq!(season["reads"]["worlds"], 8);
    let ids: Vec<&str> =
        season["reads"]["reads"].as_array().unwrap().iter().map(|r| r["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["R1", "R2", "R2", "R3", "R4", "R4", "R5", "R6", "M"]);
    assert!(season["reads"]["written_beside"].as_u64().unwrap() > 0);
    assert_eq!(season["writes"][3]["run"]["outcomes"]["values"], (288 * 850 + 32 * 54) * 8);
    assert!(season["hashes"].as_array().unwrap().iter().all(|h| h["different"].as_array().unwrap().is_empty()));
    for name in ["season.md", "season.html"] {
        assert!(std::fs::read_to_string(report.join(name)).unwrap().contains("manyworlds bench season"));
    }
    // Only the season that was read remains, and the benchmark refuses a folder with content.
    let left: Vec<_> = std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["largest"]);
    assert_eq!(json(&data.join("largest"), &["ensembles"]).as_array().unwrap().len(), 1);
    let said = failure(&data, &TINY, 2);
    assert_eq!(said, format!("error: {} is not empty: a benchmark needs an empty folder\n", data.display()));
}

#[test]
fn a_short_siege_finds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let besieged = json(&folder.path().join("siege"), &["bench", "siege", "--minutes", "0.15", "--seed", "11"]);
    let of = |part: &str, name: &str| besieged[part][name].as_f64().unwrap();
    for figure in ["lost", "doubled", "changed", "wrong", "deaths"] {
        assert_eq!(of("figures", figure), 0.0, "{figure}: {:#}", besieged["findings"]);
    }
    for tally in ["writes", "messy_rows", "answers", "hostile"] {
        assert!(of("tallies", tally) > 0.0, "{tally}: {:#}", besieged["tallies"]);
    }
    let lives: u64 = besieged["lives"].as_array().unwrap().iter().map(|lives| lives.as_u64().unwrap()).sum();
    assert!(lives > 0 && besieged["rows_compared"].as_u64().unwrap() > 0, "{besieged:#}");
}

#[test]
fn settings_that_cannot_be_measured_are_refused() {
    let said = |words: &[&str]| {
        let output = program(&[&["bench", "season"], words].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert_eq!(said(&["--scales", "0"]), "error: scales: give the worlds of one or more seasons, each at least 1\n");
    let brotli = said(&["--codecs", "lz4,brotli"]);
    let choice = ": unknown codec: choose none, snappy, lz4, gzip, or zstd:LEVEL with";
    assert!(brotli.contains("'brotli'") && brotli.contains(choice), "{brotli}");
    // No disk has that much space. The benchmark checks this before it plays.
    let room = said(&["--scales", "4000000000"]);
    assert!(room.contains(" of disk free and the largest season needs up to 1,"), "{room}");
    assert_eq!(room.lines().count(), 1, "{room}");
}
