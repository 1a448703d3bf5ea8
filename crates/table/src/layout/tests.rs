//! Every layout returns the inserted rows.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, new_null_array};
use arrow::array::{
    BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int8Array, Int16Array,
    Int32Array, Int64Array, StringArray, TimestampMicrosecondArray,
};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::PageIndexPolicy;
use proptest::prelude::*;
use twox_hash::XxHash64;

use super::*;
use crate::{EncodingSet, Inserter, Table};
use disk::RealDisk;
use disk::watched::{Operation, WatchedDisk};

const TYPES: usize = 13;

fn ty(i: usize) -> DataType {
    match i {
        0 => DataType::Boolean,
        1 => DataType::Int8,
        2 => DataType::Int16,
        3 => DataType::Int32,
        4 => DataType::Int64,
        5 => DataType::Float32,
        6 => DataType::Float64,
        7 => DataType::Date32,
        8 => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        9 => DataType::Decimal128(7, 2),
        10 => DataType::Decimal128(30, 6),
        11 => DataType::Utf8,
        _ => DataType::Binary,
    }
}

fn schema() -> SchemaRef {
    Arc::new(Schema::new((0..TYPES).map(|i| Field::new(format!("c{i}"), ty(i), true)).collect::<Vec<_>>()))
}

/// Any integers, many of them extreme or repeated.
fn integer() -> impl Strategy<Value = Option<i64>> {
    prop_oneof![
        1 => Just(None),
        2 => Just(Some(i64::MIN)),
        2 => Just(Some(i64::MAX)),
        4 => any::<i64>().prop_map(Some),
        8 => (-5i64..5).prop_map(Some),
    ]
}

fn real() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![
        Just(None),
        any::<f64>().prop_map(Some),
        Just(Some(f64::NAN)),
        Just(Some(f64::INFINITY)),
        Just(Some(-0.0))
    ]
}

fn text() -> impl Strategy<Value = Option<String>> {
    prop_oneof![Just(None), Just(Some(String::new())), ".{0,20}".prop_map(Some), "é{1,80}".prop_map(Some)]
}

type Row = (Option<i64>, Option<f64>, Option<String>);

fn column(i: usize, rows: &[Row]) -> ArrayRef {
    let n = || rows.iter().map(|r| r.0);
    let x = || rows.iter().map(|r| r.1);
    let s = || rows.iter().map(|r| r.2.as_deref());
    match i {
        0 => Arc::new(BooleanArray::from_iter(n().map(|v| v.map(|v| v & 1 == 1)))),
        1 => Arc::new(Int8Array::from_iter(n().map(|v| v.map(|v| v as i8)))),
        2 => Arc::new(Int16Array::from_iter(n().map(|v| v.map(|v| v as i16)))),
        3 => Arc::new(Int32Array::from_iter(n().map(|v| v.map(|v| v as i32)))),
        4 => Arc::new(Int64Array::from_iter(n())),
        5 => Arc::new(Float32Array::from_iter(x().map(|v| v.map(|v| v as f32)))),
        6 => Arc::new(Float64Array::from_iter(x())),
        7 => Arc::new(Date32Array::from_iter(n().map(|v| v.map(|v| v as i32)))),
        8 => Arc::new(TimestampMicrosecondArray::from_iter(n()).with_timezone("UTC")),
        9 => decimal(n().map(|v| v.map(|v| i128::from(v % 9_999_999))), 7, 2),
        10 => decimal(n().map(|v| v.map(|v| i128::from(v) * 1_000_000_007)), 30, 6),
        11 => Arc::new(StringArray::from_iter(s())),
        _ => Arc::new(BinaryArray::from_iter(s().map(|v| v.map(str::as_bytes)))),
    }
}

fn decimal(values: impl Iterator<Item = Option<i128>>, precision: u8, scale: i8) -> ArrayRef {
    Arc::new(Decimal128Array::from_iter(values).with_precision_and_scale(precision, scale).unwrap())
}

fn batch(rows: &[Row]) -> RecordBatch {
    RecordBatch::try_new(schema(), (0..TYPES).map(|i| column(i, rows)).collect()).unwrap()
}

fn options(layout: Layout) -> TableOptions {
    let mut options = TableOptions::new(layout);
    if options.has_statistics() {
        options.bloom = ["c4", "c11"].map(str::to_owned).to_vec();
    }
    if layout == Layout::Clustered {
        options.clustering = Some(Clustering { columns: vec!["c4".to_owned()], curve: Curve::Hilbert });
    }
    options
}

