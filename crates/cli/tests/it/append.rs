//! Concurrent and killed appends.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::served::Served;
use crate::support::{failure, json, program, run};

/// Concurrent append processes.
const AT_ONCE: usize = 40;
/// Rows per append.
const ROWS: usize = 10;

/// Starts an append, and sends its rows.
fn begin(data: &Path, table: &str, words: &[&str], rows: &str) -> Child {
    let mut child = program(&["append", table])
        .args(words)
        .arg("--data")
        .arg(data)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The process may have been killed, or may have rejected its arguments.
    drop(child.stdin.take().unwrap().write_all(rows.as_bytes()));
    child
}

fn append(data: &Path, table: &str, words: &[&str], rows: &str) -> Output {
    begin(data, table, words, rows).wait_with_output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn lines(number: usize) -> String {
    let line = |row: usize| format!("{{\"row\": {row}, \"host\": \"h{}\"}}\n", row % 7);
    (number * ROWS..(number + 1) * ROWS).map(line).collect::<Vec<_>>().concat()
}

/// Runs many appends at once, and kills every fifth. Returns those with exit code 0.
fn crowd(data: &Path, first: usize, count: usize) -> BTreeSet<usize> {
    let next = AtomicUsize::new(first);
    let acknowledged = Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    if number >= first + count {
                        return;
                    }
                    let mut child = begin(data, "visits", &[], &lines(number));
                    if number.is_multiple_of(5) {
                        sleep(Duration::from_millis(number as u64 * 7_919 % 60));
                        // It may have ended already.
                        drop(child.kill());
                    }
                    let ended = child.wait_with_output().unwrap();
                    if ended.status.success() {
                        acknowledged.lock().unwrap().insert(number);
                    } else {
                        assert!(number.is_multiple_of(5), "{number}: {}", said(&ended));
                    }
                }
            });
        }
    });
    acknowledged.into_inner().unwrap()
}

/// Checks that every acknowledged append is stored once, and that no append is stored in part.
fn check(found: &serde_json::Value, acknowledged: &BTreeSet<usize>) {
    let mut numbers = BTreeSet::new();
    for append in found.as_array().unwrap() {
        let number = append["number"].as_u64().unwrap() as usize;
        let sum = (number * ROWS..(number + 1) * ROWS).sum::<usize>();
        assert_eq!((&append["n"], &append["s"]), (&ROWS.into(), &sum.into()), "append {number}");
        numbers.insert(number);
    }
    let lost: Vec<_> = acknowledged.difference(&numbers).collect();
    assert!(lost.is_empty(), "{lost:?} are lost");
}

const APPENDS: &str = "SELECT row / 10 AS number, count(*) AS n, sum(row) AS s FROM visits GROUP BY 1";

#[test]
fn forty_appenders_and_digests_of_which_some_are_killed_lose_and_double_nothing() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path();
    let stop = AtomicBool::new(false);
    let (mut digests, mut acknowledged) = (0, BTreeSet::new());
    std::thread::scope(|scope| {
        let digesting = scope.spawn(|| {
            let mut killed = 0;
            for turn in 0_u64.. {
                if stop.load(Ordering::SeqCst) {
                    break;
                }
                let mut child = program(&["flush", "visits", "--data"])
                    .arg(data)
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap();
                if turn % 2 == 0 {
                    sleep(Duration::from_millis(turn * 7_919 % 150));
                    // It may have ended already.
                    drop(child.kill());
                }
                killed += u32::from(!child.wait().unwrap().success());
            }
            killed
        });
        acknowledged = crowd(data, 0, 240);
        stop.store(true, Ordering::SeqCst);
        digests = digesting.join().unwrap();
    });
    assert!(acknowledged.len() >= 192 && digests > 0, "{} appends, {digests} digests ended early", acknowledged.len());
    let waiting = json(data, &["sql", APPENDS]);
    check(&waiting, &acknowledged);
    run(data, &["flush", "visits"]);
    let digested = json(data, &["sql", APPENDS]);
    check(&digested, &acknowledged);
    assert_eq!(waiting.as_array().unwrap().len(), digested.as_array().unwrap().len());
}

#[test]
fn forty_appenders_beside_a_server_lose_and_double_nothing_and_its_answers_have_them() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path();
    let mut acknowledged = crowd(data, 0, 40);
    let mut server = Served::start(data, &["--flush-rows", "300", "--flush-seconds", "1"]);
    std::thread::scope(|scope| {
        let posting = scope.spawn(|| {
            for number in 1_000..1_040 {
                let reply = server.post("/api/v1/write/json?table=visits", lines(number).as_bytes());
                assert!(reply.status < 300, "{}", reply.text());
            }
        });
        acknowledged.extend(crowd(data, 40, 160));
        posting.join().unwrap();
    });
    acknowledged.extend(1_000..1_040);
    check(&server.sql(APPENDS), &acknowledged);
    check(&json(data, &["sql", APPENDS]), &acknowledged);
    assert!(failure(data, &["flush", "visits"], 2).contains("a running server flushes it by itself"));
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    check(&json(data, &["sql", APPENDS]), &acknowledged);
    assert!(run(data, &["flush", "visits"]).status.success());
    check(&json(data, &["sql", APPENDS]), &acknowledged);
    let server = Served::start(data, &[]);
    check(&server.sql(APPENDS), &acknowledged);
    server.stop();
    check(&json(data, &["sql", APPENDS]), &acknowledged);
}

