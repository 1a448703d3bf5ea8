//! Keys: bytes with the same order as the values.
//!
//! Numbers, times and booleans have 8 bytes, wide decimals 16, texts and bytes their own length. Real numbers follow
//! the total order of IEEE 754, except that both zeros are equal.

use std::ops::Bound;

use arrow::array::{Array, AsArray};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};

/// Maximum stored bytes of a key. Values with a common prefix of this length share their row groups. Lookups may return
/// extra groups, but never miss one.
pub(crate) const KEY_BYTES_MAX: usize = 64;
/// Digits of a decimal that fits in 64 bits.
const NARROW_DIGITS: u8 = 18;

const SIGN: u64 = 1 << 63;

/// The keys of a column of numbers; `None` for other types. Keys of NULL rows are undefined.
pub(crate) fn numbers(column: &dyn Array) -> Option<Vec<u64>> {
    let signed = |value: i64| value as u64 ^ SIGN;
    macro_rules! integers {
        ($ty:ty) => {
            column.as_primitive::<$ty>().values().iter().map(|v| signed(*v as i64)).collect()
        };
    }
    Some(match column.data_type() {
        DataType::Boolean => column.as_boolean().values().iter().map(u64::from).collect(),
        DataType::Int8 => integers!(Int8Type),
        DataType::Int16 => integers!(Int16Type),
        DataType::Int32 => integers!(Int32Type),
        DataType::Int64 => integers!(Int64Type),
        DataType::Date32 => integers!(Date32Type),
        DataType::Timestamp(..) => integers!(TimestampMicrosecondType),
        DataType::Decimal128(digits, _) if *digits <= NARROW_DIGITS => integers!(Decimal128Type),
        DataType::Float32 => {
            let total = |v: &f32| {
                let bits = if *v == 0.0 { 0 } else { v.to_bits() as i32 };
                signed(i64::from(bits ^ ((bits >> 31) as u32 >> 1) as i32))
            };
            column.as_primitive::<Float32Type>().values().iter().map(total).collect()
        }
        DataType::Float64 => {
            let total = |v: &f64| {
                let bits = if *v == 0.0 { 0 } else { v.to_bits() as i64 };
                signed(bits ^ ((bits >> 63) as u64 >> 1) as i64)
            };
            column.as_primitive::<Float64Type>().values().iter().map(total).collect()
        }
        _ => return None,
    })
}

/// Calls `take` with the key of each row that is not NULL, for columns without numbers.
pub(crate) fn each_key(column: &dyn Array, mut take: impl FnMut(&[u8])) {
    let rows = || (0..column.len()).filter(|&row| column.is_valid(row));
    match column.data_type() {
        DataType::Utf8 => rows().for_each(|row| take(column.as_string::<i32>().value(row).as_bytes())),
        DataType::Binary => rows().for_each(|row| take(column.as_binary::<i32>().value(row))),
        DataType::Decimal128(..) => rows().for_each(|row| {
            let value = column.as_primitive::<Decimal128Type>().value(row) as u128;
            take(&(value ^ (1 << 127)).to_be_bytes());
        }),
        // Tables store no other types.
        _ => {}
    }
}

pub(crate) fn stored(key: &[u8]) -> &[u8] {
    &key[..key.len().min(KEY_BYTES_MAX)]
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    bytes: Vec<u8>,
    /// Real zeros: comparisons disagree on whether -0 is below 0, so ranges always include both.
    is_real_zero: bool,
}

impl Key {
    /// The key of a row, for any type that tables store; `None` if NULL.
    pub fn of(column: &dyn Array, row: usize) -> Option<Self> {
        if column.is_null(row) {
            return None;
        }
        let one = column.slice(row, 1);
        if let Some(number) = numbers(&one) {
            let is_real_zero = one.data_type().is_floating() && number[0] == SIGN;
            return Some(Self { bytes: number[0].to_be_bytes().to_vec(), is_real_zero });
        }
        let mut key = None;
        each_key(&one, |bytes| key = Some(Self { bytes: bytes.to_vec(), is_real_zero: false }));
        key
    }
}

#[cfg(test)]
impl Key {
    /// Whether this key or the next one is truncated as a bound.
    pub(super) fn is_cut(&self) -> bool {
        self.bytes.len() >= KEY_BYTES_MAX
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRange {
    /// The first possible key in the range.
    pub(super) from: Vec<u8>,
    /// The first key past the range.
    pub(super) to: Option<Vec<u8>>,
}

impl KeyRange {
    pub fn of(key: &Key) -> Self {
        Self::between(Bound::Included(key), Bound::Included(key))
    }

    pub fn between(from: Bound<&Key>, to: Bound<&Key>) -> Self {
        // Appending a zero byte gives the next text.
        let next = |key: &Key| [&key.bytes[..], &[0]].concat();
        let mut from = match from {
            Bound::Excluded(key) if !key.is_real_zero => next(key),
            Bound::Included(key) | Bound::Excluded(key) => key.bytes.clone(),
            Bound::Unbounded => Vec::new(),
        };
        let mut to = match to {
            Bound::Excluded(key) if !key.is_real_zero => Some(key.bytes.clone()),
            Bound::Included(key) | Bound::Excluded(key) => Some(next(key)),
            Bound::Unbounded => None,
        };
        // Stored keys are truncated, so truncate the bounds outwards.
        from.truncate(KEY_BYTES_MAX);
        if let Some(to) = to.as_mut().filter(|to| to.len() > KEY_BYTES_MAX) {
            to.truncate(KEY_BYTES_MAX);
            to.push(0);
        }
        Self { from, to }
    }

    /// The intersection of two ranges; `None` if empty.
    pub fn and(&self, other: &Self) -> Option<Self> {
        let from = (&self.from).max(&other.from).clone();
        let to = match (&self.to, &other.to) {
            (Some(a), Some(b)) => Some(a.min(b).clone()),
            (a, b) => a.as_ref().or(b.as_ref()).cloned(),
        };
        to.as_ref().is_none_or(|to| from < *to).then_some(Self { from, to })
    }
}
