//! Power is lost at every kind of moment; what was committed survives, and a resumed run ends as an undisturbed one.

use std::sync::Arc;

use ensemble::Store;
use table::power_loss::PowerLossDisk;

use crate::support::{plan, play_fresh, play_on, play_registered};

/// Plays until operation `crash` of the disk, loses power, resumes on a sound disk, and gives (hash, event hash).
async fn play_through_power_loss(crash: u64) -> (String, Option<String>) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let disk = Arc::new(PowerLossDisk::new(&folder.path().join("attic")).unwrap());
    disk.fail_from(crash);
    let plan = plan(&dice::PLUGIN, 1, 40, 10);
    let first = play_on(disk.clone(), &data, &dice::PLUGIN, plan.clone(), 1).await;
    disk.lose_power().unwrap();
    if let Ok(summary) = first {
        return (summary.hash, summary.events.hash);
    }
    let sound = Arc::new(PowerLossDisk::new(&folder.path().join("attic-2")).unwrap());
    let mut store = Store::open_or_create(&data, sound).await.unwrap();
    let ensemble = match store.resume("test").await {
        Ok(ensemble) => ensemble,
        Err(_) => store.register(plan, false).await.unwrap(),
    };
    let summary = play_registered(&mut store, &dice::PLUGIN, ensemble, 1).await.unwrap();
    assert!(summary.complete, "crash at operation {crash}");
    assert_eq!(summary.events.rows, 40 * 3 * 20, "crash at operation {crash}");
    (summary.hash, summary.events.hash)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_survives_power_loss_at_any_operation() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Arc::new(PowerLossDisk::new(&folder.path().join("attic")).unwrap());
    let undisturbed = play_fresh(&dice::PLUGIN, plan(&dice::PLUGIN, 1, 40, 10), 1).await;
    let expected = (undisturbed.hash, undisturbed.events.hash);
    play_on(disk.clone(), &folder.path().join("data"), &dice::PLUGIN, plan(&dice::PLUGIN, 1, 40, 10), 1).await.unwrap();
    let operations = disk.operations();
    assert!(operations > 100, "only {operations} operations");
    for crash in 0..=operations {
        assert_eq!(play_through_power_loss(crash).await, expected, "crash at operation {crash} of {operations}");
    }
}

/// What a finished run reported is still there after a power cut right behind it.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_reported_as_stored_survives() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let disk = Arc::new(PowerLossDisk::new(&folder.path().join("attic")).unwrap());
    let plan = plan(&dice::PLUGIN, 4, 20, 10);
    let summary = play_on(disk.clone(), &data, &dice::PLUGIN, plan, 2).await.unwrap();
    disk.lose_power().unwrap();
    let mut store = Store::open_or_create(&data, disk).await.unwrap();
    let ensemble = store.resume("test").await.unwrap();
    assert_eq!(ensemble.done.len(), 2);
    let again = play_registered(&mut store, &dice::PLUGIN, ensemble, 1).await.unwrap();
    assert_eq!((again.hash, again.played), (summary.hash, 0));
}