async fn read_all(root: &Path) -> RecordBatch {
    let mut batches = Vec::new();
    let table = Table::open(root, Arc::new(RealDisk)).await.unwrap().unwrap();
    for segment in table.segments().await.unwrap() {
        let file = std::fs::File::open(root.join(&segment.path)).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        let read: Vec<_> = reader.map(Result::unwrap).collect();
        assert_eq!(segment.rows as usize, read.iter().map(RecordBatch::num_rows).sum::<usize>());
        batches.extend(read);
    }
    let columns = |b: RecordBatch| RecordBatch::try_new(schema(), b.columns().to_vec()).unwrap();
    let batches: Vec<_> = batches.into_iter().map(columns).collect();
    concat_batches(&schema(), &batches).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_layout_returns_inserted_rows(
        rows in prop::collection::vec((integer(), real(), text()), 1..400),
        layout in prop::sample::select(vec![Layout::Column, Layout::Pruned, Layout::Clustered]),
    ) {
        let batch = batch(&rows);
        let read = runtime().block_on(async {
            let root = tempfile::tempdir().unwrap();
            let inserter =
                Inserter::open_or_create(root.path(), Arc::new(RealDisk), &schema(), &options(layout)).await.unwrap();
            let inserted = inserter.insert(std::slice::from_ref(&batch)).await.unwrap();
            assert_eq!(inserted.rows as usize, rows.len());
            read_all(root.path()).await
        });
        // Compares bits: NaN equals itself, and zeros keep their sign.
        prop_assert_eq!(format!("{:?}", read.columns()), format!("{:?}", batch.columns()));
        prop_assert!(read.columns().iter().zip(batch.columns()).all(|(a, b)| a.to_data() == b.to_data() || a.data_type().is_floating()));
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap()
}

#[test]
fn encoding_choice_follows_the_sample() {
    let n = 20_000;
    let random = |i: i64| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64) >> 40) & 0x3FFF;
    let columns: [(&str, ArrayRef); 5] = [
        (
            "time",
            Arc::new(TimestampMicrosecondArray::from_iter_values((0..n).map(|i| i * 3_000_000)).with_timezone("UTC")),
        ),
        ("number", Arc::new(Int32Array::from_iter_values((0..n).map(|i| random(i) as i32)))),
        (
            "word",
            Arc::new(StringArray::from_iter_values((0..n).map(|i| ["voice", "sms", "data"][(random(i) % 3) as usize]))),
        ),
        ("id", Arc::new(StringArray::from_iter_values((0..n).map(|i| format!("call-{i:012}-{:04x}", random(i)))))),
        (
            "tag",
            Arc::new(StringArray::from_iter_values(
                (0..n).map(|i| format!("{:016x}", i.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64))),
            )),
        ),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let encodings = Encodings::choose(
        &batch.schema(),
        std::slice::from_ref(&batch),
        &TableOptions { encodings: EncodingSet::Dense, ..TableOptions::new(Layout::Column) },
    )
    .unwrap();
    let of = |name: &str| encodings.columns().find(|c| c.0 == name).unwrap().1;
    assert_eq!(of("time"), ColumnEncoding::Delta);
    assert_eq!(of("number"), ColumnEncoding::Split);
    assert_eq!(of("word"), ColumnEncoding::Dictionary);
    assert_eq!(of("id"), ColumnEncoding::Prefixes);
    assert_eq!(of("tag"), ColumnEncoding::Common);
}

#[test]
fn dictionaries_are_tried_on_more_than_a_page() {
    // In one page, 30,000 values hardly repeat.
    let random = |i: u64| XxHash64::oneshot(0, &i.to_le_bytes()) % 30_000;
    let ratios = (0..60_000).map(|i| (random(i) as f64).sqrt());
    let column: ArrayRef = Arc::new(Float64Array::from_iter_values(ratios));
    let batch = RecordBatch::try_from_iter([("ratio", column)]).unwrap();
    let choose = |rows| Encodings::choose(&batch.schema(), &[batch.slice(0, rows)], &options(Layout::Column)).unwrap();
    assert_eq!(choose(20_000).columns().next(), Some(("ratio", ColumnEncoding::Plain)));
    assert_eq!(choose(60_000).columns().next(), Some(("ratio", ColumnEncoding::Dictionary)));
}

