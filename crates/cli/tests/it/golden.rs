//! A data folder that an earlier version wrote answers as it did then, and takes rows and worlds.
//!
//! `golden/data` is what the program of 22 November 2026 left behind: an ensemble of the bingo in `golden/event.json`
//! (60 worlds, seed 3), a table with rows in its log, a clustered table with a Bloom filter, a secondary index and
//! deleted rows, and the log of a server that was killed. `golden/answers.json` has that program's answers. Neither is
//! ever written anew; a new format gets a new folder. Models play the worlds of a seed as they did then.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::served::Served;
use crate::support::{copy, json, run};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden").join(name)
}

/// A copy, so that nothing is written into the golden folder itself.
fn data() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    copy(&golden("data"), &data);
    (folder, data)
}

fn write(data: &Path, words: &[&str]) {
    let output = run(data, words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn file(folder: &TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn an_old_folder_answers_as_it_did() {
    let (_folder, data) = data();
    let cases: Vec<Value> = serde_json::from_slice(&std::fs::read(golden("answers.json")).unwrap()).unwrap();
    assert_eq!(cases.len(), 14);
    for case in cases {
        let words: Vec<&str> = case["words"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        assert_eq!(json(&data, &words), case["answer"], "{words:?}");
    }
}

#[test]
fn an_old_folder_takes_rows() {
    let (folder, data) = data();
    // Beside 500 rows in a segment and 20 in the log.
    let order = file(&folder, "order.jsonl", r#"{"time":1800000000000,"id":7,"who":{"name":"user-9"},"amount":0.5}"#);
    write(&data, &["append", "orders", &order]);
    let count = json!([{"count": 521, "min(id)": 7}]);
    assert_eq!(json(&data, &["ask", "orders", "--count", "--min", "id"]), count);
    write(&data, &["flush", "orders"]);
    assert_eq!(json(&data, &["ask", "orders", "--count", "--min", "id"]), count);

    // Beside 934 of 1,000 rows.
    let call = file(&folder, "call.csv", "time,cell,duration,cost\n2024-02-01T00:00:00Z,cell-2,1000,1.5\n");
    write(&data, &["table", "insert", "calls", &call]);
    let longest = "SELECT count(*) AS n, max(duration) AS longest FROM calls";
    assert_eq!(json(&data, &["sql", longest]), json!([{"n": 935, "longest": 1000}]));
    write(&data, &["table", "compact", "calls"]);
    let indexed = json(&data, &["ask", "calls", "--count", "--where", "duration = 1000"]);
    assert_eq!(indexed, json!([{"count": 1}]));

    // Beside two rows in the log of a server that was killed.
    let served = Served::start(&data, &[]);
    let reply = served.post("/write?db=metrics", b"cpu,host=c load=3,Load=4i 1800000000000000000\n");
    assert_eq!(reply.status, 204, "{}", reply.text());
    let rows = served.sql(r#"SELECT host, load, "Load_case" FROM metrics.cpu ORDER BY host"#);
    served.stop();
    let row = |host: &str, load: f64, case: Value| json!({"host": host, "load": load, "Load_case": case});
    assert_eq!(rows, json!([row("a", 0.5, 2.into()), row("b", 1.5, Value::Null), row("c", 3.0, 4.into())]));
    let stored = json(&data, &["sql", r#"SELECT sum(load) AS load, sum("Load_case") AS n FROM metrics.cpu"#]);
    assert_eq!(stored, json!([{"load": 5.0, "n": 6}]));
}

#[test]
fn the_worlds_of_an_old_folder_are_played_alike() {
    let (_folder, data) = data();
    let event = golden("event.json");
    let event = event.to_str().unwrap();
    write(&data, &["run", "bingo", "--event", event, "--worlds", "60", "--seed", "3", "--name", "again"]);
    let (again, event) = (json(&data, &["verify", "again"]), json(&data, &["verify", "event"]));
    for hash in ["hash", "event_hash"] {
        assert!(again[hash].is_string(), "{again}");
        assert_eq!(again[hash], event[hash]);
    }
}

#[test]
fn football_of_a_seed_stays_the_same() {
    let data = tempfile::tempdir().unwrap();
    let season = json(data.path(), &["run", "football", "--worlds", "40", "--seed", "1", "--name", "season"]);
    // Taken on 29 November 2026. Later versions resume and replay stored ensembles, so they must play the same worlds.
    assert_eq!((&season["hash"], &season["events"]["hash"]), (&json!("754b6cec2a5e0629"), &json!("ba02bde45aeb2135")));
}
