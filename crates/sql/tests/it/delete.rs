//! A deletion removes exactly the rows for which its condition is true.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array as _, RecordBatch};
use arrow::compute::concat_batches;
use disk::RealDisk;
use proptest::prelude::*;
use sql::{Condition, QueryError};
use table::upkeep::{Deleted, delete_rows};
use table::{Layout, Table, TableError, TableName};

use crate::pruning::{self, batch, condition, insert, kept, numbered, rows};
use crate::support::{ask, cells, open};

const LAYOUTS: [Layout; 3] = [Layout::Column, Layout::Pruned, Layout::Clustered];

async fn delete(data: &Path, layout: Layout, sql: &str, apply: bool) -> Result<Deleted, TableError> {
    let folder = layout.to_string().parse::<TableName>().unwrap().folder(data);
    let table = Table::open(&folder, Arc::new(RealDisk)).await.unwrap().unwrap();
    let condition = Condition::parse(sql, &table.arrow_schema().unwrap()).unwrap_or_else(|e| panic!("{sql}: {e}"));
    delete_rows(&folder, Arc::new(RealDisk), Arc::new(condition), apply).await
}

/// Deletes with one condition after another, from every layout and from the rows in memory, and compares the remaining
/// rows.
async fn compare(
    batches: Vec<RecordBatch>,
    conditions: Vec<pruning::Condition>,
    group_rows: usize,
) -> Result<(), String> {
    let data = tempfile::tempdir().unwrap();
    let schema = batches[0].schema();
    for layout in LAYOUTS {
        insert(data.path(), (&layout.to_string(), layout, false), group_rows, &batches).await;
    }
    let all = concat_batches(&schema, &batches).unwrap();
    let mut stays = vec![true; all.num_rows()];
    for condition in conditions {
        let sql = condition.sql(&all);
        let matches = condition.of_rows(&all);
        let before = stays.iter().filter(|stays| **stays).count();
        for (row, stays) in stays.iter_mut().enumerate() {
            *stays &= matches.is_null(row) || !matches.value(row);
        }
        let left = kept(&all, |row| stays[row]);
        let goes = before - stays.iter().filter(|stays| **stays).count();
        for layout in LAYOUTS {
            let asked = delete(data.path(), layout, &sql, false).await.map_err(|e| format!("{sql}: {e}"))?;
            let done = delete(data.path(), layout, &sql, true).await.map_err(|e| format!("{sql}: {e}"))?;
            if done.rows != goes as u64 || asked.rows != done.rows || asked.segments_in != done.segments_in {
                return Err(format!("{layout}: {sql}: {asked:?}, {done:?}, not {goes}"));
            }
            let engine = open(data.path()).await;
            let found = format!("SELECT count(*), sum(id), sum(id * id) FROM {layout}");
            let found = cells(&ask(&engine, &found).await.unwrap());
            if found != left {
                return Err(format!("{layout}: {sql}: {found:?}, not {left:?}"));
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn deletion_removes_exactly_matching_rows(
        batches in prop::collection::vec(prop_oneof![3 => rows(false), 1 => rows(true)], 1..5),
        conditions in prop::collection::vec(condition(), 1..4),
        group_rows in 1usize..40,
    ) {
        let batches = numbered(&batches);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let compared = runtime.block_on(compare(batches, conditions, group_rows));
        prop_assert!(compared.is_ok(), "{}", compared.unwrap_err());
    }
}

/// Four segments of 60 rows each: integers from 0, 1000, 2000 and 3000; a third of the reals is NaN, another NULL.
async fn stored(data: &Path) -> arrow::datatypes::SchemaRef {
    let real = |i: i64| [Some(i as f64), Some(f64::NAN), None][(i % 3) as usize];
    let rows = |base: i64| -> Vec<pruning::Row> {
        (base..base + 60).map(|i| (Some(i), real(i), Some(format!("w{i:05}")))).collect()
    };
    let batches: Vec<RecordBatch> = (0..4).map(|i| batch(&rows(i * 1000), i * 60)).collect();
    let schema = batches[0].schema();
    for layout in LAYOUTS {
        insert(data, (&layout.to_string(), layout, false), 10, &batches).await;
    }
    schema
}

#[tokio::test(flavor = "multi_thread")]
async fn segments_without_matches_are_not_touched() {
    let data = tempfile::tempdir().unwrap();
    stored(data.path()).await;
    let folder = data.path().join("default/pruned");
    // The excluded segments cannot be opened.
    let table = Table::open(&folder, Arc::new(RealDisk)).await.unwrap().unwrap();
    let away: Vec<_> =
        table.segments().await.unwrap().into_iter().filter(|s| s.columns["id"].min != Some(60.into())).collect();
    assert_eq!(away.len(), 3);
    away.iter().for_each(|s| std::fs::rename(folder.join(&s.path), folder.join(format!("{}.away", s.path))).unwrap());
    let done =
        delete(data.path(), Layout::Pruned, "i64 BETWEEN 1010 AND 1019 AND word <> 'w01010'", true).await.unwrap();
    assert_eq!((done.rows, done.segments_in, done.segments_out), (9, 1, 1));
    for nowhere in ["i64 = 500", "word > 'x'", "day IS NULL", "1 = 2", "NULL = i64"] {
        let done = delete(data.path(), Layout::Pruned, nowhere, true).await;
        assert!(matches!(&done, Ok(done) if *done == Deleted::default()), "{nowhere}: {done:?}");
    }
    let unread = delete(data.path(), Layout::Pruned, "i64 >= 0", true).await.unwrap_err().to_string();
    assert!(unread.contains("cannot open"), "{unread}");
    away.iter().for_each(|s| std::fs::rename(folder.join(format!("{}.away", s.path)), folder.join(&s.path)).unwrap());
    assert_eq!(delete(data.path(), Layout::Pruned, "true", true).await.unwrap().rows, 4 * 60 - 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn deletion_treats_nan_and_null_as_sql() {
    let data = tempfile::tempdir().unwrap();
    stored(data.path()).await;
    for layout in LAYOUTS {
        // NaN is above all numbers; NULL is neither.
        for (sql, rows) in [
            ("f64 < -1", 0),
            ("f64 <> 'NaN' AND f64 < 30", 10),
            ("NOT (f64 > 0 OR f64 <= 0)", 0),
            ("f64 > 1e300", 80),
            ("f64 IS NULL AND i64 >= 3000", 20),
            ("to_timestamp('2000-01-01') < now() AND f64 IS NULL", 60),
        ] {
            assert_eq!(delete(data.path(), layout, sql, true).await.unwrap().rows, rows, "{layout}: {sql}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_conditions_are_rejected_on_one_line() {
    let data = tempfile::tempdir().unwrap();
    let schema = stored(data.path()).await;
    let message = |sql: &str| -> String {
        let refused: QueryError = Condition::parse(sql, &schema).unwrap_err();
        refused.to_string()
    };
    for (sql, expected) in [
        ("worrd = 'a'", "no column \"worrd\"; did you mean word"),
        ("i64 + 1", "it has type Int64, not Boolean"),
        ("word", "it has type Utf8View, not Boolean"),
        ("i64 <", "invalid SQL"),
        ("", "invalid SQL"),
        ("i64 < 1; DROP TABLE pruned", "invalid SQL"),
        ("i64 < 1 AS bit", "unexpected bit after the condition"),
        ("i64 IN (SELECT 1)", "subqueries are not allowed"),
        ("random() < 0.5", "its result changes"),
        ("count(*) > 1", "invalid condition: "),
        ("nothing(i64)", "no function \"nothing\""),
        ("word < ARRAY[1]", "invalid condition: "),
    ] {
        let message = message(sql);
        assert!(message.contains(expected) && !message.contains('\n'), "{sql}: {message}");
    }
    // An error that occurs only when rows are evaluated.
    let unfit = delete(data.path(), Layout::Pruned, "1 / (i64 - 5) > 0", true).await.unwrap_err().to_string();
    assert!(unfit.ends_with("invalid condition: division by zero"), "{unfit}");
    assert_eq!(delete(data.path(), Layout::Pruned, "true", false).await.unwrap().rows, 240);
}
