//! What holds of the decoders whatever a body holds: no panic, bounded memory, and tables that are whole.

use arrow::array::Array;
use arrow::datatypes::{DataType, TimeUnit};
use decode::{Decoded, Format, Limits, decode, expand};

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
    const NOW: i64 = 1_760_000_000_000_000;
    let limits = limits();
    if let Ok(decoded) = decode(format, body, NOW, &limits) {
        check(&decoded, &limits);
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
        assert!(rows.num_rows() > 0 && rows.num_columns() <= limits.columns_max + 1);
        cells += rows.num_rows() * rows.num_columns();
        let schema = rows.schema();
        for (place, (field, column)) in schema.fields().iter().zip(rows.columns()).enumerate() {
            assert_eq!(column.len(), rows.num_rows());
            assert_eq!(field.name() == "time", place == 0);
            assert!(field.name().len() <= limits.name_bytes_max);
            column.to_data().validate_full().expect("arrays are whole");
            match field.data_type() {
                DataType::Timestamp(TimeUnit::Microsecond, Some(zone)) => {
                    assert!(place == 0 && zone.as_ref() == "UTC" && column.null_count() == 0);
                }
                DataType::Int64 | DataType::Float64 | DataType::Utf8 | DataType::Boolean => assert!(place > 0),
                other => panic!("{other} is no type of ours"),
            }
        }
    }
    assert!(cells <= limits.cells_max);
}
