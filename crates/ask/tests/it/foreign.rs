//! Files of other writers: types, statistics and pages that this program does not write.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, Decimal128Array, DictionaryArray, FixedSizeListBuilder, Int64Array, ListArray, RecordBatch,
    StringBuilder, StructArray, TimestampMicrosecondArray, UInt64Array,
};
use arrow::datatypes::{DataType, Field, Fields, Int8Type, Schema, SchemaRef, TimeUnit};
use ask::{Answer, AskError, Bucket, Measure, Options, Question};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::data_type::{Int96, Int96Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use snapshot::Snapshot;
use table::Segment;

use crate::reference::{Value, values};
use crate::tables::{HOUR, START};

const FILE: &str = "part.parquet";

fn utc() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

/// A table whose column is declared as `ty`, with the file in `root`.
fn declared(root: &Path, column: &str, ty: DataType) -> Snapshot {
    let schema: SchemaRef = Arc::new(Schema::new(vec![Field::new(column, ty, true)]));
    let segment = Segment {
        bytes: root.join(FILE).metadata().unwrap().len(),
        path: FILE.to_owned(),
        rows: 0,
        partition: BTreeMap::new(),
        columns: BTreeMap::new(),
        tags: BTreeMap::new(),
    };
    Snapshot { root: root.to_owned(), schema, table: None, segments: vec![segment], unflushed: Vec::new() }
}

/// A table whose column is declared as `ty` and stored as `array`.
fn stored(root: &Path, column: &str, ty: DataType, array: ArrayRef, properties: WriterProperties) -> Snapshot {
    let batch = RecordBatch::try_from_iter_with_nullable([(column, array, true)]).unwrap();
    let file = File::create(root.join(FILE)).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    declared(root, column, ty)
}

fn ask(source: &Snapshot, question: &Question) -> Result<Answer, AskError> {
    ask::answer(source, question, &Options::default())
}

/// The first row of an answer.
fn first(answer: &Answer) -> Vec<Value> {
    answer.rows.columns().iter().map(|column| values(column)[0].clone()).collect()
}

fn count(source: &Snapshot, condition: &str) -> Vec<Value> {
    let question = Question { conditions: vec![condition.to_owned()], ..Question::default() };
    first(&ask(source, &question).unwrap())
}

fn measure(source: &Snapshot, measures: Vec<Measure>) -> Result<Vec<Value>, AskError> {
    ask(source, &Question { measures, ..Question::default() }).map(|answer| first(&answer))
}

#[test]
fn null_items_are_not_null_rows() {
    let folder = tempfile::tempdir().unwrap();
    let lists = |rows: Vec<Option<Vec<Option<i64>>>>| -> ArrayRef {
        Arc::new(ListArray::from_iter_primitive::<arrow::datatypes::Int64Type, _, _>(rows))
    };
    let fields = Fields::from(vec![Field::new("a", DataType::Int64, true)]);
    let of_null: ArrayRef = Arc::new(Int64Array::from(vec![None, None]));
    let structs: ArrayRef = Arc::new(StructArray::new(fields, vec![of_null], None));
    // As many NULL items as rows.
    for (array, null, not_null) in [
        (lists(vec![Some(vec![]), Some(vec![]), Some(vec![])]), 0, 3),
        (lists(vec![Some(vec![None, None]), Some(vec![Some(1)]), None]), 1, 2),
        (structs, 0, 2),
    ] {
        let ty = array.data_type().clone();
        let source = stored(folder.path(), "xs", ty, array, WriterProperties::default());
        assert_eq!(count(&source, "xs IS NULL"), [Value::Int(null)]);
        assert_eq!(count(&source, "xs IS NOT NULL"), [Value::Int(not_null)]);
    }
}

#[test]
fn other_types_of_a_column_are_converted() {
    let folder = tempfile::tempdir().unwrap();
    let coded = DictionaryArray::<Int8Type>::new(vec![Some(1), None, Some(0), Some(2)].into(), {
        let values: ArrayRef = Arc::new(Int64Array::from(vec![Some(7), Some(-5), None]));
        values
    });
    let source = stored(folder.path(), "n", DataType::Int64, Arc::new(coded), WriterProperties::default());
    let n = || "n".to_owned();
    let found = measure(&source, vec![Measure::Least(n()), Measure::Greatest(n()), Measure::Distinct(n())]).unwrap();
    assert_eq!(found, [Value::Int(-5), Value::Int(7), Value::Int(2)]);
    assert_eq!(count(&source, "n IS NULL"), [Value::Int(2)]);

    let mut sets = FixedSizeListBuilder::new(StringBuilder::new(), 2);
    for (one, other) in [("a", "b"), ("b", "b")] {
        sets.values().append_value(one);
        sets.values().append_value(other);
        sets.append(true);
    }
    let ty = DataType::new_list(DataType::Utf8, true);
    let source = stored(folder.path(), "tags", ty, Arc::new(sets.finish()), WriterProperties::default());
    assert_eq!(count(&source, "tags HAS 'a'"), [Value::Int(1)]);
}

#[test]
fn values_outside_a_columns_type_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let least = || vec![Measure::Least("n".to_owned())];
    let large: ArrayRef = Arc::new(UInt64Array::from(vec![3, (1 << 63) + 5]));
    let source = stored(folder.path(), "n", DataType::Int64, large, WriterProperties::default());
    let error = measure(&source, least()).unwrap_err().to_string();
    assert!(error.contains(FILE) && error.contains("\"n\"") && error.contains("9223372036854775813"), "{error}");

    let bytes: ArrayRef = Arc::new(BinaryArray::from_vec(vec![b"good", b"b\xff"]));
    let source = stored(folder.path(), "n", DataType::Utf8, bytes, WriterProperties::default());
    let error = measure(&source, least()).unwrap_err().to_string();
    assert!(error.contains(FILE) && error.contains("UTF-8"), "{error}");
}