#[tokio::test]
async fn statistics_hold_bounds_where_possible() {
    let root = tempfile::tempdir().unwrap();
    let rows = [
        (Some(5), Some(f64::NAN), Some("b".to_owned())),
        (Some(-3), Some(1.0), Some("a".to_owned())),
        (None, None, None),
    ];
    let inserter =
        Inserter::open_or_create(root.path(), Arc::new(RealDisk), &schema(), &options(Layout::Pruned)).await.unwrap();
    inserter.insert(&[batch(&rows)]).await.unwrap();
    let table = Table::open(root.path(), Arc::new(RealDisk)).await.unwrap().unwrap();
    let columns = table.segments().await.unwrap().remove(0).columns;
    let bounds = |name: &str| columns.get(name).map(|c| (c.min.clone(), c.max.clone(), c.nulls));
    assert_eq!(bounds("c4"), Some((Some((-3).into()), Some(5.into()), Some(1))));
    assert_eq!(bounds("c6"), None, "a column with NaN has no bounds");
    assert_eq!(bounds("c11"), Some((Some("a".into()), Some("b".into()), Some(1))));
    assert_eq!(bounds("c7"), Some((Some("1969-12-29".into()), Some("1970-01-06".into()), Some(1))));
    assert_eq!(
        bounds("c8"),
        Some((Some("1969-12-31T23:59:59.999997Z".into()), Some("1970-01-01T00:00:00.000005Z".into()), Some(1)))
    );
    assert_eq!(bounds("c9"), Some((Some((-0.03).into()), Some(0.05.into()), Some(1))));
}

#[tokio::test]
async fn pages_of_times_are_short_and_end_with_their_hour() {
    let root = tempfile::tempdir().unwrap();
    let numbers = 0..20_000i64;
    let times = numbers.clone().map(|i| i * 1_000_000 + i * i % 997);
    let batch = RecordBatch::try_from_iter([
        ("time", Arc::new(TimestampMicrosecondArray::from_iter_values(times).with_timezone("UTC")) as ArrayRef),
        ("number", Arc::new(Int64Array::from_iter_values(numbers.map(|i| i % 50))) as ArrayRef),
    ])
    .unwrap();
    let options = TableOptions::new(Layout::Pruned);
    let inserter = Inserter::open_or_create(root.path(), Arc::new(RealDisk), &batch.schema(), &options).await.unwrap();
    inserter.insert(&[batch]).await.unwrap();
    let table = Table::open(root.path(), Arc::new(RealDisk)).await.unwrap().unwrap();
    let path = root.path().join(&table.segments().await.unwrap()[0].path);
    let read = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
    let file = std::fs::File::open(path).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new_with_options(file, read).unwrap();
    let first_rows = |column: usize| -> Vec<i64> {
        let pages = reader.metadata().offset_index().unwrap()[0][column].page_locations();
        pages.iter().map(|page| page.first_row_index).collect()
    };
    // A row each second: an hour is too long for one page.
    assert_eq!(first_rows(0), Vec::from_iter((0..=18_000).step_by(1_800)));
    assert_eq!(first_rows(1), [0]);
}

#[tokio::test]
async fn rows_that_do_not_fit_are_rejected() {
    let root = tempfile::tempdir().unwrap();
    let table_schema =
        Schema::new(vec![Field::new("id", DataType::Int64, false), Field::new("note", DataType::Utf8, true)]);
    let inserter =
        Inserter::open_or_create(root.path(), Arc::new(RealDisk), &table_schema, &TableOptions::new(Layout::Column))
            .await
            .unwrap();
    let refusal = async |columns: Vec<(&str, ArrayRef)>| {
        let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true))).unwrap();
        inserter.insert(&[batch]).await.unwrap_err().to_string()
    };
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let words: ArrayRef = Arc::new(StringArray::from(vec!["x", "y"]));
    let wrong = refusal(vec![("id", words.clone())]).await;
    assert!(wrong.contains("column \"id\"") && wrong.ends_with("holds Utf8, not Int64"), "{wrong}");
    let unknown = refusal(vec![("id", ids.clone()), ("note2", words.clone())]).await;
    assert!(unknown.contains("\"note2\"") && unknown.contains("not in the table"), "{unknown}");
    let missing = refusal(vec![("note", words)]).await;
    assert!(missing.contains("\"id\"") && missing.contains("is missing"), "{missing}");
    let null = refusal(vec![("id", new_null_array(&DataType::Int64, 2))]).await;
    assert!(null.contains("is in 2 rows"), "{null}");
    // Narrower integers, another order and missing nullable columns fit.
    let narrow: ArrayRef = Arc::new(Int32Array::from(vec![7]));
    let batch = RecordBatch::try_from_iter([("id", narrow)]).unwrap();
    assert_eq!(inserter.insert(&[batch]).await.unwrap().rows, 1);
    assert_eq!(Table::open(root.path(), Arc::new(RealDisk)).await.unwrap().unwrap().segments().await.unwrap().len(), 1);
}

