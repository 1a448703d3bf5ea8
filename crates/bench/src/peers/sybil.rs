//! Sybil: its arguments for each question, and its answers in our form.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value, json};

use super::compared::Sample;
use super::scripts::LIMIT;
use crate::ask::events::DAY_S;
use crate::ask::expected::{DAY_ASKED, Expected};
use crate::error::BenchError;
use crate::harness::child::{Input, Used, measure_within};

/// Groups of an answer, at most; its default is 100.
const GROUPS_MAX: &str = "100000";

/// Loads a file of JSON lines, and turns its log into columns.
pub(super) fn load(program: &Path, folder: &Path, events: &Path, amount: f64) -> Result<Sample, BenchError> {
    let lines = Input::File(File::open(events).map_err(BenchError::io("read", events))?);
    let ingest = Sample::of(&run(program, folder, "events", &["ingest"], lines)?.1, amount);
    let digest = Sample::of(&run(program, folder, "events", &["digest"], Input::Nothing)?.1, amount);
    let peak_rss_bytes = ingest.peak_rss_bytes.max(digest.peak_rss_bytes);
    Ok(Sample { cpu_s: ingest.cpu_s + digest.cpu_s, peak_rss_bytes, ..ingest })
}

/// Appends a few events, which stay in its log.
pub(super) fn append(program: &Path, folder: &Path, lines: &[u8]) -> Result<Used, BenchError> {
    Ok(run(program, folder, "small", &["ingest"], Input::Bytes(lines))?.1)
}

/// Counts the appended events, in its log and in columns.
pub(super) fn count_appended(program: &Path, folder: &Path) -> Result<u64, BenchError> {
    let words = ["query", "-json", "-read-log", "-limit", GROUPS_MAX, "-group", "host"];
    let (printed, _) = run(program, folder, "small", &words, Input::Nothing)?;
    let rows = parsed(&printed)?;
    Ok(rows.as_array().into_iter().flatten().filter_map(|row| row["Count"].as_u64()).sum())
}

/// Asks a question; returns the answer in our form.
pub(super) fn ask(
    program: &Path,
    folder: &Path,
    question: &str,
    expected: &Expected,
) -> Result<(Vec<u8>, Sample), BenchError> {
    let day = format!("time:gt:{},time:lt:{}", DAY_ASKED - 1, DAY_ASKED + DAY_S);
    let needle = format!("index_int:eq:{}", expected.needle);
    let words: &[&str] = match question {
        "host" => &["-group", "host"],
        "host-status" => &["-group", "host,status"],
        "percentiles" => &["-group", "host", "-int", "ping", "-op", "hist"],
        "hourly" => &["-time", "-time-bucket", "3600", "-int", "time"],
        "day" => &["-group", "host", "-int-filter", &day],
        "needle" => &["-samples", "-int", "index_int,ping", "-int-filter", &needle],
        _ => &["-group", "index_int", "-int", "index_int", "-sort", "index_int"],
    };
    let limit = if question == "top" { "10" } else { GROUPS_MAX };
    let words = [&["query", "-json", "-limit", limit], words].concat();
    let (printed, used) = run(program, folder, "events", &words, Input::Nothing)?;
    let answer = Value::Array(rows(question, parsed(&printed)?));
    Ok((answer.to_string().into_bytes(), Sample::of(&used, 1.0)))
}

fn parsed(printed: &[u8]) -> Result<Value, BenchError> {
    serde_json::from_slice(printed).map_err(|source| BenchError::Summary { command: "sybil query".to_owned(), source })
}

/// Its rows, with our names of columns.
pub(super) fn rows(question: &str, answer: Value) -> Vec<Value> {
    let row = |row: &Map<String, Value>| {
        let mut renamed = row.clone();
        renamed.insert("count".to_owned(), row.get("Count").cloned().unwrap_or_default());
        if let Some(percentiles) = row.get("ping").and_then(|ping| ping.get("percentiles")) {
            for percent in [50, 95, 99] {
                renamed.insert(format!("p{percent}(ping)"), percentiles[percent].clone());
            }
        }
        // A key is a text, even of a number.
        if let Some(number) = row.get("index_int").and_then(Value::as_str).and_then(|text| text.parse::<u64>().ok()) {
            renamed.insert("index_int".to_owned(), number.into());
        }
        Value::Object(renamed)
    };
    match answer {
        Value::Object(hours) if question == "hourly" => {
            let count = |rows: &Value| json!({"count": rows[0]["Count"]});
            let mut hours: Vec<(u64, Value)> =
                hours.iter().map(|(hour, rows)| (hour.parse().unwrap_or(0), count(rows))).collect();
            hours.sort_by_key(|(hour, _)| *hour);
            hours.into_iter().map(|(_, row)| row).collect()
        }
        Value::Array(rows) => rows.iter().filter_map(Value::as_object).map(row).collect(),
        _ => Vec::new(),
    }
}

fn run(
    program: &Path,
    folder: &Path,
    table: &str,
    words: &[&str],
    input: Input<'_>,
) -> Result<(Vec<u8>, Used), BenchError> {
    let mut command = Command::new(program);
    command.args(words).args(["-table", table, "-dir"]).arg(folder);
    measure_within(command, input, LIMIT)
}
