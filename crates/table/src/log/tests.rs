//! Commits are atomic, idempotent and concurrent.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::DataType;
use serde_json::Value;

use super::commit::CHECKPOINT_EACH;
use super::*;
use crate::{Appender, FieldType, Layout};
use disk::RealDisk;
use disk::power_loss::PowerLossDisk;

pub(super) fn definition() -> Definition {
    let partitions = [Field::new("part", FieldType::Text)];
    Definition::of_fields(&partitions, &[Field::new("n", FieldType::Int32)], "a test")
}

pub(super) fn segment(name: &str) -> Segment {
    Segment {
        path: format!("part=a/{name}"),
        bytes: 10,
        rows: 3,
        partition: [("part".to_owned(), "a".to_owned())].into(),
        columns: [("n".to_owned(), ColumnStatistics::between(-1, 9))].into(),
        tags: BTreeMap::new(),
    }
}

pub(super) fn adding(names: &[&str], transaction: Option<&str>) -> Change {
    let add = names.iter().map(|n| segment(n)).collect();
    Change { add, transaction: transaction.map(TransactionId::once), ..Change::default() }
}

pub(super) async fn table(root: &Path) -> Table {
    Table::open_or_create(root, Arc::new(RealDisk), &definition()).await.unwrap()
}

#[tokio::test]
async fn commits_add_and_remove_segments() {
    let root = tempfile::tempdir().unwrap();
    assert!(Table::open(root.path(), Arc::new(RealDisk)).await.unwrap().is_none());
    let mut table = table(root.path()).await;
    assert_eq!(table.commit(&adding(&["x", "y"], None)).await.unwrap(), Committed::At(1));
    assert_eq!(table.segments().await.unwrap(), [segment("x"), segment("y")]);
    // A segment replaces the segment with the same path.
    table.commit(&adding(&["x"], None)).await.unwrap();
    let remove = Change { remove: vec![segment("y")], ..Change::default() };
    table.commit(&remove).await.unwrap();
    let reopened = Table::open(root.path(), Arc::new(RealDisk)).await.unwrap().unwrap();
    assert_eq!(reopened.segments().await.unwrap(), [segment("x")]);
    assert_eq!(reopened.version(), 3);
}

#[tokio::test]
async fn changes_of_one_commit_may_share_new_column() {
    let root = tempfile::tempdir().unwrap();
    let mut table = table(root.path()).await;
    let adding_column =
        |name| Change { columns: vec![Field::new("m", FieldType::Int32)], ..adding(&[name], Some(name)) };
    let committed = table.commit_all(&[adding_column("x"), adding_column("y")]).await.unwrap();
    assert_eq!(committed, [Committed::At(1), Committed::At(1)]);
    assert_eq!(table.columns().unwrap(), ["part", "n", "m"]);
    assert_eq!(table.segments().await.unwrap().len(), 2);
}

