//! Random questions about random messy tables: `ask` and SQL agree.
//!
//! A failure prints its seed and the smallest failing question. `MANYWORLDS_SEED` and `MANYWORLDS_QUESTIONS` select
//! other questions.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use ::ask::{Bucket, Measure, Options, Order, Question, Samples};
use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, ListBuilder, RecordBatch, StringArray,
    StringBuilder, TimestampMicrosecondArray,
};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Field, Schema};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use disk::RealDisk;
use serde_json::{Map, Value, json};
use snapshot::Snapshot;
use sql::{Engine, QueryError};
use table::{Clustering, Curve, EncodingSet, Inserter, Layout, TableName, TableOptions};

use crate::support::{program, run};

/// A random number generator (SplitMix64); equal seeds give equal numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.roll() % n as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

const TEXTS: [&str; 16] = [
    "", "alpha", "Alpha", "beta", "a%b", "a_b", r"a\b", r"\", r"\\", "é", "日本", "a\nb", "'q'", "NULL", "zz zz", "a.b",
];
const PATTERNS: [&str; 22] = [
    r"\\",
    "^a",
    "b$",
    "^$",
    "%",
    "_",
    r"a\\b",
    "A",
    "é",
    ".",
    r"^\\+$",
    "a.b",
    r"a\.b",
    "^(alpha|beta)$",
    "alpha|é",
    "",
    ".*",
    "[^a-z]",
    "^alpha$",
    r"^\\",
    "(?i)ALPHA",
    r"\n",
];
const REALS: [f64; 12] = [
    0.0,
    -0.0,
    1.5,
    -2.25,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    1e300,
    -1e300,
    1e-300,
    3.0,
    9_007_199_254_740_993.0,
];
const WHOLE: [i64; 10] =
    [i64::MIN, i64::MIN + 1, i64::MAX, i64::MAX - 1, 0, -1, 1, 1 << 53, (1 << 53) + 1, 1_234_567_890_123_456_789];
const TAGS: [&str; 4] = ["x", "y", r"\", "é"];
const START: i64 = 1_756_684_800_000_000;
const HOUR: i64 = 3_600_000_000;
const SETS: &str = "tags";

fn utc() -> DataType {
    DataType::Timestamp(arrow::datatypes::TimeUnit::Microsecond, Some("UTC".into()))
}

fn schema() -> Arc<Schema> {
    let fields = [
        ("time", utc()),
        ("host", DataType::Utf8),
        ("n", DataType::Int64),
        ("big", DataType::Int64),
        ("x", DataType::Float64),
        ("y", DataType::Float64),
        ("flag", DataType::Boolean),
        ("day", DataType::Date32),
        (SETS, DataType::List(Arc::new(Field::new("element", DataType::Utf8, true)))),
    ];
    Arc::new(Schema::new(fields.map(|(name, of)| Field::new(name, of, true)).to_vec()))
}

fn whole(dice: &mut Dice) -> i64 {
    if dice.chance(50) { dice.pick(&WHOLE) } else { dice.roll() as i64 }
}

fn rows(dice: &mut Dice, count: usize) -> RecordBatch {
    let empty = dice.pick(&[0, 10, 10, 100]);
    let mut columns: Vec<ArrayRef> = Vec::new();
    for field in schema().fields() {
        let empty = if dice.chance(50) { empty } else { 0 };
        let few = dice.chance(30);
        let mut some = |make: &mut dyn FnMut(&mut Dice)| -> bool {
            let is = !dice.chance(empty);
            make(dice);
            is
        };
        macro_rules! column {
            ($array:ty, $make:expr) => {{
                let mut made = Vec::with_capacity(count);
                for _ in 0..count {
                    let mut value = None;
                    let is = some(&mut |dice| value = Some($make(dice)));
                    made.push(value.filter(|_| is));
                }
                <$array>::from(made)
            }};
        }
        columns.push(match field.name().as_str() {
            "time" => {
                let times =
                    column!(TimestampMicrosecondArray, |dice: &mut Dice| START + dice.below(48) as i64 * HOUR / 2);
                Arc::new(times.with_timezone("UTC"))
            }
            "host" => {
                Arc::new(column!(StringArray, |dice: &mut Dice| TEXTS[dice.below(if few { 3 } else { TEXTS.len() })]))
            }
            "n" => Arc::new(column!(Int64Array, |dice: &mut Dice| dice.below(9) as i64 - 3)),
            "big" => Arc::new(column!(Int64Array, whole)),
            "x" => Arc::new(column!(Float64Array, |dice: &mut Dice| dice.pick(&REALS))),
            "y" => Arc::new(column!(Float64Array, |dice: &mut Dice| dice.below(20_000) as f64 / 16.0)),
            "flag" => Arc::new(column!(BooleanArray, |dice: &mut Dice| dice.chance(30))),
            "day" => Arc::new(column!(Date32Array, |dice: &mut Dice| 20_300 + dice.below(9) as i32)),
            _ => {
                let mut lists = ListBuilder::new(StringBuilder::new()).with_field(Arc::new(Field::new(
                    "element",
                    DataType::Utf8,
                    true,
                )));
                for _ in 0..count {
                    TAGS.iter().filter(|_| dice.chance(25)).for_each(|tag| lists.values().append_value(tag));
                    lists.append(!dice.chance(empty));
                }
                Arc::new(lists.finish())
            }
        });
    }
    RecordBatch::try_new(schema(), columns).unwrap()
}

fn options(dice: &mut Dice) -> TableOptions {
    let named = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let mut options =
        TableOptions::new(dice.pick(&[Layout::Column, Layout::Pruned, Layout::Pruned, Layout::Clustered]));
    options.group_rows = dice.pick(&[20, 100, 100_000]);
    options.encodings = dice.pick(&[EncodingSet::Portable, EncodingSet::Dense]);
    if options.layout != Layout::Column && dice.chance(50) {
        options.bloom = named(&["host", "big"]);
    }
    if dice.chance(40) {
        options.lookup = named(&["host", "n"]);
    }
    if options.layout == Layout::Clustered {
        options.clustering = Some(Clustering { columns: named(&["n", "y"]), curve: Curve::Hilbert });
    }
    options
}

/// Rows in the input format of `append`.
fn lines(dice: &mut Dice, count: usize) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..count {
        let mut row = Map::new();
        let mut put = |dice: &mut Dice, name: &str, value: Value| {
            if !dice.chance(15) {
                row.insert(name.to_owned(), value);
            }
        };
        let time = chrono::DateTime::from_timestamp_micros(START + dice.below(48) as i64 * HOUR / 2).unwrap();
        put(dice, "time", json!(time.to_rfc3339()));
        let (host, n, big, y) = (dice.pick(&TEXTS), dice.below(9) as i64 - 3, whole(dice), dice.below(99) as f64 + 0.5);
        put(dice, "host", json!(host));
        put(dice, "n", json!(n));
        put(dice, "big", json!(big));
        put(dice, "x", json!(y / 3.0));
        put(dice, "y", json!(y));
        put(dice, "flag", json!(n > 0));
        put(dice, SETS, json!([TAGS[n.unsigned_abs() as usize % 4]]));
        writeln!(text, "{}", Value::Object(row)).unwrap();
    }
    text
}

