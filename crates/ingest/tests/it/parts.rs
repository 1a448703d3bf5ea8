//! Segments that are cut by day.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, AsArray, Float64Array, RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use arrow::datatypes::TimestampMicrosecondType;
use disk::RealDisk;
use ingest::{Partition, Store, StoreOptions};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use table::upkeep::{
    LayoutChange, RewriteOptions, TrimLimit, TrimOptions, VacuumOptions, compact, rewrite, trim, vacuum,
};
use table::{Layout, Segment, Table};

use crate::support::{batch, by_day, name, numbers, options};

const DAY: i64 = 86_400_000_000;
const DAYS: [&str; 3] = ["1970-01-01", "1970-01-02", "1970-01-03"];

/// Flushes when it closes only, and merges never.
fn quiet(partition: Partition) -> StoreOptions {
    StoreOptions {
        flush_rows: 1 << 20,
        flush_age: Duration::from_hours(1),
        compact_segments: 0,
        partition,
        ..options()
    }
}

/// 36 rows of three days, in an order that jumps from day to day.
fn three_days() -> RecordBatch {
    let ordered = arrow::compute::concat_batches(&batch(0).schema(), &[0, 1, 2, 3].map(batch)).unwrap();
    let of_three_days = |row: u32| if row < 30 { row } else { row + 4 };
    let mixed = UInt32Array::from_iter_values((0..36).map(|row| of_three_days(row * 7 % 36)));
    take_record_batch(&ordered, &mixed).unwrap()
}

/// Writes rows and closes the store.
async fn flushed(data: &Path, options: StoreOptions, rows: RecordBatch) {
    let store = Store::open(data, Arc::new(RealDisk), options).await.unwrap();
    store.write(vec![(name("cpu"), rows)], None, decode::OnConflict::Refuse).await.unwrap();
    store.close().await;
}

async fn segments(root: &Path) -> Vec<Segment> {
    Table::open(root, Arc::new(RealDisk)).await.unwrap().unwrap().segments().await.unwrap()
}

/// The segments of each part, all of whose rows are of its day and in whose folder they lie.
async fn parts(root: &Path) -> BTreeMap<String, usize> {
    let mut parts = BTreeMap::new();
    for segment in segments(root).await {
        let part = segment.part().unwrap();
        assert!(segment.path.starts_with(&format!("{part}/")), "{} is of {part}", segment.path);
        let day = DAYS.iter().position(|day| *day == part).unwrap() as i64;
        let file = std::fs::File::open(root.join(&segment.path)).unwrap();
        for rows in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
            let times = rows.unwrap().column_by_name("time").unwrap().clone();
            let times = times.as_primitive::<TimestampMicrosecondType>();
            assert!(times.values().iter().all(|time| time.div_euclid(DAY) == day), "{times:?} are of {part}");
        }
        *parts.entry(part.to_owned()).or_default() += 1;
    }
    parts
}

#[tokio::test(flavor = "multi_thread")]
async fn a_segment_holds_rows_of_one_day_through_flushes_merges_and_trims() {
    let data = tempfile::tempdir().unwrap();
    let root = name("cpu").folder(data.path());
    let each = |count: usize| DAYS.map(|day| (day.to_owned(), count)).into();
    for flush in 1..=3 {
        flushed(data.path(), quiet(Partition::Day), three_days()).await;
        assert_eq!(parts(&root).await, each(flush));
    }
    let version = Table::open(&root, Arc::new(RealDisk)).await.unwrap().unwrap().version();
    assert_eq!(version, 3, "each flush is one commit");
    let merged = compact(&root, Arc::new(RealDisk), None).await.unwrap();
    assert_eq!((merged.segments_in, merged.segments_out), (9, 3));
    assert_eq!(parts(&root).await, each(1));
    let change = LayoutChange { layout: Some(Layout::Column), ..LayoutChange::default() };
    rewrite(&root, Arc::new(RealDisk), &RewriteOptions { change, ..RewriteOptions::default() }).await.unwrap();
    assert_eq!(parts(&root).await, each(1));
    let change = LayoutChange { layout: Some(Layout::Pruned), ..LayoutChange::default() };
    rewrite(&root, Arc::new(RealDisk), &RewriteOptions { change, ..RewriteOptions::default() }).await.unwrap();
    let kept: Vec<String> = segments(&root).await.into_iter().skip(1).map(|s| s.path).collect();
    let limit = TrimLimit::Before("1970-01-02".to_owned());
    let trimmed = trim(&root, Arc::new(RealDisk), &TrimOptions { limit, column: None, apply: true }).await.unwrap();
    let trimmed = trimmed.deleted;
    assert_eq!((trimmed.segments_in, trimmed.segments_out, trimmed.rows), (1, 0, 36), "nothing is written anew");
    assert_eq!(segments(&root).await.into_iter().map(|s| s.path).collect::<Vec<_>>(), kept);
    let all = VacuumOptions { retain: Duration::ZERO, apply: true };
    vacuum(&root, Arc::new(RealDisk), all).await.unwrap();
    assert_eq!(numbers(data.path(), None, &name("cpu")).await.len(), 72);
    assert_eq!(std::fs::read_dir(root.join(DAYS[0])).unwrap().count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn segments_stay_cut_when_integers_become_real_numbers() {
    let data = tempfile::tempdir().unwrap();
    flushed(data.path(), by_day(), three_days()).await;
    let rows = three_days();
    let halves: ArrayRef = Arc::new(Float64Array::from(vec![0.5; rows.num_rows()]));
    let real = RecordBatch::try_from_iter([("time", rows.column(0).clone()), ("number", halves)]).unwrap();
    flushed(data.path(), by_day(), real).await;
    let root = name("cpu").folder(data.path());
    assert_eq!(parts(&root).await.into_keys().collect::<Vec<_>>(), DAYS);
    assert_eq!(segments(&root).await.iter().map(|s| s.rows).sum::<u64>(), 72);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_may_be_cut_from_now_on() {
    let data = tempfile::tempdir().unwrap();
    flushed(data.path(), quiet(Partition::None), three_days()).await;
    flushed(data.path(), quiet(Partition::Hour), three_days()).await;
    let root = name("cpu").folder(data.path());
    let merged = compact(&root, Arc::new(RealDisk), None).await.unwrap();
    assert_eq!(merged.segments_in, 0, "of 36 hours and of none");
    assert_eq!(segments(&root).await.len(), 37);
}
