//! The questions: arguments for this program, SQL for the baseline, and the expected answers.

use serde_json::Value;

use super::events::{DAY_S, START_S};
use super::expected::{DAY_ASKED, Expected};
use crate::error::BenchError;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Question {
    pub(crate) id: &'static str,
    /// The question in plain words.
    pub(crate) what: &'static str,
    /// Published CPU milliseconds of this program's predecessor and of DuckDB with its own format, on the same kind of
    /// machine.
    pub(crate) reference: [Option<f64>; 2],
    /// Bar and aim in CPU milliseconds.
    pub(crate) goal: Option<[f64; 2]>,
    /// The arguments after `manyworlds ask TABLE`, separated by spaces. `{needle}` is the number of one event, `{from}` and
    /// `{to}` are the bounds of one day.
    ask: &'static str,
    /// The question in DuckDB's SQL, with the same marks; the table's `time` holds seconds.
    sql: &'static str,
    /// The columns of the answer.
    columns: &'static [&'static str],
    right: fn(&Expected) -> Vec<Value>,
}

pub(crate) const QUESTIONS: [Question; 7] = [
    Question {
        id: "host",
        what: "count by host",
        reference: [Some(638.0), Some(73.0)],
        goal: Some([100.0, 50.0]),
        ask: "--group host --count",
        sql: "SELECT host, count(*) AS count FROM events GROUP BY host",
        columns: &["host", "count"],
        right: Expected::by_host,
    },
    Question {
        id: "host-status",
        what: "count by host and status",
        reference: [Some(938.0), Some(144.0)],
        goal: Some([180.0, 100.0]),
        ask: "--group host,status --count",
        sql: "SELECT host, status, count(*) AS count FROM events GROUP BY host, status",
        columns: &["host", "status", "count"],
        right: Expected::by_host_and_status,
    },
    Question {
        id: "percentiles",
        what: "p50, p95, p99 of ping by host, exact",
        reference: [Some(1225.0), Some(350.0)],
        goal: Some([400.0, 200.0]),
        ask: "--group host --quantiles ping:p50,p95,p99",
        sql: "SELECT host, quantile_disc(ping, 0.50) AS \"p50(ping)\", quantile_disc(ping, 0.95) AS \"p95(ping)\", \
              quantile_disc(ping, 0.99) AS \"p99(ping)\" FROM events GROUP BY host",
        columns: &["host", "p50(ping)", "p95(ping)", "p99(ping)"],
        right: Expected::percentiles,
    },
    Question {
        id: "hourly",
        what: "count by hour",
        reference: [Some(717.0), Some(139.0)],
        goal: Some([150.0, 80.0]),
        ask: "--time-bucket 1h --count",
        sql: "SELECT time // 3600 AS hour, count(*) AS count FROM events GROUP BY hour ORDER BY hour",
        columns: &["count"],
        right: Expected::by_hour,
    },
    Question {
        id: "day",
        what: "count by host in one day of 28",
        reference: [Some(45.0), Some(49.0)],
        goal: Some([45.0, 20.0]),
        ask: "--group host --count --since {from} --until {to}",
        sql: "SELECT host, count(*) AS count FROM events WHERE time >= {from} AND time < {to} GROUP BY host",
        columns: &["host", "count"],
        right: Expected::by_host_in_day,
    },
    Question {
        id: "needle",
        what: "one row by its key",
        reference: [Some(79.0), Some(44.0)],
        goal: Some([40.0, 15.0]),
        ask: "--samples 1 --columns index_int,ping --where index_int={needle}",
        sql: "SELECT index_int, ping FROM events WHERE index_int = {needle}",
        columns: &["index_int", "ping"],
        right: Expected::needle,
    },
    Question {
        id: "top",
        what: "the ten greatest of a key that each row has its own of, counted",
        reference: [None, None],
        goal: None,
        ask: "--group index_int --count --sort index_int --desc --limit 10",
        sql: "SELECT index_int, count(*) AS count FROM events GROUP BY index_int ORDER BY index_int DESC LIMIT 10",
        columns: &["index_int", "count"],
        right: Expected::last_numbers,
    },
];

/// Puts values into the marks of a question; `moment` formats a time.
fn fill(question: &str, expected: &Expected, moment: fn(i64) -> String) -> String {
    let question = question.replace("{needle}", &expected.needle.to_string());
    question.replace("{from}", &moment(DAY_ASKED)).replace("{to}", &moment(DAY_ASKED + DAY_S))
}

impl Question {
    /// The arguments after `manyworlds ask TABLE`.
    pub(crate) fn words(&self, expected: &Expected) -> Vec<String> {
        let moment = |seconds| format!("2026-01-{:02}T00:00:00Z", (seconds - START_S) / DAY_S + 1);
        fill(self.ask, expected, moment).split(' ').map(str::to_owned).collect()
    }

    /// The question in DuckDB's SQL.
    pub(crate) fn sql(&self, expected: &Expected) -> String {
        fill(self.sql, expected, |seconds| seconds.to_string())
    }

    /// Checks an answer, a JSON array of objects. Only hours must be in order.
    pub(crate) fn check(&self, answer: &[u8], expected: &Expected) -> Result<(), BenchError> {
        let wrong = |told: String| BenchError::Wrong(format!("{}: {told}", self.id));
        let rows: Vec<Value> = serde_json::from_slice(answer).map_err(|e| wrong(e.to_string()))?;
        let cells = |row: &Value| Value::Array(self.columns.iter().map(|name| row[*name].clone()).collect());
        let mut found: Vec<Value> = rows.iter().map(cells).collect();
        let mut right = (self.right)(expected);
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
