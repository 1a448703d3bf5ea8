//! Tables are kept in shape from the shell.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, TimestampMicrosecondArray};
use table::disk::RealDisk;
use table::{Clustering, Curve, Inserter, Layout, TableOptions};

use crate::support::{failure, json, run};

/// 1 October 2025, in microseconds.
const OCTOBER: i64 = 1_759_276_800_000_000;
const HOUR: i64 = 3_600_000_000;

/// A table of five batches of a day each, of a hundred rows.
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
    // Nothing is left to do, until the key changes; and then again.
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

#[test]
fn what_cannot_be_done_is_said_in_one_sentence() {
    let data = tempfile::tempdir().unwrap();
    insert(data.path(), "pruned", Layout::Pruned);
    insert(data.path(), "clustered", Layout::Clustered);
    for (words, said) in [
        (&["table", "cluster", "none"][..], "there is no such table: insert rows first"),
        (&["table", "compact", "../pruned"], "cannot name a table: write NAME or DATABASE.NAME"),
        (&["table", "cluster", "pruned"], "layout pruned is not clustered"),
        (
            &["table", "cluster", "clustered", "--columns", "nope"],
            "there is no column \"nope\": the columns are id, at, place",
        ),
        (&["table", "cluster", "clustered", "--curve", "spiral"], "choose hilbert, zorder or lexical"),
        (&["table", "trim", "pruned", "--before", "soon"], "\"soon\" is no time"),
        (&["table", "trim", "pruned", "--before", "2025-10-01", "--column", "id"], "column \"id\" holds Int64"),
        (&["table", "trim", "pruned"], "--keep-bytes"),
    ] {
        let error = failure(data.path(), words, 2);
        assert!(error.contains(said), "{words:?}: {error}");
    }
}
