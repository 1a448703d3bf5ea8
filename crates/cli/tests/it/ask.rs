//! Questions about events on the command line.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{failure, json, program, run};

/// A table of 3,000 events in two segments, and 100 more in the log.
fn events(data: &Path, folder: &Path) {
    for (part, rows) in [("a", 0..2_000), ("b", 2_000..3_000), ("c", 3_000..3_100)] {
        let mut lines = String::new();
        for i in rows {
            let host = if i % 10 == 9 { "null".to_owned() } else { format!("\"host-{}\"", i % 4) };
            let tags: Vec<&str> =
                [(2, "mod2"), (3, "mod3")].iter().filter(|(n, _)| i % n == 0).map(|(_, t)| *t).collect();
            let (status, hour, minute) = (if i % 7 == 0 { "500" } else { "200" }, i / 300, i % 300 / 5);
            let event = json!({
                "time": format!("2025-10-0{}T{:02}:{minute:02}:00Z", 1 + hour / 6, hour % 6 * 4),
                "n": i, "ping": i * 37 % 211, "load": f64::from(i % 16) / 8.0, "status": status, "tags": tags,
            });
            let event = event.to_string();
            writeln!(lines, "{},\"host\":{host}}}", event.trim_end_matches('}')).unwrap();
        }
        let path = folder.join(format!("{part}.jsonl"));
        fs::write(&path, lines).unwrap();
        let appended = run(data, &["append", "events", path.to_str().unwrap()]);
        assert!(appended.status.success(), "{}", String::from_utf8_lossy(&appended.stderr));
        if part != "c" {
            assert!(run(data, &["flush", "events"]).status.success());
        }
    }
}

fn asked(data: &Path, words: &[&str]) -> Value {
    json(data, &[&["ask", "events"], words].concat())
}

/// Whether two answers are equal, with real numbers compared to nine digits.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            let keys = |of: &serde_json::Map<String, Value>| of.keys().cloned().collect::<Vec<_>>();
            keys(a) == keys(b) && a.iter().all(|(key, value)| is_same(value, &b[key]))
        }
        (Value::Number(a), Value::Number(b)) if !(a.is_i64() && b.is_i64()) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            (a - b).abs() <= 1e-9 * a.abs().max(1.0)
        }
        _ => a == b,
    }
}

#[test]
fn every_face_gives_the_same_answer() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    events(&data, folder.path());
    assert_eq!(asked(&data, &[]), json!([{"count": 3_100}]));
    let questions: &[&[&str]] = &[
        &["--group", "host", "--count", "--avg", "ping"],
        &["--group", "host,status", "--sum", "ping", "--min", "load", "--max", "time", "--sort", "max(time)", "--asc"],
        &["--group", "status", "--stddev", "ping,load", "--distinct", "ping,host"],
        &["--quantiles", "ping", "--quantiles", "load:p0,p50,p99.9", "--group", "host"],
        &["--quantiles", "n:p50,p100", "--where", "n < 0"],
        &["--group", "tags", "--count", "--avg", "ping"],
        &["--time-bucket", "8h", "--group", "status"],
        &["--time-bucket", "1w", "--sum", "n"],
        &["--group", "host", "--weight", "ping", "--count", "--avg", "load", "--sum", "load", "--stddev", "load"],
        &["--where", "tags HAS 'mod2' AND NOT tags HAS 'mod3'", "--where", "ping / 2 > 50 OR host ~ '^host-[12]'"],
        &["--where", "host IS NULL AND n IN (9, 19, 20) OR status != '200' AND time >= '2025-10-02'"],
        &["--where", "host NOT IN ('host-1', 'it''s') AND load * 2 - 1 >= 0.25", "--group", "host"],
        &["--since", "2025-10-01T12:00:00Z", "--until", "2025-10-02", "--group", "host", "--limit", "2"],
        &["--group", "host", "--replace", "host=/host-([0-9])/machine $1/", "--sort", "host", "--asc"],
        &["--group", "n", "--sum", "ping", "--limit", "7"],
    ];
    for words in questions {
        let answer = asked(&data, words);
        let uncached = asked(&data, &[words, &["--no-cache", "--threads", "1"][..]].concat());
        assert_eq!(answer, uncached, "{words:?}");
        let sql = run(&data, &[&["ask", "events", "--sql"], *words].concat());
        let sql = String::from_utf8(sql.stdout).unwrap();
        let by_sql = json(&data, &["sql", &sql]);
        assert!(is_same(&answer, &by_sql), "{words:?}: {answer:#}\nis by SQL {by_sql:#}\n{sql}");
    }
}

