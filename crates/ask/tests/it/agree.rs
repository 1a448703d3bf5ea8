//! Random questions over random tables give the same answers as the reference.

use std::collections::BTreeSet;

use arrow::array::RecordBatch;
use ask::{Answer, AskError, Bucket, Cache, Measure, Options, Order, Partial, Question, Replacement, Samples};
use proptest::prelude::*;
use snapshot::Snapshot;

use crate::reference::{Condition, Plain, PlainMeasure, Row, Value, is_same, rows, values};
use crate::tables::{Dice, HOSTS, HOUR, START, TAGS, table};

fn sign(dice: &mut Dice) -> &'static str {
    ["=", "!=", "<", "<=", ">", ">="][dice.below(6) as usize]
}

fn time_text(micros: i64) -> String {
    let time = chrono::DateTime::from_timestamp_micros(micros).unwrap();
    time.to_rfc3339_opts(chrono::SecondsFormat::Micros, true)
}

/// A random value of a column, and its text.
fn literal(dice: &mut Dice, column: &str, all: &[Row]) -> (Value, String) {
    // Most often a value that occurs.
    if !all.is_empty() && dice.chance(60) {
        let value = dice.pick(all)[column].clone();
        let text = match (&value, column) {
            (Value::Int(v), "time") => Some(format!("'{}'", time_text(*v as i64))),
            (Value::Int(v), "flag") => Some((*v == 1).to_string()),
            (Value::Int(v), "day") => Some(format!("'{}'", day(*v))),
            (Value::Int(v), _) => Some(v.to_string()),
            (Value::Float(v), _) if v.is_finite() => Some(format!("{v:?}")),
            (Value::Text(v), _) => Some(format!("'{v}'")),
            _ => None,
        };
        if let Some(text) = text {
            return (value, text);
        }
    }
    match column {
        "time" => {
            let at = START + dice.below(30) as i64 * HOUR;
            (Value::Int(at.into()), format!("'{}'", time_text(at)))
        }
        "host" | "word" => {
            let text = if dice.chance(50) { "prefix-1" } else { *dice.pick(&HOSTS) };
            (Value::Text(text.to_owned()), format!("'{text}'"))
        }
        "flag" => (Value::Int(1), "true".to_owned()),
        "day" => (Value::Int(20_304), format!("'{}'", day(20_304))),
        "x" | "y" => {
            let v = dice.below(9) as f64 / 2.0 - 2.0;
            (Value::Float(v), format!("{v:?}"))
        }
        _ if dice.chance(30) => (Value::Float(2.5), "2.5".to_owned()),
        _ => {
            let v = dice.below(300) as i64 - 10;
            (Value::Int(v.into()), v.to_string())
        }
    }
}

fn day(days: i128) -> String {
    (chrono::NaiveDate::default() + chrono::TimeDelta::days(days as i64)).to_string()
}

fn condition(dice: &mut Dice, depth: u32, sets: bool, all: &[Row]) -> Condition {
    let columns = ["time", "host", "word", "n", "key", "big", "x", "y", "flag", "day"];
    if depth > 0 && dice.chance(45) {
        let parts = (0..=dice.below(3)).map(|_| condition(dice, depth - 1, sets, all)).collect();
        return match dice.below(3) {
            0 => Condition::All(parts),
            1 => Condition::Any(parts),
            _ => Condition::Not(Box::new(condition(dice, depth - 1, sets, all))),
        };
    }
    match dice.below(if sets { 7 } else { 6 }) {
        0 => Condition::Null((*dice.pick(&columns)).to_owned()),
        1 => {
            let column = *dice.pick(&["host", "n", "key", "y", "word", "day"]);
            let mut list: Vec<(Value, String)> = (0..=dice.below(4)).map(|_| literal(dice, column, all)).collect();
            if dice.chance(10) {
                list.push((Value::Null, "NULL".to_owned()));
            }
            let (values, texts): (Vec<Value>, Vec<String>) = list.into_iter().unzip();
            Condition::In(column.to_owned(), values, texts.join(", "))
        }
        2 => {
            let pattern = *dice.pick(&["^a", "ta", "-[12]$", "prefix-0", "^$", "z{3}"]);
            Condition::Match((*dice.pick(&["host", "word"])).to_owned(), pattern.to_owned())
        }
        3 => Condition::Arithmetic {
            a: "n".to_owned(),
            operator: *dice.pick(&['+', '-', '*', '/']),
            b: (*dice.pick(&["n", "key", "big"])).to_owned(),
            sign: sign(dice),
            c: dice.below(40) as i64 - 5,
        },
        6 => Condition::Has("tags".to_owned(), (*dice.pick(&TAGS)).to_owned()),
        _ => {
            let column = *dice.pick(&columns);
            let (value, text) = literal(dice, column, all);
            Condition::Compare(column.to_owned(), sign(dice), value, text)
        }
    }
}