#[tokio::test]
async fn invalid_options_are_rejected() {
    let root = tempfile::tempdir().unwrap();
    let refusal = async |options: TableOptions| {
        let made = Inserter::open_or_create(root.path(), Arc::new(RealDisk), &schema(), &options).await;
        made.map(|_| ()).unwrap_err().to_string()
    };
    let missing = TableOptions { bloom: vec!["nope".to_owned()], ..TableOptions::new(Layout::Pruned) };
    assert!(refusal(missing).await.contains("no column \"nope\": the columns are c0, c1"));
    let filters = TableOptions { bloom: vec!["c4".to_owned()], ..TableOptions::new(Layout::Column) };
    assert!(refusal(filters).await.contains("layout column has no Bloom filters"));
    let lookup = |layout, columns: &[&str]| TableOptions {
        lookup: columns.iter().map(|c| (*c).to_owned()).collect(),
        ..TableOptions::new(layout)
    };
    assert!(refusal(lookup(Layout::Column, &["nope"])).await.contains("no column \"nope\""));
    assert!(refusal(lookup(Layout::Column, &["c1", "c1"])).await.contains("column \"c1\" is listed twice"));
    assert!(refusal(TableOptions::new(Layout::Clustered)).await.contains("needs the columns to cluster by"));
    // None of these created a table. A created table keeps its options.
    assert!(Inserter::open(root.path(), Arc::new(RealDisk)).await.unwrap().is_none());
    let pruned = options(Layout::Pruned);
    drop(Inserter::open_or_create(root.path(), Arc::new(RealDisk), &schema(), &pruned).await.unwrap());
    let reopened = Inserter::open(root.path(), Arc::new(RealDisk)).await.unwrap().unwrap();
    assert_eq!(*reopened.options(), pruned);
    assert!(refusal(TableOptions::new(Layout::Column)).await.contains("already exists with layout pruned"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_writers_insert_each_batch_once() {
    let root = tempfile::tempdir().unwrap();
    let inserter =
        Inserter::open_or_create(root.path(), Arc::new(RealDisk), &schema(), &options(Layout::Pruned)).await.unwrap();
    let inserter = Arc::new(inserter);
    let writers = (0..8i64).map(|w| {
        let inserter = inserter.clone();
        tokio::spawn(async move {
            for i in 0..5i64 {
                let rows: Vec<Row> = (0..10).map(|r| (Some(w * 1000 + i * 10 + r), None, None)).collect();
                // Sends every batch twice, as after a lost reply.
                let name = format!("{w}/{i}");
                inserter.insert_once(&name, &[batch(&rows)]).await.unwrap();
                assert_eq!(inserter.insert_once(&name, &[batch(&rows)]).await.unwrap().rows, 0);
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let read = read_all(root.path()).await;
    let ids: &Int64Array = arrow::array::AsArray::as_primitive(read.column(4));
    let mut ids: Vec<i64> = ids.values().to_vec();
    ids.sort_unstable();
    let expected: Vec<i64> = (0..8).flat_map(|w| (0..50).map(move |i| w * 1000 + i)).collect();
    assert_eq!(ids, expected);
}

#[tokio::test]
async fn writing_does_not_block_other_tasks() {
    let root = tempfile::tempdir().unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    let receiver = std::sync::Mutex::new(receiver);
    // New segments wait until another task of the same runtime sends a signal.
    let disk = WatchedDisk::over(RealDisk, move |operation, path| {
        if operation == Operation::Create && path.to_string_lossy().contains(".parquet.") {
            let signal = receiver.lock().unwrap().recv_timeout(std::time::Duration::from_secs(20));
            signal.map_err(|_| std::io::Error::other("no other task could run"))?;
        }
        Ok(())
    });
    let rows = RecordBatch::try_from_iter([("n", Arc::new(Int64Array::from(vec![1, 2])) as ArrayRef)]).unwrap();
    let options = TableOptions::new(Layout::Pruned);
    let inserter = Inserter::open_or_create(root.path(), Arc::new(disk), &rows.schema(), &options).await.unwrap();
    let (inserted, ()) = tokio::join!(inserter.insert(std::slice::from_ref(&rows)), async { sender.send(()).unwrap() });
    assert_eq!(inserted.unwrap().rows, 2);
}
