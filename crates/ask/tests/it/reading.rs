//! Counts of read and skipped data, with reasons.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use ask::{Answer, Bucket, Measure, Options, Question};
use disk::RealDisk;
use snapshot::Snapshot;
use table::{Inserter, Layout, TableOptions};

use crate::reference::{Value, values};
use crate::tables::START;

/// Four segments of four row groups of 1,000 rows: `key` ascending, `host` and `weight` alternating.
async fn table(root: &Path, options: TableOptions) -> Snapshot {
    let utc = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let schema = Arc::new(Schema::new(vec![
        Field::new("time", utc, true),
        Field::new("key", DataType::Int64, true),
        Field::new("host", DataType::Utf8, true),
        Field::new("weight", DataType::Int64, true),
    ]));
    let options = TableOptions { group_rows: 1_000, ..options };
    let inserter = Inserter::open_or_create(root, Arc::new(RealDisk), &schema, &options).await.unwrap();
    for segment in 0..4 {
        let keys = || segment * 4_000..(segment + 1) * 4_000;
        let columns: [ArrayRef; 4] = [
            Arc::new(
                TimestampMicrosecondArray::from_iter_values(keys().map(|k| START + k * 1_000)).with_timezone("UTC"),
            ),
            Arc::new(Int64Array::from_iter_values(keys())),
            Arc::new(StringArray::from_iter_values(keys().map(|k| format!("host-{:03}", k * 7_919 % 500)))),
            // The last value is a new maximum.
            Arc::new(Int64Array::from_iter_values(keys().map(|k| if k % 1_000 == 999 { 100 } else { k % 2 }))),
        ];
        inserter.insert(&[RecordBatch::try_new(schema.clone(), columns.to_vec()).unwrap()]).await.unwrap();
    }
    Snapshot::open(root, &[]).await.unwrap().unwrap()
}

fn ask(source: &Snapshot, conditions: &[&str], measures: Vec<Measure>) -> Answer {
    let conditions = conditions.iter().map(|c| (*c).to_owned()).collect();
    let question = Question { conditions, measures, ..Question::default() };
    ask::answer(source, &question, &Options::default()).unwrap()
}

fn first(answer: &Answer) -> Value {
    values(answer.rows.column(0))[0].clone()
}

#[tokio::test]
async fn reads_only_what_may_match() {
    let folder = tempfile::tempdir().unwrap();
    let source = table(folder.path(), TableOptions::new(Layout::Pruned)).await;
    let needle = ask(&source, &["key = 6543"], Vec::new());
    let read = &needle.reading;
    assert_eq!(first(&needle), Value::Int(1));
    assert_eq!((read.segments_by_log, read.groups, read.skipped.groups_by_statistics), (3, 4, 3));
    // One of the row group's five pages may hold the key.
    assert_eq!((read.skipped.pages_by_statistics, read.rows), (4, 200));
    assert_eq!(read.columns.iter().map(String::as_str).collect::<Vec<_>>(), ["key"]);
    // The log alone counts rows, even with conditions that all rows meet.
    let all = ask(&source, &["key >= 0", "time >= '2025-01-01'"], Vec::new());
    assert_eq!((first(&all), all.reading.segments_counted, all.reading.bytes), (Value::Int(16_000), 4, 0));
    // A condition that all rows of a row group meet is not tested again.
    let most = ask(&source, &["key >= 1500"], vec![Measure::Greatest("weight".to_owned())]);
    assert_eq!(first(&most), Value::Int(100));
    assert_eq!((most.reading.groups_read, most.reading.skipped.groups_by_statistics), (15, 1));
}

#[tokio::test]
async fn maximum_at_block_end_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let source = table(folder.path(), TableOptions::new(Layout::Pruned)).await;
    // The original lost rows that were both last in a block and its maximum.
    assert_eq!(first(&ask(&source, &["weight = 100"], Vec::new())), Value::Int(16));
    assert_eq!(first(&ask(&source, &["weight > 1"], Vec::new())), Value::Int(16));
}

#[tokio::test]
async fn indexes_and_filters_skip_row_groups() {
    let looked_up = TableOptions { lookup: vec!["host".to_owned()], ..TableOptions::new(Layout::Pruned) };
    let filtered = TableOptions { bloom: vec!["host".to_owned()], ..TableOptions::new(Layout::Pruned) };
    for (options, by_lookup) in [(looked_up, true), (filtered, false)] {
        let folder = tempfile::tempdir().unwrap();
        let source = table(folder.path(), options).await;
        // Every row group holds every host, and no value between two of them.
        assert_eq!(first(&ask(&source, &["host = 'host-007'"], Vec::new())), Value::Int(32));
        let none = ask(&source, &["host IN ('host-007x', 'host-300x')"], Vec::new());
        let skipped = &none.reading.skipped;
        assert_eq!(first(&none), Value::Int(0));
        let left_out = if by_lookup { skipped.groups_by_lookup } else { skipped.groups_by_filter };
        assert!(left_out >= 12, "{skipped:?}");
    }
}

/// The top groups are exact, whether their rows come from one segment each or from all.
#[tokio::test]
async fn top_of_many_groups_is_exact() {
    let folder = tempfile::tempdir().unwrap();
    let source = table(folder.path(), TableOptions::new(Layout::Pruned)).await;
    let question = Question { groups: vec!["key".to_owned()], limit: Some(3), ..Question::default() };
    let question = Question { measures: vec![Measure::Sum("weight".to_owned()), Measure::Count], ..question };
    let answer = ask::answer(&source, &question, &Options::default()).unwrap();
    assert_eq!(values(answer.rows.column(0)), [Value::Int(999), Value::Int(1_999), Value::Int(2_999)]);
    assert_eq!(values(answer.rows.column(1)), [Value::Int(100), Value::Int(100), Value::Int(100)]);
    assert_eq!(answer.groups, 16_000);
}

/// Where only the bucket of a time counts, pages within one bucket are not decoded.
#[tokio::test]
async fn times_within_one_bucket_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let source = table(folder.path(), TableOptions::new(Layout::Pruned)).await;
    // A row each millisecond, 200 in a page.
    let by = |micros: i64, conditions: &[&str], measures: &[Measure]| {
        let conditions = conditions.iter().map(|c| (*c).to_owned()).collect();
        let (bucket, measures) = (Some(Bucket { micros }), measures.to_vec());
        let question = Question { bucket, conditions, measures, ..Question::default() };
        ask::answer(&source, &question, &Options::default()).unwrap()
    };
    let counts = |answer: &Answer| values(answer.rows.column(1));
    let (coarse, fine) = (by(1_000_000, &[], &[]), by(10_000, &[], &[]));
    assert_eq!((counts(&coarse), coarse.groups), (vec![Value::Int(1_000); 16], 16));
    assert_eq!((counts(&fine), fine.groups), (vec![Value::Int(10); 1_600], 1_600));
    assert!(coarse.reading.columns.contains("time") && coarse.reading.bytes < fine.reading.bytes);
    // Pages with the end of a bucket are decoded.
    let crossing = by(900_000, &[], &[]);
    assert_eq!(counts(&crossing).iter().filter(|count| **count == Value::Int(900)).count(), 17);
    // A condition on the time and a measure of it need the times themselves.
    let some = by(1_000_000, &["time >= '2025-09-01T00:00:00.500Z'"], &[Measure::Count]);
    assert_eq!(counts(&some)[..2], [Value::Int(500), Value::Int(1_000)]);
    let last = by(1_000_000, &[], &[Measure::Greatest("time".to_owned())]);
    assert_eq!(counts(&last)[0], Value::Int(i128::from(START + 999_000)));
}
