//! An unreadable ensemble fails only the queries that need it.

use std::path::Path;

use crate::support::{ask, cells, create, open, plan, play};

/// The ensembles `dice` and `broken`; the description of the second is damaged.
async fn store_one_broken(data: &Path) {
    let mut store = create(data).await;
    for name in ["dice", "broken"] {
        let ensemble = store.register(plan(&dice::PLUGIN, name, 1, 20, 10), false).await.unwrap();
        play(&mut store, &dice::PLUGIN, ensemble).await;
    }
    let mut described = std::fs::read_dir(data.join("sim/ensembles/ensemble=broken/version=2")).unwrap();
    std::fs::write(described.next().unwrap().unwrap().path(), b"PAR1").unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_of_other_ensembles_succeed() {
    let data = tempfile::tempdir().unwrap();
    store_one_broken(data.path()).await;
    let engine = open(data.path()).await;
    let listed = "SELECT ensemble, state, version, model, seed, worlds, events FROM ensembles ORDER BY ensemble";
    let expected = [
        ["broken", "unreadable", "NULL", "NULL", "NULL", "NULL", "NULL"],
        ["dice", "complete", "1", "dice", "1", "20", "store"],
    ];
    assert_eq!(cells(&ask(&engine, listed).await.unwrap()), expected);
    for (rows, source) in [
        ("180", "outcomes WHERE ensemble = 'dice'"),
        ("180", "outcomes WHERE ensemble NOT LIKE 'b%'"),
        ("1200", "events WHERE ensemble = 'dice'"),
        ("20", "worlds('dice', 'table-1')"),
        ("40", "events('dice', 'table-1', '3-4')"),
    ] {
        let counted = ask(&engine, &format!("SELECT count(*) FROM {source}")).await.unwrap();
        assert_eq!(cells(&counted), [[rows]], "{source}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_that_need_it_name_it() {
    let data = tempfile::tempdir().unwrap();
    store_one_broken(data.path()).await;
    let engine = open(data.path()).await;
    for source in [
        "outcomes",
        "outcomes WHERE ensemble = 'broken'",
        "events",
        "events WHERE ensemble IN ('dice', 'broken')",
        "worlds('broken', 'table-1')",
        "events('broken', 'table-1', 0)",
    ] {
        let message = ask(&engine, &format!("SELECT count(*) FROM {source}")).await.unwrap_err().to_string();
        assert!(message.starts_with("ensemble \"broken\" is damaged: the segment "), "{source}: {message}");
    }
}
