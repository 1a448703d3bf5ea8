//! Random tables: segments written by us and by others, and unflushed rows.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Date32Array, Float64Array, Int64Array, ListBuilder, RecordBatch,
    StringArray, StringBuilder, TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef, TimeUnit, TimestampMicrosecondType};
use disk::RealDisk;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;
use snapshot::Snapshot;
use table::{ColumnStatistics, Inserter, Layout, Segment, Table, TableOptions};

/// A small generator of random numbers, deterministic for a seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.roll() % n
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len() as u64) as usize]
    }
}

pub(crate) const HOSTS: [&str; 6] = ["alpha", "beta", "gamma", "delta-1", "delta-2", ""];
pub(crate) const TAGS: [&str; 4] = ["mod2", "mod3", "mod5", "none"];
const REALS: [f64; 10] = [0.0, -0.0, 1.5, -2.25, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, 1e-300, 3.0];
/// 2025-09-01.
pub(crate) const START: i64 = 1_756_684_800_000_000;
pub(crate) const HOUR: i64 = 3_600_000_000;

pub(crate) fn schema() -> SchemaRef {
    let utc = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let fields = vec![
        Field::new("time", utc, true),
        Field::new("host", DataType::Utf8, true),
        Field::new("word", DataType::Utf8, true),
        Field::new("n", DataType::Int64, true),
        Field::new("key", DataType::Int64, true),
        Field::new("big", DataType::Int64, true),
        Field::new("x", DataType::Float64, true),
        Field::new("y", DataType::Float64, true),
        Field::new("flag", DataType::Boolean, true),
        Field::new("day", DataType::Date32, true),
        Field::new("tags", DataType::List(Arc::new(Field::new("element", DataType::Utf8, true))), true),
    ];
    Arc::new(Schema::new(fields))
}

/// Random rows that follow `at` others.
fn batch(dice: &mut Dice, schema: &SchemaRef, at: usize, rows: usize) -> RecordBatch {
    let null_percent = *dice.pick(&[0, 0, 10, 100]);
    let column = |name: &str, dice: &mut Dice| -> ArrayRef {
        let percent = if dice.chance(30) { null_percent } else { 0 };
        let some = |dice: &mut Dice| !dice.chance(percent);
        let in_order = dice.chance(70);
        match name {
            "time" => {
                let value = |i: usize, dice: &mut Dice| {
                    let step = if in_order { (at + i) as i64 * 7_654_321 } else { dice.below(48) as i64 * HOUR / 2 };
                    START + step + dice.below(1_000_000) as i64
                };
                let times: TimestampMicrosecondArray = (0..rows).map(|i| some(dice).then(|| value(i, dice))).collect();
                Arc::new(times.with_timezone("UTC"))
            }
            "host" => {
                let hosts = if dice.chance(20) { &HOSTS[..1] } else { &HOSTS[..] };
                Arc::new((0..rows).map(|_| some(dice).then(|| *dice.pick(hosts))).collect::<StringArray>())
            }
            "word" => {
                let words = dice.below(500) + 1;
                let word =
                    |dice: &mut Dice| format!("prefix-{:03}{}", dice.below(words), "z".repeat(dice.below(40) as usize));
                Arc::new((0..rows).map(|_| some(dice).then(|| word(dice))).collect::<StringArray>())
            }
            "n" => {
                let range = *dice.pick(&[1, 5, 200]);
                Arc::new((0..rows).map(|_| some(dice).then(|| dice.below(range) as i64 - 3)).collect::<Int64Array>())
            }
            "key" => Arc::new((0..rows).map(|i| some(dice).then_some((at + i) as i64)).collect::<Int64Array>()),
            "big" => {
                let edges = [i64::MIN, i64::MAX, 0, -1, i64::MAX - 1];
                let value = |dice: &mut Dice| if dice.chance(10) { *dice.pick(&edges) } else { dice.roll() as i64 };
                Arc::new((0..rows).map(|_| some(dice).then(|| value(dice))).collect::<Int64Array>())
            }
            "x" => Arc::new((0..rows).map(|_| some(dice).then(|| *dice.pick(&REALS))).collect::<Float64Array>()),
            "y" => {
                let value = |dice: &mut Dice| dice.below(20_000) as f64 / 16.0;
                Arc::new((0..rows).map(|_| some(dice).then(|| value(dice))).collect::<Float64Array>())
            }
            "flag" => Arc::new((0..rows).map(|_| some(dice).then(|| dice.chance(30))).collect::<BooleanArray>()),
            "day" => {
                Arc::new((0..rows).map(|_| some(dice).then(|| 20_300 + dice.below(9) as i32)).collect::<Date32Array>())
            }
            _ => {
                let mut lists = ListBuilder::new(StringBuilder::new());
                for _ in 0..rows {
                    for tag in TAGS {
                        if dice.chance(25) {
                            lists.values().append_value(tag);
                        }
                    }
                    lists.append(some(dice));
                }
                let lists = lists.finish();
                let item = Arc::new(Field::new("element", DataType::Utf8, true));
                let (_, offsets, values, nulls) = lists.into_parts();
                Arc::new(arrow::array::ListArray::new(item, offsets, values, nulls))
            }
        }
    };
    let columns = schema.fields().iter().map(|f| column(f.name(), dice)).collect();
    RecordBatch::try_new(schema.clone(), columns).unwrap()
}

