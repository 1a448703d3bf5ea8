//! Maintenance of tables on the command line.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, TimestampMicrosecondArray};
use disk::RealDisk;
use table::{Clustering, Curve, Inserter, Layout, TableOptions};

use crate::support::{failure, json, run};

/// 1 October 2025, in microseconds.
const OCTOBER: i64 = 1_759_276_800_000_000;
const HOUR: i64 = 3_600_000_000;

/// A table of five batches, each with a hundred rows of one day.
fn insert(data: &Path, name: &str, layout: Layout) {
    let clustering = (layout == Layout::Clustered)
        .then(|| Clustering { columns: vec!["place".to_owned(), "at".to_owned()], curve: Curve::Hilbert });
    let options = TableOptions { clustering, ..TableOptions::new(layout) };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        for day in 0..5 {
            let ids = day * 100..(day + 1) * 100;
            let at = TimestampMicrosecondArray::from_iter_values(ids.clone().map(|id| OCTOBER + id * HOUR * 24 / 100));
            let columns: [(&str, ArrayRef); 3] = [
                ("id", Arc::new(Int64Array::from_iter_values(ids.clone()))),
                ("at", Arc::new(at.with_timezone("UTC"))),
                ("place", Arc::new(Int64Array::from_iter_values(ids.map(|id| id * 37 % 101)))),
            ];
            let batch = RecordBatch::try_from_iter(columns).unwrap();
            let root = data.join("default").join(name);
            let inserter =
                Inserter::open_or_create(&root, Arc::new(RealDisk), &batch.schema(), &options).await.unwrap();
            inserter.insert(&[batch]).await.unwrap();
        }
    });
}

#[test]
fn a_table_is_compacted_clustered_trimmed_and_vacuumed() {
    let data = tempfile::tempdir().unwrap();
    insert(data.path(), "calls", Layout::Clustered);
    let compacted = json(data.path(), &["table", "compact", "calls"]);
    assert_eq!(
        (&compacted["rows"], &compacted["segments_in"], &compacted["segments_out"]),
        (&500.into(), &5.into(), &1.into())
    );
    assert!(compacted["bytes_after"].as_u64() < compacted["bytes_before"].as_u64());
    let clustered = json(data.path(), &["table", "cluster", "default.calls", "--memory", "16"]);
    assert_eq!(
        (&clustered["rows"], &clustered["segments_in"], &clustered["segments_out"]),
        (&500.into(), &1.into(), &1.into())
    );
    for figure in ["depth_before", "depth_after", "spilled_bytes", "cpu_s", "wall_s", "peak_rss_bytes"] {
        assert!(clustered[figure].is_number(), "{figure}: {clustered}");
    }
    // No work remains until the key changes; then there is work again.
    assert_eq!(json(data.path(), &["table", "cluster", "calls"])["rows"], 0);
    assert_eq!(
        json(data.path(), &["table", "cluster", "calls", "--columns", "id,at", "--curve", "zorder"])["rows"],
        500
    );
    assert_eq!(json(data.path(), &["table", "cluster", "calls"])["rows"], 0);
    assert_eq!(json(data.path(), &["table", "cluster", "calls", "--all"])["rows"], 500);

    let trim = ["table", "trim", "calls", "--before", "2025-10-03T12:00:00Z"];
    let asked = json(data.path(), &trim);
    assert_eq!((&asked["applied"], &asked["rows"]), (&false.into(), &250.into()));
    assert!(asked.get("bytes_after").is_none());
    let done = json(data.path(), &[&trim[..], &["--apply"]].concat());
    assert_eq!((&done["applied"], &done["rows"]), (&true.into(), &250.into()));
    assert_eq!(json(data.path(), &trim)["rows"], 0);

    let asked = json(data.path(), &["table", "vacuum", "calls"]);
    assert_eq!((&asked["old_files"], &asked["retained_files"]), (&0.into(), &9.into()));
    let done = json(data.path(), &["table", "vacuum", "calls", "--retain", "0", "--apply"]);
    assert_eq!((&done["old_files"], &done["retained_files"]), (&9.into(), &0.into()));
    assert_eq!(json(data.path(), &["table", "trim", "calls", "--keep-bytes", "0", "--apply"])["rows"], 250);
    let shown = run(data.path(), &["table", "compact", "calls"]);
    assert!(String::from_utf8(shown.stdout).unwrap().starts_with("figure"), "a table for people");
}

/// The number of rows, and sums that detect changes.
fn content(data: &Path, name: &str) -> serde_json::Value {
    let sql = format!("SELECT count(*) AS n, sum(id) AS id, sum(id * place) AS place, max(at) AS at FROM {name}");
    json(data, &["sql", &sql])[0].clone()
}

