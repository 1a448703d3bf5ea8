//! The same rules for names apply over every interface.

use std::path::Path;

use serde_json::{Value, json};

use crate::served::Served;
use crate::support::{json, run};

/// Two rows with fields that differ only by case, and the columns that hold them.
const CASES: [(&str, &str, &str); 4] = [
    ("load", "Load", "Load_case"),
    ("userId", "userID", "userID_case"),
    ("a.b", "A.b", "A.b_case"),
    ("x", "Time", "Time_case"),
];

fn sum(data: &Path, table: &str, column: &str) -> Value {
    json(data, &["sql", &format!("SELECT sum(\"{column}\") AS s FROM \"{table}\"")])[0]["s"].clone()
}

#[test]
fn names_that_differ_by_case_are_stored_through_every_door() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Served::start(&data, &["--flush-seconds", "1"]);
    for (place, (first, second, column)) in CASES.into_iter().enumerate() {
        let rows = [(first, 1), (second, 2)].map(|(name, value)| json!({ name: value }).to_string()).join("\n");
        let csv = [(first, 1), (second, 2)].map(|(name, value)| format!("{name}\n{value}\n"));
        let replies = [
            server.post("/write?db=default", format!("lines{place} {first}=1i\nlines{place} {second}=2i").as_bytes()),
            server.post(&format!("/api/v1/write/json?table=json{place}"), rows.as_bytes()),
            server.post(&format!("/api/v1/write/csv?table=csv{place}"), csv[0].as_bytes()),
            server.post(&format!("/api/v1/write/csv?table=csv{place}"), csv[1].as_bytes()),
        ];
        for (number, reply) in replies.iter().enumerate() {
            assert_eq!(reply.status, 204, "{first}: {}", reply.text());
            let is_told = reply.head.contains(&format!("field `{second}` is stored as column `{column}`"));
            assert_eq!(is_told, number != 2, "{}", reply.head);
        }
        let file = folder.path().join(format!("{place}.csv"));
        std::fs::write(&file, format!("{first},{second}\n1,2\n")).unwrap();
        assert!(run(&data, &["table", "insert", &format!("file{place}"), file.to_str().unwrap()]).status.success());
        let file = folder.path().join(format!("{place}.jsonl"));
        std::fs::write(&file, rows).unwrap();
        let said = run(&data, &["append", &format!("append{place}"), file.to_str().unwrap()]);
        assert!(String::from_utf8_lossy(&said.stderr).contains(column), "{said:?}");
    }
    let said = server.stop();
    assert!(said.contains("flushed all rows"), "{said}");
    for (place, (first, second, column)) in CASES.into_iter().enumerate() {
        // A file without a time column gets none.
        let doors = ["lines", "json", "csv", "append", "file"];
        for door in &doors[..if second == "Time" { 4 } else { 5 }] {
            let table = format!("{door}{place}");
            assert_eq!((sum(&data, &table, first), sum(&data, &table, column)), (json!(1), json!(2)), "{table}");
        }
    }
}

#[test]
fn metrics_name_tables_and_stay_in_the_data_folder() {
    let data = tempfile::tempdir().unwrap();
    let names =
        ["servers.web-1.cpu.load", "stats.timers.api/login.p99", "_ingest", "..", "../../x", "5xx", "50%", "a*[b]?"];
    let server = Served::start(data.path(), &["--flush-seconds", "1"]);
    for name in names {
        let reply = server.post("/write?db=m", format!("{name} value=1.5").as_bytes());
        assert_eq!(reply.status, 204, "{name}: {}", reply.text());
    }
    server.stop();
    for name in names {
        let rows = json(data.path(), &["sql", &format!("SELECT value FROM m.\"{name}\"")]);
        assert_eq!(rows, json!([{"value": 1.5}]), "{name}");
        assert_eq!(json(data.path(), &["ask", &format!("m.{name}"), "--count"])[0]["count"], 1, "{name}");
    }
    let listed = json(data.path(), &["tables"]);
    assert!(listed.as_array().unwrap().iter().all(|t| t["rows"] == 1 && t["trouble"].is_null()), "{listed}");
    assert_eq!(std::fs::read_dir(data.path().join("m")).unwrap().count(), names.len());
}

