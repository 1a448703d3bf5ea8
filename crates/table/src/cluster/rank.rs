//! Ranks of values in a clustering column.
//!
//! Quantiles of a sample divide a column into ranks with about the same number of rows. This also works for skewed
//! values, texts with a common prefix, and values that span a century. Equal values share a rank, and larger values
//! never have a smaller rank. NULL has its own rank, the last; NaN is the largest number.

use std::cmp::Ordering;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType,
};

#[derive(Debug, Clone)]
pub(crate) struct Ranks {
    bounds: Bounds,
    null: u32,
}

/// The first value of each rank but the first.
#[derive(Debug, Clone)]
enum Bounds {
    Whole(Vec<i64>),
    Wide(Vec<i128>),
    Bytes(Vec<Box<[u8]>>),
}

/// A column's values in a form that sorts.
enum Values<'a> {
    Whole(Box<dyn Iterator<Item = Option<i64>> + 'a>),
    Wide(Box<dyn Iterator<Item = Option<i128>> + 'a>),
    Bytes(Box<dyn Iterator<Item = Option<&'a [u8]>> + 'a>),
}

impl Ranks {
    /// Divides a column into 2^`bits` ranks by a sample of its values. `None` if the sample has only one value or the
    /// type has no order.
    pub(crate) fn of_sample(sample: &ArrayRef, bits: u32) -> Option<Self> {
        let bounds = match values(sample)? {
            Values::Whole(values) => Bounds::Whole(quantiles(values.flatten().collect(), sample.len(), bits)?),
            Values::Wide(values) => Bounds::Wide(quantiles(values.flatten().collect(), sample.len(), bits)?),
            Values::Bytes(values) => {
                let owned = values.flatten().map(Box::from).collect();
                Bounds::Bytes(quantiles(owned, sample.len(), bits)?)
            }
        };
        Some(Self { bounds, null: (1 << bits) - 1 })
    }

    pub(crate) fn null(&self) -> u32 {
        self.null
    }

    /// Calls `each` with the row and the rank of every value, in order.
    pub(crate) fn places(&self, column: &ArrayRef, mut each: impl FnMut(usize, u32)) {
        match (&self.bounds, values(column)) {
            (Bounds::Whole(bounds), Some(Values::Whole(values))) => {
                self.each(values, |v| bounds.partition_point(|b| b <= v), &mut each);
            }
            (Bounds::Wide(bounds), Some(Values::Wide(values))) => {
                self.each(values, |v| bounds.partition_point(|b| b <= v), &mut each);
            }
            (Bounds::Bytes(bounds), Some(Values::Bytes(values))) => {
                self.each(values, |v| bounds.partition_point(|b| **b <= **v), &mut each);
            }
            // Cannot happen: callers convert rows to the table's types first.
            _ => (0..column.len()).for_each(|row| each(row, self.null)),
        }
    }

    fn each<T>(
        &self,
        values: impl Iterator<Item = Option<T>>,
        place: impl Fn(&T) -> usize,
        each: &mut impl FnMut(usize, u32),
    ) {
        for (row, value) in values.enumerate() {
            each(row, value.map_or(self.null, |v| place(&v) as u32));
        }
    }
}

/// The values that start a new rank. A value that fills several ranks gets the last one, so that ranks have equal
/// numbers of rows.
fn quantiles<T: Ord + Clone>(mut values: Vec<T>, rows: usize, bits: u32) -> Option<Vec<T>> {
    values.sort_unstable();
    let nulls = rows - values.len();
    if nulls == 0 && values.first() == values.last() || values.is_empty() {
        return None;
    }
    let places = 1_usize << bits;
    let for_values = (places * values.len() / rows).clamp(1, places - 1);
    Some((1..for_values).map(|place| values[place * values.len() / for_values].clone()).collect())
}

fn values(column: &ArrayRef) -> Option<Values<'_>> {
    fn whole<T: ArrowPrimitiveType>(column: &ArrayRef) -> Values<'_>
    where
        T::Native: Into<i64>,
    {
        Values::Whole(Box::new(column.as_primitive::<T>().iter().map(|v| v.map(Into::into))))
    }
    Some(match column.data_type() {
        DataType::Boolean => Values::Whole(Box::new(column.as_boolean().iter().map(|v| v.map(i64::from)))),
        DataType::Int8 => whole::<Int8Type>(column),
        DataType::Int16 => whole::<Int16Type>(column),
        DataType::Int32 => whole::<Int32Type>(column),
        DataType::Int64 => whole::<Int64Type>(column),
        DataType::Date32 => whole::<Date32Type>(column),
        DataType::Timestamp(..) => whole::<TimestampMicrosecondType>(column),
        DataType::Float32 => {
            let values = column.as_primitive::<Float32Type>().iter();
            Values::Whole(Box::new(values.map(|v| v.map(|v| real(f64::from(v))))))
        }
        DataType::Float64 => Values::Whole(Box::new(column.as_primitive::<Float64Type>().iter().map(|v| v.map(real)))),
        DataType::Decimal128(..) => Values::Wide(Box::new(column.as_primitive::<Decimal128Type>().iter())),
        DataType::Utf8 => Values::Bytes(Box::new(column.as_string::<i32>().iter().map(|v| v.map(str::as_bytes)))),
        DataType::Binary => Values::Bytes(Box::new(column.as_binary::<i32>().iter())),
        _ => return None,
    })
}