#[test]
fn rows_are_visible_wherever_a_digest_is_killed() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path();
    let mut acknowledged = BTreeSet::new();
    for turn in 0..12 {
        for number in turn * 3..turn * 3 + 3 {
            assert!(append(data, "visits", &[], &lines(number)).status.success());
            acknowledged.insert(number);
        }
        let mut child = program(&["flush", "visits", "--data"])
            .arg(data)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        sleep(Duration::from_millis(turn as u64 * 13));
        // It may have ended already.
        drop(child.kill());
        child.wait().unwrap();
        check(&json(data, &["sql", APPENDS]), &acknowledged);
    }
}

#[test]
fn lines_that_are_no_rows_are_told_and_set_aside() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path();
    let long = "x".repeat(200_000);
    let rows = format!("{{\"a\": 1}}\nnonsense\n{{\"a\": 2, \"long\": \"{long}\"}}\n[3]\n{{\"a\": 4}}\n");
    let output = append(data, "visits", &[], &rows);
    assert_eq!(
        (output.status.code(), String::from_utf8_lossy(&output.stdout).as_ref()),
        (Some(1), "appended 3 rows to visits\n")
    );
    let told = said(&output);
    assert!(told.contains("stdin, line 2: ") && told.contains("stdin, line 4: "), "{told}");
    let path = told.lines().last().unwrap().split_once("set aside in ").unwrap().1;
    assert_eq!(std::fs::read_to_string(path).unwrap(), "nonsense\n[3]\n");
    let found = json(data, &["sql", "SELECT sum(a) AS a, max(length(long)) AS l FROM visits"]);
    assert_eq!(found, serde_json::json!([{"a": 7, "l": 200_000}]));
}

#[test]
fn refused_lines_of_each_csv_are_set_aside_under_its_header() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path();
    let file = |name: &str, text: &str| {
        let path = data.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let inputs = [file("a.csv", "x,y\n1,2\n3\n"), file("b.csv", "y,z\n4,5\n6\n"), file("c.jsonl", "{\"x\": 7}\n")];
    let output = run(data, &["append", "visits", &inputs[0], &inputs[1], &inputs[2]]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let told = said(&output);
    let paths = told.lines().last().unwrap().split_once("2, not appended and set aside in ").unwrap().1;
    let kept: Vec<String> = paths.split(", ").map(|path| std::fs::read_to_string(path).unwrap()).collect();
    assert_eq!(kept, ["x,y\n3\n", "y,z\n6\n"]);
}

#[test]
fn values_that_do_not_fit_are_told_and_kept_beside() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path();
    assert!(append(data, "visits", &[], "{\"a\": 1}\n").status.success());
    for digested in [false, true] {
        let output = append(data, "visits", &[], "{\"a\": \"x\"}\n{\"a\": 2}\n");
        assert!(output.status.success());
        // The table's column type decides, not the first value of the input.
        let told = "values that do not fit the column a: 1, kept as text in a_text";
        assert!(said(&output).contains(told), "{}", said(&output));
        if !digested {
            assert!(run(data, &["flush", "visits"]).status.success());
        }
    }
    let found = json(data, &["sql", "SELECT sum(a) AS a, count(a_text) AS n, min(a_text) AS least FROM visits"]);
    assert_eq!(found, serde_json::json!([{"a": 5, "n": 2, "least": "x"}]));
}

#[test]
fn tables_tell_what_waits_in_their_logs() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path();
    assert!(append(data, "visits", &[], "{\"a\": 1}\n{\"a\": 2}\n").status.success());
    let told = |tables: serde_json::Value| (tables[0]["rows"].clone(), tables[0]["log_rows"].clone());
    assert_eq!(told(json(data, &["tables"])), (0.into(), 2.into()));
    assert!(run(data, &["flush", "visits"]).status.success());
    assert!(append(data, "visits", &[], "{\"a\": 3}\n").status.success());
    assert_eq!(told(json(data, &["tables"])), (2.into(), 1.into()));
}

