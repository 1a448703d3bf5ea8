//! Clustering moves rows and keeps them.

#![allow(clippy::from_iter_instead_of_collect, reason = "names the array type")]

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, Decimal128Array, Float64Array, Int32Array, Int64Array,
    RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, Field, Int32Type, Int64Type, Schema, SchemaRef, TimeUnit};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::*;
use crate::layout::Curve;
use crate::log::Table;
use crate::{ErrorKind, Inserter};
use disk::RealDisk;

fn schema() -> SchemaRef {
    let time = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    Arc::new(Schema::new(vec![
        Field::new("id", DataType::Int64, false),
        Field::new("hour", DataType::Int32, true),
        Field::new("at", time, true),
        Field::new("price", DataType::Decimal128(30, 2), true),
        Field::new("level", DataType::Float64, true),
        Field::new("name", DataType::Utf8, true),
        Field::new("key", DataType::Binary, true),
        Field::new("flag", DataType::Boolean, true),
        Field::new("same", DataType::Int32, true),
    ]))
}

fn mix(id: i64) -> i64 {
    let id = id.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64);
    (id ^ (id >> 29 & 0x7_FFFF_FFFF)).wrapping_mul(0x1656_67B1_9E37_79F9) >> 3 & i64::MAX
}

/// Rows derived from their ids, so that each can be checked alone.
fn rows(ids: &[i64]) -> RecordBatch {
    let some = |id: i64, every: i64| (mix(id) % every != 0).then(|| mix(id + 1));
    let of = |every: i64| ids.iter().map(move |&id| some(id, every));
    let level = |v: i64| if v % 11 == 0 { f64::NAN } else { v as f64 / 7.0 - 1e18 };
    let name = |v: i64| format!("https://example.org/{:05}", v % 5000);
    let names: Vec<Option<String>> = of(9).map(|v| v.map(name)).collect();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(ids.to_vec())),
        Arc::new(Int32Array::from_iter(ids.iter().map(|&id| some(id, 7).map(|v| (v % 24) as i32)))),
        Arc::new(TimestampMicrosecondArray::from_iter(ids.iter().map(|id| Some(id * 1_000_000))).with_timezone("UTC")),
        Arc::new(
            Decimal128Array::from_iter(of(5).map(|v| v.map(|v| i128::from(v) * 1_000_003)))
                .with_precision_and_scale(30, 2)
                .unwrap(),
        ),
        Arc::new(Float64Array::from_iter(of(6).map(|v| v.map(level)))),
        Arc::new(StringArray::from_iter(names.iter().map(Option::as_deref))),
        Arc::new(BinaryArray::from_iter(names.iter().map(|n| n.as_ref().map(String::as_bytes)))),
        Arc::new(BooleanArray::from_iter(of(8).map(|v| v.map(|v| v % 3 == 0)))),
        Arc::new(Int32Array::from(vec![7; ids.len()])),
    ];
    RecordBatch::try_new(schema(), columns).unwrap()
}

fn by(columns: &[&str], curve: Curve) -> Clustering {
    Clustering { columns: columns.iter().map(|&c| c.to_owned()).collect(), curve }
}

async fn inserter(root: &Path, clustering: Clustering) -> Inserter {
    let options = TableOptions {
        clustering: Some(clustering),
        bloom: vec!["name".to_owned()],
        ..TableOptions::new(Layout::Clustered)
    };
    Inserter::open_or_create(root, Arc::new(RealDisk), &schema(), &options).await.unwrap()
}

/// Creates a table of the rows 0 to `count`, inserted `batch` at a time.
async fn table(root: &Path, clustering: Clustering, count: i64, batch: usize) -> Inserter {
    let inserter = inserter(root, clustering).await;
    let ids: Vec<i64> = (0..count).collect();
    for ids in ids.chunks(batch) {
        inserter.insert(&[rows(ids)]).await.unwrap();
    }
    inserter
}

async fn run(root: &Path, options: ClusterOptions) -> Result<Clustered> {
    cluster(root, Arc::new(RealDisk), options).await
}

async fn segments(root: &Path) -> Vec<Segment> {
    Table::open(root, Arc::new(RealDisk)).await.unwrap().unwrap().segments().await.unwrap()
}

