//! A complete ensemble gets more worlds: those of a longer run from the start.

use std::path::Path;
use std::sync::Arc;

use disk::power_loss::PowerLossDisk;
use disk::{Disk, RealDisk};
use ensemble::{Columns, EnsembleError, EventMode, Plan, Store, StoredEnsemble, verify};
use run::{RunError, Summary};
use world::Seed;

use crate::support::{model, plan, play_fresh, play_on, play_registered};

/// 25 worlds in ranges of 10: the last range is short.
fn short() -> Plan {
    plan(&dice::PLUGIN, 1, 25, 10)
}

/// 47 worlds, from 25 on in ranges of 8.
fn long() -> Plan {
    plan(&dice::PLUGIN, 1, 47, 8)
}

async fn extend_on(disk: Arc<dyn Disk>, data: &Path, plan: Plan) -> Result<Summary, RunError> {
    let mut store = Store::open_or_create(data, disk).await?;
    let ensemble = store.extend(&plan).await?;
    play_registered(&mut store, &dice::PLUGIN, ensemble, 1).await
}

async fn stored(data: &Path) -> StoredEnsemble {
    Store::open(data, Arc::new(RealDisk)).await.unwrap().unwrap().ensemble("test").await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn extension_equals_a_longer_run() {
    for events in [EventMode::Store, EventMode::Replay] {
        let with = |plan: Plan| Plan { events, ..plan };
        let whole = play_fresh(&dice::PLUGIN, with(long()), 2).await;
        let data = tempfile::tempdir().unwrap();
        let old = play_on(Arc::new(RealDisk), data.path(), &dice::PLUGIN, with(short()), 2).await.unwrap();
        let extended = extend_on(Arc::new(RealDisk), data.path(), with(long())).await.unwrap();
        assert!(extended.complete);
        assert_eq!((extended.version, extended.worlds, extended.played), (old.version, 47, 22));
        assert_eq!(needs(data.path()), ["write:extension"]);
        assert_eq!((&extended.hash, &extended.events.hash), (&whole.hash, &whole.events.hash));
        let found = stored(data.path()).await;
        assert!(verify(&found, &*model(&dice::PLUGIN)).unwrap().ok);
        let columns = Columns::open(found, 1 << 20).unwrap();
        let worlds: Vec<u32> = columns.ensemble().world_numbers().map(|world| world.0).collect();
        assert_eq!(worlds, (0..47).collect::<Vec<_>>());
    }
}

/// What the newest row of `sim.ensembles` needs, as any reader of Parquet sees it.
fn needs(data: &Path) -> Vec<String> {
    let folder = data.join("sim/ensembles/ensemble=test/version=1");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let texts = files.filter_map(|file| {
        let segment = table::SegmentReader::open(&file).unwrap();
        let column = segment.column("needs").ok()?;
        match segment.flat(0, column, 0..1).unwrap() {
            table::FlatValues::Texts { dictionary, .. } => dictionary.into_iter().next(),
            _ => None,
        }
    });
    texts.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn extending_twice_or_to_the_same_worlds_works() {
    let data = tempfile::tempdir().unwrap();
    play_on(Arc::new(RealDisk), data.path(), &dice::PLUGIN, short(), 1).await.unwrap();
    for (worlds, played) in [(25, 0), (26, 1), (26, 0), (47, 21)] {
        let longer = plan(&dice::PLUGIN, 1, worlds, 4);
        assert_eq!(extend_on(Arc::new(RealDisk), data.path(), longer).await.unwrap().played, played);
    }
    assert_eq!(stored(data.path()).await.state(), "complete");
}

#[tokio::test(flavor = "multi_thread")]
async fn extensions_that_change_worlds_are_refused() {
    let data = tempfile::tempdir().unwrap();
    play_on(Arc::new(RealDisk), data.path(), &dice::PLUGIN, short(), 1).await.unwrap();
    let mut renamed = long();
    renamed.catalogue.kinds[0].outcomes[0].name = "anna".to_owned();
    for (other, reason) in [
        (plan(&dice::PLUGIN, 1, 24, 8), "it has 25 worlds already, more than 24"),
        (Plan { seed: Seed(2), ..long() }, "it was played with seed 1, not 2"),
        (Plan { events: EventMode::Replay, ..long() }, "it was played with events store, not replay"),
        (
            Plan { parameters: "{}".to_owned(), ..long() },
            "it was played with parameters {\"rolls\":10.0,\"tables\":3.0}, not {}",
        ),
        (renamed, "its model has changed since and has other outputs"),
    ] {
        let error = extend_on(Arc::new(RealDisk), data.path(), other).await.unwrap_err().to_string();
        assert_eq!(error, format!("ensemble \"test\" cannot be extended: {reason}"));
    }
    assert_eq!((stored(data.path()).await.worlds(), stored(data.path()).await.state()), (25, "complete"));
}

#[tokio::test(flavor = "multi_thread")]
async fn incomplete_ensembles_are_not_extended() {
    let data = tempfile::tempdir().unwrap();
    let mut store = Store::open_or_create(data.path(), Arc::new(RealDisk)).await.unwrap();
    let registered = store.register(short(), false).await.unwrap();
    let error = store.extend(&long()).await.unwrap_err();
    assert!(matches!(error, EnsembleError::Incomplete { stored: 0, planned: 25, .. }), "{error}");
    play_registered(&mut store, &dice::PLUGIN, registered, 1).await.unwrap();
    // A version that is to replace it is not complete.
    store.register(Plan { seed: Seed(2), ..short() }, true).await.unwrap();
    let error = store.extend(&long()).await.unwrap_err();
    assert!(matches!(error, EnsembleError::Incomplete { .. }), "{error}");
}

/// Cuts the power at each of the disk's operations of an extension.
#[tokio::test(flavor = "multi_thread")]
async fn extension_survives_power_loss_at_any_operation() {
    let whole = play_fresh(&dice::PLUGIN, long(), 1).await;
    for crash in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let disk = Arc::new(PowerLossDisk::new(&folder.path().join("attic")).unwrap());
        play_on(disk.clone(), &data, &dice::PLUGIN, short(), 1).await.unwrap();
        disk.fail_from(disk.operations() + crash);
        let survived = extend_on(disk.clone(), &data, long()).await.is_ok();
        disk.lose_power().unwrap();
        let left = stored(&data).await;
        assert!(left.worlds() >= 25 && left.events.len() == left.outcomes.len(), "crash at operation {crash}");
        let found = verify(&left, &*model(&dice::PLUGIN)).unwrap();
        let failed: Vec<_> = found.checks.iter().filter(|check| check.ok == Some(false)).collect();
        let incomplete = format!("{} of 47 worlds are stored", left.worlds());
        assert!(failed.iter().all(|check| check.detail == incomplete), "crash at operation {crash}: {failed:?}");
        let mut store = Store::open_or_create(&data, Arc::new(RealDisk)).await.unwrap();
        let ensemble = store.resume("test").await.unwrap();
        let ensemble =
            if ensemble.plan.worlds == long().worlds { ensemble } else { store.extend(&long()).await.unwrap() };
        let summary = play_registered(&mut store, &dice::PLUGIN, ensemble, 1).await.unwrap();
        assert!(summary.complete, "crash at operation {crash}");
        assert_eq!((&summary.hash, &summary.events.hash), (&whole.hash, &whole.events.hash));
        if survived {
            assert!(crash > 50, "only {crash} operations");
            break;
        }
    }
}
