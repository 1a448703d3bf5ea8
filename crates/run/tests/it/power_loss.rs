//! Power is lost at every kind of moment; what was committed survives, and a resumed run ends as an undisturbed one.

use std::path::Path;
use std::sync::Arc;

use disk::power_loss::PowerLossDisk;
use disk::{Disk, RealDisk};
use ensemble::{Plan, Store};
use run::{RunError, Summary};

use world::Seed;

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

/// What a killed process had committed without making it durable is so once another goes on and reports it as stored.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_resumed_behind_a_killed_process_survives() {
    resume_behind_a_killed_process(false).await;
}

/// So is a version that takes an older one's place.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_replaced_behind_a_killed_process_survives() {
    resume_behind_a_killed_process(true).await;
}

async fn play_anew(disk: Arc<dyn Disk>, data: &Path, plan: Plan) -> Result<Summary, RunError> {
    let mut store = Store::open_or_create(data, disk).await?;
    let ensemble = store.register(plan, true).await?;
    play_registered(&mut store, &dice::PLUGIN, ensemble, 1).await
}

/// Kills the process that plays at each of the disk's operations, resumes, and cuts the power.
async fn resume_behind_a_killed_process(replaces: bool) {
    let plan = plan(&dice::PLUGIN, 1, 20, 10);
    let expected = play_fresh(&dice::PLUGIN, plan.clone(), 1).await;
    for kill in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let disk = Arc::new(PowerLossDisk::new(&folder.path().join("attic")).unwrap());
        let old = Plan { seed: Seed(2), ..plan.clone() };
        if replaces {
            play_on(disk.clone(), &data, &dice::PLUGIN, old.clone(), 1).await.unwrap();
        }
        disk.fail_from(disk.operations() + kill);
        let survived = play_anew(disk.clone(), &data, plan.clone()).await.is_ok();
        disk.fail_from(u64::MAX);
        if !survived {
            let mut store = Store::open_or_create(&data, disk.clone()).await.unwrap();
            let ensemble = match store.resume("test").await {
                Ok(ensemble) if ensemble.plan.seed == plan.seed => ensemble,
                _ => store.register(plan.clone(), true).await.unwrap(),
            };
            assert!(play_registered(&mut store, &dice::PLUGIN, ensemble, 1).await.unwrap().complete);
        }
        disk.lose_power().unwrap();
        let mut store = Store::open(&data, Arc::new(RealDisk)).await.unwrap().unwrap();
        let left = store.resume("test").await.unwrap();
        assert_eq!(left.done, plan.ranges(), "killed at operation {kill}");
        let left = play_registered(&mut store, &dice::PLUGIN, left, 1).await.unwrap();
        assert_eq!((left.hash, left.events.hash), (expected.hash.clone(), expected.events.hash.clone()));
        if survived {
            break;
        }
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
