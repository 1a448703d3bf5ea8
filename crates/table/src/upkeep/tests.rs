//! Upkeep keeps what it should, and nothing else.

#![allow(clippy::from_iter_instead_of_collect, reason = "names the array that is made")]

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arrow::array::TimestampMicrosecondArray;
use arrow::array::{ArrayRef, AsArray, BooleanArray, Date32Array, Float64Array, Int64Array, RecordBatch};
use arrow::compute::kernels::cmp::lt;
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef, TimeUnit};

use super::*;
use crate::cluster::{ClusterOptions, cluster};
use crate::disk::{Disk, RealDisk};
use crate::layout::{Clustering, Curve, Layout};
use crate::log::Table;
use crate::{AvroTable, ErrorKind, Inserter, Key, KeyRange, Lookup};

const LOOKUP: [&str; 2] = ["id", "at"];

/// 1 October 2025, in seconds.
const OCTOBER: i64 = 1_759_276_800;
const DAY_SECONDS: i64 = 86_400;

fn schema() -> SchemaRef {
    let time = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    Arc::new(Schema::new(vec![
        Field::new("id", DataType::Int64, false),
        Field::new("day", DataType::Date32, true),
        Field::new("at", time, true),
        Field::new("level", DataType::Float64, true),
    ]))
}

/// Rows of one minute each; every tenth has no time, and every seventh level is NaN.
fn rows(ids: std::ops::Range<i64>) -> RecordBatch {
    let at = |id: i64| (id % 10 != 9).then_some((OCTOBER + id * 60) * 1_000_000);
    let day = |id: i64| Some(((OCTOBER + id * 60) / DAY_SECONDS) as i32);
    let level = |id: i64| if id % 7 == 3 { f64::NAN } else { id as f64 };
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(ids.clone())),
        Arc::new(Date32Array::from_iter(ids.clone().map(day))),
        Arc::new(TimestampMicrosecondArray::from_iter(ids.clone().map(at)).with_timezone("UTC")),
        Arc::new(Float64Array::from_iter_values(ids.map(level))),
    ];
    RecordBatch::try_new(schema(), columns).unwrap()
}

fn disk() -> Arc<dyn Disk> {
    Arc::new(RealDisk)
}

async fn inserter(root: &Path, layout: Layout) -> Inserter {
    let clustering =
        (layout == Layout::Clustered).then(|| Clustering { columns: vec!["level".to_owned()], curve: Curve::Hilbert });
    let lookup = LOOKUP.map(str::to_owned).to_vec();
    let options = TableOptions { lookup, clustering, ..TableOptions::new(layout) };
    Inserter::open_or_create(root, disk(), &schema(), &options).await.unwrap()
}

