//! Logs read the same with and without the library.

use std::path::Path;
use std::sync::Arc;

use disk::RealDisk;

use crate::FieldType;
use crate::log::commit::CHECKPOINT_EACH;
use crate::log::replay::checkpoint_name;
use crate::log::tests::{adding, append, segment, table};
use crate::log::{Change, Committed, Field, Rewrite, Segment, Table, TransactionId};
use crate::store::LOG_FOLDER;

/// Checks that a table reads the same without the library, or that only the library reads it.
async fn check_replay(root: &Path, is_replayed: bool) {
    let mut table = Table::open(root, Arc::new(RealDisk)).await.unwrap().unwrap();
    assert_eq!((table.replayed.is_some(), table.state_bytes().is_some()), (is_replayed, is_replayed));
    let state = async |table: &Table| {
        let names = ["a", "b", "none"].map(|name| table.transaction_version(name));
        (
            (table.version(), table.arrow_schema().unwrap(), table.partition_columns().unwrap()),
            (table.options().unwrap(), table.segments_by_age().await.unwrap()),
            futures::future::try_join_all(names).await.unwrap(),
        )
    };
    let read = state(&table).await;
    table.read_state().await.unwrap();
    assert!(table.replayed.is_none());
    assert_eq!(read, state(&table).await);
}

#[tokio::test]
async fn logs_read_the_same_without_the_library() {
    let root = tempfile::tempdir().unwrap();
    let mut table = table(root.path()).await;
    check_replay(root.path(), true).await;
    table.commit(&adding(&["x", "a b%20\u{e9}", "y"], Some("a"))).await.unwrap();
    table.commit(&adding(&["x"], Some("b"))).await.unwrap();
    let of = |name: &str, version: u64| Some(TransactionId { name: name.to_owned(), version });
    let change = Change {
        add: vec![Segment { tags: [("job".to_owned(), "7".to_owned())].into(), ..segment("tagged") }],
        remove: vec![segment("a b%20\u{e9}")],
        columns: vec![Field::new("late", FieldType::Double)],
        properties: [("manyworlds.layout".to_owned(), Some("pruned".to_owned()))].into(),
        transaction: of("a", 7),
        ..Change::default()
    };
    table.commit(&change).await.unwrap();
    check_replay(root.path(), true).await;
    // The removed segment returns.
    table.commit(&adding(&["a b%20\u{e9}"], None)).await.unwrap();
    check_replay(root.path(), true).await;
    for n in table.version() + 1..=CHECKPOINT_EACH {
        check_replay(root.path(), true).await;
        table.commit(&Change { transaction: of("b", n), ..adding(&[&n.to_string()], None) }).await.unwrap();
    }
    assert!(root.path().join(LOG_FOLDER).join(checkpoint_name(CHECKPOINT_EACH)).is_file());
    check_replay(root.path(), true).await;
    table.commit(&Change { remove: vec![segment("tagged")], ..adding(&["after"], Some("c")) }).await.unwrap();
    check_replay(root.path(), true).await;
    // The library reads checkpoints of several files.
    std::fs::write(
        root.path().join(LOG_FOLDER).join("00000000000000000050.checkpoint.0000000001.0000000002.parquet"),
        "",
    )
    .unwrap();
    check_replay(root.path(), false).await;
}

#[tokio::test]
async fn only_the_library_reads_logs_with_more_than_segments() {
    let add = |path: &str| {
        serde_json::json!({"add": {"path": path, "partitionValues": {"part": "a"}, "size": 10, "modificationTime": 0,
            "dataChange": true, "stats": "{\"numRecords\":3}"}})
    };
    let remove = serde_json::json!({"remove": {"path": "part=a/y", "dataChange": true, "deletionTimestamp": 1}});
    let protocol = serde_json::json!({"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}});
    let domain = serde_json::json!({"domainMetadata": {"domain": "other", "configuration": "{}", "removed": false}});
    for (actions, is_replayed) in [
        (vec![add("part=a/y")], true),
        (vec![add("part=a/y"), remove], false),
        (vec![add("part=a/y"), add("part=a/y")], false),
        (vec![add("part=a/y"), protocol], false),
        (vec![add("part=a/y"), domain], false),
    ] {
        let root = tempfile::tempdir().unwrap();
        table(root.path()).await.commit(&adding(&["x"], None)).await.unwrap();
        append(root.path(), 2, &actions);
        check_replay(root.path(), is_replayed).await;
    }
}

#[tokio::test]
async fn handles_that_read_without_the_library_commit_any_change() {
    let root = tempfile::tempdir().unwrap();
    let mut first = table(root.path()).await;
    first.commit(&adding(&["x", "y"], None)).await.unwrap();
    let mut second = Table::open(root.path(), Arc::new(RealDisk)).await.unwrap().unwrap();
    // An append of its own, and one of another handle that it has not seen.
    second.commit(&adding(&["z"], Some("a"))).await.unwrap();
    assert_eq!(second.segments().await.unwrap().len(), 3);
    first.commit(&adding(&["w"], None)).await.unwrap();
    assert_eq!(second.commit(&adding(&["z"], Some("a"))).await.unwrap(), Committed::Before);
    assert!(second.replayed.is_some());
    let rewrite =
        Change { add: vec![segment("xy")], ..Change::rewrite(vec![segment("x"), segment("y")], Rewrite::SameRows) };
    second.commit(&rewrite).await.unwrap();
    assert_eq!(second.segments().await.unwrap(), ["w", "xy", "z"].map(segment));
    assert_eq!(second.removed_files().await.unwrap().len(), 2);
}
