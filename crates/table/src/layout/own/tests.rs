//! The Parquet library reads what is encoded here, and finds the statistics that it would write.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, Date32Array, Decimal128Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array,
    RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow::datatypes::DataType;
use pages::Codec;
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::basic::Encoding;
use parquet::bloom_filter::Sbbf;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData};
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::properties::WriterProperties;
use parquet::file::statistics::Statistics;
use parquet::file::writer::SerializedFileWriter;

use super::*;
use crate::layout::limits::PAGE_BYTES;

const PAGE_ROWS: usize = 1_000;

/// Writes a column in two parts; returns what the library reads, and the footer.
fn written(column: &ArrayRef, form: Form) -> (ArrayRef, ParquetMetaData) {
    let rows = RecordBatch::try_from_iter_with_nullable([("x", column.clone(), true)]).unwrap();
    let schema = ArrowSchemaConverter::new().convert(&rows.schema()).unwrap();
    let by_hour = matches!(column.data_type(), DataType::Timestamp(..));
    let extras = Extras { statistics: true, bloom: true, page_rows: PAGE_ROWS, by_hour, page_bytes: PAGE_BYTES };
    let mut own = OwnColumn::new(schema.column(0), form, extras);
    own.write(&column.slice(0, column.len() / 3));
    own.write(&column.slice(column.len() / 3, column.len() - column.len() / 3));
    let encoded = own.close(&mut Compressor::new(Codec::default()).unwrap()).unwrap();
    let properties = Arc::new(WriterProperties::default());
    let mut file = SerializedFileWriter::new(Vec::new(), schema.root_schema_ptr(), properties).unwrap();
    let mut group = file.next_row_group().unwrap();
    group.append_column(&encoded.bytes, encoded.close).unwrap();
    group.close().unwrap();
    let bytes = bytes::Bytes::from(file.into_inner().unwrap());
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
    let reader = ParquetRecordBatchReaderBuilder::try_new_with_options(bytes, options).unwrap();
    let filter = reader.get_row_group_column_bloom_filter(0, 0).unwrap().unwrap();
    let metadata = reader.metadata().as_ref().clone();
    let read: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
    let read = arrow::compute::concat_batches(&read[0].schema(), &read).unwrap().column(0).clone();
    let parts = std::slice::from_ref(column);
    match column.data_type() {
        DataType::Utf8 | DataType::Binary => assert_in(&filter, &text::texts(parts)),
        DataType::Float64 => assert_in(&filter, &number::reals(parts)),
        DataType::Int64 | DataType::Timestamp(..) | DataType::Decimal128(10.., _) => {
            assert_in(&filter, &number::integers(parts));
        }
        _ => assert_in(&filter, &number::small_integers(parts)),
    }
    (read, metadata)
}

fn assert_in<T: Value>(filter: &Sbbf, values: &Values<T>) {
    assert!(values.valid.iter().all(|value| filter.check(value.bytes().as_ref())));
}

fn encodings(metadata: &ParquetMetaData) -> Vec<Encoding> {
    metadata.row_group(0).column(0).encodings().collect()
}

#[test]
fn integers_are_read_with_their_bounds() {
    // Runs, few values, NULLs, a page of NULLs, and extremes.
    let value = |row: i64| match row {
        0..1_500 => Some(7),
        1_500..4_000 => (row % 3 > 0).then_some(row % 11 - 5),
        4_000..5_000 => None,
        _ => Some([i64::MIN, i64::MAX, 0][(row % 3) as usize]),
    };
    let values: Vec<Option<i64>> = (0..6_005).map(value).collect();
    for (form, encoding) in [
        (Form::Dictionary, Encoding::RLE_DICTIONARY),
        (Form::Deltas, Encoding::DELTA_BINARY_PACKED),
        (Form::Plain, Encoding::PLAIN),
    ] {
        let column: ArrayRef = Arc::new(Int64Array::from(values.clone()));
        let (read, metadata) = written(&column, form);
        assert_eq!(read.to_data(), column.to_data());
        assert!(encodings(&metadata).contains(&encoding));
        let ColumnIndexMetaData::INT64(index) = &metadata.column_index().unwrap()[0][0] else { panic!("no bounds") };
        for (page, rows) in values.chunks(PAGE_ROWS).enumerate() {
            let valid = || rows.iter().flatten();
            assert_eq!(index.min_value(page), valid().min(), "page {page}");
            assert_eq!(index.max_value(page), valid().max(), "page {page}");
            assert_eq!(index.null_count(page), Some((rows.len() - valid().count()) as i64));
        }
        let of_chunk = metadata.row_group(0).column(0).statistics();
        let Some(Statistics::Int64(of_chunk)) = of_chunk else { panic!("no bounds") };
        assert_eq!((of_chunk.min_opt(), of_chunk.max_opt()), (Some(&i64::MIN), Some(&i64::MAX)));
        let times: ArrayRef = Arc::new(TimestampMicrosecondArray::from(values.clone()).with_timezone("UTC"));
        assert_eq!(written(&times, form).0.to_data(), times.to_data());
    }
}