#[test]
fn files_are_read_by_their_endings_and_rules_hold() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path();
    let file = |name: &str, bytes: &[u8]| {
        let path = data.join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let csv = file("a.csv", b"at,n,skip\n2024-05-06,7,x\n");
    let packed = file("b.msgpack", b"\x82\xa2at\xaa2024-05-07\xa1n\xa18");
    let documents = file("c.jsonl", b"{\"in\": {\"at\": \"2024-05-08\", \"n\": 9.0}, \"skip\": 1}\n");
    let words = ["--ints", "n", "--exclude", "skip", "--time", "at", "--timestamps", "at=%Y-%m-%d"];
    let read = |files: &[&str], more: &[&str]| {
        let output = run(data, &[&["append", "visits"], files, &words, more].concat());
        assert!(output.status.success(), "{}", said(&output));
    };
    read(&[&csv, &packed], &[]);
    read(&[&documents], &["--path", "$.in"]);
    let found = json(data, &["sql", "SELECT CAST(time AS DATE) AS day, n FROM visits ORDER BY 1"]);
    let day = |day: u32, n: i64| serde_json::json!({"day": format!("2024-05-0{day}"), "n": n});
    assert_eq!(found, serde_json::json!([day(6, 7), day(7, 8), day(8, 9)]));
    let missing = failure(data, &["append", "visits", "nowhere.json"], 2);
    assert!(missing.contains("cannot open nowhere.json"), "{missing}");
}

#[test]
fn compressed_files_and_pipes_are_read_as_plain_ones() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let file = |name: &str, bytes: &[u8]| {
        let path = data.join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let zstd = |text: &str| zstd::encode_all(text.as_bytes(), 3).unwrap();
    let gzip = |text: &str| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        packed.finish().unwrap()
    };
    let count = |table: &str| json(data, &["sql", &format!("SELECT count(*) AS n, sum(n) AS s FROM {table}")]);
    let sums = serde_json::json!([{"n": 2, "s": 5}]);
    let (csv, lines) = ("n,host\n2,a\n3,b\n", "{\"n\": 2, \"host\": \"a\"}\n{\"n\": 3, \"host\": \"b\"}\n");
    for (table, name, bytes) in [
        ("a", "a.csv.gz", gzip(csv)),
        ("b", "b.csv.zst", zstd(csv)),
        ("c", "c.jsonl.gz", gzip(lines)),
        // The first bytes decide, whatever a name says.
        ("d", "d.jsonl", zstd(lines)),
    ] {
        let path = file(name, &bytes);
        assert!(run(data, &["append", table, &path]).status.success(), "{name}");
        assert_eq!(count(table), sums, "{name}");
        assert_eq!(json(data, &["table", "insert", &format!("i{table}"), &path])["rows"], 2, "{name}");
        assert_eq!(count(&format!("i{table}")), sums, "{name}");
    }
    let mut child = program(&["append", "piped", "--data"]).arg(data).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&gzip(lines)).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(count("piped"), sums);

    let packed = gzip(csv);
    let cut = file("cut.csv.gz", &packed[..packed.len() - 9]);
    let told = "reading ".to_owned() + &cut + ": the gzip data ends early: it is cut off";
    assert!(failure(data, &["append", "cut", &cut], 2).contains(&told));
    let told = failure(data, &["table", "insert", "cut", &cut], 2);
    assert!(told.contains("the gzip data ends early: it is cut off"), "{told}");
    let whole = file("e.parquet.gz", &packed);
    let told = failure(data, &["table", "insert", "cut", &whole], 2);
    assert!(told.contains("e.parquet.gz: a Parquet or Arrow file is compressed inside: decompress it first"), "{told}");
    assert!(!data.join("default/cut").exists());
}

#[test]
fn many_rows_are_a_load_and_few_a_file_and_many_files_are_digested() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path();
    let rows: Vec<String> = (0..70_000).map(|row| format!("{{\"row\": {row}}}\n")).collect();
    let rows = rows.concat();
    let output = append(data, "visits", &[], &rows);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "appended 70000 rows to visits\n".replace("70000", "70,000"),
        "{}",
        said(&output)
    );
    let files = || {
        let files = std::fs::read_dir(data.join("default/visits/_ingest")).unwrap().map(Result::unwrap);
        files.filter(|f| f.path().extension().is_some_and(|e| e == "log") && f.metadata().unwrap().len() > 0).count()
    };
    assert_eq!(files(), 0);
    for number in 0..255 {
        assert!(append(data, "visits", &[], &lines(number)).status.success());
        assert_eq!(files(), number + 1);
    }
    assert!(append(data, "visits", &[], &lines(255)).status.success());
    assert_eq!(files(), 0, "the last digested them");
    let found = json(data, &["sql", "SELECT count(*) AS n FROM visits"]);
    assert_eq!(found, serde_json::json!([{"n": 72_560}]));
}

#[test]
fn a_pipe_that_goes_on_is_logged_bit_by_bit() {
    let data = tempfile::tempdir().unwrap();
    let mut child = program(&["append", "visits", "--data"])
        .arg(data.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    for count in 1..=2 {
        pipe.write_all(b"{\"row\": 1}\n{\"row\":").unwrap();
        let started = Instant::now();
        let found = || run(data.path(), &["sql", "SELECT count(*) AS n FROM visits", "--format", "csv"]).stdout;
        while found() != format!("n\n{count}\n").as_bytes() {
            assert!(started.elapsed() < Duration::from_secs(30), "what was written is not seen");
            sleep(Duration::from_millis(50));
        }
        pipe.write_all(b" 2").unwrap();
        pipe.write_all(if count == 1 { b"\0\n" } else { b"}\n" }).unwrap();
    }
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "one line was none");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "appended 3 rows to visits\n");
}
