//! Values as keys: bytes that compare as the values do.
//!
//! Numbers, times and flags take 8 bytes, wide decimals 16, texts and bytes as many as they have. Real numbers are in
//! the total order of IEEE 754, but for the two zeros, which are one.

use std::ops::Bound;

use arrow::array::{Array, AsArray};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};

/// Bytes of a key that are stored, at most. A value that shares them with another is looked for in the row groups of
/// both: some too many, none too few.
pub(crate) const KEY_BYTES_MAX: usize = 64;
/// Digits of a decimal that fits in 64 bits.
const NARROW_DIGITS: u8 = 18;

const SIGN: u64 = 1 << 63;

/// The keys of a column of numbers; `None` for other columns. Where the column is NULL they mean nothing.
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

/// Hands out the key of each row in which a column of anything but numbers is not NULL.
pub(crate) fn each_key(column: &dyn Array, mut take: impl FnMut(&[u8])) {
    let rows = || (0..column.len()).filter(|&row| column.is_valid(row));
    match column.data_type() {
        DataType::Utf8 => rows().for_each(|row| take(column.as_string::<i32>().value(row).as_bytes())),
        DataType::Binary => rows().for_each(|row| take(column.as_binary::<i32>().value(row))),
        DataType::Decimal128(..) => rows().for_each(|row| {
            let value = column.as_primitive::<Decimal128Type>().value(row) as u128;
            take(&(value ^ (1 << 127)).to_be_bytes());
        }),
        // Tables store no others.
        _ => {}
    }
}

/// The bytes of a key that are stored.
pub(crate) fn stored(key: &[u8]) -> &[u8] {
    &key[..key.len().min(KEY_BYTES_MAX)]
}

/// The key of one value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    bytes: Vec<u8>,
    /// Whether it is a real zero: whether one zero is below the other is not the same in all comparisons, so that a
    /// range up to one always takes it in.
    is_real_zero: bool,
}

impl Key {
    /// The key of a row of a column, of a type as tables store it; `None` where it is NULL.
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
    pub(super) fn is_cut(&self) -> bool {
        self.bytes.len() > KEY_BYTES_MAX
    }
}

/// The keys between two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRange {
    /// The first that may be in it.
    pub(super) from: Vec<u8>,
    /// The first past it.
    pub(super) to: Option<Vec<u8>>,
}

impl KeyRange {
    /// A single key.
    pub fn of(key: &Key) -> Self {
        Self::between(Bound::Included(key), Bound::Included(key))
    }

    /// All keys from one to another.
    pub fn between(from: Bound<&Key>, to: Bound<&Key>) -> Self {
        // Nothing lies between a text and the same text with a zero byte behind it.
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
        // Of what is stored of longer keys, the least is no more than this, and the most no more than that.
        from.truncate(KEY_BYTES_MAX);
        if let Some(to) = to.as_mut().filter(|to| to.len() > KEY_BYTES_MAX) {
            to.truncate(KEY_BYTES_MAX);
            to.push(0);
        }
        Self { from, to }
    }

    /// The keys that are in both; `None` where none is.
    pub fn and(&self, other: &Self) -> Option<Self> {
        let from = (&self.from).max(&other.from).clone();
        let to = match (&self.to, &other.to) {
            (Some(a), Some(b)) => Some(a.min(b).clone()),
            (a, b) => a.as_ref().or(b.as_ref()).cloned(),
        };
        to.as_ref().is_none_or(|to| from < *to).then_some(Self { from, to })
    }
}
