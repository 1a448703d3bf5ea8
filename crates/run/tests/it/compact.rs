//! Compact events are the same events in fewer bytes.

use std::path::Path;
use std::sync::Arc;

use disk::RealDisk;
use ensemble::{EnsembleError, EventMode, Plan, Store, StoredEnsemble, verify};
use model::{EventRows, OwnedEventValues};
use world::{World, WorldRange};

use crate::support::{model, plan, play_on, play_registered};

const GAME: usize = 7;

fn season(events: EventMode, worlds: u32) -> Plan {
    Plan { events, ..plan(&football::PLUGIN, 1, worlds, 4) }
}

async fn stored(data: &Path) -> StoredEnsemble {
    Store::open(data, Arc::new(RealDisk)).await.unwrap().unwrap().ensemble("test").await.unwrap()
}

async fn played(data: &Path, events: EventMode, worlds: u32) -> StoredEnsemble {
    play_on(Arc::new(RealDisk), data, &football::PLUGIN, season(events, worlds), 2).await.unwrap();
    stored(data).await
}

/// The events of one game in some worlds of one range.
fn events(of: &StoredEnsemble, first: u32, count: u32, wants: impl Fn(usize) -> bool) -> EventRows {
    let worlds = WorldRange::new(World(first), count).unwrap();
    of.event_source(GAME, worlds, None).unwrap().read(worlds, wants).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn compact_events_are_the_same() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let plain = played(folders[0].path(), EventMode::Store, 10).await;
    let compact = played(folders[1].path(), EventMode::Compact, 10).await;
    let football = model(&football::PLUGIN);
    let [of_plain, of_compact] = [&plain, &compact].map(|ensemble| verify(ensemble, &*football).unwrap());
    assert!(of_compact.ok, "{of_compact:?}");
    assert_eq!((of_compact.hash, of_compact.event_hash), (of_plain.hash, of_plain.event_hash));
    // In ranges this short, most bytes describe pages.
    assert!(compact.bytes().1 < plain.bytes().1);
    // Some worlds, and one column at a time.
    let whole = events(&plain, 4, 4, |_| true);
    assert_eq!(events(&compact, 4, 4, |_| true), whole);
    assert_eq!(events(&compact, 6, 1, |_| true), events(&plain, 6, 1, |_| true));
    for wanted in 0..plain.plan.catalogue.events.len() {
        let one = events(&compact, 4, 4, |column| column == wanted);
        for (column, values) in one.columns.iter().enumerate() {
            let expected = if column == wanted { &whole.columns[column] } else { &OwnedEventValues::Label(Vec::new()) };
            assert_eq!(values, expected, "column {column}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn compact_ensembles_are_extended_as_such() {
    let [data, whole] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let whole = played(whole.path(), EventMode::Store, 6).await;
    played(data.path(), EventMode::Compact, 4).await;
    let mut store = Store::open_or_create(data.path(), Arc::new(RealDisk)).await.unwrap();
    let error = store.extend(&season(EventMode::Store, 6)).await.unwrap_err().to_string();
    assert_eq!(error, "ensemble \"test\" cannot be extended: it was played with events compact, not store");
    let longer = store.extend(&season(EventMode::Compact, 6)).await.unwrap();
    play_registered(&mut store, &football::PLUGIN, longer, 1).await.unwrap();
    let football = model(&football::PLUGIN);
    let hash = |ensemble: &StoredEnsemble| verify(ensemble, &*football).unwrap().event_hash;
    assert_eq!(hash(&stored(data.path()).await), hash(&whole));
}

#[tokio::test]
async fn models_without_expectations_have_no_compact_events() {
    let data = tempfile::tempdir().unwrap();
    let mut store = Store::open_or_create(data.path(), Arc::new(RealDisk)).await.unwrap();
    let plan = Plan { events: EventMode::Compact, ..plan(&dice::PLUGIN, 1, 2, 2) };
    let error = store.register(plan, false).await.unwrap_err();
    assert!(matches!(error, EnsembleError::NotCompact { .. }), "{error}");
    assert_eq!(store.names().await.unwrap(), Vec::<String>::new());
}
