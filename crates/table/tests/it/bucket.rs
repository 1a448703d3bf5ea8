//! Tables in the S3 server of `scripts/services.sh`, with separate mirrors.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Barrier};
use std::thread;

use disk::bucket::{BucketDisk, BucketUrl};
use disk::{Disk, create_dirs, write_file};
use table::{Change, Committed, Definition, Field, FieldType, Segment, Table, TransactionId};
use tempfile::TempDir;

/// A unique prefix in the services' bucket, and a folder for its mirrors.
struct Place {
    url: BucketUrl,
    mirrors: TempDir,
}

impl Place {
    /// `None` if the services are not running.
    fn new() -> Option<Self> {
        if std::env::var_os("MANYWORLDS_S3").is_none() {
            assert!(std::env::var_os("CI").is_none(), "start the services: scripts/services.sh start");
            return None;
        }
        let url = format!("s3://manyworlds/table-{}", uuid::Uuid::new_v4().simple()).parse().unwrap();
        Some(Self { url, mirrors: tempfile::tempdir().unwrap() })
    }

    /// Opens the prefix like another machine, with its own mirror.
    fn open(&self, machine: &str) -> Arc<BucketDisk> {
        Arc::new(BucketDisk::open(self.url.clone(), &self.mirrors.path().join(machine)).unwrap())
    }
}

fn segment(name: &str) -> Segment {
    Segment {
        path: format!("part=a/{name}"),
        bytes: 10,
        rows: 5,
        partition: [("part".to_owned(), "a".to_owned())].into(),
        columns: BTreeMap::new(),
        tags: BTreeMap::new(),
    }
}

fn adding(name: &str) -> Change {
    Change { add: vec![segment(name)], transaction: Some(TransactionId::once(name)), ..Change::default() }
}

async fn open_or_create(disk: &Arc<BucketDisk>) -> Table {
    let columns = [Field::new("n", FieldType::Int32)];
    let definition = Definition::of_fields(&[Field::new("part", FieldType::Text)], &columns, "a test");
    Table::open_or_create(&disk.root().join("t"), disk.clone(), &definition).await.unwrap()
}

async fn open(disk: &Arc<BucketDisk>) -> Option<Table> {
    Table::open(&disk.root().join("t"), disk.clone()).await.unwrap()
}

async fn names(table: &Table) -> BTreeSet<String> {
    let segments = table.segments().await.unwrap();
    segments.into_iter().map(|s| s.path.trim_start_matches("part=a/").to_owned()).collect()
}