#[test]
fn a_table_is_rewritten_in_another_layout() {
    let data = tempfile::tempdir().unwrap();
    insert(data.path(), "calls", Layout::Column);
    let before = content(data.path(), "calls");
    let rewrite = |words: &[&str]| json(data.path(), &[&["table", "rewrite", "calls"], words].concat());
    let shown = || json(data.path(), &["table", "inspect", "calls"]);
    let done = rewrite(&["--layout", "pruned", "--bloom", "id,place", "--codec", "none"]);
    assert_eq!(
        (&done["rows"], &done["layout_before"], &done["layout"]),
        (&500.into(), &"column".into(), &"pruned".into())
    );
    assert_eq!(
        (&done["segments_in"], &done["segments_out"], &done["segments_left"]),
        (&5.into(), &1.into(), &0.into())
    );
    assert_eq!((&shown()["codec"], &shown()["bloom"][1]), (&"none".into(), &"place".into()));
    assert!(shown()["columns"][0]["bloom_bytes"].as_u64() > Some(0));
    // Options that are not named stay; those named and empty are removed.
    rewrite(&["--layout", "clustered", "--cluster", "place,at"]);
    rewrite(&["--bloom", "", "--curve", "lexical"]);
    let told = shown();
    assert_eq!((&told["layout"], &told["curve"]), (&"clustered".into(), &"lexical".into()));
    assert_eq!((&told["bloom"], &told["cluster"][0]), (&serde_json::json!([]), &"place".into()));
    assert_eq!((&told["codec"], &told["columns"][0]["bloom_bytes"]), (&"none".into(), &0.into()));
    rewrite(&["--layout", "column"]);
    assert_eq!(shown()["columns"][0]["groups_with_bounds"], 0);
    assert_eq!(content(data.path(), "calls"), before);
    json(data.path(), &["table", "delete", "calls", "--where", "id < 3", "--apply"]);
    assert_eq!(content(data.path(), "calls")["n"], 497);
}

#[test]
fn rows_that_meet_a_condition_are_deleted_when_told() {
    let data = tempfile::tempdir().unwrap();
    insert(data.path(), "calls", Layout::Pruned);
    let delete = ["table", "delete", "calls", "--where", "id >= 150 AND at < '2025-10-03' OR place IN (7, 8)"];
    let asked = json(data.path(), &delete);
    let goes = json(data.path(), &["sql", &format!("SELECT count(*) AS n FROM calls WHERE {}", delete[4])]);
    assert_eq!((&asked["applied"], &asked["rows"]), (&false.into(), &goes[0]["n"]));
    assert_eq!(content(data.path(), "calls")["n"], 500);
    let done = json(data.path(), &[&delete[..], &["--apply"]].concat());
    assert_eq!((&done["applied"], &done["rows"]), (&true.into(), &asked["rows"]));
    assert_eq!(content(data.path(), "calls")["n"].as_u64().unwrap() + asked["rows"].as_u64().unwrap(), 500);
    assert_eq!(json(data.path(), &delete)["rows"], 0);
}

#[test]
fn what_cannot_be_done_is_said_in_one_sentence() {
    let data = tempfile::tempdir().unwrap();
    insert(data.path(), "pruned", Layout::Pruned);
    insert(data.path(), "clustered", Layout::Clustered);
    for (words, said) in [
        (&["table", "cluster", "none"][..], "no such table: insert rows first"),
        (&["table", "compact", "../pruned"], "invalid table name \"../pruned\": write NAME"),
        (&["table", "cluster", "pruned"], "cannot cluster layout pruned"),
        (&["table", "cluster", "clustered", "--columns", "nope"], "no column \"nope\": the columns are id, at, place"),
        (&["table", "cluster", "clustered", "--curve", "spiral"], "choose hilbert, zorder or lexical"),
        (&["table", "trim", "pruned", "--before", "soon"], "invalid time \"soon\""),
        (&["table", "trim", "pruned", "--before", "2025-10-01", "--column", "id"], "column \"id\" holds Int64"),
        (&["table", "trim", "pruned"], "--keep-bytes"),
        (&["table", "rewrite", "none", "--layout", "column"], "no such table"),
        (&["table", "rewrite", "pruned", "--layout", "clustered"], "needs the columns to cluster by"),
        (&["table", "rewrite", "pruned", "--bloom", "nope"], "no column \"nope\""),
        (&["table", "rewrite", "pruned", "--layout", "rows"], "choose column, pruned or clustered"),
        (&["table", "delete", "none", "--where", "true"], "no table \"none\"; there are: clustered, pruned"),
        (&["table", "delete", "pruned"], "--where"),
        (&["table", "delete", "pruned", "--where", "plaice > 3"], "no column \"plaice\"; did you mean place"),
        (&["table", "delete", "pruned", "--where", "place + 3"], "it has type Int64, not Boolean"),
        (&["table", "delete", "pruned", "--where", "place >"], "invalid SQL"),
    ] {
        let error = failure(data.path(), words, 2);
        assert!(error.contains(said), "{words:?}: {error}");
    }
}