#[test]
fn nanoseconds_survive() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Served::start(&data, &["--flush-seconds", "1"]);
    let micros = 1_700_000_000_123_456_i64;
    let reply = server.post("/write?db=default", format!("http v=1i {micros}789\nhttp v=2i {micros}000").as_bytes());
    assert_eq!(reply.status, 204, "{}", reply.text());
    assert!(reply.head.contains("the nanoseconds past them are stored as column `time_nanos`"), "{}", reply.head);
    server.stop();
    let file = folder.path().join("rows.jsonl");
    std::fs::write(&file, format!("{{\"time\": {micros}789, \"v\": 1}}\n{{\"time\": {micros}000, \"v\": 2}}\n"))
        .unwrap();
    let said = run(&data, &["append", "append", file.to_str().unwrap()]);
    let told = "times finer than a microsecond: 1, the nanoseconds past it are kept in time_nanos";
    assert!(String::from_utf8_lossy(&said.stderr).contains(told), "{said:?}");
    for table in ["http", "append"] {
        let sql = format!("SELECT CAST(time AS BIGINT) AS micros, time_nanos FROM {table} ORDER BY v");
        let expected = json!([{"micros": micros, "time_nanos": 789}, {"micros": micros, "time_nanos": null}]);
        assert_eq!(json(&data, &["sql", &sql]), expected, "{table}");
    }
}

#[test]
fn large_integers_survive_a_real_number() {
    let data = tempfile::tempdir().unwrap();
    let ids = data.path().join("ids.jsonl");
    let real = data.path().join("real.jsonl");
    std::fs::write(&ids, "{\"id\": 1234567890123456789}\n{\"id\": 1234567890123456790}\n").unwrap();
    std::fs::write(&real, "{\"id\": 1.5}\n").unwrap();
    for digests in [false, true] {
        let table = format!("t{digests}");
        assert!(run(data.path(), &["append", &table, ids.to_str().unwrap()]).status.success());
        if digests {
            assert!(run(data.path(), &["flush", &table]).status.success());
        }
        let said = run(data.path(), &["append", &table, real.to_str().unwrap()]);
        assert!(String::from_utf8_lossy(&said.stderr).contains("kept as text in id_text"), "{said:?}");
        for _ in 0..2 {
            let rows = json(data.path(), &["sql", &format!("SELECT id, id_text FROM \"{table}\" ORDER BY id")]);
            let expected = json!([
                {"id": 1_234_567_890_123_456_789_i64, "id_text": null},
                {"id": 1_234_567_890_123_456_790_i64, "id_text": null},
                {"id": null, "id_text": "1.5"},
            ]);
            assert_eq!(rows, expected);
            assert!(run(data.path(), &["flush", &table]).status.success());
        }
    }
    let csv = data.path().join("mixed.csv");
    std::fs::write(&csv, "id\n1234567890123456789\n1.5\n").unwrap();
    let words = ["table", "insert", "mixed", csv.to_str().unwrap()];
    let refused = run(data.path(), &[&words[..], &["--on-conflict", "refuse"]].concat());
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("would change integers past 2^53"), "{refused:?}");
    let kept = run(data.path(), &words);
    assert!(String::from_utf8_lossy(&kept.stderr).contains("kept as text in id_text"), "{kept:?}");
    let rows = json(data.path(), &["sql", "SELECT id, id_text FROM mixed ORDER BY id"]);
    assert_eq!(rows, json!([{"id": 1_234_567_890_123_456_789_i64, "id_text": null}, {"id": null, "id_text": "1.5"}]));
}

#[test]
fn retention_trims_tables_without_new_rows() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[]);
    assert_eq!(server.post("/write?db=default&precision=s", b"old v=1i 1600000000").status, 204);
    server.stop();
    let server = Served::start(data.path(), &["--retain", "1"]);
    let rows = || server.sql("SELECT count(*) AS n FROM old")[0]["n"].clone();
    let gone = (0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        rows() == 0
    });
    assert!(gone, "{} rows are left", rows());
    server.stop();
}
