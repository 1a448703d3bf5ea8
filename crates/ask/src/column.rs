//! Columns in memory.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, OffsetSizeTrait, StringArray};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Date32Type, Float64Type, Int64Type, TimeUnit, TimestampMicrosecondType, UInt32Type};
use arrow::error::ArrowError;
use arrow::util::display::FormatOptions;
use pages::{Codes, Dictionary, plain};

/// A value that does not fit is an error, not NULL.
const STRICT: CastOptions<'static> = CastOptions { safe: false, format_options: FormatOptions::new() };

/// The kind of values in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Kind {
    Bool,
    Int,
    /// Times, in microseconds since 1970 UTC.
    Time,
    /// Days.
    Date,
    Float,
    Text,
    /// Sets of text.
    Set,
    /// Any other type: readable, but not grouped or measured.
    Other,
}

impl Kind {
    pub fn of(ty: &DataType) -> Self {
        match ty {
            DataType::Boolean => Self::Bool,
            DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::UInt8
            | DataType::UInt16
            | DataType::UInt32 => Self::Int,
            DataType::Timestamp(..) => Self::Time,
            DataType::Date32 => Self::Date,
            DataType::Float16 | DataType::Float32 | DataType::Float64 | DataType::Decimal128(..) => Self::Float,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Self::Text,
            DataType::Dictionary(_, values) if Self::of(values) == Self::Text => Self::Text,
            DataType::List(item) | DataType::LargeList(item) if Self::of(item.data_type()) == Self::Text => Self::Set,
            _ => Self::Other,
        }
    }

    /// Whether values are stored as integers ([`Values::Ints`]).
    pub(crate) fn is_whole(self) -> bool {
        matches!(self, Self::Bool | Self::Int | Self::Time | Self::Date)
    }

    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::Int | Self::Float)
    }

    pub(crate) fn holds(self) -> &'static str {
        match self {
            Self::Bool => "booleans",
            Self::Int => "integers",
            Self::Time => "times",
            Self::Date => "dates",
            Self::Float => "real numbers",
            Self::Text => "text",
            Self::Set => "sets of text",
            Self::Other => "values of an unsupported type",
        }
    }

    /// The Arrow type to which other types of this kind are cast.
    pub(crate) fn arrow(self) -> Option<DataType> {
        Some(match self {
            Self::Bool => DataType::Boolean,
            Self::Int => DataType::Int64,
            Self::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Self::Date => DataType::Date32,
            Self::Float => DataType::Float64,
            Self::Text => DataType::Utf8,
            Self::Set | Self::Other => return None,
        })
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Values {
    /// For every kind that [`Kind::is_whole`] accepts. Values of NULL rows are unspecified.
    Ints(Vec<i64>),
    /// Zeros have no sign, and NaN has one bit pattern.
    Floats(Vec<f64>),
    /// Codes in `dictionary`; the code past its end is NULL.
    Texts { codes: Codes, dictionary: Arc<Dictionary> },
    /// The members of each row end at `ends`, and are codes in `dictionary`.
    Sets { ends: Vec<u32>, codes: Vec<u32>, dictionary: Arc<Dictionary> },
    /// Only the validity was read; the number of rows.
    Unread(usize),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    pub(crate) values: Values,
    /// Which rows are not NULL; `None` if all are.
    pub(crate) valid: Option<Vec<bool>>,
}

/// Maps real numbers to integers of the same order; NaN is the greatest.
pub(crate) fn ordinal(x: f64) -> i64 {
    let bits = plain(x).to_bits() as i64;
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

/// The inverse of [`ordinal`].
pub(crate) fn from_ordinal(ordinal: i64) -> f64 {
    f64::from_bits((ordinal ^ ((ordinal >> 63) as u64 >> 1) as i64) as u64)
}

fn take<T: Copy>(values: &[T], rows: &[u32]) -> Vec<T> {
    rows.iter().map(|&row| values[row as usize]).collect()
}

impl Column {
    pub(crate) fn len(&self) -> usize {
        match &self.values {
            Values::Ints(values) => values.len(),
            Values::Floats(values) => values.len(),
            Values::Texts { codes, .. } => codes.len(),
            Values::Sets { ends, .. } => ends.len(),
            Values::Unread(len) => *len,
        }
    }

    pub(crate) fn nulls(kind: Kind, len: usize) -> Self {
        let values = match kind {
            Kind::Float => Values::Floats(vec![0.0; len]),
            Kind::Text => Values::Texts { codes: Codes::U8(vec![0; len]), dictionary: Arc::default() },
            Kind::Set => Values::Sets { ends: vec![0; len], codes: Vec::new(), dictionary: Arc::default() },
            Kind::Other => Values::Unread(len),
            _ => Values::Ints(vec![0; len]),
        };
        Self { values, valid: Some(vec![false; len]) }
    }

    pub(crate) fn is_valid(&self, row: usize) -> bool {
        self.valid.as_ref().is_none_or(|valid| valid[row])
    }

    /// The given rows, in the given order.
    pub(crate) fn take(&self, rows: &[u32]) -> Self {
        let values = match &self.values {
            Values::Ints(values) => Values::Ints(take(values, rows)),
            Values::Floats(values) => Values::Floats(take(values, rows)),
            Values::Texts { codes, dictionary } => {
                Values::Texts { codes: codes.take(rows), dictionary: dictionary.clone() }
            }
            Values::Sets { ends, codes, dictionary } => {
                let (mut new_ends, mut new_codes) = (Vec::with_capacity(rows.len()), Vec::new());
                for &row in rows {
                    new_codes.extend_from_slice(&codes[range_of(ends, row as usize)]);
                    new_ends.push(new_codes.len() as u32);
                }
                Values::Sets { ends: new_ends, codes: new_codes, dictionary: dictionary.clone() }
            }
            Values::Unread(_) => Values::Unread(rows.len()),
        };
        Self { values, valid: self.valid.as_ref().map(|valid| take(valid, rows)) }
    }

    /// Converts an array of any type that the kind includes.
    pub(crate) fn from_arrow(array: &ArrayRef, kind: Kind) -> Result<Self, ArrowError> {
        let ty = match (kind, array.data_type()) {
            (Kind::Text, DataType::Dictionary(..)) => Some(coded_text()),
            (Kind::Set, DataType::List(_) | DataType::LargeList(_)) => None,
            (Kind::Set, _) => Some(DataType::new_list(DataType::Utf8, true)),
            _ => kind.arrow(),
        };
        let array = match ty {
            Some(ty) if *array.data_type() != ty => &cast_with_options(array, &ty, &STRICT)?,
            _ => array,
        };
        let nulls = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        let valid = nulls.map(|nulls| nulls.iter().collect::<Vec<bool>>());
        let values = match kind {
            Kind::Bool => Values::Ints(array.as_boolean().values().iter().map(i64::from).collect()),
            Kind::Int => Values::Ints(array.as_primitive::<Int64Type>().values().to_vec()),
            Kind::Time => Values::Ints(array.as_primitive::<TimestampMicrosecondType>().values().to_vec()),
            Kind::Date => {
                Values::Ints(array.as_primitive::<Date32Type>().values().iter().map(|&d| i64::from(d)).collect())
            }
            Kind::Float => {
                Values::Floats(array.as_primitive::<Float64Type>().values().iter().map(|&x| plain(x)).collect())
            }
            Kind::Text => texts(array)?,
            Kind::Set => match array.data_type() {
                DataType::LargeList(_) => sets::<i64>(array)?,
                _ => sets::<i32>(array)?,
            },
            Kind::Other => Values::Unread(array.len()),
        };
        Ok(Self { values, valid })
    }
}

/// The range of a row's members.
pub(crate) fn range_of(ends: &[u32], row: usize) -> std::ops::Range<usize> {
    let from = if row == 0 { 0 } else { ends[row - 1] as usize };
    from..ends[row] as usize
}

/// The Arrow type of dictionary-encoded text.
fn coded_text() -> DataType {
    DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8))
}