#[test]
fn answers_are_exact() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    events(&data, folder.path());
    let by_host = asked(&data, &["--group", "host", "--count", "--sum", "n", "--quantiles", "ping:p50,p99"]);
    assert_eq!(by_host.as_array().unwrap().len(), 5);
    for group in by_host.as_array().unwrap() {
        let host = group.get("host").and_then(Value::as_str);
        let mine = |i: &i64| if i % 10 == 9 { host.is_none() } else { host == Some(&format!("host-{}", i % 4)) };
        let rows: Vec<i64> = (0..3_100).filter(mine).collect();
        let mut pings: Vec<i64> = rows.iter().map(|i| i * 37 % 211).collect();
        pings.sort_unstable();
        let at = |share: usize| pings[(pings.len() * share).div_ceil(100) - 1];
        assert_eq!(group["count"], rows.len());
        assert_eq!(group["sum(n)"], rows.iter().sum::<i64>());
        assert_eq!((&group["p50(ping)"], &group["p99(ping)"]), (&at(50).into(), &at(99).into()));
    }
    let members = asked(&data, &["--group", "tags", "--sort", "tags", "--asc"]);
    let count = |f: fn(i64) -> bool| (0..3_100).filter(|i| f(*i)).count();
    assert_eq!(members[0], json!({"tags": "mod2", "count": count(|i| i % 2 == 0)}));
    assert_eq!(members[1], json!({"tags": "mod3", "count": count(|i| i % 3 == 0)}));
    assert_eq!(members[2]["count"], count(|i| i % 2 != 0 && i % 3 != 0));
    let buckets = asked(&data, &["--hist", "ping"]);
    let buckets = buckets[0]["hist(ping)"].as_array().unwrap();
    assert_eq!(buckets.iter().map(|b| b["count"].as_i64().unwrap()).sum::<i64>(), 3_100);
    assert_eq!((&buckets[0]["from"], &buckets[0]["to"]), (&json!(0), &json!(16)));
    let samples = asked(&data, &["--samples", "2", "--columns", "n,tags", "--where", "n >= 6 AND tags HAS 'mod3'"]);
    assert_eq!(samples, json!([{"n": 6, "tags": ["mod2", "mod3"]}, {"n": 9, "tags": ["mod3"]}]));
}

