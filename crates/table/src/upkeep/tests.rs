//! Maintenance keeps all other rows.

#![allow(clippy::from_iter_instead_of_collect, reason = "names the array type")]

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
use crate::layout::{Clustering, Curve, Layout, TableOptions};
use crate::log::{Segment, Table};
use crate::{ErrorKind, Inserter, Key, KeyRange, Lookup};
use disk::{Disk, RealDisk};
use pages::Codec;

mod row_groups;

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

/// One row per minute; every tenth has no time, and every seventh level is NaN.
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
        // Segments of the same millisecond have no defined age.
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    inserter
}

async fn segments(root: &Path) -> Vec<Segment> {
    Table::open(root, disk()).await.unwrap().unwrap().segments().await.unwrap()
}

/// The ids of all rows in stored order. Checks that every row is unchanged and found by its secondary index.
async fn ids(root: &Path) -> Vec<i64> {
    let table = Table::open(root, disk()).await.unwrap().unwrap();
    let mut all = Vec::new();
    for segment in table.segments_by_age().await.unwrap() {
        let input = Input::open(root, &schema(), &segment).unwrap();
        assert_eq!(input.rows_in_all(), segment.rows);
        let lookup = Lookup::open(root, &segment);
        assert!(lookup.is_some(), "{}", segment.path);
        for (lookup, group) in lookup.iter().flat_map(|l| (0..l.groups()).map(move |group| (l, group))) {
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
async fn compaction_merges_small_segments_in_order() {
    for layout in [Layout::Column, Layout::Pruned, Layout::Clustered] {
        let root = tempfile::tempdir().unwrap();
        let inserter = table(root.path(), layout).await;
        let done = compact(root.path(), disk(), None).await.unwrap();
        assert_eq!((done.rows, done.segments_in, done.segments_out), (3_000, 10, 1));
        assert!(done.bytes_after < done.bytes_before);
        assert!(ids(root.path()).await.into_iter().eq(0..3_000));
        assert_eq!(compact(root.path(), disk(), None).await.unwrap(), Moved::default());
        let merged = segments(root.path()).await.remove(0);
        assert!(merged.columns.get("level").is_none_or(|c| c.min.is_none()), "NaN has no bounds");
        assert_eq!(merged.columns.contains_key("id"), layout != Layout::Column);
        // Clustered and unclustered segments are not merged.
        if layout == Layout::Clustered {
            cluster(root.path(), disk(), ClusterOptions::default()).await.unwrap();
            inserter.insert(&[rows(3_000..3_010)]).await.unwrap();
            inserter.insert(&[rows(3_010..3_020)]).await.unwrap();
            assert_eq!(compact(root.path(), disk(), None).await.unwrap().rows, 20);
            assert_eq!(segments(root.path()).await.len(), 2);
        }
    }
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
async fn deleting_rows_keeps_untouched_segments() {
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

/// Rewrites the entries of a log as writers without statistics write them.
fn forget_statistics(root: &Path) {
    for entry in std::fs::read_dir(root.join("_delta_log")).unwrap() {
        let path = entry.unwrap().path();
        let lines: Vec<serde_json::Value> =
            std::fs::read_to_string(&path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let plain = lines.into_iter().map(|mut line| {
            if let Some(add) = line.get_mut("add") {
                add.as_object_mut().unwrap().remove("stats");
            }
            format!("{line}\n")
        });
        std::fs::write(&path, plain.collect::<String>()).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_segments_without_statistics_are_kept() {
    let root = tempfile::tempdir().unwrap();
    drop(table(root.path(), Layout::Column).await);
    forget_statistics(root.path());
    assert!(segments(root.path()).await.iter().all(|segment| segment.rows == 0));
    let done = delete_rows(root.path(), disk(), Arc::new(Below(1_001)), true).await.unwrap();
    assert_eq!((done.rows, done.segments_in, done.segments_out), (1_001, 4, 1));
    let left = async || {
        let mut ids = Vec::new();
        for segment in segments(root.path()).await {
            let input = Input::open(root.path(), &schema(), &segment).unwrap();
            for batch in input.rows(None, None).unwrap().map(Result::unwrap) {
                ids.extend_from_slice(batch.column(0).as_primitive::<Int64Type>().values());
            }
        }
        ids.sort_unstable();
        ids
    };
    assert!(left().await.into_iter().eq(1_001..3_000));
    trim(root.path(), disk(), &before("2025-10-02", Some("day"), true)).await.unwrap();
    assert!(left().await.into_iter().eq(1_440..3_000));
}

fn before(time: &str, column: Option<&str>, apply: bool) -> TrimOptions {
    TrimOptions { limit: TrimLimit::Before(time.to_owned()), column: column.map(str::to_owned), apply }
}

#[tokio::test(flavor = "multi_thread")]
async fn trimming_removes_exactly_the_old_rows() {
    for layout in [Layout::Column, Layout::Pruned, Layout::Clustered] {
        let root = tempfile::tempdir().unwrap();
        drop(table(root.path(), layout).await);
        if layout == Layout::Clustered {
            cluster(root.path(), disk(), ClusterOptions::default()).await.unwrap();
        }
        // 12:30 is minute 750; rows without a time stay.
        let asked = trim(root.path(), disk(), &before("2025-10-01T14:30:00+02:00", None, false)).await.unwrap();
        assert_eq!(asked.deleted.rows, 675);
        assert_eq!(ids(root.path()).await.len(), 3_000);
        trim(root.path(), disk(), &before("2025-10-01T12:30:00Z", None, true)).await.unwrap();
        let mut left = ids(root.path()).await;
        left.sort_unstable();
        assert!(left.into_iter().eq((0..3_000).filter(|id| *id >= 750 || id % 10 == 9)));
        // The second day starts at minute 1440.
        trim(root.path(), disk(), &before("2025-10-02", Some("day"), true)).await.unwrap();
        let mut left = ids(root.path()).await;
        left.sort_unstable();
        assert!(left.into_iter().eq(1_440..3_000));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn trimming_keeps_the_newest_bytes() {
    for is_one_segment in [false, true] {
        let root = tempfile::tempdir().unwrap();
        drop(table(root.path(), Layout::Pruned).await);
        if is_one_segment {
            compact(root.path(), disk(), None).await.unwrap();
        }
        let total: u64 = segments(root.path()).await.iter().map(|s| s.bytes).sum();
        let keep = total / 3;
        let options = TrimOptions { limit: TrimLimit::KeepBytes(keep), column: None, apply: false };
        let asked = trim(root.path(), disk(), &options).await.unwrap();
        let done = trim(root.path(), disk(), &TrimOptions { apply: true, ..options.clone() }).await.unwrap();
        assert_eq!((asked.deleted.rows, asked.times), (done.deleted.rows, done.times));
        let mut left = ids(root.path()).await;
        left.sort_unstable();
        assert_eq!(left.len() as u64 + done.deleted.rows, 3_000);
        // Keeps all rows from some time on, and earlier only rows without a time.
        let (first, before) = done.times.unwrap();
        let cut = before / 60_000_000 - OCTOBER / 60;
        assert_eq!(first, OCTOBER * 1_000_000);
        assert!((1_800..=2_000).contains(&cut), "cut at {cut}");
        assert!((cut..3_000).all(|id| left.contains(&id)));
        assert!(left.iter().filter(|id| **id < cut).all(|id| id % 10 == 9));
        assert!(segments(root.path()).await.iter().map(|s| s.bytes).sum::<u64>() >= keep);
        let again = trim(root.path(), disk(), &options).await.unwrap();
        // Segments with fewer rows have more overhead per row, so a second cut may remove a few more.
        assert!(again.deleted.rows < done.deleted.rows / 3, "{again:?} after {done:?}");
        let all = TrimOptions { limit: TrimLimit::KeepBytes(0), apply: true, ..options };
        trim(root.path(), disk(), &all).await.unwrap();
        assert!(ids(root.path()).await.is_empty());
    }
}

fn age(path: &Path, age: Duration) {
    File::options().append(true).open(path).unwrap().set_modified(SystemTime::now() - age).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn vacuum_removes_only_unneeded_files() {
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

fn to(layout: Layout) -> LayoutChange {
    LayoutChange { layout: Some(layout), ..LayoutChange::default() }
}

async fn rewritten(root: &Path, change: LayoutChange) -> super::Result<Rewritten> {
    rewrite(root, disk(), &RewriteOptions { change, ..RewriteOptions::default() }).await
}

#[tokio::test(flavor = "multi_thread")]
async fn layout_changes_keep_rows_and_old_versions() {
    let root = tempfile::tempdir().unwrap();
    drop(table(root.path(), Layout::Column).await);
    let mut before = segments(root.path()).await;
    let of_id = |column: &str| vec![column.to_owned()];
    for (change, segments_in) in [
        (LayoutChange { bloom: Some(of_id("id")), codec: Some(Codec::None), ..to(Layout::Pruned) }, 10),
        (LayoutChange { cluster: Some(of_id("level")), ..to(Layout::Clustered) }, 1),
        (LayoutChange { curve: Some(Curve::ZOrder), bloom: Some(Vec::new()), ..LayoutChange::default() }, 1),
        (to(Layout::Column), 1),
    ] {
        let opened = Table::open(root.path(), disk()).await.unwrap().unwrap();
        let expected = change.applied_to(&opened.options().unwrap());
        let done = rewritten(root.path(), change).await.unwrap();
        let Moved { rows, segments_out, .. } = done.moved;
        assert_eq!((rows, done.moved.segments_in, segments_out, done.segments_left), (3_000, segments_in, 1, 0));
        let mut left = ids(root.path()).await;
        left.sort_unstable();
        assert!(left.into_iter().eq(0..3_000));
        let now = Table::open(root.path(), disk()).await.unwrap().unwrap();
        assert_eq!((now.options().unwrap(), now.version()), (expected.clone(), opened.version() + 1));
        // Readers of the previous version still find all of it.
        assert_eq!(opened.segments().await.unwrap(), before);
        before.iter().for_each(|s| drop(Input::open(root.path(), &schema(), s).unwrap()));
        before = now.segments().await.unwrap();
        assert_eq!(before[0].columns.contains_key("id"), expected.has_statistics());
        assert!(before[0].columns.get("level").is_none_or(|c| c.min.is_none()), "NaN has no bounds");
        let clustered = before[0].tags.keys().any(|tag| tag == "manyworlds.cluster");
        assert_eq!(clustered, expected.layout == Layout::Clustered);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_inserts_are_rewritten_or_reported() {
    for (inserts, taken) in [(1, 1), (3, 2)] {
        let root = tempfile::tempdir().unwrap();
        let inserter = table(root.path(), Layout::Column).await;
        let (runtime, done) = (tokio::runtime::Handle::current(), std::sync::atomic::AtomicI64::new(0));
        // Each round reports its end exactly once.
        let progress = move |rows: u64, all: u64| {
            let number = done.load(std::sync::atomic::Ordering::Relaxed);
            if rows == all && number < inserts {
                let first = 3_000 + number * 300;
                runtime.block_on(inserter.insert(&[self::rows(first..first + 300)])).unwrap();
                done.store(number + 1, std::sync::atomic::Ordering::Relaxed);
            }
        };
        let change = to(Layout::Pruned);
        let options = RewriteOptions { change, progress: Some(Arc::new(progress)), ..RewriteOptions::default() };
        let done = rewrite(root.path(), disk(), &options).await.unwrap();
        assert_eq!((done.moved.rows, done.segments_left as i64), (3_000 + taken as u64 * 300, inserts - taken));
        let mut all = ids(root.path()).await;
        all.sort_unstable();
        assert!(all.into_iter().eq(0..3_000 + inserts * 300));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_tables_change_layout() {
    let root = tempfile::tempdir().unwrap();
    drop(inserter(root.path(), Layout::Column).await);
    let done = rewritten(root.path(), to(Layout::Pruned)).await.unwrap();
    assert_eq!(done.moved, Moved::default());
    let inserter = Inserter::open(root.path(), disk()).await.unwrap().unwrap();
    assert_eq!(inserter.options().layout, Layout::Pruned);
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_layout_changes_are_rejected() {
    let root = tempfile::tempdir().unwrap();
    drop(table(root.path(), Layout::Pruned).await);
    let before = segments(root.path()).await;
    let named = |name: &str| Some(vec![name.to_owned()]);
    for (change, words) in [
        (to(Layout::Clustered), "layout clustered needs the columns to cluster by"),
        (LayoutChange { cluster: named("id"), ..LayoutChange::default() }, "layout pruned has no clustering"),
        (LayoutChange { bloom: named("nope"), ..LayoutChange::default() }, "no column \"nope\""),
        (LayoutChange { bloom: named("id"), ..to(Layout::Column) }, "layout column has no Bloom filters"),
    ] {
        let refused = rewritten(root.path(), change).await.unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
    assert_eq!(segments(root.path()).await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_maintenance_keeps_every_row() {
    let root = tempfile::tempdir().unwrap();
    let inserter = Arc::new(table(root.path(), Layout::Clustered).await);
    let rewrites = (0..5).map(|kind| {
        let root = root.path().to_owned();
        tokio::spawn(async move {
            for turn in 0..5 {
                let result = match kind {
                    0 => compact(&root, disk(), None).await.map(drop),
                    1 => cluster(&root, disk(), ClusterOptions { all: true, ..ClusterOptions::default() })
                        .await
                        .map(drop),
                    2 => {
                        let clustering = Some(vec!["level".to_owned()]);
                        let change = match turn % 2 {
                            0 => LayoutChange { cluster: clustering, ..to(Layout::Clustered) },
                            _ => to(Layout::Column),
                        };
                        rewritten(&root, change).await.map(drop)
                    }
                    3 => delete_rows(&root, disk(), Arc::new(Below(100)), true).await.map(drop),
                    _ => vacuum(&root, disk(), VacuumOptions { retain: RETENTION, apply: true }).await.map(drop),
                };
                let error = result.err().filter(|e| e.kind() != ErrorKind::Conflict).map(|e| e.to_string());
                // Between two rewrites the table is not clustered.
                assert!(error.as_ref().is_none_or(|e| e.contains("cannot cluster layout column")), "{error:?}");
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
    // A deletion that was overtaken too often changed nothing; another removed all its rows.
    let mut left = ids(root.path()).await;
    left.sort_unstable();
    let first = if left[0] == 0 { 0 } else { 100 };
    assert!(left.into_iter().eq(first..9_000));
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_maintenance_requests_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let none = compact(&folder.path().join("none"), disk(), None).await.unwrap_err().to_string();
    assert!(none.ends_with("no such table: insert rows first"), "{none}");
    let root = folder.path().join("pruned");
    drop(table(&root, Layout::Pruned).await);
    for (time, column, words) in [
        ("yesterday", None, "invalid time \"yesterday\": write 2025-10-01"),
        ("2025-10-01", Some("id"), "column \"id\" holds Int64: choose a column of times or dates"),
        ("2025-10-01", Some("nope"), "no column \"nope\": the columns are id, day"),
    ] {
        let refused = trim(&root, disk(), &before(time, column, true)).await.unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rebuild_removes_only_unreadable_rows() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("t");
    table(&root, Layout::Pruned).await;
    let sound = rebuild(&root, disk(), true, None).await.unwrap();
    assert_eq!((sound.segments, sound.rows, sound.damaged), (10, 3_000, Vec::new()));

    let all = segments(&root).await;
    let broken = root.join(&all[3].path);
    let mut bytes = std::fs::read(&broken).unwrap();
    bytes[200..400].fill(0x5a);
    std::fs::write(&broken, &bytes).unwrap();
    std::fs::remove_file(root.join(&all[7].path)).unwrap();
    let dry_run = rebuild(&root, disk(), false, None).await.unwrap();
    assert_eq!((dry_run.segments, dry_run.rows, dry_run.damaged.len()), (8, 2_400, 2));
    assert!(dry_run.damaged.iter().all(|d| d.kept.is_none() && d.rows == 300));
    assert_eq!(segments(&root).await.len(), 10, "a dry run changes nothing");

    let done = rebuild(&root, disk(), true, None).await.unwrap();
    assert_eq!(done.damaged.iter().filter(|d| d.kept.is_some()).count(), 1, "{done:?}");
    let kept = done.damaged.iter().find_map(|d| d.kept.clone()).unwrap();
    assert_eq!(std::fs::read(kept).unwrap(), bytes);
    let mut left = ids(&root).await;
    left.sort_unstable();
    assert_eq!(left.len(), 2_400);
    left.dedup();
    assert_eq!(left.len(), 2_400);
    let vacuumed = vacuum(&root, disk(), VacuumOptions { retain: Duration::ZERO, apply: true }).await.unwrap();
    assert_eq!(vacuumed.orphans, 0, "damaged files stay");
    assert!(done.damaged.iter().any(|d| d.kept.as_ref().is_some_and(|kept| kept.is_file())));
}