#[test]
fn small_integers_and_days_are_read_with_their_bounds() {
    let value = |row: i32| match row {
        0..1_500 => Some(7),
        1_500..4_000 => (row % 3 > 0).then_some(row % 11 - 5),
        4_000..5_000 => None,
        _ => Some([i32::MIN, i32::MAX, 0, -1][(row % 4) as usize]),
    };
    let values: Vec<Option<i32>> = (0..6_005).map(value).collect();
    let of_16: Vec<Option<i16>> = values.iter().map(|v| v.map(|v| v as i16)).collect();
    let of_8: Vec<Option<i8>> = values.iter().map(|v| v.map(|v| v as i8)).collect();
    let columns: [ArrayRef; 4] = [
        Arc::new(Int32Array::from(values.clone())),
        Arc::new(Date32Array::from(values.clone())),
        Arc::new(Int16Array::from(of_16)),
        Arc::new(Int8Array::from(of_8)),
    ];
    for (form, encoding) in [
        (Form::Dictionary, Encoding::RLE_DICTIONARY),
        (Form::Deltas, Encoding::DELTA_BINARY_PACKED),
        (Form::Plain, Encoding::PLAIN),
    ] {
        for column in &columns {
            let (read, metadata) = written(column, form);
            assert_eq!(read.to_data(), column.to_data());
            assert!(encodings(&metadata).contains(&encoding));
        }
        let (_, metadata) = written(&columns[0], form);
        let ColumnIndexMetaData::INT32(index) = &metadata.column_index().unwrap()[0][0] else { panic!("no bounds") };
        for (page, rows) in values.chunks(PAGE_ROWS).enumerate() {
            let valid = || rows.iter().flatten();
            assert_eq!((index.min_value(page), index.max_value(page)), (valid().min(), valid().max()), "page {page}");
        }
    }
}

#[test]
fn decimals_are_read_with_their_bounds() {
    let value = |row: i128| (row % 7 > 0).then_some(row * row % 1_999 - 999);
    for (precision, unit) in [(5, 1), (9, 1_000_000), (10, 1_000_000), (18, 10_i128.pow(15))] {
        let values: Vec<Option<i128>> = (0..3_005).map(|row| Some(value(row)? * unit)).collect();
        let column = Decimal128Array::from(values.clone()).with_precision_and_scale(precision, 2).unwrap();
        let column: ArrayRef = Arc::new(column);
        for form in [Form::Dictionary, Form::Deltas, Form::Plain] {
            let (read, metadata) = written(&column, form);
            assert_eq!(read.to_data(), column.to_data());
            for (page, rows) in values.chunks(PAGE_ROWS).enumerate() {
                let bounds = match &metadata.column_index().unwrap()[0][0] {
                    ColumnIndexMetaData::INT32(index) if precision <= 9 => {
                        [index.min_value(page), index.max_value(page)]
                            .map(|bound| bound.map(|bound| i128::from(*bound)))
                    }
                    ColumnIndexMetaData::INT64(index) if precision > 9 => {
                        [index.min_value(page), index.max_value(page)]
                            .map(|bound| bound.map(|bound| i128::from(*bound)))
                    }
                    other => panic!("{other:?} for {precision} digits"),
                };
                let valid = || rows.iter().flatten().copied();
                assert_eq!(bounds, [valid().min(), valid().max()], "{precision} digits, page {page}");
            }
        }
    }
}

