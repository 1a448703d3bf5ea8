//! The content hash of a set of rows, independent of their order and layout.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use world::{ContentHash, add_word, mix64};

/// Stands for NULL; no short text or count has this value.
const NULL: u64 = 0x5bd1_e995_9d1a_c3b7;

/// The sum of the rows' hashes. Columns of types that tables do not store count as NULL.
pub fn content_hash(batch: &RecordBatch) -> ContentHash {
    let mut states = vec![0x243F_6A88_85A3_08D3_u64; batch.num_rows()];
    for column in batch.columns() {
        add_column(&mut states, column);
    }
    states.into_iter().map(|state| ContentHash(mix64(state))).sum()
}

fn add_column(states: &mut [u64], column: &dyn Array) {
    match column.data_type() {
        DataType::Boolean => each(states, column, |i| u64::from(column.as_boolean().value(i))),
        DataType::Int8 => each(states, column, |i| i64::from(column.as_primitive::<Int8Type>().value(i)) as u64),
        DataType::Int16 => each(states, column, |i| i64::from(column.as_primitive::<Int16Type>().value(i)) as u64),
        DataType::Int32 => each(states, column, |i| i64::from(column.as_primitive::<Int32Type>().value(i)) as u64),
        DataType::Int64 => each(states, column, |i| column.as_primitive::<Int64Type>().value(i) as u64),
        DataType::Date32 => each(states, column, |i| i64::from(column.as_primitive::<Date32Type>().value(i)) as u64),
        DataType::Timestamp(..) => {
            each(states, column, |i| column.as_primitive::<TimestampMicrosecondType>().value(i) as u64);
        }
        DataType::Float32 => {
            each(states, column, |i| u64::from(column.as_primitive::<Float32Type>().value(i).to_bits()));
        }
        DataType::Float64 => each(states, column, |i| column.as_primitive::<Float64Type>().value(i).to_bits()),
        DataType::Decimal128(..) => each(states, column, |i| {
            let value = column.as_primitive::<Decimal128Type>().value(i);
            value as u64 ^ ((value >> 64) as u64).rotate_left(32)
        }),
        DataType::Utf8 => each(states, column, |i| of_bytes(column.as_string::<i32>().value(i).as_bytes())),
        DataType::Utf8View => each(states, column, |i| of_bytes(column.as_string_view().value(i).as_bytes())),
        DataType::Binary => each(states, column, |i| of_bytes(column.as_binary::<i32>().value(i))),
        DataType::BinaryView => each(states, column, |i| of_bytes(column.as_binary_view().value(i))),
        _ => states.iter_mut().for_each(|state| add_word(state, NULL)),
    }
}

fn each(states: &mut [u64], column: &dyn Array, word: impl Fn(usize) -> u64) {
    let nulls = column.nulls();
    for (i, state) in states.iter_mut().enumerate() {
        let null = nulls.is_some_and(|n| n.is_null(i));
        add_word(state, if null { NULL } else { word(i) });
    }
}

/// A 64-bit hash of a text.
pub(crate) fn of_text(text: &str) -> u64 {
    mix64(of_bytes(text.as_bytes()))
}

fn of_bytes(bytes: &[u8]) -> u64 {
    let mut state = bytes.len() as u64;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        add_word(&mut state, u64::from_le_bytes(word));
    }
    let mut word = [0; 8];
    word[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    add_word(&mut state, u64::from_le_bytes(word));
    state
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, StringArray};

    use super::*;

    fn batch(rows: &[(Option<i64>, Option<&str>)]) -> RecordBatch {
        let n: ArrayRef = Arc::new(Int64Array::from_iter(rows.iter().map(|r| r.0)));
        let s: ArrayRef = Arc::new(StringArray::from_iter(rows.iter().map(|r| r.1)));
        RecordBatch::try_from_iter_with_nullable([("n", n, true), ("s", s, true)]).unwrap()
    }

    #[test]
    fn order_does_not_count_and_everything_else_does() {
        let rows = [(Some(1), Some("a")), (Some(2), None), (None, Some("")), (Some(0), Some("a\0"))];
        let hash = content_hash(&batch(&rows));
        let mut turned = rows;
        turned.reverse();
        assert_eq!(hash, content_hash(&batch(&turned)));
        assert_eq!(hash, content_hash(&batch(&rows[..1])) + content_hash(&batch(&rows[1..])));
        for other in [
            [(Some(1), Some("a")), (Some(2), None), (None, Some("")), (Some(0), Some("a"))],
            [(Some(1), Some("a")), (Some(2), Some("")), (None, Some("")), (Some(0), Some("a\0"))],
            [(Some(1), Some("a")), (Some(2), None), (Some(0), Some("")), (Some(0), Some("a\0"))],
            [(Some(2), Some("a")), (Some(1), None), (None, Some("")), (Some(0), Some("a\0"))],
        ] {
            assert_ne!(hash, content_hash(&batch(&other)));
        }
        assert_ne!(hash, content_hash(&batch(&rows[..3])));
    }
}
