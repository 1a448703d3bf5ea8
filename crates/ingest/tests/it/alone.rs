//! A table that cannot be written stands in nobody's way.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use disk::RealDisk;
use ingest::{IngestError, Store, StoreOptions};

use crate::support::{batch, batches, name, options, until};

async fn open(data: &Path) -> Arc<Store> {
    let small = StoreOptions { memory_bytes: 256 << 10, ..options() };
    Store::open(data, Arc::new(RealDisk), small).await.unwrap()
}

/// Puts an entry into the log of a table that nobody can read; where it is.
fn damage(root: &Path) -> PathBuf {
    let log = root.join("_delta_log");
    let versions = std::fs::read_dir(&log)
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".json")?.parse::<u64>().ok());
    let path = log.join(format!("{:020}.json", versions.max().unwrap() + 1));
    std::fs::write(&path, "this is no entry").unwrap();
    path
}

#[tokio::test(flavor = "multi_thread")]
async fn failing_table_blocks_no_other_and_recovers() {
    let data = tempfile::tempdir().unwrap();
    let (bad, good) = (name("bad"), name("good"));
    let store = open(data.path()).await;
    store.write(vec![(bad.clone(), batch(0))], None, decode::OnConflict::Refuse).await.unwrap();
    until(async || store.figures().segments == 1).await;
    let damaged = damage(&bad.folder(data.path()));
    let mut stored = vec![0];
    let refused = loop {
        let n = stored.len() as i64;
        match store.write(vec![(bad.clone(), batch(n))], None, decode::OnConflict::Refuse).await {
            Ok(_) => stored.push(n),
            Err(IngestError::Overloaded { .. }) => tokio::time::sleep(Duration::from_millis(20)).await,
            Err(refused) => break refused,
        }
    };
    assert!(matches!(&refused, IngestError::Failing { table, .. } if table == "bad"), "{refused}");
    let failing = store.failing();
    assert_eq!((failing.len(), &failing[0].table, failing[0].rows), (1, &bad, Some(10 * (stored.len() as u64 - 1))));
    assert_eq!(store.figures().waiting_bytes, 0, "it takes memory of the others");
    for n in 0..200 {
        store.write(vec![(good.clone(), batch(n))], None, decode::OnConflict::Refuse).await.unwrap();
    }
    until(async || batches(data.path(), None, &good).await.len() == 200).await;
    let waiting = ingest::waiting(&bad.folder(data.path()), 0).unwrap().unwrap().entries;
    let unflushed = waiting.iter().filter(|(position, _)| *position > 1).map(|(_, rows)| rows.num_rows());
    assert_eq!(unflushed.sum::<usize>(), 10 * (stored.len() - 1));
    std::fs::remove_file(damaged).unwrap();
    until(async || store.failing().is_empty()).await;
    // Room comes as the rows that wait are written.
    let next = stored.len() as i64;
    until(async || store.write(vec![(bad.clone(), batch(next))], None, decode::OnConflict::Refuse).await.is_ok()).await;
    stored.push(next);
    assert_eq!(store.close().await, []);
    assert_eq!(batches(data.path(), None, &bad).await, stored);
}

#[tokio::test(flavor = "multi_thread")]
async fn restart_serves_all_but_the_damaged_table() {
    let data = tempfile::tempdir().unwrap();
    let (bad, good) = (name("bad"), name("good"));
    let store = open(data.path()).await;
    for table in [&bad, &good] {
        store.write(vec![(table.clone(), batch(0))], None, decode::OnConflict::Refuse).await.unwrap();
    }
    until(async || store.figures().segments == 2).await;
    let damaged = damage(&bad.folder(data.path()));
    store.write(vec![(bad.clone(), batch(1))], None, decode::OnConflict::Refuse).await.unwrap();
    let left = store.close().await;
    assert_eq!((left.len(), &left[0].table, left[0].rows), (1, &bad, Some(10)));
    assert!(ingest::failing(&bad.folder(data.path())).is_some());
    drop(store);
    let store = open(data.path()).await;
    store.write(vec![(good.clone(), batch(1))], None, decode::OnConflict::Refuse).await.unwrap();
    let refused = store.write(vec![(bad.clone(), batch(2))], None, decode::OnConflict::Refuse).await.unwrap_err();
    assert!(matches!(&refused, IngestError::Failing { table, .. } if table == "bad"), "{refused}");
    assert_eq!(store.failing().iter().map(|failing| &failing.table).collect::<Vec<_>>(), [&bad]);
    // Attempts to open it become rarer.
    until(async || {
        let refused = store.write(vec![(bad.clone(), batch(2))], None, decode::OnConflict::Refuse).await;
        matches!(refused, Err(IngestError::Failing { after, .. }) if after > Duration::from_secs(4))
    })
    .await;
    std::fs::remove_file(damaged).unwrap();
    until(async || store.write(vec![(bad.clone(), batch(2))], None, decode::OnConflict::Refuse).await.is_ok()).await;
    assert_eq!(store.close().await, []);
    assert_eq!(batches(data.path(), None, &bad).await, [0, 1, 2]);
    assert_eq!(batches(data.path(), None, &good).await, [0, 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_folder_fails_alone_until_a_restart() {
    let fresh = |root: &Path| std::fs::create_dir_all(root.join("_ingest")).unwrap();
    let file = |root: &Path| std::fs::write(root, "no folder").unwrap();
    for replace in [|_: &Path| {}, file, fresh] {
        let data = tempfile::tempdir().unwrap();
        let (bad, good) = (name("bad"), name("good"));
        let root = bad.folder(data.path());
        let mut store = open(data.path()).await;
        for table in [&bad, &good] {
            store.write(vec![(table.clone(), batch(0))], None, decode::OnConflict::Refuse).await.unwrap();
        }
        until(async || store.figures().segments == 2).await;
        std::fs::remove_dir_all(&root).unwrap();
        replace(&root);
        let refused = store.write(vec![(bad.clone(), batch(1))], None, decode::OnConflict::Refuse).await.unwrap_err();
        assert!(refused.to_string().contains("removed or replaced"), "{refused}");
        store.write(vec![(good.clone(), batch(1))], None, decode::OnConflict::Refuse).await.unwrap();
        store.check_disk().unwrap();
        for failing in [store.failing(), store.close().await] {
            assert_eq!((failing.len(), &failing[0].table, failing[0].rows), (1, &bad, Some(0)), "{failing:?}");
        }
        drop(store);
        if root.is_file() {
            std::fs::remove_file(&root).unwrap();
        }
        store = open(data.path()).await;
        store.write(vec![(bad.clone(), batch(2))], None, decode::OnConflict::Refuse).await.unwrap();
        assert_eq!(store.close().await, []);
        assert_eq!(batches(data.path(), None, &bad).await, [2]);
        assert_eq!(batches(data.path(), None, &good).await, [0, 1]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn folder_put_back_takes_rows_again() {
    let data = tempfile::tempdir().unwrap();
    let (table, aside) = (name("cpu"), data.path().join("aside"));
    let root = table.folder(data.path());
    let store = open(data.path()).await;
    let write = async |n| store.write(vec![(table.clone(), batch(n))], None, decode::OnConflict::Refuse).await;
    write(0).await.unwrap();
    std::fs::rename(&root, &aside).unwrap();
    write(1).await.unwrap_err();
    std::fs::rename(&aside, &root).unwrap();
    until(async || store.failing().is_empty()).await;
    write(2).await.unwrap();
    assert_eq!(store.close().await, []);
    assert_eq!(batches(data.path(), None, &table).await, [0, 2]);
}
