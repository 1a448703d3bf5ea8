//! The Parquet library reads what is encoded here, and finds the statistics that it would write.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use pages::Codec;
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::basic::Encoding;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData};
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::properties::WriterProperties;
use parquet::file::statistics::Statistics;
use parquet::file::writer::SerializedFileWriter;

use super::*;
use crate::layout::own::{Form, OwnColumn};

const PAGE_ROWS: usize = 1_000;

/// Writes a column in two parts; returns what the library reads, and the footer.
fn written(column: &ArrayRef) -> (ArrayRef, ParquetMetaData) {
    let rows = RecordBatch::try_from_iter_with_nullable([("x", column.clone(), true)]).unwrap();
    let schema = ArrowSchemaConverter::new().convert(&rows.schema()).unwrap();
    let extras = Extras { statistics: true, bloom: true, page_rows: PAGE_ROWS };
    let mut own = OwnColumn::new(schema.column(0), Form::Numbers, Codec::default(), extras).unwrap();
    own.write(&column.slice(0, column.len() / 3));
    own.write(&column.slice(column.len() / 3, column.len() - column.len() / 3));
    let encoded = own.close().unwrap();
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
    for bits in Numbers::of(std::slice::from_ref(column)).bits {
        assert!(filter.check(&(bits as i64)));
    }
    (read, metadata)
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
    let column: ArrayRef = Arc::new(Int64Array::from(values.clone()));
    let (read, metadata) = written(&column);
    assert_eq!(read.to_data(), column.to_data());
    assert!(encodings(&metadata).contains(&Encoding::RLE_DICTIONARY));
    let ColumnIndexMetaData::INT64(index) = &metadata.column_index().unwrap()[0][0] else { panic!("no bounds") };
    for (page, rows) in values.chunks(PAGE_ROWS).enumerate() {
        let valid = || rows.iter().flatten();
        assert_eq!(index.min_value(page), valid().min(), "page {page}");
        assert_eq!(index.max_value(page), valid().max(), "page {page}");
        assert_eq!(index.null_count(page), Some((rows.len() - valid().count()) as i64));
    }
    let Some(Statistics::Int64(of_chunk)) = metadata.row_group(0).column(0).statistics() else { panic!("no bounds") };
    assert_eq!((of_chunk.min_opt(), of_chunk.max_opt()), (Some(&i64::MIN), Some(&i64::MAX)));
}

#[test]
fn real_numbers_keep_their_bits_and_zeros_both_signs() {
    let value = |row: u32| [0.0, -0.0, 1.25, -7.5, f64::INFINITY, f64::NEG_INFINITY][(row % 6) as usize];
    let column: ArrayRef = Arc::new(Float64Array::from_iter_values((0..2_500).map(value)));
    let (read, metadata) = written(&column);
    assert_eq!(format!("{read:?}"), format!("{column:?}"));
    let Some(Statistics::Double(bounds)) = metadata.row_group(0).column(0).statistics() else { panic!("no bounds") };
    assert_eq!((bounds.min_opt(), bounds.max_opt()), (Some(&f64::NEG_INFINITY), Some(&f64::INFINITY)));
    // A reader that looks for either zero must find the page.
    let zeros: ArrayRef = Arc::new(Float64Array::from(vec![0.0, -0.0, 0.0]));
    let (_, metadata) = written(&zeros);
    let Some(Statistics::Double(bounds)) = metadata.row_group(0).column(0).statistics() else { panic!("no bounds") };
    let signs = (bounds.min_opt().unwrap().is_sign_negative(), bounds.max_opt().unwrap().is_sign_negative());
    assert_eq!(signs, (true, false));
}

#[test]
fn mostly_different_numbers_are_plain() {
    let different: ArrayRef = Arc::new(Int64Array::from_iter_values((0..3_000).map(|row| row * 7_919)));
    let (read, metadata) = written(&different);
    assert_eq!(read.to_data(), different.to_data());
    assert!(!encodings(&metadata).contains(&Encoding::RLE_DICTIONARY));
    for same in [Int64Array::from(vec![5; 3_000]), Int64Array::from(vec![Some(5)]), Int64Array::new_null(3_000)] {
        let same: ArrayRef = Arc::new(same);
        assert_eq!(written(&same).0.to_data(), same.to_data());
    }
}
