//! Power is lost at every single disk operation of inserting, clustering, compacting, rewriting and vacuuming.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use table::cluster::{ClusterOptions, cluster};
use table::disk::{Disk, RealDisk};
use table::power_loss::PowerLossDisk;
use table::upkeep::{VacuumOptions, compact, rewrite, vacuum};
use table::{Layout, TableError};

use crate::support::{batch, batches, change, ended, inserter};

const BATCHES: i64 = 5;

/// Does everything that can be done to a table, and notes in `stored` which batches were reported as stored.
async fn live(root: &Path, disk: Arc<dyn Disk>, stored: &mut Vec<i64>) -> Result<(), TableError> {
    let writer = inserter(root, disk.clone()).await?;
    for number in 0..BATCHES {
        if !stored.contains(&number) {
            writer.insert_once(&number.to_string(), &[batch(number)]).await?;
            stored.push(number);
        }
        if number == 2 {
            // No memory: everything is put aside on disk.
            let options = ClusterOptions { memory: 0, ..ClusterOptions::default() };
            match cluster(root, disk.clone(), options).await {
                // It was cut off between two layouts.
                Err(error) if error.to_string().contains("layout column is not clustered") => {}
                clustered => drop(clustered?),
            }
        }
    }
    compact(root, disk.clone(), None).await?;
    vacuum(root, disk.clone(), VacuumOptions { retain: Duration::ZERO, apply: true }).await?;
    rewrite(root, disk.clone(), &change(Layout::Column)).await?;
    rewrite(root, disk.clone(), &change(Layout::Clustered)).await?;
    cluster(root, disk.clone(), ClusterOptions { all: true, ..ClusterOptions::default() }).await?;
    vacuum(root, disk, VacuumOptions { retain: Duration::ZERO, apply: true }).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn no_stored_batch_is_lost_or_doubled_wherever_power_fails() {
    let folder = tempfile::tempdir().unwrap();
    let counting = Arc::new(PowerLossDisk::new(&folder.path().join("attic")).unwrap());
    live(&folder.path().join("data"), counting.clone(), &mut Vec::new()).await.unwrap();
    let operations = counting.operations();
    assert!(operations > 100, "only {operations} operations");
    for crash in 0..operations {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("data");
        let disk = Arc::new(PowerLossDisk::new(&folder.path().join("attic")).unwrap());
        disk.fail_from(crash);
        let mut stored = Vec::new();
        // A last operation may fail where that changes nothing, such as the removal of a file that nobody needs.
        let lived = live(&root, disk.clone(), &mut stored).await;
        disk.lose_power().unwrap();
        let found = batches(&root).await;
        let at = format!("crash at operation {crash} of {operations}: {stored:?} were stored, {lived:?}");
        assert!(stored.iter().all(|number| found.contains(number)), "{found:?}; {at}");
        assert!(found.len() <= stored.len() + 1, "{found:?}; {at}");
        // Life goes on, from what is there.
        live(&root, Arc::new(RealDisk), &mut stored.clone()).await.unwrap_or_else(|e| panic!("{e}; {at}"));
        assert!(batches(&root).await.into_iter().eq(0..BATCHES), "{at}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_done_survives_a_power_cut_right_behind_it() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("data");
    let disk = Arc::new(PowerLossDisk::new(&folder.path().join("attic")).unwrap());
    live(&root, disk.clone(), &mut Vec::new()).await.unwrap();
    disk.lose_power().unwrap();
    assert!(batches(&root).await.into_iter().eq(0..BATCHES));
    let files = |folder: &Path, ending: &str| {
        let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
        entries.filter(|e| e.file_name().to_string_lossy().ends_with(ending)).count()
    };
    let left = (files(&root, ".parquet"), files(&root.join("_lookup"), ".lookup"));
    assert_eq!(left, (1, 1), "what was vacuumed stays away");
}

/// A table that changes from layout to layout and back, by commit and by exchange of folders.
async fn change_layouts(root: &Path, disk: Arc<dyn Disk>) -> Result<(), TableError> {
    for layout in [Layout::Row, Layout::Column, Layout::Row, Layout::Clustered] {
        rewrite(root, disk.clone(), &change(layout)).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_changes_its_layout_is_the_old_or_the_new_one_wherever_power_fails() {
    let stored = async |root: &Path, disk: Arc<dyn Disk>| {
        let writer = inserter(root, disk).await.unwrap();
        for number in 0..BATCHES {
            writer.insert_once(&number.to_string(), &[batch(number)]).await.unwrap();
        }
        ended(writer, root).await;
    };
    let folder = tempfile::tempdir().unwrap();
    let (root, disk) = (folder.path().join("data"), PowerLossDisk::new(&folder.path().join("attic")).unwrap());
    let counting = Arc::new(disk);
    stored(&root, Arc::new(RealDisk)).await;
    change_layouts(&root, counting.clone()).await.unwrap();
    counting.lose_power().unwrap();
    assert!(batches(&root).await.into_iter().eq(0..BATCHES));
    let operations = counting.operations();
    assert!(operations > 100, "only {operations} operations");
    for crash in 0..operations {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("data");
        let disk = Arc::new(PowerLossDisk::new(&folder.path().join("attic")).unwrap());
        stored(&root, Arc::new(RealDisk)).await;
        disk.fail_from(crash);
        let lived = change_layouts(&root, disk.clone()).await;
        disk.lose_power().unwrap();
        let at = format!("crash at operation {crash} of {operations}: {lived:?}");
        assert_eq!(batches(&root).await, Vec::from_iter(0..BATCHES), "{at}");
        // Life goes on, and sweeps what was left; that of layout row, which has none, needs no sweeping.
        match rewrite(&root, Arc::new(RealDisk), &change(Layout::Row)).await {
            Err(error) if error.to_string().contains("of layout row already") => {}
            done => drop(done.unwrap_or_else(|e| panic!("{e}; {at}"))),
        }
        rewrite(&root, Arc::new(RealDisk), &change(Layout::Clustered)).await.unwrap_or_else(|e| panic!("{e}; {at}"));
        assert_eq!(batches(&root).await, Vec::from_iter(0..BATCHES), "{at}");
        // The attic and the table.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "{at}");
    }
}