/// A table of ten batches of 300 rows.
async fn table(root: &Path, layout: Layout) -> Inserter {
    let inserter = inserter(root, layout).await;
    for batch in 0..10 {
        inserter.insert(&[rows(batch * 300..(batch + 1) * 300)]).await.unwrap();
        // Segments of one millisecond have no age.
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    inserter
}

async fn segments(root: &Path) -> Vec<Segment> {
    Table::open(root, disk()).await.unwrap().unwrap().segments().await.unwrap()
}

/// The numbers of all rows, in the order in which they lie; every row is as it was inserted, and found by the look-ups.
async fn ids(root: &Path) -> Vec<i64> {
    let table = Table::open(root, disk()).await.unwrap().unwrap();
    let mut all = Vec::new();
    for (_, segment) in table.segments_by_age().await.unwrap() {
        let input = Input::open(root, &schema(), &segment).unwrap();
        assert_eq!(input.rows_in_all(), segment.rows);
        let lookup = Lookup::open(root, &segment).unwrap_or_else(|| panic!("{} has no look-up", segment.path));
        for group in 0..lookup.groups() {
            for batch in input.rows(Some(vec![group]), None).unwrap().map(Result::unwrap) {
                let found = |name: &str, row| {
                    let key = Key::of(batch.column_by_name(name).unwrap(), row);
                    key.is_none_or(|key| lookup.find(name, &[KeyRange::of(&key)]).unwrap().groups[group])
                };
                assert!(LOOKUP.iter().all(|name| (0..batch.num_rows()).step_by(50).all(|row| found(name, row))));
            }
        }
        for batch in input.rows(None, None).unwrap() {
            let batch = batch.unwrap();
            for (row, &id) in batch.column(0).as_primitive::<Int64Type>().values().iter().enumerate() {
                let (a, b) = (batch.slice(row, 1), rows(id..id + 1));
                assert_eq!(format!("{:?}", a.columns()), format!("{:?}", b.columns()));
                all.push(id);
            }
        }
    }
    all
}

fn files(root: &Path) -> usize {
    let entries = std::fs::read_dir(root).unwrap().map(std::result::Result::unwrap);
    entries.filter(|e| e.file_name().to_string_lossy().ends_with(".parquet")).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn compaction_merges_small_segments_in_their_order() {
    for layout in [Layout::Column, Layout::Pruned, Layout::Clustered] {
        let root = tempfile::tempdir().unwrap();
        let inserter = table(root.path(), layout).await;
        let done = compact(root.path(), disk(), None).await.unwrap();
        assert_eq!((done.rows, done.segments_in, done.segments_out), (3_000, 10, 1));
        assert!(done.bytes_after < done.bytes_before);
        assert!(ids(root.path()).await.into_iter().eq(0..3_000));
        assert_eq!(compact(root.path(), disk(), None).await.unwrap(), Compacted::default());
        let merged = segments(root.path()).await.remove(0);
        assert!(merged.columns.get("level").is_none_or(|c| c.min.is_none()), "NaN has no bounds");
        assert_eq!(merged.columns.contains_key("id"), layout != Layout::Column);
        // What is clustered and what is not stay apart.
        if layout == Layout::Clustered {
            cluster(root.path(), disk(), ClusterOptions::default()).await.unwrap();
            inserter.insert(&[rows(3_000..3_010)]).await.unwrap();
            inserter.insert(&[rows(3_010..3_020)]).await.unwrap();
            assert_eq!(compact(root.path(), disk(), None).await.unwrap().rows, 20);
            assert_eq!(segments(root.path()).await.len(), 2);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn segments_of_one_and_of_more_row_groups_are_merged() {
    let root = tempfile::tempdir().unwrap();
    let options = TableOptions { group_rows: 100, ..TableOptions::new(Layout::Pruned) };
    let inserter = Inserter::open_or_create(root.path(), disk(), &schema(), &options).await.unwrap();
    for ids in [0..50, 50..300] {
        inserter.insert(&[rows(ids)]).await.unwrap();
    }
    let done = compact(root.path(), disk(), None).await.unwrap();
    assert_eq!((done.segments_in, done.segments_out), (2, 1));
    assert_eq!(segments(root.path()).await[0].groups(), Some(3));
}

struct Below(i64);

impl Filter for Below {
    fn fate(&self, _: &Segment) -> Fate {
        Fate::Look
    }

    fn columns(&self) -> Vec<String> {
        vec!["id".to_owned()]
    }

    fn doomed(&self, rows: &RecordBatch) -> std::result::Result<BooleanArray, String> {
        lt(rows.column(0), &Int64Array::new_scalar(self.0)).map_err(|e| e.to_string())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_deleted_by_a_filter_and_untouched_segments_stay() {
    let root = tempfile::tempdir().unwrap();
    drop(table(root.path(), Layout::Pruned).await);
    let before = segments(root.path()).await;
    let asked = delete_rows(root.path(), disk(), Arc::new(Below(1_000)), false).await.unwrap();
    assert_eq!((asked.rows, asked.segments_in, asked.segments_out, asked.bytes_after), (1_000, 4, 1, 0));
    assert_eq!(segments(root.path()).await, before);
    let done = delete_rows(root.path(), disk(), Arc::new(Below(1_000)), true).await.unwrap();
    assert_eq!(Deleted { bytes_after: 0, ..done }, asked);
    let after = segments(root.path()).await;
    assert_eq!(after.iter().filter(|s| before.contains(s)).count(), 6);
    let mut left = ids(root.path()).await;
    left.sort_unstable();
    assert!(left.into_iter().eq(1_000..3_000));
    let nothing = delete_rows(root.path(), disk(), Arc::new(Below(1_000)), true).await.unwrap();
    assert_eq!(nothing, Deleted::default());
    delete_rows(root.path(), disk(), Arc::new(Below(i64::MAX)), true).await.unwrap();
    assert!(segments(root.path()).await.is_empty());
}

fn before(time: &str, column: Option<&str>, apply: bool) -> TrimOptions {
    TrimOptions { limit: TrimLimit::Before(time.to_owned()), column: column.map(str::to_owned), apply }
}

#[tokio::test(flavor = "multi_thread")]
async fn old_rows_are_trimmed_to_the_row_and_only_when_told() {
    for layout in [Layout::Column, Layout::Pruned, Layout::Clustered] {
        let root = tempfile::tempdir().unwrap();
        drop(table(root.path(), layout).await);
        if layout == Layout::Clustered {
            cluster(root.path(), disk(), ClusterOptions::default()).await.unwrap();
        }
        // 12:30 is minute 750; rows without a time stay.
        let asked = trim(root.path(), disk(), &before("2025-10-01T14:30:00+02:00", None, false)).await.unwrap();
        assert_eq!(asked.rows, 675);
        assert_eq!(ids(root.path()).await.len(), 3_000);
        trim(root.path(), disk(), &before("2025-10-01T12:30:00Z", None, true)).await.unwrap();
        let mut left = ids(root.path()).await;
        left.sort_unstable();
        assert!(left.into_iter().eq((0..3_000).filter(|id| *id >= 750 || id % 10 == 9)));
        // The second day begins with minute 1440.
        trim(root.path(), disk(), &before("2025-10-02", Some("day"), true)).await.unwrap();
        let mut left = ids(root.path()).await;
        left.sort_unstable();
        assert!(left.into_iter().eq(1_440..3_000));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_bytes_are_kept() {
    let root = tempfile::tempdir().unwrap();
    drop(table(root.path(), Layout::Pruned).await);
    let sizes: BTreeMap<String, u64> = segments(root.path()).await.into_iter().map(|s| (s.path, s.bytes)).collect();
    let keep = sizes.values().max().unwrap() * 3;
    let options = TrimOptions { limit: TrimLimit::KeepBytes(keep), column: None, apply: true };
    trim(root.path(), disk(), &options).await.unwrap();
    assert!(ids(root.path()).await.into_iter().eq(2_100..3_000));
    let all = TrimOptions { limit: TrimLimit::KeepBytes(0), ..options };
    trim(root.path(), disk(), &all).await.unwrap();
    assert!(ids(root.path()).await.is_empty());
}

fn age(path: &Path, age: Duration) {
    File::options().append(true).open(path).unwrap().set_modified(SystemTime::now() - age).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn vacuum_removes_what_nobody_needs() {
    let root = tempfile::tempdir().unwrap();
    drop(table(root.path(), Layout::Pruned).await);
    compact(root.path(), disk(), None).await.unwrap();
    let put = |name: &str, old: Duration| {
        std::fs::write(root.path().join(name), b"left behind").unwrap();
        age(&root.path().join(name), old);
    };
    put("young.parquet", Duration::from_mins(59));
    put("old.parquet", Duration::from_mins(61));
    put("_lookup/young.lookup", Duration::from_mins(59));
    put("_lookup/old.lookup", Duration::from_mins(61));
    put(".young.parquet.tmp", Duration::from_mins(9));
    put(".old.parquet.tmp", Duration::from_mins(11));
    put("_delta_log/.00.json.tmp", Duration::from_mins(11));
    put("notes.txt", Duration::from_hours(1000));
    let options = |hours| VacuumOptions { retain: Duration::from_hours(hours), apply: false };
    let asked = vacuum(root.path(), disk(), options(168)).await.unwrap();
    assert_eq!((asked.old, asked.retained, asked.orphans, asked.temporary), (0, 20, 0, 2));
    let asked = vacuum(root.path(), disk(), options(0)).await.unwrap();
    assert_eq!((asked.old, asked.retained, asked.orphans, asked.temporary), (20, 0, 2, 2));
    assert_eq!(files(root.path()), 10 + 1 + 2);
    let done = vacuum(root.path(), disk(), VacuumOptions { apply: true, ..options(0) }).await.unwrap();
    assert_eq!(done, asked);
    assert_eq!(files(root.path()), 2);
    let left = |name: &str| root.path().join(name).exists();
    let lookups = std::fs::read_dir(root.path().join("_lookup")).unwrap().count();
    assert!(lookups == 2 && left("_lookup/young.lookup"));
    assert!(left("notes.txt") && left(".young.parquet.tmp") && left("young.parquet"));
    assert!(!left("_delta_log/.00.json.tmp"));
    assert!(ids(root.path()).await.into_iter().eq(0..3_000));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn all_kinds_of_upkeep_side_by_side_keep_every_row() {
    let root = tempfile::tempdir().unwrap();
    let inserter = Arc::new(table(root.path(), Layout::Clustered).await);
    let rewrites = (0..4).map(|kind| {
        let root = root.path().to_owned();
        tokio::spawn(async move {
            for _ in 0..5 {
                let result = match kind {
                    0 => compact(&root, disk(), None).await.map(drop),
                    1 => cluster(&root, disk(), ClusterOptions { all: true, ..ClusterOptions::default() })
                        .await
                        .map(drop),
                    2 => delete_rows(&root, disk(), Arc::new(Below(100)), true).await.map(drop),
                    _ => vacuum(&root, disk(), VacuumOptions { retain: RETENTION, apply: true }).await.map(drop),
                };
                assert!(result.as_ref().is_ok_and(|()| true) || result.unwrap_err().kind() == ErrorKind::Conflict);
            }
        })
    });
    let writer = tokio::spawn(async move {
        for batch in 10..30 {
            inserter.insert(&[rows(batch * 300..(batch + 1) * 300)]).await.unwrap();
        }
    });
    for task in rewrites.chain([writer]).collect::<Vec<_>>() {
        task.await.unwrap();
    }
    // A deletion that was overtaken too often has no effect at all; another has all of it.
    let mut left = ids(root.path()).await;
    left.sort_unstable();
    let first = if left[0] == 0 { 0 } else { 100 };
    assert!(left.into_iter().eq(first..9_000));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_is_refused_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let none = compact(&folder.path().join("none"), disk(), None).await.unwrap_err().to_string();
    assert!(none.ends_with("there is no such table: insert rows first"), "{none}");
    let row = folder.path().join("row");
    drop(AvroTable::open_or_create(&row, disk(), &schema()).unwrap());
    let refused = vacuum(&row, disk(), VacuumOptions { retain: RETENTION, apply: true }).await.unwrap_err().to_string();
    assert!(refused.contains("layout row has no upkeep"), "{refused}");
    let root = folder.path().join("pruned");
    drop(table(&root, Layout::Pruned).await);
    for (time, column, words) in [
        ("yesterday", None, "\"yesterday\" is no time: write 2025-10-01"),
        ("2025-10-01", Some("id"), "column \"id\" holds Int64: name one of times or dates"),
        ("2025-10-01", Some("nope"), "there is no column \"nope\": the columns are id, day"),
    ] {
        let refused = trim(&root, disk(), &before(time, column, true)).await.unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
}
