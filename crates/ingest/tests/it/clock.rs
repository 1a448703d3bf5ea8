//! A clock that steps back.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::TimestampMicrosecondType;
use decode::{Format, Limits, Precision, Request, decode};
use disk::RealDisk;
use ingest::Key;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use table::Table;

use crate::support::{name, numbers, open};

const START: i64 = 1_760_000_000_000_000;
const HOUR: i64 = 3_600_000_000;

/// Rows without a time of their own, as a server decodes them whose clock says `now`.
fn rows(request: i64, now: i64) -> RecordBatch {
    let lines: Vec<String> = (request * 10..request * 10 + 10).map(|n| format!("cpu number={n}i\n")).collect();
    let lines = lines.concat();
    let format = Format::LineProtocol { precision: Precision::Nanoseconds };
    let request = Request { now_micros: now, ..Request::default() };
    let mut decoded = decode(format, lines.as_bytes(), &request, &Limits::default()).unwrap();
    assert!(decoded.refused.is_empty());
    decoded.tables.remove(0).1
}

/// What the files of a table hold, in the order in which it is there: the times of each.
async fn times(root: &Path) -> Vec<Vec<i64>> {
    let table = Table::open(root, Arc::new(RealDisk)).await.unwrap().unwrap();
    let segments = table.segments().await.unwrap();
    let read = |path: &str| {
        let file = std::fs::File::open(root.join(path)).unwrap();
        let rows = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        let times = rows.flat_map(|rows| {
            let rows = rows.unwrap();
            rows.column_by_name("time").unwrap().as_primitive::<TimestampMicrosecondType>().values().to_vec()
        });
        times.collect()
    };
    segments.iter().map(|segment| read(&segment.path)).collect()
}

/// The files that keep keys, anywhere below a folder.
fn key_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found = entries.flat_map(|path| if path.is_dir() { key_files(&path) } else { vec![path] });
    found.filter(|path| path.extension().is_some_and(|e| e == "keys")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_steps_back_costs_no_row_no_order_and_no_key() {
    let data = tempfile::tempdir().unwrap();
    let table = name("cpu");
    // Forward, back by hours, and forward again.
    let clock = [0, 1, 2, -5, -4, -9, 3, -20].map(|hours| START + hours * HOUR);
    let key = |request: usize| Some(Key::of(&format!("request {request}")));
    for round in 0..3 {
        let store = open(data.path(), Arc::new(RealDisk)).await;
        for (request, now) in clock.into_iter().enumerate() {
            // Sent again at another time, with the same key.
            for again in 0..2 {
                let sent = rows(request as i64, now - again * HOUR);
                store.write(vec![(table.clone(), sent)], key(request), decode::OnConflict::Refuse).await.unwrap();
            }
        }
        assert_eq!(numbers(data.path(), Some(&store), &table).await, (0..80).collect::<Vec<_>>(), "round {round}");
        store.close().await;
        drop(store);
        // Since they were kept, the system's clock has stepped back too.
        let kept = key_files(data.path());
        assert!(!kept.is_empty());
        for path in kept {
            let file = std::fs::File::options().write(true).open(path).unwrap();
            file.set_modified(SystemTime::now() + Duration::from_hours(48)).unwrap();
        }
    }
    assert_eq!(numbers(data.path(), None, &table).await, (0..80).collect::<Vec<_>>());
    let segments = times(&table.folder(data.path())).await;
    assert!(segments.iter().all(|times| times.is_sorted()), "{segments:?}");
    let mut stamps: Vec<i64> = segments.concat();
    stamps.sort_unstable();
    let mut expected: Vec<i64> = clock.into_iter().flat_map(|now| [now; 10]).collect();
    expected.sort_unstable();
    assert_eq!(stamps, expected, "each row has the time of the clock when it came");
}
