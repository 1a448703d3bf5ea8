//! Taken names, new versions, dropping.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use disk::power_loss::PowerLossDisk;
use disk::watched::{Operation, WatchedDisk};
use disk::{Disk, RealDisk};
use ensemble::{EnsembleError, Plan, Store};
use table::{Change, Table};
use tokio::runtime::Handle;
use tokio::task::block_in_place;

use crate::support::{plan, play_fresh, play_on, play_registered};

#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_taken_once() {
    let data = tempfile::tempdir().unwrap();
    let play = || play_on(Arc::new(RealDisk), data.path(), &dice::PLUGIN, plan(&dice::PLUGIN, 1, 10, 5), 1);
    play().await.unwrap();
    let error = play().await.unwrap_err().to_string();
    assert_eq!(error, "ensemble \"test\" exists already");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_who_register_a_name_at_once_one_has_it_and_other_names_are_each_registered() {
    const EACH: u64 = 6;
    let data = tempfile::tempdir().unwrap();
    drop(Store::open_or_create(data.path(), Arc::new(RealDisk)).await.unwrap());
    let together = Arc::new(tokio::sync::Barrier::new(2 * EACH as usize));
    let register = |name: String, seed| {
        let (data, together) = (data.path().to_owned(), together.clone());
        tokio::spawn(async move {
            let mut store = Store::open(&data, Arc::new(RealDisk)).await.unwrap().unwrap();
            together.wait().await;
            store.register(Plan { name, ..plan(&dice::PLUGIN, seed, 10, 5) }, false).await
        })
    };
    let tasks: Vec<_> = (1..=EACH)
        .flat_map(|seed| [register("same".to_owned(), seed), register(format!("other-{seed}"), seed)])
        .collect();
    let mut versions = Vec::new();
    let mut winner = None;
    for task in tasks {
        match task.await.unwrap() {
            Ok(registered) => {
                versions.push(registered.version);
                if registered.plan.name == "same" {
                    assert!(winner.replace(registered.plan).is_none(), "two have the name");
                }
            }
            Err(error) => assert!(matches!(&error, EnsembleError::Taken { name } if name == "same"), "{error}"),
        }
    }
    versions.sort_unstable();
    versions.dedup();
    assert_eq!(versions.len() as u64, EACH + 1, "{versions:?}");
    let mut store = Store::open(data.path(), Arc::new(RealDisk)).await.unwrap().unwrap();
    let winner = winner.expect("one has the name");
    assert_eq!(store.resume("same").await.unwrap().plan.seed, winner.seed);
    for seed in 1..=EACH {
        assert_eq!(store.resume(&format!("other-{seed}")).await.unwrap().plan.seed.0, seed);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_version_takes_the_old_ones_place_in_one_commit() {
    let data = tempfile::tempdir().unwrap();
    let old = play_on(Arc::new(RealDisk), data.path(), &dice::PLUGIN, plan(&dice::PLUGIN, 1, 10, 5), 1).await.unwrap();
    let mut store = Store::open_or_create(data.path(), Arc::new(RealDisk)).await.unwrap();
    let new = store.register(plan(&dice::PLUGIN, 2, 30, 10), true).await.unwrap();
    let reader = Store::open(data.path(), Arc::new(RealDisk)).await.unwrap().unwrap();
    assert_eq!(reader.ensemble("test").await.unwrap().version, old.version);
    let summary = play_registered(&mut store, &dice::PLUGIN, new, 2).await.unwrap();
    assert!(summary.complete && summary.version > old.version);
    assert_eq!((summary.worlds, summary.events.rows), (30, 30 * 3 * 20));
    // The reader's snapshot is still the old version, and its files are still there.
    let before = reader.ensemble("test").await.unwrap();
    assert_eq!((before.version, before.worlds()), (old.version, 10));
    assert_eq!(before.open_outcomes().unwrap().len(), 2);
    let fresh = Store::open(data.path(), Arc::new(RealDisk)).await.unwrap().unwrap();
    let after = fresh.ensemble("test").await.unwrap();
    assert_eq!((after.version, after.worlds(), after.events.len()), (summary.version, 30, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_replacement_is_resumed_and_unseen_until_complete() {
    let data = tempfile::tempdir().unwrap();
    let old = play_on(Arc::new(RealDisk), data.path(), &dice::PLUGIN, plan(&dice::PLUGIN, 1, 10, 5), 1).await.unwrap();
    let mut store = Store::open_or_create(data.path(), Arc::new(RealDisk)).await.unwrap();
    let half = store.register(plan(&dice::PLUGIN, 2, 20, 10), true).await.unwrap();
    // One of its two ranges is written; then the process ends.
    let mut partial = half.clone();
    partial.done = vec![half.plan.ranges()[1]];
    partial.replaces = true;
    let control = Arc::new(run::Control::default());
    let mut first_only = partial.clone();
    first_only.done.push(half.plan.ranges()[0]);
    let options = run::Options { threads: 1, format: table::PageFormat::default(), until: None };
    let mut writer = Store::open_or_create(data.path(), Arc::new(RealDisk)).await.unwrap();
    partial.plan.worlds = half.plan.ranges()[0];
    partial.done.clear();
    let played =
        run::play(crate::support::model(&dice::PLUGIN), &mut writer, unswitched(partial), options, control).await;
    played.unwrap();
    let resumed = store.resume("test").await.unwrap();
    assert_eq!((resumed.done.len(), resumed.replaces, resumed.version), (1, true, half.version));
    let seen = Store::open(data.path(), Arc::new(RealDisk)).await.unwrap().unwrap();
    assert_eq!(seen.ensemble("test").await.unwrap().version, old.version);
    let summary = play_registered(&mut store, &dice::PLUGIN, resumed, 1).await.unwrap();
    assert_eq!((summary.played, summary.worlds, summary.complete), (10, 20, true));
}

/// The same ensemble with one more range to go than its plan has, so that a run of it never switches.
fn unswitched(mut ensemble: ensemble::Registered) -> ensemble::Registered {
    ensemble.done.push(world::WorldRange::new(world::World(1_000_000), 1).unwrap());
    ensemble
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_ensemble_is_gone_and_its_name_free() {
    let data = tempfile::tempdir().unwrap();
    let play = |seed| play_on(Arc::new(RealDisk), data.path(), &dice::PLUGIN, plan(&dice::PLUGIN, seed, 10, 5), 1);
    let first = play(1).await.unwrap();
    let mut store = Store::open_or_create(data.path(), Arc::new(RealDisk)).await.unwrap();
    store.drop_ensemble("test").await.unwrap();
    assert!(matches!(store.ensemble("test").await, Err(EnsembleError::Unknown { .. })));
    let again = play(1).await.unwrap();
    assert_eq!((&again.hash, again.events.rows), (&first.hash, first.events.rows));
    assert!(again.version > first.version);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_sees_an_ensemble_whole_until_it_is_dropped() {
    let mut whole = 0;
    for kill in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let disk = Arc::new(PowerLossDisk::new(&folder.path().join("attic")).unwrap());
        let expected = play_on(disk.clone(), &data, &dice::PLUGIN, plan(&dice::PLUGIN, 1, 10, 5), 1).await.unwrap();
        let mut store = Store::open_or_create(&data, disk.clone()).await.unwrap();
        disk.fail_from(disk.operations() + kill);
        let dropped = store.drop_ensemble("test").await;
        disk.fail_from(u64::MAX);
        let check_unknown = |error: EnsembleError| {
            assert!(matches!(error, EnsembleError::Unknown { .. }), "killed at operation {kill}: {error}");
        };
        match Store::open(&data, disk.clone()).await.unwrap().unwrap().ensemble("test").await {
            Ok(seen) => {
                assert!(seen.is_complete() && seen.events.len() == 2, "killed at operation {kill}");
                whole += 1;
            }
            Err(error) => check_unknown(error),
        }
        if dropped.is_ok() {
            assert!(whole > 0 && whole < kill, "whole after {whole} of {kill} operations");
            return;
        }
        // Another drop finishes it, unless only files were left.
        let mut store = Store::open_or_create(&data, disk.clone()).await.unwrap();
        match store.drop_ensemble("test").await {
            Ok(version) => assert_eq!(version, expected.version),
            Err(error) => check_unknown(error),
        }
        for table in ["outcomes", "events", "ensembles"] {
            let table = Table::open(&data.join("sim").join(table), disk.clone()).await.unwrap().unwrap();
            assert_eq!(table.segments().await.unwrap(), [], "killed at operation {kill}");
        }
    }
}

/// What a killed drop left of an older version is in no answer, whoever takes its name.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_free_after_half_a_drop() {
    let data = tempfile::tempdir().unwrap();
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    play_on(disk.clone(), data.path(), &dice::PLUGIN, plan(&dice::PLUGIN, 2, 10, 5), 1).await.unwrap();
    let mut registrations = Table::open(&data.path().join("sim/ensembles"), disk.clone()).await.unwrap().unwrap();
    let remove = registrations.segments().await.unwrap();
    registrations.commit(&Change { remove, ..Change::default() }).await.unwrap();

    let expected = play_fresh(&dice::PLUGIN, plan(&dice::PLUGIN, 1, 10, 5), 1).await;
    let mut store = Store::open_or_create(data.path(), disk).await.unwrap();
    let ensemble = store.register(plan(&dice::PLUGIN, 1, 10, 5), false).await.unwrap();
    let first = unswitched(ensemble::Registered { done: vec![ensemble.plan.ranges()[1]], ..ensemble });
    play_registered(&mut store, &dice::PLUGIN, first, 1).await.unwrap();
    assert_eq!(store.ensemble("test").await.unwrap().worlds(), 5);
    let rest = store.resume("test").await.unwrap();
    assert_eq!(rest.done.len(), 1);
    let all = play_registered(&mut store, &dice::PLUGIN, rest, 1).await.unwrap();
    assert_eq!((all.hash, all.events.hash, all.worlds), (expected.hash, expected.events.hash, 10));
    let seen = Store::open(data.path(), Arc::new(RealDisk)).await.unwrap().unwrap().ensemble("test").await.unwrap();
    assert_eq!((seen.outcomes.len(), seen.events.len()), (2, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_opens_during_a_switch_sees_one_whole_version() {
    switch_while(async |data, disk, _| Store::open(&data, disk).await.unwrap().unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_moves_on_during_a_switch_sees_one_whole_version() {
    let refresh = async |_, _, mut earlier: Store| {
        earlier.refresh().await.unwrap();
        earlier
    };
    switch_while(refresh).await;
}

/// Switches to a new version just before `reading` reads the log of a table, of each table in turn. What is then read
/// must be one version, whole. `reading` is given the data folder, its disk, and an earlier reader on it.
async fn switch_while(reading: impl AsyncFn(PathBuf, Arc<dyn Disk>, Store) -> Store) {
    for logs in 0.. {
        let data = tempfile::tempdir().unwrap();
        let old = plan(&dice::PLUGIN, 1, 2, 2);
        play_on(Arc::new(RealDisk), data.path(), &dice::PLUGIN, old, 1).await.unwrap();
        let mut store = Store::open_or_create(data.path(), Arc::new(RealDisk)).await.unwrap();
        let steps = Steps::default();
        let disk = steps.disk();
        let earlier = Store::open(data.path(), disk.clone()).await.unwrap().unwrap();
        let new = store.register(plan(&dice::PLUGIN, 2, 4, 4), true).await.unwrap();
        steps.set(logs, move || {
            let switch = async { play_registered(&mut store, &dice::PLUGIN, new, 1).await.unwrap() };
            block_in_place(|| Handle::current().block_on(switch));
        });
        let reader = reading(data.path().to_owned(), disk, earlier).await;
        let is_switched = steps.0.lock().unwrap().is_empty();
        let seen = reader.ensemble("test").await.unwrap();
        assert_eq!(seen.events.len(), seen.outcomes.len(), "version {} after {logs} logs", seen.version);
        assert!(seen.is_complete());
        if !is_switched {
            assert!(logs > 2, "only {logs} logs were read: nothing came in between");
            return;
        }
    }
}

type Step = Box<dyn FnOnce() + Send>;

/// Steps that run before logs are read. The last one runs before the first log.
#[derive(Clone, Default)]
struct Steps(Arc<Mutex<Vec<Step>>>);

impl Steps {
    /// Does `last` once `logs` logs have been read.
    fn set(&self, logs: usize, last: impl FnOnce() + Send + 'static) {
        let mut steps = self.0.lock().unwrap();
        steps.push(Box::new(last));
        steps.resize_with(logs + 1, || Box::new(|| ()));
    }

    fn disk(&self) -> Arc<dyn Disk> {
        let steps = self.clone();
        Arc::new(WatchedDisk::over(RealDisk, move |operation, _| {
            let step = if operation == Operation::FetchLog { steps.0.lock().unwrap().pop() } else { None };
            step.into_iter().for_each(|step| step());
            Ok(())
        }))
    }
}
