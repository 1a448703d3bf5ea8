//! The bytes that rows take once written value by value. Views, dictionaries and lists may repeat one value many times, so
//! that rows of few bytes here would take gigabytes in the server.

use arrow::array::{
    Array, ArrayRef, AsArray as _, GenericByteViewArray, GenericListArray, OffsetSizeTrait, RecordBatch,
};
use arrow::datatypes::{ByteViewType, DataType};

/// The bytes of all values, saturating.
pub(super) fn written_bytes(rows: &RecordBatch) -> usize {
    rows.columns().iter().map(bytes).fold(0, usize::saturating_add)
}

fn bytes(values: &ArrayRef) -> usize {
    /// Bytes of a NULL or a number.
    const VALUE: usize = 8;
    let frame = values.len().saturating_mul(VALUE);
    let inner = match values.data_type() {
        DataType::Utf8View => of_views(values.as_string_view()),
        DataType::BinaryView => of_views(values.as_binary_view()),
        DataType::Dictionary(..) => {
            let dictionary = values.as_any_dictionary();
            let entries = dictionary.values();
            let of_entry: Vec<usize> = (0..entries.len()).map(|place| bytes(&entries.slice(place, 1))).collect();
            let keys = if entries.is_empty() { Vec::new() } else { dictionary.normalized_keys() };
            keys.into_iter().map(|key| of_entry[key]).fold(0, usize::saturating_add)
        }
        DataType::List(_) => of_list(values.as_list::<i32>()),
        DataType::LargeList(_) => of_list(values.as_list::<i64>()),
        DataType::FixedSizeList(..) => bytes(values.as_fixed_size_list().values()),
        DataType::Struct(_) => values.as_struct().columns().iter().map(bytes).fold(0, usize::saturating_add),
        // Each value has its own bytes.
        _ => values.to_data().get_slice_memory_size().unwrap_or(0),
    };
    inner.saturating_add(frame)
}

/// A slice of lists has the items of all lists: only its own count.
fn of_list<O: OffsetSizeTrait>(lists: &GenericListArray<O>) -> usize {
    let (from, to) = (lists.value_offsets()[0].as_usize(), lists.value_offsets()[lists.len()].as_usize());
    bytes(&lists.values().slice(from, to - from))
}

fn of_views<T: ByteViewType + ?Sized>(values: &GenericByteViewArray<T>) -> usize {
    // The low half of a view's first word is its length.
    values.views().iter().map(|view| *view as u32 as usize).fold(0, usize::saturating_add)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{DictionaryArray, Int32Array, ListArray, StringArray, StringViewArray};
    use arrow::buffer::OffsetBuffer;
    use arrow::datatypes::Field;

    use super::*;

    #[test]
    fn a_repeated_value_counts_each_time() {
        let text = "x".repeat(1_000);
        let one = StringViewArray::from(vec![text.as_str()]);
        let views: ArrayRef =
            Arc::new(StringViewArray::new(vec![one.views()[0]; 50].into(), one.data_buffers().to_vec(), None));
        let item = Arc::new(Field::new("item", DataType::Utf8View, true));
        let list: ArrayRef = Arc::new(ListArray::new(item, OffsetBuffer::from_lengths([20, 30]), views.clone(), None));
        let words: ArrayRef = Arc::new(StringArray::from(vec![text.as_str()]));
        let coded: ArrayRef = Arc::new(DictionaryArray::new(Int32Array::from(vec![Some(0); 50]), words));
        for column in [views, list.clone(), coded] {
            let rows = RecordBatch::try_from_iter([("a", column)]).unwrap();
            assert!((50_000..60_000).contains(&written_bytes(&rows)), "{}", written_bytes(&rows));
        }
        // Of a slice only its own values count.
        let first = RecordBatch::try_from_iter([("a", list.slice(0, 1))]).unwrap();
        assert!((20_000..25_000).contains(&written_bytes(&first)), "{}", written_bytes(&first));
    }
}