#[test]
fn people_see_bars_and_what_came_when() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    events(&data, folder.path());
    let text = |words: &[&str]| {
        let output = run(&data, &[&["ask", "events"], words].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let table = text(&["--group", "status"]);
    assert_eq!(table.lines().next().unwrap().split_whitespace().collect::<Vec<_>>(), ["status", "count"]);
    assert!(table.lines().nth(1).unwrap().ends_with(&"█".repeat(24)), "{table}");
    assert!(text(&["--group", "host", "--limit", "2"]).ends_with("2 of 5 groups\n"));
    let series = text(&["--time-bucket", "4h", "--group", "status"]);
    assert!(series.starts_with("count from 2025-10-01T00:00:00Z to "), "{series}");
    assert!(series.lines().nth(1).unwrap().starts_with("200 ▕"), "{series}");
    let csv = text(&["--group", "status", "--format", "csv"]);
    assert!(csv.starts_with("status,count\n200,"), "{csv}");
    let explained = run(&data, &["ask", "events", "--where", "n = 5", "--explain"]);
    let said = String::from_utf8(explained.stderr).unwrap();
    assert!(said.contains("segments: 1 opened of 2 (1 skipped by bounds in the log"), "{said}");
    assert!(said.contains("100 in the log; 1 met the conditions"), "{said}");
}

#[test]
fn partial_answers_are_gathered() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    events(&data, folder.path());
    let words = ["--group", "host", "--avg", "load", "--quantiles", "ping", "--distinct", "n"];
    let whole = asked(&data, &words);
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    for (path, window) in [(&one, "--since"), (&two, "--until")] {
        let part = [&["ask", "events", "--partial", path.to_str().unwrap(), window, "2025-10-02"], &words[..]].concat();
        assert!(run(&data, &part).status.success());
    }
    let merge = |files: &[&Path]| {
        let mut command = program(&["ask", "--format", "json", "--merge"]);
        command.args(files).output().unwrap()
    };
    // Time ranges are parts of the question.
    let refused = merge(&[&one, &two]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("different questions"));
    let half = folder.path().join("half");
    for name in ["a", "c"] {
        let file = folder.path().join(format!("{name}.jsonl"));
        assert!(run(&half, &["append", "events", file.to_str().unwrap()]).status.success());
    }
    let rest = folder.path().join("rest");
    let file = folder.path().join("b.jsonl");
    assert!(run(&rest, &["append", "events", file.to_str().unwrap()]).status.success());
    for (path, data) in [(&one, &half), (&two, &rest)] {
        let part = [&["ask", "events", "--partial", path.to_str().unwrap()], &words[..]].concat();
        assert!(run(data, &part).status.success());
    }
    let merged = merge(&[&two, &one]);
    assert!(merged.status.success(), "{}", String::from_utf8_lossy(&merged.stderr));
    assert!(is_same(&whole, &serde_json::from_slice(&merged.stdout).unwrap()));
    fs::write(&one, "no answer").unwrap();
    let refused = merge(&[&one]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("one: not a partial answer of this version"));
}

#[test]
fn bad_questions_are_told_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    events(&data, folder.path());
    let said = |words: &[&str]| failure(&data, &[&["ask", "events"], words].concat(), 2);
    assert!(said(&["--group", "hots"]).contains("unknown column \"hots\" (did you mean \"host\"?)"));
    assert!(said(&["--where", "host ~ 'a('"]).contains("unclosed group\n  host ~ 'a('\n           ^"));
    assert!(said(&["--where", "n >"]).contains("condition: expected a name, a number or a 'text'"));
    assert!(said(&["--avg", "host"]).contains("cannot compute avg(host): the column holds text"));
    assert!(said(&["--since", "yesterday"]).contains("invalid time \"yesterday\""));
    assert!(said(&["--hist", "ping", "--sql"]).contains("cannot express histograms"));
    assert!(said(&["--time-bucket", "0s"]).contains("invalid duration"));
    let rows: Vec<String> = (0..50_000).map(|n| format!("{{\"key\":{n}}}\n")).collect();
    let many = folder.path().join("many.jsonl");
    fs::write(&many, rows.concat()).unwrap();
    assert!(run(&data, &["append", "many", many.to_str().unwrap()]).status.success());
    let large = failure(&data, &["ask", "many", "--group", "key", "--memory", "1"], 2);
    assert!(large.contains("needs more than the 1 MB") && large.contains("; or allow more with --memory"), "{large}");
    let unknown = failure(&data, &["ask", "evens"], 2);
    assert!(unknown.contains("no table \"evens\"; did you mean events?"), "{unknown}");
    let empty = folder.path().join("empty");
    assert!(failure(&empty, &["ask", "events"], 2).contains("has no tables; name another folder with --data"));
}
