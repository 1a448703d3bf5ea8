//! Power is lost at every disk operation: an import is stored whole or not at all, and can be repeated.

use std::path::Path;
use std::sync::Arc;

use disk::RealDisk;
use disk::power_loss::PowerLossDisk;
use ensemble::Store;
use import::{ImportError, Input, Mode, Options};

use crate::support::{import, import_fresh, import_on, input, integers, reals, stored};

/// Worlds 0 to 39, or others, in ranges of 3.
fn rows(worlds: std::ops::Range<i64>) -> Vec<Input> {
    let columns = vec![
        ("world", integers(worlds.clone())),
        ("x", integers(worlds.clone().map(|w| w * w))),
        ("y", reals(worlds.map(|w| (w as f64).sqrt()))),
    ];
    vec![input(columns)]
}

/// Two values a world, so that a range has 3 worlds.
fn options(mode: Mode) -> Options {
    Options { mode, memory_bytes: 64 * 6, ..Options::default() }
}

/// The stored worlds; `None` without an ensemble.
async fn worlds(data: &Path) -> Option<usize> {
    let store = Store::open(data, Arc::new(RealDisk)).await.unwrap()?;
    if store.names().await.unwrap().is_empty() { None } else { Some(store.ensemble("draws").await.unwrap().worlds()) }
}

/// Prepares a folder, imports until an operation of the disk, loses power, and checks what is left.
async fn at_every_operation(
    before: Option<std::ops::Range<i64>>,
    new: std::ops::Range<i64>,
    mode: Mode,
    possible: &[Option<usize>],
    hash: &str,
) {
    let mut kept = 0;
    for crash in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let disk = Arc::new(PowerLossDisk::new(&folder.path().join("attic")).unwrap());
        if let Some(before) = &before {
            import_on(disk.clone(), &data, rows(before.clone()), &options(Mode::New)).await.unwrap();
        }
        disk.fail_from(disk.operations() + crash);
        let imported = import_on(disk.clone(), &data, rows(new.clone()), &options(mode)).await;
        let survived = imported.is_ok();
        if let Err(error @ ImportError::Kept { .. }) = &imported {
            let said = error.to_string();
            assert!(
                said.contains("simulated power loss\n(ensemble \"draws\" stays registered without worlds"),
                "{said}"
            );
            kept += 1;
        }
        disk.lose_power().unwrap();
        let left = worlds(&data).await;
        assert!(possible.contains(&left), "crash at operation {crash}: {left:?} worlds");
        let is_whole = left == *possible.last().unwrap();
        assert!(is_whole || !survived, "crash at operation {crash}: reported worlds are lost");
        if mode == Mode::New && left == Some(0) {
            let again = import(&data, rows(new.clone()), &options(Mode::New)).await.unwrap_err();
            assert!(matches!(again, ImportError::Interrupted { .. }), "crash at operation {crash}: {again}");
        }
        if !is_whole {
            let mode = if left == Some(0) { Mode::Replace } else { mode };
            import(&data, rows(new.clone()), &options(mode)).await.unwrap();
        } else if mode != Mode::Replace {
            import(&data, rows(new.clone()), &options(mode)).await.unwrap_err();
        }
        let stored = stored(&data).await;
        let found: world::ContentHash = stored.open_outcomes().unwrap().iter().map(|range| range.metadata().hash).sum();
        assert_eq!((found.to_string().as_str(), stored.is_complete()), (hash, true), "crash at operation {crash}");
        if survived {
            assert!(crash > 20, "only {crash} operations");
            assert_eq!(kept > 0, mode == Mode::New, "{kept} names could not be freed");
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_ensemble_survives_power_loss_at_any_operation() {
    let (expected, ..) = import_fresh(rows(0..10), &Options::default()).await;
    at_every_operation(None, 0..10, Mode::New, &[None, Some(0), Some(10)], &expected.hash).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn appended_worlds_survive_power_loss_at_any_operation() {
    let (expected, ..) = import_fresh(rows(0..10), &Options::default()).await;
    at_every_operation(Some(0..5), 5..10, Mode::Append, &[Some(5), Some(10)], &expected.hash).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replacement_survives_power_loss_at_any_operation() {
    let (expected, ..) = import_fresh(rows(0..10), &Options::default()).await;
    at_every_operation(Some(0..5), 0..10, Mode::Replace, &[Some(5), Some(10)], &expected.hash).await;
}
