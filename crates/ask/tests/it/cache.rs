//! Cached answers of segments.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use ask::{Answer, Cache, Measure, Options, Question};
use disk::RealDisk;
use snapshot::Snapshot;
use table::upkeep::{VacuumOptions, vacuum};
use table::{Inserter, Layout, TableOptions};

use crate::tables::{HOUR, START};

/// Five segments of 60,000 rows, one hour each.
async fn hours(root: &Path) -> Snapshot {
    const ROWS: i64 = 60_000;
    let utc = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let fields = [
        Field::new("time", utc, true),
        Field::new("host", DataType::Utf8, true),
        Field::new("n", DataType::Int64, true),
    ];
    let schema = Arc::new(Schema::new(fields.to_vec()));
    let options = TableOptions::new(Layout::Pruned);
    let inserter = Inserter::open_or_create(root, Arc::new(RealDisk), &schema, &options).await.unwrap();
    for hour in 0..5 {
        let times = (0..ROWS).map(|i| START + hour * HOUR + i * (HOUR / ROWS));
        let columns: [ArrayRef; 3] = [
            Arc::new(TimestampMicrosecondArray::from_iter_values(times).with_timezone("UTC")),
            Arc::new(StringArray::from_iter_values((0..ROWS).map(|i| format!("host-{}", i % 7)))),
            Arc::new(Int64Array::from_iter_values((0..ROWS).map(|i| i % 100 + hour))),
        ];
        inserter.insert(&[RecordBatch::try_new(schema.clone(), columns.to_vec()).unwrap()]).await.unwrap();
    }
    opened(root).await
}

async fn opened(root: &Path) -> Snapshot {
    Snapshot::open(root, &[]).await.unwrap().unwrap()
}

fn question(since: i64, until: i64) -> Question {
    Question {
        groups: vec!["host".to_owned()],
        measures: vec![Measure::Count, Measure::Average("n".to_owned())],
        since: Some(START + since * HOUR / 2),
        until: Some(START + until * HOUR / 2),
        ..Question::default()
    }
}

fn ask(source: &Snapshot, question: &Question, cache: Option<Cache>) -> Answer {
    ask::answer(source, question, &Options { cache, ..Options::default() }).unwrap()
}

fn files(root: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(root.join("_cache")).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    files
}

#[tokio::test]
async fn sliding_window_reuses_cached_segments() {
    let folder = tempfile::tempdir().unwrap();
    let source = hours(folder.path()).await;
    let cache = || Some(Cache::of(folder.path()));
    // From the middle of the first hour to the middle of the fourth: two hours are inside.
    let first = ask(&source, &question(1, 7), cache());
    assert_eq!((first.reading.segments_cached, first.reading.segments_by_log), (0, 1));
    assert_eq!(first.rows, ask(&source, &question(1, 7), None).rows);
    assert_eq!(files(folder.path()).len(), 4);
    // One hour later the second segment, which was inside, is cut. The third is still inside, and now the fourth is
    // too.
    let second = ask(&source, &question(3, 9), cache());
    assert_eq!((second.reading.segments_cached, second.reading.segments_by_log), (1, 1));
    assert_eq!(second.rows, ask(&source, &question(3, 9), None).rows);
    let again = ask(&source, &question(3, 9), cache());
    assert_eq!((again.reading.segments_cached, again.reading.bytes), (4, 0));
    assert_eq!((again.rows, again.reading.rows_matching), (second.rows, second.reading.rows_matching));
    // Another question has another answer.
    let other = Question { measures: vec![Measure::Sum("n".to_owned())], ..question(3, 9) };
    assert_eq!(ask(&source, &other, cache()).reading.segments_cached, 0);
}

#[tokio::test]
async fn damaged_cache_files_count_as_missing() {
    let folder = tempfile::tempdir().unwrap();
    let source = hours(folder.path()).await;
    let (asked, cache) = (question(0, 10), || Some(Cache::of(folder.path())));
    let right = ask(&source, &asked, cache());
    let kept = files(folder.path());
    for (number, path) in kept.iter().enumerate() {
        let mut bytes = fs::read(path).unwrap();
        match number {
            0 => bytes.truncate(20),
            1 => bytes.clear(),
            _ => {
                let at = bytes.len() - 1 - number * 7;
                bytes[at] ^= 0x10;
            }
        }
        fs::write(path, bytes).unwrap();
    }
    // An answer of another segment.
    fs::copy(&kept[0], &kept[4]).unwrap();
    let answer = ask(&source, &asked, cache());
    assert_eq!((answer.reading.segments_cached, &answer.rows), (0, &right.rows));
    // They were written again.
    assert_eq!(ask(&source, &asked, cache()).reading.segments_cached, 5);
    fs::remove_dir_all(folder.path().join("_cache")).unwrap();
    assert_eq!(ask(&source, &asked, cache()).rows, right.rows);
    // The question succeeds even if the cache cannot be written.
    fs::remove_dir_all(folder.path().join("_cache")).unwrap();
    fs::write(folder.path().join("_cache"), "a file").unwrap();
    assert_eq!(ask(&source, &asked, cache()).rows, right.rows);
}

#[tokio::test]
async fn cache_evicts_oldest_files() {
    let folder = tempfile::tempdir().unwrap();
    let source = hours(folder.path()).await;
    ask(&source, &question(0, 10), Some(Cache::of(folder.path())));
    let first = files(folder.path());
    let one = fs::metadata(&first[0]).unwrap().len();
    std::thread::sleep(std::time::Duration::from_millis(20));
    let small = || Some(Cache::of(folder.path()).with_bytes_max(one * 7));
    let other = Question { groups: Vec::new(), ..question(0, 10) };
    ask(&source, &other, small());
    let left = files(folder.path());
    let bytes: u64 = left.iter().map(|path| fs::metadata(path).unwrap().len()).sum();
    assert!(bytes <= one * 7 && left.len() < 10, "{bytes} of {left:?}");
    assert!(left.iter().filter(|path| !first.contains(path)).count() == 5, "the newest stay: {left:?}");
}

#[tokio::test]
async fn other_readers_ignore_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let source = hours(folder.path()).await;
    let right = ask(&source, &question(0, 10), Some(Cache::of(folder.path())));
    let kept = files(folder.path());
    let options = VacuumOptions { retain: std::time::Duration::ZERO, apply: true };
    vacuum(folder.path(), Arc::new(RealDisk), options).await.unwrap();
    assert_eq!(files(folder.path()), kept);
    let source = opened(folder.path()).await;
    assert_eq!(source.segments.len(), 5);
    let answer = ask(&source, &question(0, 10), Some(Cache::of(folder.path())));
    assert_eq!((answer.reading.segments_cached, answer.rows), (5, right.rows));
}

#[tokio::test]
async fn concurrent_processes_share_a_cache() {
    let folder = tempfile::tempdir().unwrap();
    let source = hours(folder.path()).await;
    let right = ask(&source, &question(0, 9), None);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for round in 0..10 {
                    let cache = Some(Cache::of(folder.path()).with_bytes_max(2_000));
                    assert_eq!(ask(&source, &question(0, 9), cache).rows, right.rows);
                    if round % 3 == 0 {
                        let _ = fs::remove_dir_all(folder.path().join("_cache"));
                    }
                }
            });
        }
    });
}
