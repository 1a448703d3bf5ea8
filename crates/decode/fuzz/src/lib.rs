//! What holds of the decoders whatever a body holds: no panic, bounded memory, and tables that are whole; of streams
//! also that every byte is a row's, refused or blank, and that it does not matter where they are cut.

use arrow::array::{Array, RecordBatch};
use arrow::datatypes::{DataType, TimeUnit};
use decode::{Decoded, Format, Limits, OnConflict, Request, RowFormat, RowReader, RowRules, decode, expand};

const NOW: i64 = 1_760_000_000_000_000;

/// Limits so small that a body of a few kilobytes reaches them.
pub fn limits() -> Limits {
    Limits {
        body_bytes_max: 1 << 20,
        expanded_bytes_max: 4 << 20,
        tables_max: 8,
        columns_max: 20,
        cells_max: 1 << 16,
        depth_max: 4,
        table_bytes_max: 16,
        name_bytes_max: 32,
        text_bytes_max: 64,
        refused_max: 8,
        ..Limits::default()
    }
}

/// Decodes a body and checks what comes out.
pub fn check_decode(format: Format<'_>, body: &[u8]) {
    let limits = limits();
    for on_conflict in [OnConflict::Overflow, OnConflict::Refuse] {
        let request = Request { now_micros: NOW, on_conflict, columns: None };
        if let Ok(decoded) = decode(format, body, &request, &limits) {
            check(&decoded, &limits);
        }
    }
}

/// Expands a body and checks its size.
pub fn check_expand(body: &[u8]) {
    let limits = limits();
    if let Ok(bytes) = expand(body, &limits) {
        assert!(bytes.len() <= limits.expanded_bytes_max.max(body.len()));
    }
}

fn check(decoded: &Decoded, limits: &Limits) {
    assert!(decoded.tables.len() <= limits.tables_max);
    assert!(decoded.refused.len() <= limits.refused_max);
    assert!(decoded.refused_beyond == 0 || decoded.refused.len() == limits.refused_max);
    let mut cells = 0;
    for (name, rows) in &decoded.tables {
        assert!(!name.is_empty() && name.len() <= limits.table_bytes_max);
        cells += rows.num_rows() * rows.num_columns();
        check_columns(rows, limits);
    }
    assert!(cells <= limits.cells_max);
}

/// Reads a stream whose first two bytes say what it is and how it is cut.
pub fn check_rows(bytes: &[u8]) {
    let [head, size, stream @ ..] = bytes else { return };
    let format = [RowFormat::Json, RowFormat::Csv, RowFormat::MessagePack][usize::from(head % 3)];
    let mut rules = RowRules::default();
    if head & 0x10 != 0 {
        rules.ints = vec!["a".to_owned()];
        rules.timestamps = vec![("b".to_owned(), None), ("c".to_owned(), Some("%Y-%m-%d".to_owned()))];
        rules.exclude = vec!["d".to_owned()];
        rules.time = Some("t".to_owned());
    }
    if head & 0x20 != 0 && format != RowFormat::Csv {
        rules.path = Some("$.a".to_owned());
    }
    let cut = read(format, &rules, stream, usize::from(*size) + 1);
    let whole = read(format, &rules, stream, stream.len().max(1));
    match (cut, whole) {
        (Some((rows, refused)), Some((all_rows, all_refused))) => {
            assert_eq!(rows, all_rows);
            // MessagePack behind what is none is refused piece by piece.
            assert!(refused == all_refused || format == RowFormat::MessagePack);
        }
        (cut, whole) => assert!(cut.is_none() && whole.is_none()),
    }
}

/// Reads a stream that comes in pieces; its rows and what was refused. Nothing where it cannot be read.
fn read(format: RowFormat, rules: &RowRules, stream: &[u8], size: usize) -> Option<(usize, Vec<usize>)> {
    let limits = limits();
    let mut reader = RowReader::new(format, rules, &limits).expect("the rules are good");
    let (mut at, mut end, mut count, mut refused) = (0, 0, 0, Vec::new());
    while at < stream.len() {
        end = stream.len().min(end + size);
        let rows = reader.read(&stream[at..end], end == stream.len(), NOW).ok()?;
        assert!(rows.taken <= end - at && (rows.taken > 0 || end < stream.len()));
        for record in &rows.refused {
            assert!(record.bytes.end <= rows.taken && record.bytes.start <= record.bytes.end);
        }
        refused.extend(rows.refused.iter().map(|record| record.position));
        if let Some(batch) = &rows.batch {
            check_batch(batch, &limits);
            count += batch.num_rows();
        }
        let overflows: usize = rows.overflows.iter().map(|overflow| overflow.rows).sum();
        assert!(rows.overflows.iter().all(|overflow| overflow.rows > 0) && (overflows == 0 || rows.batch.is_some()));
        at += rows.taken;
    }
    Some((count, refused))
}

fn check_batch(rows: &RecordBatch, limits: &Limits) {
    check_columns(rows, limits);
    assert!(rows.columns().iter().skip(1).all(|column| column.null_count() < column.len()));
}

fn check_columns(rows: &RecordBatch, limits: &Limits) {
    // Each column may have an overflow column, of a longer name.
    assert!(rows.num_rows() > 0 && rows.num_columns() <= 2 * limits.columns_max + 1);
    let schema = rows.schema();
    for (place, (field, column)) in schema.fields().iter().zip(rows.columns()).enumerate() {
        assert_eq!(column.len(), rows.num_rows());
        assert_eq!(field.name() == "time", place == 0);
        assert!(field.name().len() <= 3 * limits.name_bytes_max);
        column.to_data().validate_full().expect("arrays are whole");
        match field.data_type() {
            DataType::Timestamp(TimeUnit::Microsecond, Some(zone)) => {
                assert!(zone.as_ref() == "UTC" && (place > 0 || column.null_count() == 0));
            }
            DataType::List(element) => {
                assert!(!element.is_nullable() && element.data_type() == &DataType::Utf8);
            }
            DataType::Int64 | DataType::Float64 | DataType::Utf8 | DataType::Boolean => assert!(place > 0),
            other => panic!("{other} is no type of ours"),
        }
    }
}