fn measures(dice: &mut Dice) -> (Vec<Measure>, Vec<PlainMeasure>) {
    let (mut asked, mut plain): (Vec<Measure>, Vec<PlainMeasure>) = (Vec::new(), Vec::new());
    for _ in 0..dice.below(4) {
        let number = (*dice.pick(&["n", "big", "y", "key"])).to_owned();
        let any = (*dice.pick(&["time", "host", "word", "n", "big", "x", "y", "flag", "day"])).to_owned();
        let (measure, what, column) = match dice.below(10) {
            0 => (Measure::Count, "count", String::new()),
            1 => (Measure::Average(number.clone()), "avg", number),
            2 => (Measure::Sum(number.clone()), "sum", number),
            3 => (Measure::Least(any.clone()), "min", any),
            4 => (Measure::Greatest(any.clone()), "max", any),
            5 => (Measure::Deviation(number.clone()), "stddev", number),
            6 => (Measure::Distinct(any.clone()), "distinct", any),
            7 => {
                let column = *dice.pick(&["n", "big", "key"]);
                (Measure::Histogram(column.to_owned()), "hist", column.to_owned())
            }
            8 => {
                let column = *dice.pick(&["n", "big", "key", "y"]);
                (Measure::LogHistogram(column.to_owned()), "loghist", column.to_owned())
            }
            _ => {
                let column = (*dice.pick(&["n", "big", "x", "y", "time"])).to_owned();
                let shares = [0u64, 50, 95, 100];
                let list = shares.iter().map(|s| format!("p{s}").parse().unwrap()).collect();
                for share in shares {
                    plain.push((format!("p{share}({column})"), "quantile", column.clone(), share));
                }
                asked.push(Measure::Quantiles(column, list));
                continue;
            }
        };
        plain.push((measure.names()[0].clone(), what, column, 0));
        asked.push(measure);
    }
    let mut names = BTreeSet::new();
    if !plain.iter().all(|(name, ..)| names.insert(name.clone())) {
        return measures(dice);
    }
    if asked.is_empty() {
        plain.push(("count".to_owned(), "count", String::new(), 0));
    }
    (asked, plain)
}

/// The same random question for this crate and for the reference.
fn question(dice: &mut Dice, sets: bool, all: &[Row]) -> (Question, Plain) {
    let columns = ["host", "word", "n", "big", "x", "flag", "day", "key", "tags"];
    let columns = if sets { &columns[..] } else { &columns[..8] };
    let mut groups: Vec<String> = (0..dice.below(3)).map(|_| (*dice.pick(columns)).to_owned()).collect();
    groups.dedup();
    let (measures, plain_measures) = measures(dice);
    let conditions: Vec<Condition> = (0..dice.below(3)).map(|_| condition(dice, 2, sets, all)).collect();
    let bucket = dice.chance(25).then(|| *dice.pick(&[HOUR, 15 * HOUR, 24 * HOUR, 1]));
    let mut moment = |percent: u64| dice.chance(percent).then(|| START + dice.below(20_000) as i64 * 1_000_003);
    let window = (moment(30), moment(30));
    let weight = dice.chance(20).then(|| (*dice.pick(&["key", "y"])).to_owned());
    let labels = ["tags", "host"].into_iter().find(|c| groups.iter().any(|g| g == c));
    let replace = labels.filter(|_| dice.chance(40)).map(|column| {
        let (pattern, label) = *dice.pick(&[("[0-9]", "#"), ("mod(.)", "m"), ("^(.).*", "$1")]);
        (column.to_owned(), pattern.to_owned(), label.to_owned())
    });
    let plain = Plain {
        groups: groups.clone(),
        measures: plain_measures,
        conditions: conditions.clone(),
        bucket,
        window,
        weight: weight.clone(),
        replace: replace.clone(),
    };
    let question = Question {
        groups,
        measures,
        conditions: conditions.iter().map(Condition::text).collect(),
        bucket: bucket.map(|micros| Bucket { micros }),
        weight,
        replacements: replace
            .map(|(column, pattern, with)| Replacement { column, pattern, with })
            .into_iter()
            .collect(),
        since: window.0,
        until: window.1,
        ..Question::default()
    };
    (question, plain)
}

/// Compares an answer in key order with the reference's.
fn check(answer: &Answer, expected: &[(Vec<Value>, Vec<Value>)], names: &[String], context: &dyn std::fmt::Display) {
    let have: Vec<Vec<Value>> = answer.rows.columns().iter().map(values).collect();
    let schema = answer.rows.schema();
    let columns: Vec<&String> = schema.fields().iter().skip(answer.keys).map(|f| f.name()).collect();
    assert_eq!(columns, names.iter().collect::<Vec<_>>(), "{context}");
    assert_eq!(answer.rows.num_rows(), expected.len(), "groups of {context}: {:?}", answer.rows);
    for (row, (key, measured)) in expected.iter().enumerate() {
        let have_key: Vec<&Value> = have[..answer.keys].iter().map(|column| &column[row]).collect();
        assert_eq!(have_key, key.iter().collect::<Vec<_>>(), "{context}");
        for ((column, want), name) in have[answer.keys..].iter().zip(measured).zip(names) {
            let scale = if name.contains("big") { 1e19 } else { 1.0 };
            assert!(
                is_same(&column[row], want, scale),
                "{name} of {key:?} is {:?}, not {want:?}: {context}",
                column[row]
            );
        }
    }
}