#[tokio::test]
async fn named_changes_commit_once() {
    let root = tempfile::tempdir().unwrap();
    let mut first = table(root.path()).await;
    let mut second = table(root.path()).await;
    assert_eq!(first.commit(&adding(&["x"], Some("job/1"))).await.unwrap(), Committed::At(1));
    assert_eq!(first.commit(&adding(&["x"], Some("job/1"))).await.unwrap(), Committed::Before);
    // A stale handle detects the first commit when it tries.
    assert_eq!(second.commit(&adding(&["x"], Some("job/1"))).await.unwrap(), Committed::Before);
    assert_eq!(second.commit(&adding(&["z"], Some("job/2"))).await.unwrap(), Committed::At(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn unsynced_commits_of_others_become_durable() {
    // Kill the first writer at each disk operation. Then the second commits the same change, and the power fails.
    let mut found = 0;
    for kill in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("table");
        let disk = Arc::new(PowerLossDisk::new(&folder.path().join("attic")).unwrap());
        let open = async || Table::open_or_create(&root, disk.clone(), &definition()).await.unwrap();
        let mut first = open().await;
        disk.fail_from(disk.operations() + kill);
        let survived = first.commit(&adding(&["x"], Some("job/1"))).await.is_ok();
        disk.fail_from(u64::MAX);
        found += u32::from(open().await.commit(&adding(&["x"], Some("job/1"))).await.unwrap() == Committed::Before);
        disk.lose_power().unwrap();
        let left = Table::open(&root, Arc::new(RealDisk)).await.unwrap().unwrap();
        assert_eq!(left.segments().await.unwrap(), [segment("x")], "killed at operation {kill}");
        if survived {
            break;
        }
    }
    assert!(found > 1, "found {found} earlier commits, one of them from a writer that was not killed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_commits_all_succeed() {
    let root = tempfile::tempdir().unwrap();
    drop(table(root.path()).await);
    let writers = (0..6).map(|w| {
        let root = root.path().to_owned();
        tokio::spawn(async move {
            let mut table = table(&root).await;
            for i in 0..5 {
                table.commit(&adding(&[&format!("{w}-{i}")], None)).await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    assert_eq!(table(root.path()).await.segments().await.unwrap().len(), 30);
}

#[tokio::test]
async fn added_columns_never_change_type() {
    let root = tempfile::tempdir().unwrap();
    let mut table = table(root.path()).await;
    let grow = Change { columns: vec![Field::new("extra", FieldType::Int8)], ..adding(&["x"], None) };
    table.commit(&grow).await.unwrap();
    assert_eq!(table.columns().unwrap(), ["part", "n", "extra"]);
    let error = table.check_columns(&[Field::new("extra", FieldType::Text)]).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::Request);
    let text = error.to_string();
    assert!(
        text.starts_with("column \"extra\" of the table")
            && text.ends_with("holds byte, not string: rename one of them"),
        "{text}"
    );
}

/// A handle that does not know another writer's new column never adds rows of another type to it.
#[tokio::test]
async fn new_columns_of_others_never_change_type() {
    let root = tempfile::tempdir().unwrap();
    let growing = |segment: &str, columns: &[(&str, FieldType)]| {
        let columns = columns.iter().map(|(name, ty)| Field::new(*name, *ty)).collect();
        Change { columns, ..adding(&[segment], None) }
    };
    let (mut stale, mut other) = (table(root.path()).await, table(root.path()).await);
    other.commit(&growing("a", &[("extra", FieldType::Int64)])).await.unwrap();
    for columns in [&[("extra", FieldType::Double)][..], &[("extra", FieldType::Text), ("more", FieldType::Text)]] {
        let refused = stale.commit(&growing("b", columns)).await;
        assert!(matches!(refused, Err(TableError::ColumnType { .. })), "{columns:?}: {refused:?}");
    }
    stale.commit(&growing("c", &[("extra", FieldType::Int64)])).await.unwrap();
    // A name in another case would be the same column to other readers.
    let refused = stale.commit(&growing("d", &[("Extra", FieldType::Int64)])).await;
    assert!(matches!(refused, Err(TableError::ColumnName { .. })), "{refused:?}");
    // Two changes of one commit.
    let two = [growing("e", &[("both", FieldType::Int64)]), growing("f", &[("both", FieldType::Text)])];
    assert!(matches!(stale.commit_all(&two).await, Err(TableError::ColumnType { .. })));
    let paths: Vec<String> = table(root.path()).await.segments().await.unwrap().into_iter().map(|s| s.path).collect();
    assert_eq!(paths, ["part=a/a", "part=a/c"]);
}

#[tokio::test]
async fn widened_columns_have_no_segment_of_integers() {
    let root = tempfile::tempdir().unwrap();
    let mut table = table(root.path()).await;
    table.commit(&adding(&["a"], None)).await.unwrap();
    table.commit(&adding(&["late"], None)).await.unwrap();
    let widen = |remove: &[&str]| Change {
        remove: remove.iter().map(|name| segment(name)).collect(),
        widen: vec!["n".to_owned()],
        rewrite: Some(Rewrite::SameRows),
        ..adding(&["wide"], None)
    };
    let refused = table.commit(&widen(&["a"])).await;
    assert!(matches!(&refused, Err(TableError::Overtaken { segment, .. }) if segment == "part=a/late"), "{refused:?}");
    table.commit(&widen(&["a", "late"])).await.unwrap();
    assert_eq!(*table.arrow_schema().unwrap().field_with_name("n").unwrap().data_type(), DataType::Float64);
}

#[tokio::test]
async fn many_commits_leave_a_checkpoint() {
    let root = tempfile::tempdir().unwrap();
    let mut table = table(root.path()).await;
    for i in 0..CHECKPOINT_EACH + 2 {
        table.commit(&adding(&[&i.to_string()], None)).await.unwrap();
    }
    assert!(root.path().join("_delta_log/_last_checkpoint").is_file());
    let reopened = Table::open(root.path(), Arc::new(RealDisk)).await.unwrap().unwrap();
    assert_eq!(reopened.segments().await.unwrap().len() as u64, CHECKPOINT_EACH + 2);
}

#[tokio::test]
async fn tags_and_properties_survive_checkpoints() {
    let root = tempfile::tempdir().unwrap();
    let mut table = table(root.path()).await;
    let tagged = Segment { tags: [("job".to_owned(), "7".to_owned())].into(), ..segment("tagged") };
    let change = Change {
        add: vec![tagged.clone()],
        properties: [("manyworlds.layout".to_owned(), Some("pruned".to_owned()))].into(),
        ..Change::default()
    };
    table.commit(&change).await.unwrap();
    for i in 0..CHECKPOINT_EACH {
        table.commit(&adding(&[&i.to_string()], None)).await.unwrap();
    }
    let reopened = Table::open(root.path(), Arc::new(RealDisk)).await.unwrap().unwrap();
    assert!(reopened.segments().await.unwrap().contains(&tagged));
    assert_eq!(reopened.options().unwrap().layout, crate::Layout::Pruned);
}

#[tokio::test]
async fn rewrites_of_missing_segments_are_rejected() {
    let root = tempfile::tempdir().unwrap();
    let mut first = table(root.path()).await;
    first.commit(&adding(&["x", "y"], None)).await.unwrap();
    let mut second = table(root.path()).await;
    let rewrite = |to: &str| Change {
        add: vec![segment(to)],
        remove: vec![segment("x"), segment("y")],
        rewrite: Some(Rewrite::SameRows),
        ..Change::default()
    };
    // A handle that missed an insert can still rewrite.
    second.commit(&adding(&["z"], None)).await.unwrap();
    first.commit(&rewrite("xy")).await.unwrap();
    assert_eq!(first.segments().await.unwrap(), [segment("xy"), segment("z")]);
    // A handle that missed a rewrite must not repeat it.
    let refused = second.commit(&rewrite("yx")).await.unwrap_err();
    assert_eq!(refused.kind(), crate::ErrorKind::Conflict);
    assert!(refused.to_string().contains("part=a/x") && refused.to_string().contains("run it again"), "{refused}");
    assert_eq!(table(root.path()).await.segments().await.unwrap(), [segment("xy"), segment("z")]);
}

/// Appends an entry to the log as another writer would.
pub(super) fn append(root: &Path, version: u64, actions: &[Value]) {
    let lines = actions.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    std::fs::write(root.join(format!("_delta_log/{version:020}.json")), lines).unwrap();
}

#[tokio::test]
async fn deletion_vectors_and_column_mapping_are_rejected() {
    let root = tempfile::tempdir().unwrap();
    let mut table = table(root.path()).await;
    table.commit(&adding(&["x"], None)).await.unwrap();
    let features = ["deletionVectors", "columnMapping"];
    let protocol = serde_json::json!({"protocol": {
        "minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": features, "writerFeatures": features,
    }});
    let vector = serde_json::json!({"storageType": "u", "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^", "offset": 4,
        "sizeInBytes": 40, "cardinality": 1});
    let add = serde_json::json!({"add": {
        "path": "part=a/y", "partitionValues": {"part": "a"}, "size": 10, "modificationTime": 0, "dataChange": true,
        "stats": "{\"numRecords\":3}", "deletionVector": vector,
    }});
    append(root.path(), 2, &[protocol, add]);
    let reopened = Table::open(root.path(), Arc::new(RealDisk)).await.unwrap().unwrap();
    let said = reopened.segments().await.unwrap_err().to_string();
    assert!(said.starts_with("table ") && said.contains("deletion vectors are not supported"), "{said}");
}

#[tokio::test]
async fn log_positions_are_appended_once_as_columns_grow() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("t");
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let batch = |names: &[&str]| {
        let columns = names.iter().map(|n| (*n, Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef, true));
        RecordBatch::try_from_iter_with_nullable(columns).unwrap()
    };
    let (one, two) = (batch(&["a"]), batch(&["a", "b"]));
    let options = TableOptions::new(Layout::Pruned);
    let appender = Appender::open_or_create(&root, disk.clone(), &one.schema(), &options).await.unwrap();
    assert_eq!(appender.position(), 0);
    let append = async |appender: &Appender, batch: &RecordBatch, position| {
        let segment = appender.write(std::slice::from_ref(batch), None).unwrap();
        appender.commit(vec![segment], &batch.schema(), position).await
    };
    assert_eq!(append(&appender, &one, 7).await.unwrap(), Committed::At(1));
    assert_eq!(append(&appender, &one, 7).await.unwrap(), Committed::Before);
    assert_eq!(append(&appender, &one, 3).await.unwrap(), Committed::Before, "the table has passed position 3");
    assert_eq!(append(&appender, &two, 9).await.unwrap(), Committed::At(2));
    assert_eq!(append(&appender, &two, 12).await.unwrap(), Committed::At(3));

    let again = Appender::open(&root, disk.clone()).await.unwrap().unwrap();
    assert_eq!((again.position(), again.schema().fields().len()), (12, 2));
    assert_eq!(append(&again, &two, 12).await.unwrap(), Committed::Before);
    let text = RecordBatch::try_from_iter([("a", Arc::new(StringArray::from(vec!["x"])) as ArrayRef)]).unwrap();
    let refused = append(&again, &text, 13).await.unwrap_err().to_string();
    assert!(refused.contains("\"a\"") || refused.contains(" a "), "{refused}");
    let table = Table::open(&root, disk).await.unwrap().unwrap();
    assert_eq!(table.segments().await.unwrap().iter().map(|s| s.rows).sum::<u64>(), 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_segments_are_not_committed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("t");
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let rows = RecordBatch::try_from_iter([("a", Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef)]).unwrap();
    let options = TableOptions::new(Layout::Pruned);
    let appender = Appender::open_or_create(&root, disk.clone(), &rows.schema(), &options).await.unwrap();
    let segments = [1, 2].map(|_| appender.write(std::slice::from_ref(&rows), None).unwrap());
    std::fs::remove_file(root.join(&segments[1].path)).unwrap();
    let refused = appender.commit(segments.to_vec(), &rows.schema(), 1).await.unwrap_err();
    assert!(matches!(&refused, TableError::Overtaken { segment, .. } if *segment == segments[1].path), "{refused}");
    assert_eq!(appender.position_in_table().await.unwrap(), 0);
    let again = appender.write(std::slice::from_ref(&rows), None).unwrap();
    appender.commit(vec![again], &rows.schema(), 1).await.unwrap();
    let table = Table::open(&root, disk).await.unwrap().unwrap();
    assert_eq!(table.segments().await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn tables_open_during_concurrent_commits() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("t");
    let mut writer = table(&root).await;
    let reader = tokio::spawn({
        let root = root.clone();
        async move {
            let mut seen = 0;
            while seen < 300 {
                let version = Table::open(&root, Arc::new(RealDisk)).await.unwrap().unwrap().version();
                assert!(version >= seen);
                seen = version;
            }
        }
    });
    for n in 0..300 {
        writer.commit(&adding(&[&n.to_string()], None)).await.unwrap();
    }
    reader.await.unwrap();
}

/// Forges a log entry.
fn forge(root: &Path, version: u64, path: &str, part: Option<&str>) {
    let tags = part.map(|part| serde_json::json!({Segment::PART_TAG: part}));
    let add = serde_json::json!({"add": {
        "path": path, "partitionValues": {"part": "a"}, "size": 10, "modificationTime": 0, "dataChange": true,
        "tags": tags,
    }});
    std::fs::write(root.join(LOG_FOLDER).join(format!("{version:020}.json")), add.to_string()).unwrap();
}

#[tokio::test]
async fn paths_outside_the_folder_are_rejected() {
    for (path, part) in [
        ("../../x.parquet", None),
        ("%2e%2e/x.parquet", None),
        ("a/../../x.parquet", None),
        ("/etc/passwd", None),
        ("file:///etc/passwd", None),
        ("s3://bucket/x.parquet", None),
        ("x.parquet", Some("../../y")),
        ("x.parquet", Some("/tmp")),
    ] {
        let root = tempfile::tempdir().unwrap();
        table(root.path()).await.commit(&adding(&["x"], None)).await.unwrap();
        forge(root.path(), 2, path, part);
        let forged = Table::open(root.path(), Arc::new(RealDisk)).await.unwrap().unwrap();
        let refused = forged.segments().await.unwrap_err().to_string();
        assert!(refused.contains("outside the table's folder"), "{path}: {refused}");
        assert!(forged.segments_by_age().await.is_err());
    }
    let root = tempfile::tempdir().unwrap();
    table(root.path()).await;
    forge(root.path(), 1, "part=a/..x/...parquet", Some("day=2"));
    let odd = Table::open(root.path(), Arc::new(RealDisk)).await.unwrap().unwrap();
    assert_eq!(odd.segments().await.unwrap().len(), 1);
}

/// Each call of the Delta library occupies a blocking thread while it waits for another.
#[test]
fn concurrent_reads_exceed_blocking_threads() {
    let threads = CALLS_MAX + 8;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).max_blocking_threads(threads).build();
    let root = tempfile::tempdir().unwrap();
    let (sender, all_read) = std::sync::mpsc::channel();
    let runtime = runtime.unwrap();
    runtime.block_on(table(root.path()));
    for _ in 0..4 * threads {
        let (root, sender) = (root.path().to_owned(), sender.clone());
        runtime.spawn(async move {
            let mut table = table(&root).await;
            table.read_state().await.unwrap();
            sender.send(table.version())
        });
    }
    let read = (0..4 * threads).filter_map(|_| all_read.recv_timeout(Duration::from_mins(1)).ok()).count();
    runtime.shutdown_background();
    assert_eq!(read, 4 * threads);
}

#[tokio::test]
async fn damaged_log_entries_are_named() {
    let root = tempfile::tempdir().unwrap();
    let mut table = table(root.path()).await;
    table.commit(&adding(&["x"], None)).await.unwrap();
    let entry = root.path().join(LOG_FOLDER).join("00000000000000000001.json");
    let whole = std::fs::read(&entry).unwrap();
    let lines = String::from_utf8_lossy(&whole).lines().count();
    for (damaged, at) in [(&whole[..whole.len() - 9], lines), (&b"PAR1"[..], 1)] {
        std::fs::write(&entry, damaged).unwrap();
        let said = Table::open(root.path(), Arc::new(RealDisk)).await.unwrap_err().to_string();
        assert!(said.contains(&format!("line {at} of {} is damaged", entry.display())), "{said}");
    }
    std::fs::write(&entry, whole).unwrap();
    assert!(Table::open(root.path(), Arc::new(RealDisk)).await.unwrap().is_some());
}

#[tokio::test]
async fn handles_behind_a_cleaned_up_log_find_the_newest_version() {
    let root = tempfile::tempdir().unwrap();
    let mut writer = table(root.path()).await;
    writer.commit(&adding(&["x"], None)).await.unwrap();
    let open = async || Table::open(root.path(), Arc::new(RealDisk)).await.unwrap().unwrap();
    let (mut behind, mut stale) = (open().await, open().await);
    for n in 0..CHECKPOINT_EACH + 5 {
        writer.commit(&adding(&[&n.to_string()], None)).await.unwrap();
    }
    // A log is cleaned up to a checkpoint: both the entry of the handle's version and the next are gone.
    for version in 0..CHECKPOINT_EACH {
        std::fs::remove_file(root.path().join(LOG_FOLDER).join(format!("{version:020}.json"))).unwrap();
    }
    // An append takes no number of an entry that is gone.
    behind.commit(&adding(&["late"], None)).await.unwrap();
    assert_eq!(behind.version(), writer.version() + 1);
    stale.refresh().await.unwrap();
    assert_eq!(stale.segments().await.unwrap(), behind.segments().await.unwrap());
    assert_eq!(stale.segments().await.unwrap().len() as u64, CHECKPOINT_EACH + 7);
}

#[tokio::test]
async fn a_log_without_a_new_entry_is_not_read_again() {
    let root = tempfile::tempdir().unwrap();
    let mut handle = table(root.path()).await;
    handle.commit(&adding(&["x"], None)).await.unwrap();
    handle.refresh().await.unwrap();
    let newest = root.path().join(LOG_FOLDER).join(format!("{:020}.json", handle.version()));
    std::fs::write(newest, "damaged").unwrap();
    handle.refresh().await.unwrap();
    assert_eq!(handle.segments().await.unwrap(), [segment("x")]);
}
