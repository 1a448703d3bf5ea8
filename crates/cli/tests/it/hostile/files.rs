//! Damaged files of every kind: each read ends with an answer or an error, in bounded memory.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::rounds;
use crate::support::{copy, json as answer, program};

/// Memory limit of a question about damaged files, in kilobytes.
const MEMORY_KB: u64 = 4 << 20;
const SECONDS: &str = "600";

/// Every file below `path`.
fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_dir() {
        let mut inside: Vec<PathBuf> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        inside.sort();
        return inside.iter().flat_map(|path| files(path)).collect();
    }
    vec![path.to_owned()]
}

fn feed(data: &Path, words: &[&str], input: &str) {
    let mut child = program(words).arg("--data").arg(data).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success(), "{words:?}");
}

/// A data folder with a table of each kind, rows in a log, cached answers and an ensemble. Also writes a partial answer
/// to it.
fn fill(data: &Path) {
    let rows = |from: usize| -> String {
        let row = |n: usize| {
            format!("{{\"time\": {n}, \"host\": \"h{}\", \"load\": {}.5, \"tags\": [\"a\", \"b\"]}}\n", n % 9, n * 7)
        };
        (from..from + 300).map(row).collect()
    };
    answer(data, &["run", "football", "--worlds", "3", "--name", "season"]);
    for from in 0..3 {
        feed(data, &["append", "cpu"], &rows(1000 * from));
        feed(data, &["flush", "cpu"], "");
    }
    let csv: Vec<_> = (0..500).map(|n| format!("{n},h{},{}\n", n % 9, n * 3)).collect();
    let csv = csv.concat();
    let file = data.join("rows.csv");
    fs::write(&file, format!("id,host,n\n{csv}")).unwrap();
    let file = file.to_str().unwrap().to_owned();
    feed(data, &["table", "insert", "calls", &file, "--lookup", "host", "--bloom", "id"], "");
    fs::remove_file(file).unwrap();
    feed(data, &["append", "cpu"], &rows(9000));
    let partial = data.join("partial");
    feed(data, &["ask", "cpu", "--group", "host", "--sum", "load", "--partial", partial.to_str().unwrap()], "");
}

const READS: [&[&str]; 13] = [
    &["ask", "cpu", "--group", "host", "--sum", "load"],
    &["ask", "cpu", "--group", "tags", "--where", "load > 100"],
    &["ask", "cpu", "--quantiles", "load:p50", "--since", "1970-01-01"],
    &["sql", "SELECT host, sum(load), max(time) FROM cpu GROUP BY host"],
    &["sql", "SELECT * FROM calls WHERE host = 'h3' AND id < 100"],
    &["sql", "SELECT count(*) FROM events"],
    &[
        "price",
        "season",
        "--entity",
        "game-001",
        "--leg",
        "home_points > 3",
        "--given",
        "at q1 10:00 ±900",
        "--min-worlds",
        "1",
    ],
    &["outcome", "season", "--entity", "game-001", "--outcome", "home_points"],
    &["ensembles"],
    &["verify", "season"],
    &["info", "cpu"],
    &["tables"],
    &["table", "inspect", "calls"],
];

#[test]
fn damaged_files_are_answered_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    fs::create_dir(&whole).unwrap();
    fill(&whole);
    let all = files(&whole);
    for kind in [".json", ".parquet", "_lookup", "_ingest", "plan", "partial"] {
        assert!(all.iter().any(|path| path.to_string_lossy().contains(kind)), "{kind}: {all:?}");
    }
    rounds(8, |dice| {
        let data = folder.path().join("damaged");
        copy(&whole, &data);
        let path = &all[dice.below(all.len())];
        let path = data.join(path.strip_prefix(&whole).unwrap());
        let mut bytes = fs::read(&path).unwrap();
        dice.damage(&mut bytes);
        fs::write(&path, bytes).unwrap();
        let words: Vec<String> = if path.ends_with("partial") {
            vec!["ask".to_owned(), "--merge".to_owned(), path.to_str().unwrap().to_owned()]
        } else {
            dice.pick(&READS).iter().map(|word| (*word).to_owned()).collect()
        };
        check(&data, &words, &path);
        fs::remove_dir_all(&data).unwrap();
    });
}

fn check(data: &Path, words: &[String], damaged: &Path) {
    let limited = format!("ulimit -v {MEMORY_KB}; exec timeout {SECONDS} \"$0\" \"$@\"");
    let output = Command::new("bash")
        .args(["-c", &limited, env!("CARGO_BIN_EXE_manyworlds")])
        .args(words)
        .arg("--data")
        .arg(data)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code();
    assert!(matches!(code, Some(0..=2)), "{words:?} with {} damaged: {code:?}: {said}", damaged.display());
    assert!(!said.contains("panicked"), "{words:?} with {} damaged: {said}", damaged.display());
}
