//! Power is lost at every single disk operation of inserting, clustering, compacting and vacuuming.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use table::TableError;
use table::cluster::{ClusterOptions, cluster};
use table::disk::{Disk, RealDisk};
use table::power_loss::PowerLossDisk;
use table::upkeep::{VacuumOptions, compact, vacuum};

use crate::support::{batch, batches, inserter};

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
            cluster(root, disk.clone(), options).await?;
        }
    }
    compact(root, disk.clone(), None).await?;
    vacuum(root, disk.clone(), VacuumOptions { retain: Duration::ZERO, apply: true }).await?;
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
