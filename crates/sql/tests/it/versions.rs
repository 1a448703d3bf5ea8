//! An engine sees only completed ranges of current versions.

use ensemble::Registered;
use world::{World, WorldRange};

use crate::support::{ask, cells, create, open, plan, play};

const ASKED: &str = "SELECT (SELECT sum(value) FROM outcomes), (SELECT count(*) FROM events), version, worlds, planned \
                     FROM ensembles";

#[tokio::test(flavor = "multi_thread")]
async fn incomplete_replacement_is_invisible() {
    let data = tempfile::tempdir().unwrap();
    let mut store = create(data.path()).await;
    let first = store.register(plan(&dice::PLUGIN, "dice", 1, 20, 10), false).await.unwrap();
    play(&mut store, &dice::PLUGIN, first).await;
    let before = cells(&ask(&open(data.path()).await, ASKED).await.unwrap());

    // Writes two of three ranges of the new version, and does not switch to it.
    let new = store.register(plan(&dice::PLUGIN, "dice", 2, 30, 10), true).await.unwrap();
    play(&mut store, &dice::PLUGIN, first_ranges(&new, 20)).await;
    assert_eq!(cells(&ask(&open(data.path()).await, ASKED).await.unwrap()), before);

    let snapshot = open(data.path()).await;
    let resumed = store.resume("dice").await.unwrap();
    assert_eq!(resumed.done.len(), 2);
    play(&mut store, &dice::PLUGIN, resumed).await;
    assert_eq!(cells(&ask(&snapshot, ASKED).await.unwrap()), before);
    let after = cells(&ask(&open(data.path()).await, ASKED).await.unwrap());
    assert_ne!(after[0][..2], before[0][..2]);
    assert_eq!(after[0][3..], ["30", "30"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn completed_ranges_keep_their_world_numbers() {
    let data = tempfile::tempdir().unwrap();
    let mut store = create(data.path()).await;
    let whole = store.register(plan(&dice::PLUGIN, "dice", 1, 30, 10), false).await.unwrap();
    let middle_missing = Registered { done: vec![whole.plan.ranges()[1]], ..whole };
    play(&mut store, &dice::PLUGIN, middle_missing).await;
    let engine = open(data.path()).await;
    for source in ["worlds('dice', 'table-1')", "outcomes WHERE entity = 'table-1' AND outcome = 'ann'"] {
        let sql = format!("SELECT min(world), max(world), count(*), sum(world) FROM {source}");
        let sum: u32 = (0..10).chain(20..30).sum();
        let expected = ["0".to_owned(), "29".to_owned(), "20".to_owned(), sum.to_string()];
        assert_eq!(cells(&ask(&engine, &sql).await.unwrap()), [expected]);
    }
    let missing = ask(&engine, "SELECT * FROM events('dice', 'table-1', '5-25')").await.unwrap_err().to_string();
    assert!(missing.contains("does not store world 10: of 30 worlds it stores 0 to 9, 20 to 29"), "{missing}");
}

/// The ensemble limited to its first worlds, with a range that is never played, so that it stays incomplete.
fn first_ranges(ensemble: &Registered, worlds: u32) -> Registered {
    let mut first = ensemble.clone();
    first.plan.worlds = WorldRange::new(World(0), worlds).unwrap();
    first.done.push(WorldRange::new(World(1_000_000), 1).unwrap());
    first
}
