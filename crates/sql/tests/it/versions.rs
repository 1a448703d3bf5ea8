//! An engine sees only completed ranges of current versions.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use disk::RealDisk;
use ensemble::Registered;
use sql::{Engine, Ensembles, Options, Scope, Session, Unique};
use table::{Inserter, Layout, TableOptions};
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

/// Inserts one row of some columns, which creates the table if it is missing.
async fn insert(data: &Path, row: &[(&str, i64)]) {
    let columns = row.iter().map(|(name, value)| (*name, Arc::new(Int64Array::from(vec![*value])) as ArrayRef));
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    let root = data.join("default/numbers");
    let options = TableOptions::new(Layout::Pruned);
    let inserter = Inserter::open_or_create(&root, Arc::new(RealDisk), &rows.schema(), &options).await.unwrap();
    inserter.insert(&[rows]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_of_one_session_see_what_was_written_between_them() {
    let data = tempfile::tempdir().unwrap();
    let session = Session::new(Options { threads: 2, ..Options::default() }).unwrap();
    let asked = async |sql: &str| {
        let scope = Scope { database: "default", databases: None };
        let no_model = Arc::new(|_: &_| unreachable!());
        let engine =
            Engine::open_scoped(data.path(), Ensembles::default(), no_model, &session, &Unique::new(), scope).unwrap();
        ask(&engine, sql).await.map(|rows| cells(&rows)).map_err(|error| error.to_string())
    };
    for n in 1..=3 {
        insert(data.path(), &[("n", n)]).await;
        assert_eq!(
            asked("SELECT count(*), sum(n) FROM numbers").await.unwrap(),
            [[n, n * (n + 1) / 2].map(|n| n.to_string())]
        );
    }
    // Another table in its place, after as many commits.
    std::fs::remove_dir_all(data.path().join("default/numbers")).unwrap();
    assert!(asked("SELECT * FROM numbers").await.unwrap_err().contains("numbers"));
    for n in 1..=3 {
        insert(data.path(), &[("m", 10 * n)]).await;
    }
    assert_eq!(asked("SELECT * FROM numbers ORDER BY m").await.unwrap(), [["10"], ["20"], ["30"]]);
}

/// The ensemble limited to its first worlds, with a range that is never played, so that it stays incomplete.
fn first_ranges(ensemble: &Registered, worlds: u32) -> Registered {
    let mut first = ensemble.clone();
    first.plan.worlds = WorldRange::new(World(0), worlds).unwrap();
    first.done.push(WorldRange::new(World(1_000_000), 1).unwrap());
    first
}