#[test]
fn times_of_12_bytes_are_read_in_every_century() {
    /// Julian day of 1970-01-01.
    const EPOCH: i64 = 2_440_588;
    const DAY: i64 = 24 * HOUR;
    let folder = tempfile::tempdir().unwrap();
    let times = [START + 1, 253_402_214_400_000_000, -11_676_096_000_000_000];
    let schema = Arc::new(parse_message_type("message table { optional int96 time; }").unwrap());
    let file = File::create(folder.path().join(FILE)).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let int96 = |micros: &i64| {
        let (day, nanos) = (micros.div_euclid(DAY) + EPOCH, micros.rem_euclid(DAY) * 1_000);
        let mut time = Int96::new();
        time.set_data(nanos as u32, (nanos >> 32) as u32, day as u32);
        time
    };
    let stored: Vec<Int96> = times.iter().map(int96).collect();
    column.typed::<Int96Type>().write_batch(&stored, Some(&[1, 1, 0, 1]), None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    let source = declared(folder.path(), "time", utc());
    let time = || "time".to_owned();
    let bounds = measure(&source, vec![Measure::Least(time()), Measure::Greatest(time())]).unwrap();
    assert_eq!(bounds, [Value::Int(times[2].into()), Value::Int(times[1].into())]);
    let later = Question { since: Some(START + 2), ..Question::default() };
    assert_eq!(first(&ask(&source, &later).unwrap()), [Value::Int(1)]);
}

#[test]
fn conditions_on_decimals_are_called_approximate() {
    let folder = tempfile::tempdir().unwrap();
    let array: ArrayRef =
        Arc::new(Decimal128Array::from(vec![9_007_199_254_740_993]).with_precision_and_scale(18, 0).unwrap());
    let ty = array.data_type().clone();
    let source = stored(folder.path(), "d", ty, array, WriterProperties::default());
    let question = Question { conditions: vec!["d > 9007199254740000".to_owned()], ..Question::default() };
    let answer = ask(&source, &question).unwrap();
    assert_eq!(first(&answer), [Value::Int(1)]);
    assert!(answer.notes.iter().any(|note| note.contains("(d)")), "{:?}", answer.notes);
}

#[test]
fn times_are_bucketed_in_every_codec() {
    let folder = tempfile::tempdir().unwrap();
    let times = TimestampMicrosecondArray::from_iter_values((0..3_000).map(|row| START + row * HOUR / 1_000));
    let properties = WriterProperties::builder()
        .set_compression(Compression::LZ4)
        .set_data_page_row_count_limit(100)
        .set_write_batch_size(100)
        .build();
    let source = stored(folder.path(), "time", utc(), Arc::new(times.with_timezone("UTC")), properties);
    let question = Question { bucket: Some(Bucket { micros: HOUR }), ..Question::default() };
    let answer = ask(&source, &question).unwrap();
    assert_eq!(values(answer.rows.column(1)), vec![Value::Int(1_000); 3]);
}