/// Dictionary-encodes text, so that each distinct value is tested once.
fn texts(array: &ArrayRef) -> Result<Values, ArrowError> {
    let (codes, dictionary) = coded(array)?;
    let space = dictionary.len() + 1;
    Ok(Values::Texts { codes: Codes::of(codes, space), dictionary: Arc::new(dictionary) })
}

fn coded(array: &ArrayRef) -> Result<(Vec<u32>, Dictionary), ArrowError> {
    if let DataType::Dictionary(..) = array.data_type() {
        let array = cast_with_options(array, &coded_text(), &STRICT)?;
        let array = array.as_dictionary::<UInt32Type>();
        let strings: &StringArray = array.values().as_string();
        let mut dictionary = Dictionary::default();
        strings.iter().for_each(|word| dictionary.push(word.unwrap_or_default()));
        let null = dictionary.len() as u32;
        let code = |row: usize| {
            let key = array.keys().value(row);
            if array.is_null(row) || strings.is_null(key as usize) { null } else { key }
        };
        return Ok(((0..array.len()).map(code).collect(), dictionary));
    }
    let array = cast_with_options(array, &DataType::Utf8, &STRICT)?;
    let strings: &StringArray = array.as_string();
    let mut coder = crate::coder::Coder::default();
    let codes: Vec<Option<u32>> = strings.iter().map(|word| word.map(|word| coder.code(word))).collect();
    let dictionary = coder.into_dictionary();
    let null = dictionary.len() as u32;
    Ok((codes.into_iter().map(|code| code.unwrap_or(null)).collect(), dictionary))
}

/// Members that are NULL get the code past the end of the dictionary.
fn sets<O: OffsetSizeTrait>(array: &ArrayRef) -> Result<Values, ArrowError> {
    let list = array.as_list::<O>();
    let (members, dictionary) = coded(list.values())?;
    let (mut ends, mut codes) = (Vec::with_capacity(list.len()), Vec::new());
    for row in 0..list.len() {
        if list.is_valid(row) {
            let (from, to) = (list.value_offsets()[row].as_usize(), list.value_offsets()[row + 1].as_usize());
            let at = codes.len();
            for &member in &members[from..to] {
                // Other writers may repeat members.
                if !codes[at..].contains(&member) {
                    codes.push(member);
                }
            }
        }
        ends.push(codes.len() as u32);
    }
    Ok(Values::Sets { ends, codes, dictionary: Arc::new(dictionary) })
}
