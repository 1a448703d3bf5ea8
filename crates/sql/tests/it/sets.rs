//! Sets of text in SQL have the same answers from segments of every layout and from unflushed rows.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, ListBuilder, RecordBatch, StringBuilder};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Field};
use disk::{Disk, RealDisk};
use sql::{JsonRows, check_texts, in_cells};
use table::upkeep::{compact, delete_rows};
use table::{Clustering, Curve, Inserter, Layout, TableName, TableOptions};

use crate::slt::failures;
use crate::support::{ask, cells, engine, open};

const ODD: [&str; 2] = ["", "say \"é\", then\n[go]"];

fn rows() -> RecordBatch {
    let sets: [Option<&[&str]>; 7] = [
        Some(&["mod2", "mod3"]),
        Some(&["none"]),
        None,
        Some(&[]),
        Some(&["mod2"]),
        Some(&["mod3", "mod5"]),
        Some(&ODD),
    ];
    let mut lists = ListBuilder::new(StringBuilder::new()).with_field(Field::new("element", DataType::Utf8, false));
    for set in sets {
        match set {
            Some(texts) => lists.append_value(texts.iter().map(Some)),
            None => lists.append_null(),
        }
    }
    let columns: [(&str, ArrayRef); 2] =
        [("id", Arc::new(Int64Array::from_iter_values(1..=7))), ("groups", Arc::new(lists.finish()))];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap()
}

fn name() -> TableName {
    "tagged".parse().unwrap()
}

/// The rows as a table of a layout, two rows per segment.
async fn insert(data: &Path, layout: Layout) {
    let clustering =
        (layout == Layout::Clustered).then(|| Clustering { columns: vec!["id".to_owned()], curve: Curve::Hilbert });
    let options = TableOptions { clustering, ..TableOptions::new(layout) };
    let (folder, rows) = (name().folder(data), rows());
    let inserter = Inserter::open_or_create(&folder, Arc::new(RealDisk), &rows.schema(), &options).await.unwrap();
    for first in [0, 2, 4, 6] {
        inserter.insert(&[rows.slice(first, 2.min(7 - first))]).await.unwrap();
    }
}

const LAYOUTS: [Layout; 3] = [Layout::Column, Layout::Pruned, Layout::Clustered];

#[tokio::test(flavor = "multi_thread")]
async fn sets_in_every_layout() {
    for layout in LAYOUTS {
        let data = tempfile::tempdir().unwrap();
        insert(data.path(), layout).await;
        let failures = failures(&Arc::new(open(data.path()).await), &["sets.slt"]).await;
        assert!(failures.is_empty(), "{layout}: {}", failures.join("\n"));
    }
}

fn rows_schema() -> arrow::datatypes::SchemaRef {
    rows().schema()
}

#[tokio::test(flavor = "multi_thread")]
async fn sets_in_unflushed_rows() {
    for stored in [0, 3] {
        let data = tempfile::tempdir().unwrap();
        let all = rows();
        if stored > 0 {
            let folder = name().folder(data.path());
            let options = TableOptions::new(Layout::Pruned);
            let inserter =
                Inserter::open_or_create(&folder, Arc::new(RealDisk), &all.schema(), &options).await.unwrap();
            inserter.insert(&[all.slice(0, stored)]).await.unwrap();
        }
        let waiting = [all.slice(stored, 1), all.slice(stored + 1, 6 - stored)];
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        ingest::append(&name().folder(data.path()), &disk, &waiting).unwrap();
        let engine = open(data.path()).await;
        let failures = failures(&Arc::new(engine), &["sets.slt"]).await;
        assert!(failures.is_empty(), "{stored} stored: {}", failures.join("\n"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn deletion_by_sets() {
    let data = tempfile::tempdir().unwrap();
    insert(data.path(), Layout::Pruned).await;
    let folder = name().folder(data.path());
    let condition = sql::Condition::parse("array_has(groups, 'mod2') OR groups IS NULL", &rows_schema()).unwrap();
    let deleted = delete_rows(&folder, Arc::new(RealDisk), Arc::new(condition), true).await.unwrap();
    assert_eq!(deleted.rows, 3);
    compact(&folder, Arc::new(RealDisk), None).await.unwrap();
    let left = ask(&open(data.path()).await, "SELECT id, cardinality(groups) FROM tagged ORDER BY id").await.unwrap();
    assert_eq!(cells(&left), [["2", "1"], ["4", "0"], ["6", "2"], ["7", "2"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_of_json_are_unique() {
    let (engine, _data) = engine().await;
    let sql = "SELECT x.a, x.a_2, y.a FROM (SELECT 1 AS a, 2 AS a_2) x, (SELECT 3 AS a) y";
    let rows = ask(&engine, sql).await.unwrap();
    let mut json = JsonRows::new(Vec::new(), &rows.schema());
    json.write(&rows).unwrap();
    assert_eq!(String::from_utf8(json.finish().unwrap()).unwrap(), r#"[{"a":1,"a_2":2,"a_3":3}]"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn sets_become_json() {
    let rows = rows();
    let mut json = JsonRows::new(Vec::new(), &rows.schema());
    json.write(&rows).unwrap();
    let read: serde_json::Value = serde_json::from_slice(&json.finish().unwrap()).unwrap();
    assert_eq!(
        (&read[0]["groups"], &read[2]["groups"]),
        (&serde_json::json!(["mod2", "mod3"]), &serde_json::Value::Null)
    );
    let flat = in_cells(&concat_batches(&rows.schema(), [&rows, &rows.slice(2, 2)]).unwrap()).unwrap();
    let texts: Vec<_> = flat.column(1).as_string::<i32>().iter().collect();
    assert_eq!(texts[..4], [Some("[\"mod2\",\"mod3\"]"), Some("[\"none\"]"), None, Some("[]")]);
    assert_eq!(texts[7..], [None, Some("[]")]);
    let odd: Vec<String> = serde_json::from_str(texts[6].unwrap()).unwrap();
    assert_eq!(odd, ODD);
    assert_eq!(in_cells(&flat).unwrap(), flat);
}

#[tokio::test(flavor = "multi_thread")]
async fn values_without_a_text_are_errors() {
    let (engine, _data) = engine().await;
    for value in [
        "to_timestamp_micros(9223372036854775807)",
        "arrow_cast(2147483647, 'Date32')",
        "arrow_cast(-2147483648, 'Date32')",
        "[NULL, arrow_cast(2147483647, 'Date32')]",
        "{'day': arrow_cast(2147483647, 'Date32')}",
        "arrow_cast(arrow_cast(2147483647, 'Date32'), 'Dictionary(Int32, Date32)')",
    ] {
        let rows = ask(&engine, &format!("SELECT 1 AS n, {value} AS x")).await.unwrap();
        let message = check_texts(&rows).err().map_or_else(String::new, |error| error.to_string());
        assert!(message.contains(r#"column "x" holds a value that has no text"#), "{value}: {message}");
        check_texts(&rows.slice(0, 0)).unwrap();
        let two = format!("SELECT x FROM (SELECT 1 AS n, {value} AS x UNION ALL SELECT 2, NULL) ORDER BY n");
        check_texts(&ask(&engine, &two).await.unwrap().slice(1, 1)).unwrap();
    }
    let usual = "SELECT now() AS a, DATE '2020-01-01' AS b, INTERVAL '1 day' AS c, TIME '01:02:03' AS d,
                 NULL::TIMESTAMP AS e, [now()] AS f, 'a' AS g, 1.5 AS h, now() - now() AS i";
    check_texts(&ask(&engine, usual).await.unwrap()).unwrap();
}