/// A table with segments, deleted rows and rows in its log, for `ask` and for SQL.
async fn messy(dice: &mut Dice, data: &Path) -> (Snapshot, Engine) {
    let name: TableName = "messy".parse().unwrap();
    let root = name.folder(data);
    std::fs::create_dir_all(root.parent().unwrap()).unwrap();
    let inserter = Inserter::open_or_create(&root, Arc::new(RealDisk), &schema(), &options(dice)).await.unwrap();
    for _ in 0..=dice.below(3) {
        let count = 1 + dice.below(300);
        inserter.insert(&[rows(dice, count)]).await.unwrap();
    }
    drop(inserter);
    if dice.chance(50) {
        let gone = dice.pick(&["n = 2", "host ~ 'a'", "x > 0", "flag", "big < 0 AND y > 600"]);
        let output = run(data, &["table", "delete", "messy", "--where", gone, "--apply"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    if dice.chance(70) {
        let count = 1 + dice.below(60);
        let text = lines(dice, count);
        let mut append = program(&["append", "messy", "--data"]).arg(data).stdin(Stdio::piped()).spawn().unwrap();
        append.stdin.take().unwrap().write_all(&text).unwrap();
        assert!(append.wait().unwrap().success());
    }
    let snapshot = Snapshot::open(&root, &[]).await.unwrap().unwrap();
    let make = Arc::new(|_: &ensemble::Plan| unreachable!("no ensemble is asked about"));
    let session = sql::Session::new(sql::Options { threads: 2, ..sql::Options::default() }).unwrap();
    let engine = Engine::open(data, Arc::new(RealDisk), make, &session).await.unwrap().unwrap();
    (snapshot, engine)
}

fn sign(dice: &mut Dice) -> &'static str {
    dice.pick(&["=", "!=", "<", "<=", ">", ">="])
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn literal(dice: &mut Dice, column: &str) -> String {
    let time = |dice: &mut Dice| {
        let time = chrono::DateTime::from_timestamp_micros(START + dice.below(30) as i64 * HOUR).unwrap();
        format!("'{}'", time.to_rfc3339_opts(chrono::SecondsFormat::Secs, true))
    };
    match column {
        "time" => time(dice),
        "host" => quoted(dice.pick(&TEXTS)),
        "flag" => dice.chance(50).to_string(),
        "day" => format!("'2025-08-{:02}'", 1 + dice.below(9)),
        // Smaller values are real numbers, and SQL compares them as such.
        "big" if dice.chance(80) => dice.pick(&WHOLE).max(i64::MIN + 1).to_string(),
        "n" if dice.chance(80) => (dice.below(9) as i64 - 3).to_string(),
        _ => dice.pick(&["0.0", "-0.0", "1.5", "-2.25", "1e300", "3", "600", "0", "9007199254740993"]).to_owned(),
    }
}

fn condition(dice: &mut Dice, depth: u32) -> String {
    if depth > 0 && dice.chance(40) {
        let (a, b) = (condition(dice, depth - 1), condition(dice, depth - 1));
        return match dice.below(3) {
            0 => format!("({a} AND {b})"),
            1 => format!("({a} OR {b})"),
            _ => format!("NOT ({a})"),
        };
    }
    let any = dice.pick(&["time", "host", "n", "big", "x", "y", "flag", "day"]);
    match dice.below(9) {
        0 => format!("{any} IS {}NULL", dice.pick(&["", "NOT "])),
        1 => {
            let column = dice.pick(&["host", "n", "big", "y", "x", "day"]);
            let list: Vec<String> = (0..=dice.below(4)).map(|_| literal(dice, column)).collect();
            format!("{column} {}IN ({})", dice.pick(&["", "NOT "]), list.join(", "))
        }
        2 | 3 => format!("host {} {}", dice.pick(&["~", "!~"]), quoted(dice.pick(&PATTERNS))),
        4 => {
            // Do not divide by a zero that may have a sign: the sign of the resulting infinity is undefined.
            let operator = dice.pick(&["+", "-", "*", "/"]);
            let b = dice.pick(if operator == "/" { &["n", "y", "3"] } else { &["n", "y", "x"] });
            format!("n {operator} {b} {} {}", sign(dice), literal(dice, "n"))
        }
        5 => format!("{SETS} {}HAS {}", dice.pick(&["", "NOT "]), quoted(dice.pick(&TAGS))),
        6 => format!("{} {} {}", dice.pick(&["n", "x", "big"]), sign(dice), dice.pick(&["y", "x", "n", "big"])),
        _ => format!("{any} {} {}", sign(dice), literal(dice, any)),
    }
}

fn question(dice: &mut Dice) -> Question {
    let mut question = Question::default();
    for _ in 0..dice.below(3) {
        question.conditions.push(condition(dice, 2));
    }
    if dice.chance(10) {
        question.samples = Some(Samples { rows: 10_000, columns: Vec::new() });
        return question;
    }
    for _ in 0..dice.below(3) {
        let column = dice.pick(&["host", "n", "flag", "day", SETS, "big", "x"]).to_owned();
        if !question.groups.contains(&column) {
            question.groups.push(column);
        }
    }
    if dice.chance(20) {
        question.bucket = Some(dice.pick(&["1h", "7h", "1d", "1w"]).parse::<Bucket>().unwrap());
    }
    for _ in 0..dice.below(4) {
        let number = dice.pick(&["n", "big", "y"]).to_owned();
        let any = dice.pick(&["time", "host", "n", "big", "x", "y", "flag", "day"]).to_owned();
        let measure = match dice.below(9) {
            0 => Measure::Count,
            1 => Measure::Average(number),
            2 => Measure::Sum(number),
            3 => Measure::Least(any),
            4 => Measure::Greatest(any),
            5 => Measure::Deviation(dice.pick(&["n", "y"]).to_owned()),
            6 => Measure::Distinct(any),
            7 => Measure::Sum("y".to_owned()),
            _ => {
                let column = dice.pick(&["n", "big", "y", "time"]).to_owned();
                Measure::Quantiles(column, vec!["p50".parse().unwrap(), "p95".parse().unwrap()])
            }
        };
        if !question.measures.contains(&measure) {
            question.measures.push(measure);
        }
    }
    if let (Some(group), true) = (question.groups.first(), dice.chance(20)) {
        question.order = Some(Order { by: group.clone(), ascending: dice.chance(50) });
        question.limit = Some(1 + dice.below(5));
    }
    if dice.chance(20) {
        question.since = Some(START + dice.below(20) as i64 * HOUR);
        question.until = question.since.map(|since| since + dice.below(20) as i64 * HOUR);
    }
    question
}

/// The cells of the rows, row by row, in sorted order.
fn cells(rows: &RecordBatch) -> Vec<Vec<String>> {
    let options = FormatOptions::default().with_null("NULL");
    let columns: Vec<_> = rows.columns().iter().map(|c| ArrayFormatter::try_new(c, &options).unwrap()).collect();
    let mut cells: Vec<Vec<String>> =
        (0..rows.num_rows()).map(|row| columns.iter().map(|c| c.value(row).to_string()).collect()).collect();
    cells.sort();
    cells
}

/// Whether two cells are equal; real numbers may differ by the order of addition.
fn alike(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    let is_real = |text: &str| text.contains(['.', 'e', 'N', 'i']);
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) if is_real(&a.to_string()) || is_real(&b.to_string()) || a.abs() > 1e15 => {
            a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-7 * a.abs().max(b.abs()).max(1e-6)
        }
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

async fn in_sql(engine: &Engine, sql: &str) -> Result<RecordBatch, QueryError> {
    let mut rows = engine.query(sql).await?;
    let mut batches = Vec::new();
    while let Some(batch) = rows.next().await {
        batches.push(batch?);
    }
    Ok(concat_batches(&rows.schema(), &batches).unwrap())
}

/// The first difference, if any.
async fn difference(source: &Snapshot, engine: &Engine, question: &Question) -> Option<String> {
    let options = Options { threads: 2, memory_bytes: 1 << 30, cache: None };
    let sql = match ::ask::sql(("default", "messy"), question, &source.schema) {
        Ok(sql) => sql,
        Err(error) => return ::ask::answer(source, question, &options).is_ok().then(|| error.to_string()),
    };
    let by_sql = in_sql(engine, &sql).await;
    let (by_ask, by_sql) = match (::ask::answer(source, question, &options), by_sql) {
        (Ok(by_ask), Ok(by_sql)) => (cells(&by_ask.rows), cells(&by_sql)),
        (Err(_), Err(_)) => return None,
        (by_ask, by_sql) => {
            let said = |error: Option<String>| error.unwrap_or_else(|| "an answer".to_owned());
            let (ask, engine) = (by_ask.err().map(|e| e.to_string()), by_sql.err().map(|e| e.to_string()));
            return Some(format!("{sql}\nask: {}\nSQL: {}", said(ask), said(engine)));
        }
    };
    let differs = |(a, b): (&Vec<String>, &Vec<String>)| !a.iter().zip(b).all(|(a, b)| alike(a, b));
    if by_ask.len() != by_sql.len() {
        return Some(format!("{sql}\nask: {} rows {by_ask:?}\nSQL: {} rows {by_sql:?}", by_ask.len(), by_sql.len()));
    }
    let at = by_ask.iter().zip(&by_sql).position(differs)?;
    Some(format!("{sql}\nask: {:?}\nSQL: {:?}", by_ask[at], by_sql[at]))
}

/// Questions with one part less.
fn smaller(question: &Question) -> Vec<Question> {
    let mut all = Vec::new();
    let mut less = |change: &dyn Fn(&mut Question)| {
        let mut changed = question.clone();
        change(&mut changed);
        if changed != *question {
            all.push(changed);
        }
    };
    (0..question.conditions.len()).for_each(|i| less(&|q| drop(q.conditions.remove(i))));
    (0..question.measures.len()).for_each(|i| less(&|q| drop(q.measures.remove(i))));
    (0..question.groups.len()).for_each(|i| less(&|q| drop(q.groups.remove(i))));
    less(&|q| (q.order, q.limit) = (None, None));
    less(&|q| q.bucket = None);
    less(&|q| (q.since, q.until) = (None, None));
    all
}

async fn smallest(source: &Snapshot, engine: &Engine, mut question: Question, mut found: String) -> String {
    'again: loop {
        for less in smaller(&question) {
            if let Some(still) = difference(source, engine, &less).await {
                (question, found) = (less, still);
                continue 'again;
            }
        }
        return format!("{question:?}\n{found}");
    }
}

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap())
}

#[tokio::test]
async fn ask_and_sql_agree() {
    const OF_A_TABLE: u64 = 100;
    let (first, questions) = (setting("MANYWORLDS_SEED", 1), setting("MANYWORLDS_QUESTIONS", 1_000));
    let (mut different, mut refused) = (Vec::new(), 0_u64);
    for seed in first..first + questions.div_ceil(OF_A_TABLE) {
        let folder = tempfile::tempdir().unwrap();
        let mut dice = Dice(seed);
        let (source, engine) = messy(&mut dice, folder.path()).await;
        for _ in 0..OF_A_TABLE {
            let question = question(&mut dice);
            refused += u64::from(::ask::sql(("default", "messy"), &question, &source.schema).is_err());
            if let Some(found) = difference(&source, &engine, &question).await {
                different.push(format!("seed {seed}: {}", smallest(&source, &engine, question, found).await));
            }
        }
    }
    assert!(refused * 4 < questions, "{refused} of {questions} questions make no sense");
    assert!(different.is_empty(), "{} of {questions} differ\n{}", different.len(), different.join("\n\n"));
}