/// A table in the folder `root`, and its rows.
pub(crate) async fn table(dice: &mut Dice, root: &Path) -> (Snapshot, Vec<RecordBatch>) {
    let own = dice.chance(50);
    let schema = schema();
    let mut batches = Vec::new();
    let mut rows = 0;
    for _ in 0..dice.below(4) {
        let more = dice.below(1_500) as usize + 1;
        batches.push(batch(dice, &schema, rows, more));
        rows += more;
    }
    let segments = if own { insert(dice, root, &schema, &batches).await } else { write(dice, root, &batches) };
    let mut unflushed = Vec::new();
    for _ in 0..dice.below(3) {
        let more = dice.below(300) as usize + 1;
        unflushed.push(batch(dice, &schema, rows, more));
        rows += more;
    }
    batches.extend(unflushed.iter().cloned());
    (Snapshot { root: root.to_owned(), schema, table: None, segments, unflushed }, batches)
}

/// Segments as our tables write them.
async fn insert(dice: &mut Dice, root: &Path, schema: &SchemaRef, batches: &[RecordBatch]) -> Vec<Segment> {
    let pick = |dice: &mut Dice, columns: &[&str]| -> Vec<String> {
        columns.iter().filter(|_| dice.chance(40)).map(|c| (*c).to_owned()).collect()
    };
    let options = TableOptions {
        bloom: pick(dice, &["host", "word", "key"]),
        lookup: pick(dice, &["host", "key", "n"]),
        group_rows: *dice.pick(&[100, 333, 106_496]),
        ..TableOptions::new(*dice.pick(&[Layout::Column, Layout::Pruned]))
    };
    let options =
        if options.layout == Layout::Column { TableOptions { bloom: Vec::new(), ..options } } else { options };
    let inserter = Inserter::open_or_create(root, Arc::new(RealDisk), schema, &options).await.unwrap();
    for batch in batches {
        inserter.insert(std::slice::from_ref(batch)).await.unwrap();
    }
    Table::open(root, Arc::new(RealDisk)).await.unwrap().unwrap().segments().await.unwrap()
}

