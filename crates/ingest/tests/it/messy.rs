//! Messy rows, whatever their names and types: none stops a flush, and every value is read back.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, Float64Type, Int64Type, TimestampMicrosecondType};
use decode::OnConflict;
use disk::{Disk, RealDisk};
use ingest::{FlushOptions, Load, append, digest};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;
use table::{Layout, Table, TableName, TableOptions};

use crate::support::{name, open};

#[derive(Debug, Clone)]
enum Cell {
    Int(i64),
    Real(f64),
    Text(String),
    Truth(bool),
}

impl Cell {
    fn array(&self) -> ArrayRef {
        match self {
            Self::Int(value) => Arc::new(Int64Array::from(vec![*value])),
            Self::Real(value) => Arc::new(Float64Array::from(vec![*value])),
            Self::Text(value) => Arc::new(StringArray::from(vec![value.as_str()])),
            Self::Truth(value) => Arc::new(BooleanArray::from(vec![*value])),
        }
    }

    /// Whether a stored value is this one, exactly.
    fn is_in(&self, column: &ArrayRef, row: usize) -> bool {
        if column.is_null(row) {
            return false;
        }
        match (self, column.data_type()) {
            (Self::Int(v), DataType::Int64) => column.as_primitive::<Int64Type>().value(row) == *v,
            (Self::Int(v), DataType::Float64) => {
                v.unsigned_abs() < 1 << 53 && column.as_primitive::<Float64Type>().value(row) == *v as f64
            }
            (Self::Real(v), DataType::Float64) => column.as_primitive::<Float64Type>().value(row) == *v,
            (Self::Real(v), DataType::Int64) => {
                v.fract() == 0.0 && column.as_primitive::<Int64Type>().value(row) == *v as i64
            }
            (Self::Truth(v), DataType::Boolean) => column.as_boolean().value(row) == *v,
            (_, DataType::Utf8) => {
                let text = column.as_string::<i32>().value(row);
                match self {
                    // One that came to a column of real numbers is "4.0" if that becomes another column.
                    Self::Int(v) => {
                        text == v.to_string() || v.unsigned_abs() < 1 << 53 && text.parse() == Ok(*v as f64)
                    }
                    Self::Real(v) => text.parse() == Ok(*v),
                    Self::Text(v) => text == v,
                    Self::Truth(v) => text == v.to_string(),
                }
            }
            _ => false,
        }
    }
}

type Row = BTreeMap<String, Cell>;

/// Whether each of some values is in a column of its own. One may be in several columns, as -4.0 in one of integers.
fn are_in(cells: &[&Cell], columns: &[ArrayRef], row: usize) -> bool {
    let Some((first, rest)) = cells.split_first() else { return true };
    (0..columns.len()).filter(|at| first.is_in(&columns[*at], row)).any(|at| {
        let others = [&columns[..at], &columns[at + 1..]].concat();
        are_in(rest, &others, row)
    })
}

fn cell() -> impl Strategy<Value = Cell> {
    prop_oneof![
        (-5i64..5).prop_map(Cell::Int),
        prop::sample::select(vec![
            1_234_567_890_123_456_789,
            1_234_567_890_123_456_790,
            i64::MIN,
            i64::MAX,
            (1 << 53) + 1
        ])
        .prop_map(Cell::Int),
        (-20i32..20).prop_map(|v| Cell::Real(f64::from(v) / 4.0)),
        "[a-c]{1,2}".prop_map(Cell::Text),
        any::<bool>().prop_map(Cell::Truth),
    ]
}

fn row() -> impl Strategy<Value = Row> {
    let names = vec![
        "load",
        "Load",
        "LOAD",
        "load_case",
        "load_text",
        "Load_text",
        "Time",
        "a.b c/d",
        "9",
        "_x",
        "\u{e9}",
        "\u{c9}",
        "e\u{301}",
        "\u{212a}",
        "k",
        "stra\u{df}e",
        "STRASSE",
    ];
    prop::collection::btree_map(prop::sample::select(names).prop_map(str::to_owned), cell(), 1..5)
}

fn rows(time: i64, row: &Row) -> RecordBatch {
    let time: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![time]).with_timezone("UTC"));
    let fields = row.iter().map(|(name, cell)| (name.as_str(), cell.array(), true));
    RecordBatch::try_from_iter_with_nullable(std::iter::once(("time", time, false)).chain(fields)).unwrap()
}

#[derive(Debug, Clone, Copy)]
enum Door {
    Write,
    Append,
    Insert,
}

fn door() -> impl Strategy<Value = Door> {
    prop::sample::select(vec![Door::Write, Door::Append, Door::Insert])
}

/// Inserts a row beside the server, as `table insert` does.
async fn insert(root: &Path, disk: &Arc<dyn Disk>, name: &str, row: RecordBatch) {
    let mut load = Load::open(root, disk.clone(), OnConflict::Overflow).await.unwrap();
    let loaded = load.insert_once(name, vec![row], &TableOptions::new(Layout::Pruned), None).await.unwrap();
    assert_eq!(loaded.inserted.rows, 1);
}

/// Holds the segments of a table against the rows that were acknowledged.
async fn check(data: &Path, table: &TableName, mut expected: BTreeMap<i64, Row>) {
    let root = table.folder(data);
    let Some(stored) = Table::open(&root, Arc::new(RealDisk)).await.unwrap() else {
        assert!(expected.is_empty(), "no row of {table} was written");
        return;
    };
    for segment in stored.segments().await.unwrap() {
        let file = File::open(root.join(&segment.path)).unwrap();
        for batch in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
            let batch = batch.unwrap();
            let times = batch.column_by_name("time").unwrap().as_primitive::<TimestampMicrosecondType>();
            for row in 0..batch.num_rows() {
                let sent = expected.remove(&times.value(row)).expect("a row that nobody sent, or twice");
                let cells: Vec<&Cell> = sent.values().collect();
                let stored = batch.slice(row, 1);
                assert!(are_in(&cells, batch.columns(), row), "of {sent:?} something is lost or changed: {stored:?}");
            }
        }
    }
    assert!(expected.is_empty(), "rows of {table} are lost: {expected:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn messy_rows_are_flushed_and_read_back(sent in prop::collection::vec((0..3usize, door(), row()), 1..40)) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let data = tempfile::tempdir().unwrap();
            let disk: Arc<dyn Disk> = Arc::new(RealDisk);
            let tables = ["a", "b.c", "Load"].map(name);
            let mut expected: [BTreeMap<i64, Row>; 3] = Default::default();
            let store = open(data.path(), disk.clone()).await;
            for (time, (table, door, row)) in (0..).zip(&sent) {
                let (batch, root) = (rows(time, row), tables[*table].folder(data.path()));
                let is_stored = match door {
                    Door::Append => append(&root, &disk, &[batch]).unwrap().rows == 1,
                    Door::Insert => {
                        insert(&root, &disk, &time.to_string(), batch).await;
                        true
                    }
                    Door::Write => {
                        let written = store.write(vec![(tables[*table].clone(), batch)], None, OnConflict::Refuse).await.unwrap();
                        prop_assert_eq!(written[0].rows == 0, !written[0].conflicts.is_empty());
                        written[0].rows == 1
                    }
                };
                if is_stored {
                    expected[*table].insert(time, row.clone());
                }
            }
            prop_assert_eq!(store.close().await, vec![]);
            drop(store);
            for (table, expected) in tables.iter().zip(expected) {
                digest(&table.folder(data.path()), disk.clone(), &FlushOptions::default()).await.unwrap();
                check(data.path(), table, expected).await;
            }
            Ok(())
        })?;
    }
}