/// Maps real numbers to integers of the same order: zeros are equal, and NaN is the largest.
fn real(value: f64) -> i64 {
    if value.is_nan() {
        return i64::MAX;
    }
    let bits = (value + 0.0).to_bits() as i64;
    match bits.cmp(&0) {
        Ordering::Less => bits ^ i64::MAX,
        _ => bits,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{BooleanArray, Float64Array, Int64Array, StringArray};
    use proptest::prelude::*;

    use super::*;

    fn places(ranks: &Ranks, column: &ArrayRef) -> Vec<u32> {
        let mut places = Vec::new();
        ranks.places(column, |row, place| {
            assert_eq!(row, places.len());
            places.push(place);
        });
        places
    }

    proptest! {
        #[test]
        fn ranks_are_monotonic(
            sample in prop::collection::vec(prop::option::weighted(0.9, -50i64..50), 2..300),
            asked in prop::collection::vec(prop::option::of(any::<i64>()), 1..50),
            bits in 1u32..8,
        ) {
            let column: ArrayRef = Arc::new(Int64Array::from(sample.clone()));
            let Some(ranks) = Ranks::of_sample(&column, bits) else { return Ok(()) };
            let mut all: Vec<Option<i64>> = sample.into_iter().chain(asked).collect();
            // NULL last, like its rank.
            all.sort_by_key(|v| (v.is_none(), *v));
            let column: ArrayRef = Arc::new(Int64Array::from(all.clone()));
            let found = places(&ranks, &column);
            prop_assert!(found.is_sorted());
            prop_assert!(found.iter().all(|&place| place < 1 << bits));
            let alone = all.iter().zip(&found).all(|(v, &place)| v.is_none() == (place == ranks.null()));
            prop_assert!(alone, "NULL has its own rank");
        }

        #[test]
        fn real_numbers_keep_their_order(mut values in prop::collection::vec(any::<f64>(), 2..100)) {
            values.sort_by(f64::total_cmp);
            let values: Vec<f64> = values.into_iter().filter(|v| !v.is_nan()).collect();
            let keys: Vec<i64> = values.iter().map(|&v| real(v)).collect();
            prop_assert!(keys.is_sorted());
            prop_assert!(values.windows(2).zip(keys.windows(2)).all(|(v, k)| (v[0] == v[1]) == (k[0] == k[1])));
        }
    }

    #[test]
    fn ranks_hold_similar_numbers_of_rows() {
        let skewed: ArrayRef = Arc::new(Int64Array::from_iter_values((0..4096).map(|i| i * i * i)));
        let texts = (0..4096).map(|i| format!("https://example.org/shared/prefix/{i:06}"));
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
        for column in [skewed, texts] {
            let ranks = Ranks::of_sample(&column, 4).unwrap();
            let mut rows = [0; 16];
            places(&ranks, &column).iter().for_each(|&place| rows[place as usize] += 1);
            assert!(rows[..15].iter().all(|&n| (270..280).contains(&n)), "{rows:?}");
            assert_eq!(rows[15], 0, "kept for NULL");
        }
    }

    #[test]
    fn special_values_have_expected_ranks() {
        let nan = -f64::NAN;
        let column: ArrayRef =
            Arc::new(Float64Array::from(vec![Some(nan), Some(f64::INFINITY), None, Some(-0.0), Some(0.0), Some(-1.0)]));
        let found = places(&Ranks::of_sample(&column, 3).unwrap(), &column);
        assert!(found[5] < found[3] && found[3] == found[4] && found[4] < found[1] && found[1] < found[0]);
        assert_eq!(found[2], 7);
        let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true, false, true]));
        let found = places(&Ranks::of_sample(&flags, 6).unwrap(), &flags);
        assert!(found[1] < found[0]);
        let constant: ArrayRef = Arc::new(Int64Array::from(vec![7; 5]));
        assert!(Ranks::of_sample(&constant, 6).is_none());
    }
}