#[test]
fn texts_are_read_with_their_bounds() {
    let value = |row: i64| match row {
        0..1_500 => Some("same".to_owned()),
        1_500..4_000 => (row % 3 > 0).then(|| format!("host-{}", row * row % 50)),
        4_000..5_000 => None,
        // They differ after their first bytes, or in their length only.
        5_000..6_000 => Some(format!("+43 660 1234 {}", "0".repeat((row % 5) as usize))),
        _ => Some(["", "é", "z"][(row % 3) as usize].to_owned()),
    };
    let values: Vec<Option<String>> = (0..7_005).map(value).collect();
    for (form, encoding) in [
        (Form::Dictionary, Encoding::RLE_DICTIONARY),
        (Form::Prefixes(Prefix::Common), Encoding::DELTA_BYTE_ARRAY),
        (Form::Prefixes(Prefix::Longest), Encoding::DELTA_BYTE_ARRAY),
    ] {
        let column: ArrayRef = Arc::new(StringArray::from(values.clone()));
        let (read, metadata) = written(&column, form);
        assert_eq!(read.to_data(), column.to_data());
        assert!(encodings(&metadata).contains(&encoding));
        let ColumnIndexMetaData::BYTE_ARRAY(index) = &metadata.column_index().unwrap()[0][0] else {
            panic!("no bounds")
        };
        for (page, rows) in values.chunks(PAGE_ROWS).enumerate() {
            let valid = || rows.iter().flatten().map(String::as_bytes);
            assert_eq!((index.min_value(page), index.max_value(page)), (valid().min(), valid().max()), "page {page}");
        }
        let bytes: Vec<Option<&[u8]>> = values.iter().map(|text| text.as_ref().map(String::as_bytes)).collect();
        let bytes: ArrayRef = Arc::new(BinaryArray::from(bytes));
        assert_eq!(written(&bytes, form).0.to_data(), bytes.to_data());
    }
}

#[test]
fn real_numbers_keep_their_bits_and_zeros_both_signs() {
    let value = |row: u32| [0.0, -0.0, 1.25, -7.5, f64::INFINITY, f64::NEG_INFINITY][(row % 6) as usize];
    let column: ArrayRef = Arc::new(Float64Array::from_iter_values((0..2_500).map(value)));
    for form in [Form::Dictionary, Form::Plain] {
        let (read, metadata) = written(&column, form);
        assert_eq!(format!("{read:?}"), format!("{column:?}"));
        let statistics = metadata.row_group(0).column(0).statistics();
        let Some(Statistics::Double(bounds)) = statistics else { panic!("no bounds") };
        assert_eq!((bounds.min_opt(), bounds.max_opt()), (Some(&f64::NEG_INFINITY), Some(&f64::INFINITY)));
    }
    // The extremes in each place of several that are compared at once, and in the rest.
    for (low, high) in (0..19).flat_map(|low| (0..19).map(move |high| (low, high))).filter(|(low, high)| low != high) {
        let value = |row| match row {
            row if row == low => -2.5,
            row if row == high => 9.5,
            row => f64::from(row) / 100.0,
        };
        let column: ArrayRef = Arc::new(Float64Array::from_iter_values((0..19).map(value)));
        let (_, metadata) = written(&column, Form::Plain);
        let statistics = metadata.row_group(0).column(0).statistics();
        let Some(Statistics::Double(bounds)) = statistics else { panic!("no bounds") };
        assert_eq!((bounds.min_opt(), bounds.max_opt()), (Some(&-2.5), Some(&9.5)), "{low} {high}");
    }
    // A reader that looks for either zero must find the page.
    let zeros: ArrayRef = Arc::new(Float64Array::from(vec![0.0, -0.0, 0.0]));
    let (_, metadata) = written(&zeros, Form::Dictionary);
    let Some(Statistics::Double(bounds)) = metadata.row_group(0).column(0).statistics() else { panic!("no bounds") };
    let signs = (bounds.min_opt().unwrap().is_sign_negative(), bounds.max_opt().unwrap().is_sign_negative());
    assert_eq!(signs, (true, false));
}

#[test]
fn mostly_different_values_are_plain() {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values((0..3_000).map(|row| row * 7_919)));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..3_000).map(|row| format!("text {row}"))));
    for different in [numbers, texts] {
        let (read, metadata) = written(&different, Form::Dictionary);
        assert_eq!(read.to_data(), different.to_data());
        assert!(!encodings(&metadata).contains(&Encoding::RLE_DICTIONARY));
    }
}

#[test]
fn dictionaries_that_take_much_memory_are_not_written() {
    let long = |row: usize| char::from(b'a' + (row % 17) as u8).to_string().repeat(1 << 20);
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..34).map(long)));
    let (read, metadata) = written(&texts, Form::Dictionary);
    assert_eq!(read.to_data(), texts.to_data());
    assert!(!encodings(&metadata).contains(&Encoding::RLE_DICTIONARY));
}