/// Every row group of the table, from the oldest segment on.
async fn groups(root: &Path) -> Vec<RecordBatch> {
    let table = Table::open(root, Arc::new(RealDisk)).await.unwrap().unwrap();
    let mut groups = Vec::new();
    for segment in table.segments_by_age().await.unwrap() {
        let input = Input::open(root, &schema(), &segment).unwrap();
        for group in 0..input.metadata().metadata().num_row_groups() {
            let batches: Vec<_> = input.rows(Some(vec![group]), None).unwrap().map(Result::unwrap).collect();
            groups.push(arrow::compute::concat_batches(&schema(), &batches).unwrap());
        }
    }
    groups
}

/// Checks every row, and that each id from 0 to `count` occurs once.
async fn check(root: &Path, count: i64) {
    let mut seen = BTreeSet::new();
    for group in groups(root).await {
        let ids: Vec<i64> = group.column(0).as_primitive::<Int64Type>().values().to_vec();
        assert_eq!(format!("{:?}", group.columns()), format!("{:?}", rows(&ids).columns()));
        assert!(
            group
                .columns()
                .iter()
                .zip(rows(&ids).columns())
                .all(|(a, b)| { a.to_data() == b.to_data() || *a.data_type() == DataType::Float64 })
        );
        for id in ids {
            assert!(seen.insert(id), "row {id} occurs twice");
        }
    }
    assert!(seen.into_iter().eq(0..count));
}

