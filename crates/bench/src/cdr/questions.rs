//! The questions asked of every variant.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use arrow::array::{Array, AsArray, RecordBatch, TimestampMicrosecondArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Decimal128Type, Float64Type, Int64Type};
use disk::RealDisk;
use serde::Serialize;
use sql::{Engine, MakeModel, Options, QueryError, Reading, Session};

use super::avro::AvroTable;
use super::avro_provider::provider;
use super::expected::{Answer, Expected, Group, HOUR_MICROS};
use super::insert::{BASELINE, table_folder};
use crate::error::BenchError;
use crate::harness::statistics::median;

/// Repeats of a question; the report shows the median.
const REPEATS: usize = 3;
/// Total time after which a question is not asked again.
const ENOUGH_MS: f64 = 5_000.0;

/// An SQL session over a pass's tables, as a long-lived program would keep it.
pub(crate) struct Sql {
    engine: Engine,
    /// Bytes of Avro files read since the last answer.
    avro_bytes: Arc<AtomicU64>,
}

impl Sql {
    /// Opens the tables in the folder `data`, and its baseline.
    pub(crate) async fn open(data: &Path) -> Result<Self, BenchError> {
        let (options, avro_bytes) = (Options::default(), Arc::default());
        let baseline = AvroTable::open(&table_folder(data, BASELINE))?;
        let baseline = baseline.ok_or_else(|| BenchError::Missing(format!("table {BASELINE}")))?;
        let baseline = provider(&baseline, options.threads, &avro_bytes)?;
        let no_model: MakeModel = Arc::new(|_| Err("the benchmark stores no ensembles".into()));
        let engine = Engine::open(data, Arc::new(RealDisk), no_model, &Session::new(options)?).await?;
        let engine = engine.ok_or_else(|| BenchError::Missing("tables".to_owned()))?;
        engine.add_table(BASELINE, Arc::new(baseline))?;
        Ok(Self { engine, avro_bytes })
    }

    /// An answer, and the data read for it. The baseline has no row groups.
    async fn query(&self, statement: &str) -> Result<(Vec<RecordBatch>, Reading), QueryError> {
        let mut rows = self.engine.query(statement).await?;
        let mut batches = Vec::new();
        while let Some(batch) = rows.next().await {
            batches.push(batch?);
        }
        let mut reading = rows.reading();
        reading.bytes += self.avro_bytes.swap(0, Ordering::Relaxed);
        Ok((batches, reading))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub name: &'static str,
    /// The question in plain words.
    pub what: &'static str,
    /// The statement; `{t}` is the variant's table.
    pub sql: String,
}

/// An answered question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Queried {
    pub name: &'static str,
    pub variant: &'static str,
    /// Median elapsed time.
    pub ms: f64,
    pub first_ms: f64,
    pub bytes_read: u64,
    pub groups_read: u64,
    pub groups_total: u64,
    pub rows: u64,
}