#[test]
fn pages_of_long_texts_have_few_rows() {
    const THIRD: usize = PAGE_BYTES * 3 / 10;
    let lengths = [THIRD, 0, THIRD, THIRD, 2 * PAGE_BYTES, 0, THIRD, 1, THIRD, THIRD, THIRD];
    // Of length 0: NULL.
    let text = |(row, length): (usize, &usize)| {
        (*length > 0).then(|| char::from(b'a' + row as u8).to_string().repeat(*length))
    };
    let texts: ArrayRef = Arc::new(StringArray::from_iter(lengths.iter().enumerate().map(text)));
    for form in [Form::Prefixes(Prefix::Common), Form::Prefixes(Prefix::Longest), Form::Dictionary] {
        let (read, metadata) = written(&texts, form);
        assert_eq!(read.to_data(), texts.to_data());
        let pages = metadata.offset_index().unwrap()[0][0].page_locations();
        let firsts: Vec<i64> = pages.iter().map(|page| page.first_row_index).collect();
        assert_eq!(firsts, [0, 4, 5, 10], "{form:?}");
    }
    // Indexes of a dictionary are short.
    let few: ArrayRef = Arc::new(StringArray::from_iter_values((0..100).map(|row| ["x", "y"][row % 2].repeat(THIRD))));
    let (read, metadata) = written(&few, Form::Dictionary);
    assert_eq!(read.to_data(), few.to_data());
    assert_eq!(metadata.offset_index().unwrap()[0][0].page_locations().len(), 1);
}

/// Writes `rows` times at equal distances, `an_hour` of them in an hour, but every 50th earlier by `late` microseconds.
/// Returns the first row of each page.
fn pages_of_times(rows: i64, an_hour: i64, late: i64) -> Vec<i64> {
    const HOUR_US: i64 = 3_600_000_000;
    let time = |row: i64| row * (HOUR_US / an_hour) - if row % 50 == 0 { late } else { 0 };
    let times: ArrayRef = Arc::new(TimestampMicrosecondArray::from_iter_values((-rows / 2..rows / 2).map(time)));
    for form in [Form::Dictionary, Form::Plain] {
        assert_eq!(written(&times, form).0.to_data(), times.to_data());
    }
    let (read, metadata) = written(&times, Form::Deltas);
    assert_eq!(read.to_data(), times.to_data());
    let pages = metadata.offset_index().unwrap()[0][0].page_locations();
    pages.iter().map(|page| page.first_row_index).collect()
}

#[test]
fn pages_of_times_end_with_their_hour() {
    // Full pages where hours are long, two of equal length where one is too short, and one for each hour.
    assert_eq!(pages_of_times(20_000, 10_000, 0), Vec::from_iter((0..20_000).step_by(1_000)));
    assert_eq!(
        pages_of_times(7_500, 1_250, 0),
        [0, 625, 1_250, 1_875, 2_500, 3_125, 3_750, 4_375, 5_000, 5_625, 6_250, 6_875]
    );
    assert_eq!(pages_of_times(6_000, 600, 0), Vec::from_iter((0..6_000).step_by(600)));
    // Short hours share pages.
    assert_eq!(pages_of_times(6_000, 100, 0), Vec::from_iter((0..6_000).step_by(300)));
    // Of times that come late, those after the end of an hour are in a page of two hours.
    assert_eq!(pages_of_times(6_000, 600, 60_000_000).len(), 10);
}

#[test]
fn times_that_do_not_ascend_fill_pages() {
    let times: ArrayRef = Arc::new(TimestampMicrosecondArray::from_iter_values(
        (0..50_000_i64).map(|row| row * 7_919_000_000 % 86_400_000_000),
    ));
    for form in [Form::Deltas, Form::Dictionary, Form::Plain] {
        let (read, metadata) = written(&times, form);
        assert_eq!(read.to_data(), times.to_data());
        let pages = metadata.offset_index().unwrap()[0][0].page_locations();
        let lengths: Vec<i64> = pages.windows(2).map(|two| two[1].first_row_index - two[0].first_row_index).collect();
        assert!(lengths.iter().all(|length| (PAGE_ROWS as i64 / 4..=PAGE_ROWS as i64).contains(length)), "{lengths:?}");
    }
}

#[test]
fn chunks_of_one_value_or_none_are_read() {
    for same in [Int64Array::from(vec![5; 3_000]), Int64Array::from(vec![Some(5)]), Int64Array::new_null(3_000)] {
        let same: ArrayRef = Arc::new(same);
        for form in [Form::Dictionary, Form::Deltas] {
            assert_eq!(written(&same, form).0.to_data(), same.to_data(), "{form:?}");
        }
    }
    for same in [StringArray::from(vec!["x"; 3_000]), StringArray::from(vec![Some("")]), StringArray::new_null(3_000)] {
        let same: ArrayRef = Arc::new(same);
        for form in [Form::Dictionary, Form::Prefixes(Prefix::Common), Form::Prefixes(Prefix::Longest)] {
            assert_eq!(written(&same, form).0.to_data(), same.to_data(), "{form:?}");
        }
    }
}