/// Every way to compute the answer to a question.
fn ways(source: &Snapshot, question: &Question) -> Vec<(&'static str, Result<Answer, AskError>)> {
    let options = |threads| Options { threads, ..Options::default() };
    let cache = Some(Cache::of(&source.root).with_rows_min(1));
    let keeping = Options { cache, ..options(2) };
    vec![
        ("one thread", ask::answer(source, question, &options(1))),
        ("three threads", ask::answer(source, question, &options(3))),
        ("cached", ask::answer(source, question, &keeping)),
        ("cached", ask::answer(source, question, &keeping)),
        ("together", together(source, question)),
    ]
}

/// Two machines with half the rows each exchange encoded partial answers.
fn together(source: &Snapshot, question: &Question) -> Result<Answer, AskError> {
    let half = source.segments.len() / 2;
    let (a, b) = source.segments.split_at(half);
    let one = Snapshot { segments: b.to_vec(), unflushed: Vec::new(), ..source.clone() };
    let other = Snapshot { segments: a.to_vec(), ..source.clone() };
    let write = |source: &Snapshot| ask::partial(source, question, &Options::default())?.encode();
    let mut merged = Partial::decode("one", &write(&one)?)?;
    merged.merge(Partial::decode("other", &write(&other)?)?)?;
    merged.answer()
}

fn agree(seed: u64) {
    let folder = tempfile::tempdir().unwrap();
    let mut dice = Dice(seed);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (source, batches) = runtime.block_on(table(&mut dice, folder.path()));
    let all: Vec<Row> = batches.iter().flat_map(rows).collect();
    let sets = source.schema.index_of("tags").is_ok();
    for _ in 0..12 {
        let (asked, plain) = question(&mut dice, sets, &all);
        let expected = plain.answer(&all);
        let names: Vec<String> = plain.measures.iter().map(|(name, ..)| name.clone()).collect();
        // First in key order: sorted by the first key column, if any.
        let first = asked.bucket.map(|_| "time".to_owned()).or_else(|| asked.groups.first().cloned());
        let by_key = Question { order: first.map(|by| Order { by, ascending: true }), ..asked.clone() };
        for (way, answer) in ways(&source, &by_key) {
            let context = format!("seed {seed}, {way}: {by_key:?}");
            check(&answer.unwrap_or_else(|e| panic!("{e}: {context}")), &expected, &names, &context);
        }
        top(&source, &asked, &plain, expected, &names);
        sample(&mut dice, &source, &asked, &plain, &all, &batches);
    }
}

/// Limited answers hold the top groups by the first measure.
fn top(
    source: &Snapshot,
    asked: &Question,
    plain: &Plain,
    mut expected: Vec<(Vec<Value>, Vec<Value>)>,
    names: &[String],
) {
    let inexact = ["avg", "stddev", "hist", "loghist"].contains(&plain.measures[0].1);
    let summed = plain.measures[0].1 == "sum" || plain.weight.is_some();
    if asked.bucket.is_some() || inexact || (summed && plain.measures[0].2 != "n") {
        return;
    }
    let last_if_null = |v: &Value| *v == Value::Null;
    expected.sort_by(|a, b| {
        let (x, y) = (&a.1[0], &b.1[0]);
        last_if_null(x).cmp(&last_if_null(y)).then_with(|| y.cmp(x)).then_with(|| a.0.cmp(&b.0))
    });
    expected.truncate(3);
    let question = Question { limit: Some(3), ..asked.clone() };
    let answer = ask::answer(source, &question, &Options::default()).unwrap();
    check(&answer, &expected, names, &format!("{question:?}"));
}

/// Samples are the first matching rows.
fn sample(dice: &mut Dice, source: &Snapshot, asked: &Question, plain: &Plain, all: &[Row], batches: &[RecordBatch]) {
    let wanted = dice.below(20) as usize;
    let samples = Samples { rows: wanted, columns: vec!["key".to_owned(), "word".to_owned()] };
    let question = Question {
        conditions: asked.conditions.clone(),
        since: asked.since,
        until: asked.until,
        samples: Some(samples),
        ..Question::default()
    };
    let matching = Plain { conditions: plain.conditions.clone(), window: plain.window, ..Plain::default() };
    let count = |row: &&Row| {
        let one = Plain { measures: vec![("count".to_owned(), "count", String::new(), 0)], ..matching.clone() };
        one.answer(std::slice::from_ref(*row))[0].1[0] == Value::Int(1)
    };
    // Segments are sorted by path, and our own have random names.
    let answer = ask::answer(source, &question, &Options::default()).unwrap();
    let expected: Vec<&Row> = all.iter().filter(count).collect();
    assert_eq!(answer.rows.num_rows(), expected.len().min(wanted), "{question:?} of {} batches", batches.len());
    for row in rows(&answer.rows) {
        let found = expected.iter().any(|e| e["key"] == row["key"] && e["word"] == row["word"]);
        assert!(found, "{row:?} does not match {question:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, max_shrink_iters: 0, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_questions_match_the_reference(seed in any::<u64>()) {
        agree(seed);
    }
}
