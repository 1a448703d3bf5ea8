//! Other writers may truncate times in the log to milliseconds. Trimming and replacing rows stay exact.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, TimestampMicrosecondArray};
use disk::RealDisk;
use table::upkeep::{TrimLimit, TrimOptions, last_rows, trim};
use table::{Appender, ColumnStatistics, Layout, Segment, Table, TableOptions};

/// A row at a microsecond after 1970.
fn row(micros: i64, value: i64) -> RecordBatch {
    let time = TimestampMicrosecondArray::from(vec![micros]).with_timezone("UTC");
    let columns: [(&str, ArrayRef); 2] = [("time", Arc::new(time)), ("value", Arc::new(Int64Array::from(vec![value])))];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap()
}

async fn segments(root: &Path) -> Vec<Segment> {
    Table::open(root, Arc::new(RealDisk)).await.unwrap().unwrap().segments().await.unwrap()
}

/// A table with a row at 999 microseconds; another writer truncated this to 0 in the log.
async fn table(root: &Path) -> Appender {
    let options = TableOptions::new(Layout::Pruned);
    let rows = row(999, 1);
    let appender = Appender::open_or_create(root, Arc::new(RealDisk), &rows.schema(), &options).await.unwrap();
    let ours = appender.write(std::slice::from_ref(&rows), None).unwrap();
    let at = Some("1970-01-01T00:00:00.000Z".into());
    let statistics = ColumnStatistics { min: at.clone(), max: at, nulls: Some(0) };
    let theirs = Segment { columns: [("time".to_owned(), statistics)].into(), ..ours };
    appender.commit(vec![theirs], &rows.schema(), 1).await.unwrap();
    appender
}

#[tokio::test(flavor = "multi_thread")]
async fn trimming_respects_truncated_times() {
    let root = tempfile::tempdir().unwrap();
    drop(table(root.path()).await);
    for (before, left) in [("1970-01-01T00:00:00.000500Z", 1), ("1970-01-01T00:00:00.001Z", 0)] {
        let options = TrimOptions { limit: TrimLimit::Before(before.to_owned()), column: None, apply: true };
        assert_eq!(trim(root.path(), Arc::new(RealDisk), &options).await.unwrap().deleted.rows, 1 - left, "{before}");
        assert_eq!(segments(root.path()).await.len() as u64, left);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn replacing_rows_respects_truncated_times() {
    let root = tempfile::tempdir().unwrap();
    let appender = table(root.path()).await;
    let (rows, superseding) = last_rows(vec![row(999, 2)], "time", &[]).unwrap();
    let new = appender.write(&rows, None).unwrap();
    let superseding = Arc::new(superseding.unwrap());
    appender.commit_superseding(vec![new.clone()], &rows[0].schema(), 2, superseding).await.unwrap();
    let left: Vec<String> = segments(root.path()).await.into_iter().map(|s| s.path).collect();
    assert_eq!(left, [new.path]);
}