#[tokio::test(flavor = "multi_thread")]
async fn clustering_keeps_every_row_and_type() {
    let columns = ["hour", "at", "price", "level", "name", "key", "flag", "id"];
    for (columns, curve, memory) in [
        (&columns[..2], Curve::Hilbert, MEMORY),
        (&columns[..], Curve::Hilbert, 1 << 20),
        (&columns[2..5], Curve::ZOrder, 100_000),
        (&columns[4..7], Curve::Lexical, 0),
        (&["same"], Curve::Hilbert, MEMORY),
    ] {
        let root = tempfile::tempdir().unwrap();
        drop(table(root.path(), by(columns, curve), 240_000, 50_000).await);
        let done = run(root.path(), ClusterOptions { memory, ..ClusterOptions::default() }).await.unwrap();
        let Moved { rows, segments_in, segments_out, .. } = done.moved;
        assert_eq!((rows, segments_in, segments_out), (240_000, 5, 1));
        assert_eq!(done.spilled_bytes > 0, memory < MEMORY, "{done:?}");
        assert_eq!(done.left_out, columns.iter().filter(|c| **c == "same").map(|&c| c.to_owned()).collect::<Vec<_>>());
        check(root.path(), 240_000).await;
        let groups = groups(root.path()).await;
        assert_eq!(groups.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [80_000; 3]);
        // Only the table and the old segments remain.
        let hidden = |e: &std::fs::DirEntry| e.file_name().to_string_lossy().starts_with('.');
        assert!(!std::fs::read_dir(root.path()).unwrap().map(std::result::Result::unwrap).any(|e| hidden(&e)));
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 5 + 1 + 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_groups_follow_the_order_nulls_last() {
    let root = tempfile::tempdir().unwrap();
    drop(table(root.path(), by(&["hour", "same"], Curve::Lexical), 400_000, 100_000).await);
    let done = run(root.path(), ClusterOptions::default()).await.unwrap();
    assert!(done.depth_before > 3.9 && done.depth_after < 1.5, "{done:?}");
    let mut last = Some(0);
    for group in groups(root.path()).await {
        let hours: BTreeSet<(bool, Option<i32>)> =
            group.column(1).as_primitive::<Int32Type>().iter().map(|v| (v.is_none(), v)).collect();
        let first = hours.first().unwrap().1;
        assert!(first.is_none() || last.is_some_and(|last| first >= Some(last)), "{first:?} after {last:?}");
        last = hours.last().unwrap().1;
        // Rows keep their order of arrival.
        assert!(group.column(0).as_primitive::<Int64Type>().values().is_sorted());
    }
    assert_eq!(last, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn clustered_segments_stay_until_runs_accumulate() {
    let root = tempfile::tempdir().unwrap();
    let inserter = inserter(root.path(), by(&["hour", "name"], Curve::Hilbert)).await;
    let runs = choice::RUNS_MAX as i64 + 1;
    for run_number in 0..runs {
        let ids: Vec<i64> = (run_number * 1000..(run_number + 1) * 1000).collect();
        inserter.insert(&[rows(&ids)]).await.unwrap();
        let done = run(root.path(), ClusterOptions::default()).await.unwrap();
        let taken = if run_number + 1 == runs { choice::RUNS_MAX / 2 + 1 } else { 1 };
        assert_eq!((done.moved.segments_in, done.moved.segments_out), (taken, 1));
    }
    assert_eq!(segments(root.path()).await.len(), choice::RUNS_MAX / 2 + 1);
    assert_eq!(run(root.path(), ClusterOptions::default()).await.unwrap(), Clustered::default());
    // A new key for all segments is stored in the table.
    let clustering = Some(by(&["at", "flag"], Curve::ZOrder));
    let all = ClusterOptions { clustering: clustering.clone(), all: true, ..ClusterOptions::default() };
    let done = run(root.path(), all).await.unwrap();
    assert_eq!((done.moved.rows, done.moved.segments_out), (runs as u64 * 1000, 1));
    let table = Table::open(root.path(), Arc::new(RealDisk)).await.unwrap().unwrap();
    assert_eq!(table.options().unwrap().clustering, clustering);
    // A writer with the old key continues.
    inserter.insert(&[rows(&(runs * 1000..runs * 1000 + 10).collect::<Vec<_>>())]).await.unwrap();
    check(root.path(), runs * 1000 + 10).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_clusterers_and_writers_keep_rows() {
    let root = tempfile::tempdir().unwrap();
    let inserter = Arc::new(table(root.path(), by(&["hour", "name"], Curve::Hilbert), 20_000, 2_000).await);
    let writers = (0..2i64).map(|writer| {
        let inserter = inserter.clone();
        tokio::spawn(async move {
            for batch in 0..20 {
                let first = 20_000 + (writer * 20 + batch) * 100;
                inserter.insert(&[rows(&(first..first + 100).collect::<Vec<_>>())]).await.unwrap();
            }
        })
    });
    let clusterers = (0..3).map(|number| {
        let root = root.path().to_owned();
        tokio::spawn(async move {
            for _ in 0..4 {
                match run(&root, ClusterOptions { all: number == 0, ..ClusterOptions::default() }).await {
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{error}"),
                    Ok(done) => assert!(done.moved.rows <= 24_000),
                }
            }
        })
    });
    for task in writers.chain(clusterers).collect::<Vec<_>>() {
        task.await.unwrap();
    }
    check(root.path(), 24_000).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_of_old_versions_find_their_files() {
    let root = tempfile::tempdir().unwrap();
    drop(table(root.path(), by(&["hour"], Curve::Hilbert), 1_000, 100).await);
    let before = segments(root.path()).await;
    run(root.path(), ClusterOptions::default()).await.unwrap();
    for segment in before {
        let file = File::open(root.path().join(segment.path)).unwrap();
        let rows: usize = ParquetRecordBatchReaderBuilder::try_new(file)
            .unwrap()
            .build()
            .unwrap()
            .map(|batch| batch.unwrap().num_rows())
            .sum();
        assert_eq!(rows, 100);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_clustering_requests_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = async |root: &Path, options| run(root, options).await.unwrap_err().to_string();
    let missing = refusal(&folder.path().join("none"), ClusterOptions::default()).await;
    assert!(missing.ends_with("no such table: insert rows first"), "{missing}");
    for layout in [Layout::Column, Layout::Pruned] {
        let root = folder.path().join(layout.to_string());
        let options = TableOptions::new(layout);
        drop(Inserter::open_or_create(&root, Arc::new(RealDisk), &schema(), &options).await.unwrap());
        let error = refusal(&root, ClusterOptions::default()).await;
        assert!(error.contains(&format!("cannot cluster layout {layout}: ")), "{error}");
    }
    let root = folder.path().join("clustered");
    drop(table(&root, by(&["hour"], Curve::Hilbert), 10, 10).await);
    let wrong = ClusterOptions { clustering: Some(by(&["hour", "nope"], Curve::Hilbert)), ..ClusterOptions::default() };
    let error = refusal(&root, wrong).await;
    assert!(error.contains("no column \"nope\": the columns are id, hour"), "{error}");
}
