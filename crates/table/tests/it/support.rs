//! A table of batches with rows derived from their number.

#![allow(clippy::from_iter_instead_of_collect, reason = "names the array type")]

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use disk::{Disk, RealDisk};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use table::upkeep::{LayoutChange, RewriteOptions};
use table::{Clustering, Curve, Inserter, Key, KeyRange, Layout, Lookup, Segment, Table, TableError, TableOptions};

const LOOKUP: [&str; 2] = ["place", "name"];

/// Rows per batch.
pub(crate) const ROWS: i64 = 500;

pub(crate) fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("id", DataType::Int64, false),
        Field::new("place", DataType::Int64, true),
        Field::new("name", DataType::Utf8, true),
    ]))
}

fn mix(id: i64) -> i64 {
    id.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64) >> 20
}

fn rows(ids: &[i64]) -> RecordBatch {
    let names = ids.iter().map(|&id| (id % 11 != 0).then(|| format!("name-{:05}", mix(id + 7).rem_euclid(30_000))));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(ids.to_vec())),
        Arc::new(Int64Array::from_iter(ids.iter().map(|&id| (id % 7 != 0).then(|| mix(id))))),
        Arc::new(StringArray::from_iter(names)),
    ];
    RecordBatch::try_new(schema(), columns).unwrap()
}

/// The rows of batch `number`.
pub(crate) fn batch(number: i64) -> RecordBatch {
    rows(&(number * ROWS..(number + 1) * ROWS).collect::<Vec<_>>())
}

/// Opens the table with any layout, or creates it.
pub(crate) async fn inserter(root: &Path, disk: Arc<dyn Disk>) -> Result<Inserter, TableError> {
    if let Some(inserter) = Inserter::open(root, disk.clone()).await? {
        return Ok(inserter);
    }
    let columns = LOOKUP.map(str::to_owned).to_vec();
    let options = TableOptions {
        bloom: vec!["name".to_owned()],
        lookup: columns.clone(),
        clustering: Some(Clustering { columns, curve: Curve::Hilbert }),
        ..TableOptions::new(Layout::Clustered)
    };
    Inserter::open_or_create(root, disk, &schema(), &options).await
}

/// The rows of a table; empty if it does not exist.
async fn stored_rows(root: &Path) -> Vec<RecordBatch> {
    let mut all = Vec::new();
    let Some(table) = Table::open(root, Arc::new(RealDisk)).await.unwrap() else { return all };
    for segment in table.segments().await.unwrap() {
        let file = File::open(root.join(&segment.path)).unwrap();
        check_lookup(root, &segment);
        let read = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        let read: Vec<RecordBatch> = read.map(Result::unwrap).collect();
        assert_eq!(read.iter().map(RecordBatch::num_rows).sum::<usize>() as u64, segment.rows);
        all.extend(read);
    }
    all
}

/// Checks that a segment has a secondary index that finds every value in its row group.
fn check_lookup(root: &Path, segment: &Segment) {
    let lookup = Lookup::open(root, segment).unwrap_or_else(|| panic!("{} has no secondary index", segment.path));
    let open = || ParquetRecordBatchReaderBuilder::try_new(File::open(root.join(&segment.path)).unwrap()).unwrap();
    assert_eq!(lookup.groups(), open().metadata().num_row_groups());
    for group in 0..lookup.groups() {
        let rows = open().with_row_groups(vec![group]).with_batch_size(usize::MAX >> 1).build().unwrap();
        rows.for_each(|rows| check_found(&lookup, group, &rows.unwrap()));
    }
}

/// Checks that an index finds every tenth row's values in its row group.
fn check_found(lookup: &Lookup, group: usize, rows: &RecordBatch) {
    for name in LOOKUP {
        let column = rows.column_by_name(name).unwrap();
        for key in (0..rows.num_rows()).step_by(10).filter_map(|row| Key::of(column, row)) {
            assert!(lookup.find(name, &[KeyRange::of(&key)]).unwrap().groups[group], "{name}: {key:?}");
        }
    }
}

/// The numbers of the stored batches. Checks that each is complete and stored once, that every value is correct, and
/// that every segment has its secondary index.
pub(crate) async fn batches(root: &Path) -> Vec<i64> {
    let mut seen: BTreeMap<i64, i64> = BTreeMap::new();
    for read in stored_rows(root).await {
        let ids = read.column(0).as_primitive::<Int64Type>().values().to_vec();
        for (column, expected) in read.columns().iter().zip(rows(&ids).columns()) {
            assert_eq!(column.to_data(), expected.to_data());
        }
        ids.into_iter().for_each(|id| *seen.entry(id).or_default() += 1);
    }
    assert!(seen.values().all(|&times| times == 1), "rows occur twice");
    let mut whole: BTreeMap<i64, i64> = BTreeMap::new();
    seen.into_keys().for_each(|id| *whole.entry(id / ROWS).or_default() += 1);
    assert!(whole.values().all(|&rows| rows == ROWS), "a batch is incomplete: {whole:?}");
    whole.into_keys().collect()
}

/// Options to change to layout `layout`.
pub(crate) fn change(layout: Layout) -> RewriteOptions {
    let cluster = (layout == Layout::Clustered).then(|| ["place", "name"].map(str::to_owned).to_vec());
    // No memory: spills everything to disk.
    let change = LayoutChange { layout: Some(layout), cluster, ..LayoutChange::default() };
    RewriteOptions { change, memory: 0, progress: None }
}