/// All questions, with values taken from the records.
pub(crate) fn questions(expected: &Expected) -> Vec<Question> {
    const AGGREGATES: &str = "count(*), avg(duration_seconds), sum(billing_amount)";
    let plain = |name, what, condition: String| Question {
        name,
        what,
        sql: format!("SELECT {AGGREGATES} FROM {{t}} WHERE {condition}"),
    };
    let number = |number: &str| format!("'{}'", number.replace('\'', "''"));
    let hour_ago = iso(expected.last - HOUR_MICROS);
    let list = expected.listed.iter().map(|n| number(n)).collect::<Vec<_>>().join(", ");
    vec![
        plain(
            "Q1",
            "the last hour",
            "call_timestamp >= (SELECT max(call_timestamp) FROM {t}) - INTERVAL '1 hour'".to_owned(),
        ),
        plain("hour", "the last hour, written out", format!("call_timestamp >= '{hour_ago}Z'")),
        plain("Q2", "one caller, often calling", format!("caller_number = {}", number(&expected.hot))),
        plain(
            "Q3",
            "three hours and 101 towers of a day",
            "call_date = DATE '2025-10-01' AND call_hour BETWEEN 8 AND 10 AND cell_tower_id BETWEEN 1000 AND 1100"
                .to_owned(),
        ),
        Question {
            name: "Q4",
            what: "the ten busiest towers",
            sql: format!(
                "SELECT cast(cell_tower_id AS varchar) AS key, {AGGREGATES} FROM {{t}} GROUP BY cell_tower_id \
                 ORDER BY count(*) DESC, cell_tower_id LIMIT 10"
            ),
        },
        plain("hours", "three hours", "call_hour BETWEEN 8 AND 10".to_owned()),
        plain("towers", "101 towers", "cell_tower_id BETWEEN 1000 AND 1100".to_owned()),
        plain("cold", "one caller, seldom calling", format!("caller_number = {}", number(&expected.cold))),
        plain("absent", "one caller who never called", format!("caller_number = {}", number(&expected.absent))),
        plain("callee", "one callee", format!("callee_number = {}", number(&expected.callee))),
        plain("list", "five callers, two of whom never called", format!("caller_number IN ({list})")),
        Question {
            name: "join",
            what: "three hours by region, joined with the towers",
            sql: format!(
                "SELECT region AS key, {AGGREGATES} FROM {{t}} JOIN towers ON cell_tower_id = tower_id \
                 WHERE call_hour BETWEEN 8 AND 10 GROUP BY region ORDER BY region"
            ),
        },
    ]
}

/// Formats microseconds since 1970 as SQL does.
fn iso(micros: i64) -> String {
    let time = TimestampMicrosecondArray::from(vec![micros]).value_as_datetime(0);
    time.map_or_else(String::new, |time| time.to_string())
}

/// Asks a question of a variant; an error if the answer differs from `expected`.
pub(crate) async fn ask(
    sql: &Sql,
    question: &Question,
    variant: &'static str,
    expected: &Answer,
) -> Result<Queried, BenchError> {
    let statement = question.sql.replace("{t}", &format!("\"{variant}\""));
    let refused = |source| BenchError::Sql { statement: statement.clone(), source };
    let mut times = Vec::with_capacity(REPEATS);
    let mut reading = Reading::default();
    while times.len() < REPEATS && times.iter().sum::<f64>() < ENOUGH_MS {
        let started = Instant::now();
        let (batches, read) = sql.query(&statement).await.map_err(|e| refused(e.into()))?;
        times.push(started.elapsed().as_secs_f64() * 1e3);
        reading = read;
        let answer = answer(&batches).map_err(|e| refused(e.into()))?;
        if !answer.is(expected) {
            let (name, what) = (question.name, question.what);
            return Err(BenchError::Wrong(format!("{name} ({what}) of {variant}: {answer:?} for {expected:?}")));
        }
    }
    Ok(Queried {
        name: question.name,
        variant,
        ms: median(&times),
        first_ms: times[0],
        bytes_read: reading.bytes,
        groups_read: reading.groups_read,
        groups_total: reading.groups_total,
        rows: expected.rows,
    })
}

/// Reads an answer: an optional key, then count, mean and sum.
fn answer(batches: &[RecordBatch]) -> Result<Answer, arrow::error::ArrowError> {
    let mut groups = Vec::new();
    for batch in batches {
        let columns = batch.columns();
        let (keys, figures) = columns.split_at(columns.len() - 3);
        let keys = keys.first().map(|k| cast(k, &DataType::Utf8)).transpose()?;
        let counts = cast(&figures[0], &DataType::Int64)?;
        let means = cast(&figures[1], &DataType::Float64)?;
        let sums = cast(&figures[2], &DataType::Decimal128(38, 4))?;
        for i in 0..batch.num_rows() {
            let is_null = sums.is_null(i);
            groups.push(Group {
                key: keys.as_ref().map(|k| k.as_string::<i32>().value(i).to_owned()).unwrap_or_default(),
                count: counts.as_primitive::<Int64Type>().value(i) as u64,
                mean: if is_null { 0.0 } else { means.as_primitive::<Float64Type>().value(i) },
                sum: if is_null { 0 } else { sums.as_primitive::<Decimal128Type>().value(i) },
            });
        }
    }
    Ok(Answer { rows: groups.iter().map(|g| g.count).sum(), groups })
}
