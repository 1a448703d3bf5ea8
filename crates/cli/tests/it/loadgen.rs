//! The load generator and the ingest benchmark, against real servers.

use std::process::{Output, Stdio};

use serde_json::Value;

use crate::served::Served;
use crate::support::{failure, program};

fn load(server: &Served, words: &[&str]) -> Output {
    program(&["loadgen", &format!("http://{}", server.address), "--json"]).args(words).output().unwrap()
}

/// Figures of a load that must succeed.
fn figures(server: &Served, words: &[&str]) -> Value {
    let output = load(server, words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn every_format_is_loaded_and_all_of_it_is_stored() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[]);
    let mut acknowledged = 0;
    for (format, more) in [
        ("columnar", ["--max", "--compress=none"]),
        ("rows", ["--max", "--compress=gzip"]),
        ("lp", ["--max", "--compress=zstd"]),
        ("json", ["--rate=20000", "--keys"]),
        ("arrow", ["--max", "--tables=5"]),
    ] {
        let words = [&["--format", format, "--seconds", "1", "--batch", "500", "--database", "loaded"], &more[..]];
        let figures = figures(&server, &words.concat());
        let of = |key: &str| figures[key].as_u64().unwrap();
        assert!(of("acknowledged") > 0, "{figures}");
        assert_eq!((of("stored"), of("uncertain")), (of("acknowledged"), 0), "{figures}");
        assert_eq!(figures["statuses"]["204"].as_u64().unwrap() * 500, of("acknowledged"), "{figures}");
        acknowledged += of("acknowledged");
    }
    // Other clients get the same counts from the server.
    let tables = ["cpu", "mem", "disk", "cpu2", "mem2"];
    let rows = tables.map(|table| server.sql(&format!("SELECT count(*) AS n FROM loaded.{table}"))[0]["n"].as_u64());
    assert_eq!(rows.into_iter().flatten().sum::<u64>(), acknowledged);
    let hosts = server.sql("SELECT count(DISTINCT host) AS n, count(*) - count(usage_idle) AS missing FROM loaded.cpu");
    assert_eq!(hosts[0], serde_json::json!({"n": 1000, "missing": 0}));
}

#[test]
fn a_rate_is_kept_or_what_was_not_sent_is_told() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[]);
    let figures = figures(&server, &["--rate", "10000", "--seconds", "1", "--batch", "100"]);
    let requests = figures["statuses"]["204"].as_u64().unwrap();
    assert_eq!(requests + figures["unsent_requests"].as_u64().unwrap(), 100, "{figures}");
}

#[test]
fn a_server_without_room_refuses_and_keeps_what_it_acknowledged() {
    let data = tempfile::tempdir().unwrap();
    // The first requests fill the memory, and no flush happens before the end of the load.
    let server = Served::start(data.path(), &["--memory", "1", "--flush-rows", "100000000", "--flush-seconds", "3600"]);
    let figures = figures(&server, &["--max", "--seconds", "1"]);
    assert!(figures["refused_requests"].as_u64().unwrap() > 0, "{figures}");
    assert_eq!(figures["stored"], figures["acknowledged"], "{figures}");
}

#[test]
fn a_server_that_dies_under_load_is_told() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Served::start(data.path(), &[]);
    let load = program(&["loadgen", &format!("http://{}", server.address), "--max", "--seconds", "60"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Kill the server once it has rows of the load.
    let tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'default'";
    while server.sql(tables).as_array().unwrap().is_empty() {}
    server.child.kill().unwrap();
    let output = load.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(&format!("the server at {} is gone", server.address)), "{said}");
    assert!(output.stdout.is_empty());
}

#[test]
fn loads_that_cannot_be_are_refused() {
    let data = tempfile::tempdir().unwrap();
    let said = |words: &[&str]| {
        let output = program(words).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(said(&["loadgen", "http://192.0.2.7:8080", "--max"]).contains("is another machine"));
    assert!(said(&["loadgen", "127.0.0.1:8080", "--max"]).contains("give http://HOST:PORT"));
    assert!(said(&["loadgen", "http://127.0.0.1:8080"]).contains("--rate"));
    assert!(said(&["loadgen", "http://127.0.0.1:8080", "--max", "--rate", "5"]).contains("cannot be used with"));
    let server = Served::start(data.path(), &[]);
    let url = format!("http://{}", server.address);
    assert!(said(&["loadgen", &url, "--max", "--batch", "0"]).contains("batch: give a number"));
    assert!(said(&["loadgen", &url, "--max", "--format", "xml"]).contains("columnar, rows, lp, json, arrow"));
}

#[test]
fn a_tiny_bench_of_servers_finds_stored_what_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let (data, report) = (folder.path().join("data"), folder.path().join("report"));
    let words = ["bench", "ingest", "--sweep", "formats,overload", "--seconds", "0.3", "--format", "json"];
    // Servers that read the setting from the environment would not start.
    let output = program(&words)
        .env("MANYWORLDS_TOKEN_FILE", "/nowhere/tokens.toml")
        .args(["--report", report.to_str().unwrap(), "--data", data.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let bench: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = bench["rows"].as_array().unwrap();
    let formats: Vec<&str> = rows.iter().map(|row| row["format"].as_str().unwrap()).collect();
    assert_eq!(formats, ["columnar", "rows", "lp", "json", "arrow", "columnar"]);
    for row in rows {
        assert_eq!([&row["stored"], &row["in_segments"]], [&row["acknowledged"], &row["acknowledged"]], "{row}");
        for above_0 in ["acknowledged", "server_cpu_s", "records_per_server_cpu_s", "p99_ms", "bytes_per_record"] {
            assert!(row[above_0].as_f64().unwrap() > 0.0, "{above_0}: {row}");
        }
        assert!(row["peak_rss_bytes"].as_u64().unwrap() > 1 << 20, "{row}");
    }
    assert!(rows[0]["compacted_bytes_per_record"].as_f64().unwrap() > 0.0);
    for name in ["ingest.md", "ingest.html"] {
        assert!(std::fs::read_to_string(report.join(name)).unwrap().contains("manyworlds bench ingest"));
    }
    // The servers leave no files. The benchmark refuses a folder with other files.
    assert_eq!(std::fs::read_dir(&data).unwrap().count(), 0);
    std::fs::write(data.join("kept"), "").unwrap();
    assert!(failure(&data, &["bench", "ingest"], 2).contains("is not empty"));
}
