//! Many more groups than fit a table of one thread.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array as _, ArrayRef, AsArray, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use arrow::datatypes::{DataType, Field, Float64Type, Int64Type, Schema, TimeUnit};
use ask::{Answer, Cache, Measure, Options, Order, Partial, Question};
use disk::RealDisk;
use snapshot::Snapshot;
use table::{Inserter, Layout, TableOptions};

use crate::tables::START;

const SEGMENTS: i64 = 3;
/// Rows of a segment, each with a key of its own.
const ROWS: i64 = 200_000;

/// A key, a text and a value of each row. Half of a segment's keys are in the segment before, too.
fn rows(segment: i64) -> impl Iterator<Item = (Option<i64>, Option<String>, i64)> {
    (0..ROWS).map(move |row| {
        // Spread, so that keys are not in order.
        let key = segment * ROWS / 2 + row * 7_919 % ROWS;
        let word = (key % 11 != 0).then(|| format!("word {}", key % 5_003));
        ((key % 1_009 != 0).then_some(key), word, key % 17 + segment)
    })
}

async fn source(root: &Path) -> Snapshot {
    let utc = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let schema = Arc::new(Schema::new(vec![
        Field::new("time", utc, true),
        Field::new("key", DataType::Int64, true),
        Field::new("word", DataType::Utf8, true),
        Field::new("n", DataType::Int64, true),
    ]));
    let options = TableOptions::new(Layout::Pruned);
    let inserter = Inserter::open_or_create(root, Arc::new(RealDisk), &schema, &options).await.unwrap();
    let batch = |segment: i64| {
        let (mut keys, mut words, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        for (key, word, n) in rows(segment) {
            keys.push(key);
            words.push(word);
            numbers.push(n);
        }
        let times = TimestampMicrosecondArray::from_iter_values((0..ROWS).map(|row| START + row));
        let columns: [ArrayRef; 4] = [
            Arc::new(times.with_timezone("UTC")),
            Arc::new(Int64Array::from(keys)),
            Arc::new(StringArray::from(words)),
            Arc::new(Int64Array::from(numbers)),
        ];
        RecordBatch::try_new(schema.clone(), columns.to_vec()).unwrap()
    };
    for segment in 0..SEGMENTS - 1 {
        inserter.insert(&[batch(segment)]).await.unwrap();
    }
    let mut source = Snapshot::open(root, &[]).await.unwrap().unwrap();
    source.unflushed = vec![batch(SEGMENTS - 1)];
    source
}

type Key = (Option<i64>, Option<String>);

/// Per key and text: rows, sum, least, greatest and number of distinct values.
type Expected = BTreeMap<Key, Vec<i64>>;

fn expected() -> Expected {
    let mut values = Expected::new();
    for (key, word, n) in (0..SEGMENTS).flat_map(rows) {
        values.entry((key, word)).or_default().push(n);
    }
    for values in values.values_mut() {
        values.sort_unstable();
        let (rows, sum) = (values.len() as i64, values.iter().sum());
        let (least, greatest) = (values[0], values[values.len() - 1]);
        values.dedup();
        *values = vec![rows, sum, least, greatest, values.len() as i64];
    }
    values
}

fn question(order: Option<Order>, limit: Option<usize>) -> Question {
    let n = || "n".to_owned();
    Question {
        groups: vec!["key".to_owned(), "word".to_owned()],
        measures: vec![
            Measure::Count,
            Measure::Sum(n()),
            Measure::Least(n()),
            Measure::Greatest(n()),
            Measure::Distinct(n()),
            Measure::Average(n()),
        ],
        order,
        limit,
        ..Question::default()
    }
}

/// The groups of an answer, in its order.
fn groups(answer: &Answer) -> Vec<(Key, Vec<i64>)> {
    let whole = |place: usize| answer.rows.column(place).as_primitive::<Int64Type>();
    let (keys, words, means) = (whole(0), answer.rows.column(1).as_string::<i32>(), answer.rows.column(7));
    let group = |row: usize| {
        let measures: Vec<i64> = (2..7).map(|place| whole(place).value(row)).collect();
        let mean = means.as_primitive::<Float64Type>().value(row);
        assert!((mean - measures[1] as f64 / measures[0] as f64).abs() < 1e-12, "{mean} {measures:?}");
        let key = keys.is_valid(row).then(|| keys.value(row));
        ((key, words.is_valid(row).then(|| words.value(row).to_owned())), measures)
    };
    (0..answer.rows.num_rows()).map(group).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn many_groups_are_counted_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let (source, expected) = (source(folder.path()).await, expected());
    for threads in [1, 3] {
        let options = Options { threads, ..Options::default() };
        // The first by a measure, and by a key: ties are in the order of the keys, NULL last.
        let by = |by: &str, ascending| Some(Order { by: by.to_owned(), ascending });
        let first = ask::answer(&source, &question(by("sum(n)", false), Some(25)), &options).unwrap();
        assert_eq!((first.groups, first.rows.num_rows()), (expected.len(), 25));
        let last_null = |(key, word): &Key| (key.is_none(), *key, word.is_none(), word.clone());
        let mut ranked: Vec<_> = expected.iter().collect();
        ranked.sort_by_key(|(key, values)| (-values[1], last_null(key)));
        let ranked: Vec<_> = ranked.into_iter().take(25).map(|(key, values)| (key.clone(), values.clone())).collect();
        assert_eq!(groups(&first), ranked);
        let first = ask::answer(&source, &question(by("key", true), Some(3)), &options).unwrap();
        let keys: Vec<Option<i64>> = groups(&first).into_iter().map(|((key, _), _)| key).collect();
        assert_eq!((first.groups, keys), (expected.len(), vec![Some(1), Some(2), Some(3)]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_of_many_groups_can_be_merged() {
    let folder = tempfile::tempdir().unwrap();
    let (source, expected) = (source(folder.path()).await, expected());
    let partial = ask::partial(&source, &question(None, Some(5)), &Options::default()).unwrap();
    let bytes = partial.encode().unwrap();
    let mut twice = Partial::decode("one", &bytes).unwrap();
    twice.merge(Partial::decode("two", &bytes).unwrap()).unwrap();
    let (mut all, total) = (question(None, None), twice.answer().unwrap().groups);
    assert_eq!(total, expected.len());
    all.order = Some(Order { by: "key".to_owned(), ascending: true });
    let answer = ask::answer(&source, &all, &Options::default()).unwrap();
    let found: Expected = groups(&answer).into_iter().collect();
    assert!(found == expected, "{} groups of {}", found.len(), expected.len());
}

/// Segments without a cached answer, because they are small or have too many groups, and segments with one.
#[tokio::test(flavor = "multi_thread")]
async fn groups_of_texts_are_counted_beside_cached_answers() {
    const ROWS: [usize; 7] = [49_000, 49_000, 49_000, 60_000, 49_000, 300_000, 70_000];
    let folder = tempfile::tempdir().unwrap();
    let schema = Arc::new(Schema::new(vec![Field::new("user", DataType::Utf8, true)]));
    let options = TableOptions::new(Layout::Column);
    let inserter = Inserter::open_or_create(folder.path(), Arc::new(RealDisk), &schema, &options).await.unwrap();
    let mut users = 0;
    for rows in ROWS {
        let texts = StringArray::from_iter_values((users..users + rows).map(|user| format!("u{user:07}")));
        inserter.insert(&[RecordBatch::try_new(schema.clone(), vec![Arc::new(texts)]).unwrap()]).await.unwrap();
        users += rows;
    }
    let source = Snapshot::open(folder.path(), &[]).await.unwrap().unwrap();
    let question = Question { groups: vec!["user".to_owned()], ..Question::default() };
    let cached = Some(Cache::of(folder.path()));
    for (threads, cache) in [(1, None), (1, cached.clone()), (1, cached.clone()), (2, cached.clone()), (3, cached)] {
        let options = Options { threads, cache, ..Options::default() };
        let answer = ask::answer(&source, &question, &options).unwrap();
        let counts = answer.rows.column(1).as_primitive::<Int64Type>();
        let mut found: Vec<&str> = answer.rows.column(0).as_string::<i32>().iter().flatten().collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!((answer.groups, found.len()), (users, users));
        assert!(counts.iter().all(|count| count == Some(1)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_of_split_groups_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(folder.path()).await;
    let small = Options { memory_bytes: 16 << 20, ..Options::default() };
    let error = ask::answer(&source, &question(None, Some(5)), &small).unwrap_err().to_string();
    assert!(error.contains("needs more than the 16 MB"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_is_limited_while_segments_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut source = source(folder.path()).await;
    source.unflushed.clear();
    assert_eq!(source.segments.len(), 2);
    std::fs::remove_file(folder.path().join(&source.segments[1].path)).unwrap();
    // Few enough groups to cache the answer of a segment.
    let words = Question { groups: vec!["word".to_owned()], ..Question::default() };
    for cache in [None, Some(Cache::of(folder.path()))] {
        let said = |memory_bytes: usize| {
            let options = Options { threads: 1, memory_bytes, cache: cache.clone() };
            ask::answer(&source, &words, &options).unwrap_err().to_string()
        };
        // The first segment exceeds the limit, so the second is not opened.
        let small = said(64 << 10);
        assert!(small.contains("needs more than the 0 MB memory limit"), "{small}");
        let large = said(64 << 20);
        assert!(large.starts_with("cannot open "), "{large}");
    }
}
