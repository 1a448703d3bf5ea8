//! The comparison with other programs at minimum size, with the ones that the tests' Python environment has.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{failure, json};

const TINY: [&str; 8] = ["bench", "peers", "--rounds", "2", "--scale", "0.002", "--seed", "3"];

/// The environment of `scripts/venv.sh`; `None` if it was not made.
fn environment() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv");
    let works = Command::new(folder.join("bin/python")).args(["-c", "import duckdb, polars, pyarrow"]).output();
    works.is_ok_and(|output| output.status.success()).then_some(folder)
}

#[test]
fn peers_that_are_there_do_the_same_work() {
    let Some(environment) = environment() else {
        println!("skipped: no Python environment with DuckDB: run scripts/venv.sh");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (data, report) = (folder.path().join("data"), folder.path().join("report"));
    let (environment, report_at) = (environment.to_str().unwrap(), report.to_str().unwrap());
    let peers = ["--peers", "duckdb,polars,numpy,arc", "--installed", environment, "--report", report_at];
    let measured = json(&data, &[&TINY[..], &peers].concat());
    let rows = measured["rows"].as_array().unwrap();
    let of = |peer: &str, work: &str| rows.iter().filter(|r| r["peer"] == peer && r["work"] == work).count();
    // A load and seven questions; an insert, an order and a question; two questions; the appends.
    assert_eq!(
        [of("duckdb", "ask"), of("duckdb", "calls"), of("duckdb", "joint"), of("duckdb", "appends")],
        [8, 3, 2, 1]
    );
    assert_eq!([of("polars", "ask"), of("numpy", "joint"), rows.len()], [8, 2, 24]);
    assert_eq!(measured["failures"], json!([]));
    for row in rows {
        assert_eq!(row["differs"], Value::Null, "{row:#}");
        assert!(row["ratio"]["median"].as_f64().unwrap() > 0.0 && row["ours"]["peak_rss_bytes"].as_u64().unwrap() > 0);
    }
    assert_eq!(measured["missing"], json!([{"peer": "arc", "reason": "no checkout of Arc was named"}]));
    let page = std::fs::read_to_string(report.join("peers.md")).unwrap();
    assert!(page.contains("manyworlds bench peers") && page.contains("no checkout of Arc was named"), "{page}");
}

#[test]
fn missing_peers_are_named_and_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let (data, nothing) = (folder.path().join("data"), folder.path().join("nothing"));
    let words = ["--only", "ingest", "--peers", "questdb,arc", "--installed", nothing.to_str().unwrap(), "--arc"];
    let arc = folder.path().join("arc");
    let measured = json(&data, &[&TINY[..], &words, &[arc.to_str().unwrap()]].concat());
    let missing = measured["missing"].as_array().unwrap();
    let reasons: Vec<&str> = missing.iter().map(|missing| missing["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons[0], format!("no questdb-VERSION.jar in {}", nothing.join("lib").display()));
    assert!(reasons[1].starts_with(&format!("cannot read the checkout {}", arc.display())), "{reasons:?}");
    assert_eq!([&measured["rows"], &measured["failures"]], [&json!([]), &json!([])]);
    let said = failure(&folder.path().join("more"), &["bench", "peers", "--rounds", "0"], 2);
    assert_eq!(said, "error: rounds: give a number from 1 to 100\n");
    let said =
        failure(&folder.path().join("more"), &["bench", "peers", "--only", "joint,ask", "--peers", "questdb"], 2);
    assert_eq!(said, "error: peers: QuestDB is compared only in ingest\n");
}