/// Segments as others may write them.
fn write(dice: &mut Dice, root: &Path, batches: &[RecordBatch]) -> Vec<Segment> {
    let one = |(number, batch): (usize, &RecordBatch)| {
        let path = format!("part-{number}.parquet");
        let file = File::create(root.join(&path)).unwrap();
        let compressions =
            [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::ZSTD(ZstdLevel::try_new(1).unwrap())];
        let statistics = [EnabledStatistics::None, EnabledStatistics::Chunk, EnabledStatistics::Page];
        let mut properties = WriterProperties::builder()
            .set_compression(*dice.pick(&compressions))
            .set_statistics_enabled(*dice.pick(&statistics))
            .set_writer_version(*dice.pick(&[WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0]))
            .set_max_row_group_row_count(Some(*dice.pick(&[64, 500, 100_000])))
            .set_data_page_row_count_limit(*dice.pick(&[50, 10_000]))
            .set_write_batch_size(*dice.pick(&[32, 1_024]))
            .set_dictionary_enabled(dice.chance(60))
            .set_dictionary_page_size_limit(*dice.pick(&[300, 1 << 20]))
            .set_statistics_truncate_length(*dice.pick(&[Some(4), Some(64), None]))
            .set_bloom_filter_enabled(dice.chance(30))
            .set_offset_index_disabled(dice.chance(20));
        for column in ["n", "key", "big", "time"] {
            let encodings = [Encoding::PLAIN, Encoding::DELTA_BINARY_PACKED, Encoding::BYTE_STREAM_SPLIT];
            properties = properties.set_column_encoding(ColumnPath::from(column), *dice.pick(&encodings));
        }
        for column in ["x", "y"] {
            let encodings = [Encoding::PLAIN, Encoding::BYTE_STREAM_SPLIT];
            properties = properties.set_column_encoding(ColumnPath::from(column), *dice.pick(&encodings));
        }
        for column in ["host", "word"] {
            let encodings = [Encoding::PLAIN, Encoding::DELTA_BYTE_ARRAY, Encoding::DELTA_LENGTH_BYTE_ARRAY];
            properties = properties.set_column_encoding(ColumnPath::from(column), *dice.pick(&encodings));
        }
        // Segments older than a column lack it.
        let kept: Vec<usize> = (0..batch.num_columns()).collect();
        let mut writer =
            ArrowWriter::try_new(file, batch.project(&kept).unwrap().schema(), Some(properties.build())).unwrap();
        writer.write(batch).unwrap();
        writer.close().unwrap();
        let in_log = dice.chance(60);
        Segment {
            bytes: root.join(&path).metadata().unwrap().len(),
            path,
            rows: if in_log { batch.num_rows() as u64 } else { 0 },
            partition: BTreeMap::new(),
            columns: if in_log { statistics_of(batch) } else { BTreeMap::new() },
            tags: BTreeMap::new(),
        }
    };
    batches.iter().enumerate().map(one).collect()
}

/// Statistics as others write them to a log: times truncated to milliseconds.
fn statistics_of(batch: &RecordBatch) -> BTreeMap<String, ColumnStatistics> {
    let time = |micros: i64| {
        let cut = chrono::DateTime::from_timestamp_millis(micros.div_euclid(1_000)).unwrap();
        serde_json::Value::from(cut.to_rfc3339_opts(chrono::SecondsFormat::Millis, true))
    };
    let of = |(field, array): (&arrow::datatypes::FieldRef, &ArrayRef)| {
        let ints: Vec<i64> = match array.data_type() {
            DataType::Timestamp(..) => array.as_primitive::<TimestampMicrosecondType>().iter().flatten().collect(),
            DataType::Int64 => array.as_primitive::<Int64Type>().iter().flatten().collect(),
            _ => Vec::new(),
        };
        let bound = |v: Option<&i64>| v.map(|v| if field.name() == "time" { time(*v) } else { (*v).into() });
        let nulls = Some(array.null_count() as u64);
        let statistics = ColumnStatistics { min: bound(ints.iter().min()), max: bound(ints.iter().max()), nulls };
        (field.name().clone(), statistics)
    };
    batch.schema().fields().iter().zip(batch.columns()).map(of).collect()
}
