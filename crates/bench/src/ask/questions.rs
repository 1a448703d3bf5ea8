//! The questions: arguments for this program, SQL for the baseline, and the expected answers.

use serde_json::Value;

use super::events::{DAY_S, START_S};
use super::facts::{DAY_ASKED, Facts};
use crate::error::BenchError;

#[derive(Debug, Clone, Copy)]
pub(super) struct Question {
    pub(super) id: &'static str,
    /// The question in plain words.
    pub(super) what: &'static str,
    /// Published CPU milliseconds of this program's predecessor and of DuckDB with its own format, on the same kind of
    /// machine.
    pub(super) reference: [Option<f64>; 2],
    /// Bar and aim in CPU milliseconds.
    pub(super) goal: Option<[f64; 2]>,
    /// The columns of the answer.
    columns: &'static [&'static str],
    right: fn(&Facts) -> Vec<Value>,
}

pub(super) const QUESTIONS: [Question; 7] = [
    Question {
        id: "host",
        what: "count by host",
        reference: [Some(638.0), Some(73.0)],
        goal: Some([100.0, 50.0]),
        columns: &["host", "count"],
        right: Facts::by_host,
    },
    Question {
        id: "host-status",
        what: "count by host and status",
        reference: [Some(938.0), Some(144.0)],
        goal: Some([180.0, 100.0]),
        columns: &["host", "status", "count"],
        right: Facts::by_host_and_status,
    },
    Question {
        id: "percentiles",
        what: "p50, p95, p99 of ping by host, exact",
        reference: [Some(1225.0), Some(350.0)],
        goal: Some([400.0, 200.0]),
        columns: &["host", "p50(ping)", "p95(ping)", "p99(ping)"],
        right: Facts::percentiles,
    },
    Question {
        id: "hourly",
        what: "count by hour",
        reference: [Some(717.0), Some(139.0)],
        goal: Some([150.0, 80.0]),
        columns: &["count"],
        right: Facts::by_hour,
    },
    Question {
        id: "day",
        what: "count by host in one day of 28",
        reference: [Some(45.0), Some(49.0)],
        goal: Some([45.0, 20.0]),
        columns: &["host", "count"],
        right: Facts::by_host_in_day,
    },
    Question {
        id: "needle",
        what: "one row by its key",
        reference: [Some(79.0), Some(44.0)],
        goal: Some([40.0, 15.0]),
        columns: &["index_int", "ping"],
        right: Facts::needle,
    },
    Question {
        id: "top",
        what: "the ten greatest of a key that each row has its own of, counted",
        reference: [None, None],
        goal: None,
        columns: &["index_int", "count"],
        right: Facts::last_numbers,
    },
];

/// Formats a time for a question.
fn moment(seconds: i64) -> String {
    let days = (seconds - START_S) / DAY_S;
    format!("2026-01-{:02}T00:00:00Z", days + 1)
}

impl Question {
    /// The arguments after `manyworlds ask TABLE`.
    pub(super) fn words(&self, facts: &Facts) -> Vec<String> {
        let words: &[&str] = match self.id {
            "host" | "day" => &["--group", "host", "--count"],
            "host-status" => &["--group", "host,status", "--count"],
            "percentiles" => &["--group", "host", "--quantiles", "ping:p50,p95,p99"],
            "hourly" => &["--time-bucket", "1h", "--count"],
            "needle" => &["--samples", "1", "--columns", "index_int,ping"],
            _ => &["--group", "index_int", "--count", "--sort", "index_int", "--desc", "--limit", "10"],
        };
        let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        match self.id {
            "day" => words.extend(["--since".into(), moment(DAY_ASKED), "--until".into(), moment(DAY_ASKED + DAY_S)]),
            "needle" => words.extend(["--where".into(), format!("index_int = {}", facts.needle)]),
            _ => {}
        }
        words
    }

    /// The question in DuckDB's SQL; the table's `time` holds seconds.
    pub(super) fn sql(&self, facts: &Facts) -> String {
        match self.id {
            "host" => "SELECT host, count(*) AS count FROM events GROUP BY host".to_owned(),
            "host-status" => "SELECT host, status, count(*) AS count FROM events GROUP BY host, status".to_owned(),
            "percentiles" => {
                let quantile = |p: u32| format!("quantile_disc(ping, 0.{p:02}) AS \"p{p}(ping)\"");
                let [a, b, c] = [50, 95, 99].map(quantile);
                format!("SELECT host, {a}, {b}, {c} FROM events GROUP BY host")
            }
            "hourly" => {
                "SELECT time // 3600 AS hour, count(*) AS count FROM events GROUP BY hour ORDER BY hour".to_owned()
            }
            "day" => {
                let (from, to) = (DAY_ASKED, DAY_ASKED + DAY_S);
                format!("SELECT host, count(*) AS count FROM events WHERE time >= {from} AND time < {to} GROUP BY host")
            }
            "needle" => format!("SELECT index_int, ping FROM events WHERE index_int = {}", facts.needle),
            _ => "SELECT index_int, count(*) AS count FROM events GROUP BY index_int ORDER BY index_int DESC LIMIT 10"
                .to_owned(),
        }
    }

    /// Checks an answer, a JSON array of objects. Only hours must be in order.
    ///
    /// # Errors
    /// If the answer is wrong.
    pub(super) fn check(&self, answer: &[u8], facts: &Facts) -> Result<(), BenchError> {
        let wrong = |told: String| BenchError::Wrong(format!("{}: {told}", self.id));
        let rows: Vec<Value> = serde_json::from_slice(answer).map_err(|e| wrong(e.to_string()))?;
        let cells = |row: &Value| Value::Array(self.columns.iter().map(|name| row[*name].clone()).collect());
        let mut found: Vec<Value> = rows.iter().map(cells).collect();
        let mut right = (self.right)(facts);
        if self.id != "hourly" {
            found.sort_by_cached_key(Value::to_string);
            right.sort_by_cached_key(Value::to_string);
        }
        match found.iter().zip(&right).find(|(found, right)| found != right) {
            Some((found, right)) => Err(wrong(format!("{found} where {right} is right"))),
            None if found.len() != right.len() => Err(wrong(format!("{} rows of {}", found.len(), right.len()))),
            None => Ok(()),
        }
    }
}