fn entries(disk: &BucketDisk) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(disk.root().join("t/_delta_log"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Commits changes unique to this committer, and changes that all committers make. Returns the versions of the former.
async fn commit_own_and_common(disk: &Arc<BucketDisk>, number: usize, each: usize) -> Vec<u64> {
    let mut table = open_or_create(disk).await;
    let mut versions = Vec::new();
    for i in 0..each {
        match table.commit(&adding(&format!("{number}-{i}"))).await.unwrap() {
            Committed::At(version) => versions.push(version),
            Committed::Before => panic!("{number}-{i} is unique to this committer"),
        }
        table.commit(&adding(&format!("all-{i}"))).await.unwrap();
    }
    versions
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_committers_lose_and_duplicate_nothing() {
    const EACH: usize = 5;
    let Some(place) = Place::new() else { return };
    let place = Arc::new(place);
    let begin = Arc::new(Barrier::new(8));
    let committers = (0..8).map(|number| {
        let (place, begin) = (place.clone(), begin.clone());
        // Like a process, each has its own threads and mirror.
        thread::spawn(move || {
            let disk = place.open(&format!("machine-{number}"));
            begin.wait();
            tokio::runtime::Runtime::new().unwrap().block_on(commit_own_and_common(&disk, number, EACH))
        })
    });
    let mut versions = BTreeSet::new();
    for committer in committers.collect::<Vec<_>>() {
        for version in committer.join().unwrap() {
            assert!(versions.insert(version), "version {version} occurs twice");
        }
    }
    let reader = open(&place.open("reader")).await.unwrap();
    let own = (0..8).flat_map(|number| (0..EACH).map(move |i| format!("{number}-{i}")));
    let all: BTreeSet<String> = own.chain((0..EACH).map(|i| format!("all-{i}"))).collect();
    assert_eq!(names(&reader).await, all);
    assert_eq!(reader.version() as usize, all.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_share_a_mirror() {
    let Some(place) = Place::new() else { return };
    let disks = [place.open("one"), place.open("one")];
    let mut tables = [open_or_create(&disks[0]).await, open_or_create(&disks[1]).await];
    let [first, second] = &mut tables;
    for i in 0..10 {
        let [one, other] = [format!("a-{i}"), format!("b-{i}")].map(|name| adding(&name));
        let (one, other) = tokio::join!(first.commit(&one), second.commit(&other));
        assert!(one.unwrap() != Committed::Before && other.unwrap() != Committed::Before);
    }
    first.refresh().await.unwrap();
    assert_eq!(names(first).await.len(), 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn new_mirrors_start_at_last_checkpoint() {
    let Some(place) = Place::new() else { return };
    let writer = place.open("writer");
    let mut table = open_or_create(&writer).await;
    for i in 0..54 {
        table.commit(&adding(&i.to_string())).await.unwrap();
    }
    let reader = place.open("reader");
    let mut read = open(&reader).await.unwrap();
    assert_eq!((names(&read).await.len(), read.version()), (54, 54));
    assert_eq!(entries(&reader)[0], "00000000000000000050.checkpoint.parquet");
    assert_eq!(entries(&reader).len(), 6);
    // The checkpoint remembers earlier transactions.
    assert_eq!(read.commit(&adding("7")).await.unwrap(), Committed::Before);
    assert_eq!(read.commit(&adding("new")).await.unwrap(), Committed::At(55));
    table.refresh().await.unwrap();
    assert!(names(&table).await.contains("new"));
}

#[tokio::test(flavor = "multi_thread")]
async fn mirrors_of_replaced_tables_are_rebuilt() {
    let Some(place) = Place::new() else { return };
    let stale = place.open("stale");
    let mut table = open_or_create(&stale).await;
    for name in ["a", "b"] {
        table.commit(&adding(name)).await.unwrap();
    }
    create_dirs(&*stale, &stale.root().join("t/part=a")).unwrap();
    write_file(&*stale, &stale.root().join("t/part=a/a"), b"the old one").unwrap();
    let other = place.open("other");
    other.remove_dir(&other.root().join("t")).unwrap();
    // An open handle reports the replacement.
    let error = table.refresh().await.unwrap_err().to_string();
    assert!(error.ends_with("t/_delta_log: another table replaced it: run it again"), "{error}");
    assert!(open(&place.open("stale")).await.is_none());
    open_or_create(&other).await.commit(&adding("c")).await.unwrap();
    let again = place.open("stale");
    assert_eq!(names(&open(&again).await.unwrap()).await, ["c".to_owned()].into());
    assert!(!again.root().join("t/part=a/a").exists());
}

fn read_back(disk: &BucketDisk, path: &Path, bytes: Option<u64>) -> Vec<u8> {
    disk.fetch(&[(path, bytes)]).unwrap();
    fs::read(path).unwrap()
}

#[test]
fn files_round_trip_through_the_bucket() {
    let Some(place) = Place::new() else { return };
    let [writer, reader] = ["writer", "reader"].map(|machine| place.open(machine));
    let at = |disk: &BucketDisk, name: &str| -> PathBuf { disk.root().join("a/b=c").join(name) };
    create_dirs(&*writer, &writer.root().join("a/b=c")).unwrap();
    // Sizes for uploads in one request, uploads in parts, and downloads in parts.
    for (name, bytes) in [("empty", 0), ("small", 1000), ("parts", 33 << 20), ("long", (65 << 20) + 1)] {
        let content: Vec<u8> = (0..bytes as u64).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 13) as u8).collect();
        write_file(&*writer, &at(&writer, name), &content).unwrap();
        assert!(read_back(&reader, &at(&reader, name), None) == content, "{name}");
        // Files of the right length are not fetched; others are replaced.
        fs::write(at(&reader, name), vec![1; bytes]).unwrap();
        assert_eq!(read_back(&reader, &at(&reader, name), Some(bytes as u64)), vec![1; bytes]);
        fs::write(at(&reader, name), [1; 3]).unwrap();
        assert!(read_back(&reader, &at(&reader, name), Some(bytes as u64)) == content, "{name}");
    }
    writer.remove(&at(&writer, "small")).unwrap();
    assert!(!at(&writer, "small").exists());
    fs::remove_file(at(&reader, "small")).unwrap();
    for bytes in [None, Some(1000)] {
        let error = reader.fetch(&[(&at(&reader, "small"), bytes)]).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
        assert_eq!(error.to_string(), format!("cannot read {}/a/b=c/small: no such object", place.url));
    }
    writer.remove_dir(&writer.root().join("a")).unwrap();
    assert!(reader.fetch(&[(&at(&reader, "parts"), None)]).is_err());
    let temporaries = fs::read_dir(reader.root().join("a/b=c")).unwrap().map(|e| e.unwrap().file_name());
    assert!(!temporaries.into_iter().any(|name| name.to_string_lossy().ends_with(".tmp")));
}

#[test]
fn unsupported_bucket_operations_are_rejected() {
    let Some(place) = Place::new() else { return };
    let disk = place.open("one");
    let root = disk.root().to_owned();
    let refused = disk.shrink(&root.join("x"), 0).unwrap_err().to_string();
    assert_eq!(refused, format!("cannot shorten {}/x: object stores do not support this: use a folder", place.url));
    assert!(disk.create(&root.join("in-place")).is_err());
    assert_eq!(disk.shown(&root.join("x")).to_str().unwrap(), format!("{}/x", place.url));
}
