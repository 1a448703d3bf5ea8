//! Cuts the power at every disk operation of inserting, clustering, compacting, rewriting and vacuuming.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use disk::power_loss::PowerLossDisk;
use disk::{Disk, RealDisk};
use table::cluster::{ClusterOptions, cluster};
use table::upkeep::{VacuumOptions, compact, rewrite, vacuum};
use table::{Layout, TableError};

use crate::support::{batch, batches, change, inserter};

const BATCHES: i64 = 5;

/// Runs every operation on a table, and records in `stored` which batches were reported as stored.
async fn live(root: &Path, disk: Arc<dyn Disk>, stored: &mut Vec<i64>) -> Result<(), TableError> {
    let writer = inserter(root, disk.clone()).await?;
    for number in 0..BATCHES {
        if !stored.contains(&number) {
            writer.insert_once(&number.to_string(), &[batch(number)]).await?;
            stored.push(number);
        }
        if number == 2 {
            // No memory: spills everything to disk.
            let options = ClusterOptions { memory: 0, ..ClusterOptions::default() };
            match cluster(root, disk.clone(), options).await {
                // The power cut came between two layouts.
                Err(error) if error.to_string().contains("cannot cluster layout column") => {}
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
async fn power_cuts_never_lose_or_duplicate_batches() {
    let folder = tempfile::tempdir().unwrap();
    let counting = Arc::new(PowerLossDisk::new(&folder.path().join("attic")).unwrap());
    live(&folder.path().join("data"), counting.clone(), &mut Vec::new()).await.unwrap();
    let operations = counting.operations();
    assert!(operations > 100, "only {operations} operations");
    // Several at once, since each mostly waits for one of its own threads.
    for some in (0..operations).collect::<Vec<_>>().chunks(4) {
        let cut = futures::future::join_all(some.iter().map(|&crash| tokio::spawn(cut(crash, operations)))).await;
        cut.into_iter().for_each(|cut| cut.unwrap());
    }
}

/// Cuts the power at one operation of `operations`, and goes on from what is stored.
async fn cut(crash: u64, operations: u64) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("data");
    let disk = Arc::new(PowerLossDisk::new(&folder.path().join("attic")).unwrap());
    disk.fail_from(crash);
    let mut stored = Vec::new();
    // Failing to remove an unneeded file is not an error, so `lived` may be `Ok`.
    let lived = live(&root, disk.clone(), &mut stored).await;
    disk.lose_power().unwrap();
    let found = batches(&root).await;
    let at = format!("crash at operation {crash} of {operations}: {stored:?} were stored, {lived:?}");
    assert!(stored.iter().all(|number| found.contains(number)), "{found:?}; {at}");
    assert!(found.len() <= stored.len() + 1, "{found:?}; {at}");
    // Operation continues from the stored state.
    live(&root, Arc::new(RealDisk), &mut stored.clone()).await.unwrap_or_else(|e| panic!("{e}; {at}"));
    assert!(batches(&root).await.into_iter().eq(0..BATCHES), "{at}");
}

#[tokio::test(flavor = "multi_thread")]
async fn completed_work_survives_a_power_cut() {
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
    assert_eq!(left, (1, 1), "vacuumed files stay removed");
}
