//! One column in progress: values of one type, appended without an allocation for each.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, BooleanBufferBuilder, Float64Array, Int64Array, ListArray, StringArray,
    TimestampMicrosecondArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Field};
use arrow::error::ArrowError;

use super::kind::Kind;
use super::number::{is_exact_as_float, whole};
use super::value::Value;

/// The name of a set's members in Parquet and Delta.
const ELEMENT: &str = "element";

/// The side effect of adding a value to a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    None,
    /// The first value: it gave the column its type.
    Typed,
    /// A float among integers: call [`Column::widen`] or [`Column::truncate`] next.
    Widens,
}

/// The value has another type than the column, or would change there: an integer past 2^53 among floats, or a float
/// among such integers.
#[derive(Debug)]
pub(super) struct Conflict;

#[derive(Debug)]
enum Values {
    Nothing,
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Bools(BooleanBufferBuilder),
    Texts {
        offsets: Vec<i32>,
        bytes: Vec<u8>,
    },
    Times(Vec<i64>),
    /// `ends` counts members, `offsets` their bytes.
    Sets {
        ends: Vec<i32>,
        offsets: Vec<i32>,
        bytes: Vec<u8>,
    },
}

/// A column in progress.
#[derive(Debug)]
pub(super) struct Column {
    values: Values,
    /// Which values are present, from the first NULL on.
    present: Option<BooleanBufferBuilder>,
    len: usize,
    exact: Exact,
}

/// Whether all integers of a column can become floats.
#[derive(Debug, Default)]
struct Exact {
    /// Number of leading integers already checked.
    checked: usize,
    /// The index of the first that no float holds.
    large: Option<usize>,
    /// Whether such a value was in an earlier batch.
    large_before: bool,
}

impl Exact {
    /// Checks the integers added since the last call.
    fn holds(&mut self, values: &[i64]) -> bool {
        if self.large.is_none() {
            let new = values[self.checked..].iter().position(|value| !is_exact_as_float(*value));
            self.large = new.map(|place| self.checked + place);
            self.checked = values.len();
        }
        self.large.is_none() && !self.large_before
    }

    fn truncate(&mut self, len: usize) {
        self.checked = self.checked.min(len);
        self.large = self.large.filter(|place| *place < len);
    }
}

impl Column {
    pub(super) fn new() -> Self {
        Self { values: Values::Nothing, present: None, len: 0, exact: Exact::default() }
    }

    pub(super) fn of_kind(kind: Kind) -> Self {
        Self { values: empty(kind), ..Self::new() }
    }

    pub(super) fn of_ints(values: Vec<i64>) -> Self {
        Self { len: values.len(), values: Values::Ints(values), ..Self::new() }
    }

    pub(super) fn of_floats(values: Vec<f64>) -> Self {
        Self { len: values.len(), values: Values::Floats(values), ..Self::new() }
    }

    /// Concatenated texts; `offsets` begins with 0 and has one more entry than texts.
    pub(super) fn of_texts(offsets: Vec<i32>, bytes: Vec<u8>) -> Self {
        Self { len: offsets.len() - 1, values: Values::Texts { offsets, bytes }, ..Self::new() }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn kind(&self) -> Kind {
        match self.values {
            Values::Nothing => Kind::Nothing,
            Values::Ints(_) => Kind::Int,
            Values::Floats(_) => Kind::Float,
            Values::Bools(_) => Kind::Bool,
            Values::Texts { .. } => Kind::Text,
            Values::Times(_) => Kind::Time,
            Values::Sets { .. } => Kind::Set,
        }
    }

    pub(super) fn ends_null(&self) -> bool {
        self.present.as_ref().is_some_and(|present| !present.get_bit(self.len - 1))
    }

    #[inline]
    pub(super) fn push(&mut self, value: Value<'_>) -> Result<Effect, Conflict> {
        let mut effect = Effect::None;
        match (&mut self.values, value) {
            (Values::Floats(values), Value::Float(value)) => values.push(value),
            (Values::Ints(values), Value::Int(value)) | (Values::Times(values), Value::Time(value)) => {
                values.push(value);
            }
            (Values::Texts { offsets, bytes }, Value::Text(value)) => {
                bytes.extend_from_slice(value);
                offsets.push(bytes.len() as i32);
            }
            (Values::Bools(values), Value::Bool(value)) => values.append(value),
            (Values::Floats(values), Value::Int(value)) if is_exact_as_float(value) => values.push(value as f64),
            (Values::Ints(values), Value::Float(value)) if self.exact.holds(values) => {
                values.push(value.to_bits() as i64);
                effect = Effect::Widens;
            }
            (Values::Ints(values), Value::Float(value)) => values.push(whole(value).ok_or(Conflict)?),
            (Values::Sets { ends, offsets, bytes }, Value::Set(members)) => {
                members.append(offsets, bytes);
                ends.push((offsets.len() - 1) as i32);
            }
            (_, Value::Null) => {
                self.pad(self.len + 1);
                return Ok(Effect::None);
            }
            (_, Value::Huge) => return Err(Conflict),
            (Values::Nothing, value) => {
                self.values = empty(value.kind());
                self.fill();
                self.push(value)?;
                return Ok(Effect::Typed);
            }
            _ => return Err(Conflict),
        }
        self.grow();
        Ok(effect)
    }

    /// Adds a float to a column of floats; returns false for others.
    #[inline]
    pub(super) fn push_float(&mut self, value: f64) -> bool {
        let Values::Floats(values) = &mut self.values else { return false };
        values.push(value);
        self.grow();
        true
    }

    /// Adds an integer to a column of integers; returns false for others.
    #[inline]
    pub(super) fn push_int(&mut self, value: i64) -> bool {
        let Values::Ints(values) = &mut self.values else { return false };
        values.push(value);
        self.grow();
        true
    }

    /// Adds a text to a column of texts; returns false for others.
    #[inline]
    pub(super) fn push_text(&mut self, value: &[u8]) -> bool {
        let Values::Texts { offsets, bytes } = &mut self.values else { return false };
        bytes.extend_from_slice(value);
        offsets.push(bytes.len() as i32);
        self.grow();
        true
    }

    /// Counts a value just added.
    #[inline]
    fn grow(&mut self) {
        self.len += 1;
        if let Some(present) = &mut self.present {
            present.append(true);
        }
    }

    /// Adds NULLs up to `len` values.
    #[inline]
    pub(super) fn pad(&mut self, len: usize) {
        if self.len < len {
            self.push_nulls(len);
        }
    }

    fn push_nulls(&mut self, len: usize) {
        let before = self.len;
        self.present.get_or_insert_with(|| all_present(before)).append_n(len - before, false);
        self.len = len;
        self.fill();
    }

    /// Adds placeholder values under NULLs, up to the length.
    fn fill(&mut self) {
        match &mut self.values {
            Values::Nothing => {}
            Values::Ints(values) | Values::Times(values) => values.resize(self.len, 0),
            Values::Floats(values) => values.resize(self.len, 0.0),
            Values::Bools(values) => values.append_n(self.len - values.len(), false),
            Values::Texts { offsets, bytes } => offsets.resize(self.len + 1, bytes.len() as i32),
            Values::Sets { ends, offsets, .. } => ends.resize(self.len + 1, (offsets.len() - 1) as i32),
        }
    }

    /// Removes the last values, down to `len`.
    pub(super) fn truncate(&mut self, len: usize) {
        if len >= self.len {
            return;
        }
        self.exact.truncate(len);
        match &mut self.values {
            Values::Nothing => {}
            Values::Ints(values) | Values::Times(values) => values.truncate(len),
            Values::Floats(values) => values.truncate(len),
            Values::Bools(values) => values.truncate(len),
            Values::Texts { offsets, bytes } => {
                offsets.truncate(len + 1);
                bytes.truncate(offsets[len] as usize);
            }
            Values::Sets { ends, offsets, bytes } => {
                ends.truncate(len + 1);
                offsets.truncate(ends[len] as usize + 1);
                bytes.truncate(offsets[ends[len] as usize] as usize);
            }
        }
        if let Some(present) = &mut self.present {
            present.truncate(len);
        }
        self.len = len;
    }

    /// Undoes the type that the removed last value gave the column.
    pub(super) fn untype(&mut self) {
        self.values = Values::Nothing;
    }

    /// Turns integers into floats. With `last_is_float`, the last integer is a float's bits.
    pub(super) fn widen(&mut self, last_is_float: bool) {
        let Values::Ints(ints) = &mut self.values else { return };
        let last = last_is_float.then(|| f64::from_bits(ints[ints.len() - 1] as u64));
        let mut floats: Vec<f64> = std::mem::take(ints).into_iter().map(|value| value as f64).collect();
        if let (Some(value), Some(place)) = (last, floats.last_mut()) {
            *place = value;
        }
        self.values = Values::Floats(floats);
    }

    /// Whether one column can hold the values of both unchanged. Floats that join integers past 2^53 become integers if
    /// they are whole.
    pub(super) fn agrees(&mut self, other: &mut Self) -> bool {
        match (self.kind(), other.kind()) {
            (Kind::Float, Kind::Int) => other.can_widen(),
            (Kind::Int, Kind::Float) => self.can_widen() || other.narrow(),
            (ours, theirs) => ours.with(theirs).is_some(),
        }
    }

    /// Whether every integer keeps its value as a float.
    fn can_widen(&mut self) -> bool {
        match &self.values {
            Values::Ints(values) => self.exact.holds(values),
            _ => true,
        }
    }

    /// Turns floats into integers if each is whole.
    fn narrow(&mut self) -> bool {
        let Values::Floats(floats) = &self.values else { return false };
        let Some(integers) = floats.iter().map(|value| whole(*value)).collect() else { return false };
        self.values = Values::Ints(integers);
        true
    }

    /// Takes the values of a column that does not agree with ours ([`Column::agrees`]) out of it, as texts, by row: of
    /// numbers those that ours cannot hold, of other kinds all.
    pub(super) fn take_misfits(&self, other: &mut Self) -> Vec<(usize, Vec<u8>)> {
        let fits: Vec<bool> = match (self.kind(), &other.values) {
            (Kind::Float, Values::Ints(integers)) => integers.iter().map(|value| is_exact_as_float(*value)).collect(),
            (Kind::Int, Values::Floats(floats)) => floats.iter().map(|value| whole(*value).is_some()).collect(),
            _ => return std::mem::replace(other, Self::new()).texts(|_| true),
        };
        let misfits = other.texts(|row| !fits[row]);
        if let Values::Floats(floats) = &other.values {
            other.values = Values::Ints(floats.iter().map(|value| whole(*value).unwrap_or_default()).collect());
        }
        let present = other.present.get_or_insert_with(|| all_present(other.len));
        misfits.iter().for_each(|(row, _)| present.set_bit(*row, false));
        misfits
    }

    /// Its values in some rows as texts; only for columns without times and sets.
    fn texts(&self, is_wanted: impl Fn(usize) -> bool) -> Vec<(usize, Vec<u8>)> {
        let is_there = |row: &usize| self.present.as_ref().is_none_or(|present| present.get_bit(*row));
        let value = |row: usize| match &self.values {
            Values::Ints(values) => Value::Int(values[row]),
            Values::Floats(values) => Value::Float(values[row]),
            Values::Bools(values) => Value::Bool(values.get_bit(row)),
            Values::Texts { offsets, bytes } => Value::Text(&bytes[offsets[row] as usize..offsets[row + 1] as usize]),
            Values::Nothing | Values::Times(_) | Values::Sets { .. } => Value::Null,
        };
        (0..self.len).filter(is_there).filter(|row| is_wanted(*row)).map(|row| (row, value(row).to_text())).collect()
    }

    /// A column of texts, by row.
    pub(super) fn of_rows(texts: &[(usize, Vec<u8>)]) -> Result<Self, Conflict> {
        let mut column = Self::of_kind(Kind::Text);
        for (row, text) in texts {
            column.pad(*row);
            column.push(Value::Text(text))?;
        }
        Ok(column)
    }

    /// Adds all values of a column that agrees with ours ([`Column::agrees`]).
    pub(super) fn append(&mut self, mut other: Self) {
        if self.len == 0 {
            *self = other;
            return;
        }
        match (self.kind(), other.kind()) {
            (Kind::Int, Kind::Float) => self.widen(false),
            (Kind::Float, Kind::Int) => other.widen(false),
            (Kind::Nothing, kind) => {
                self.values = empty(kind);
                self.fill();
            }
            (kind, Kind::Nothing) => {
                other.values = empty(kind);
                other.fill();
            }
            _ => {}
        }
        match (&mut self.values, other.values) {
            (Values::Ints(ours), Values::Ints(theirs)) => ours.extend_from_slice(&theirs),
            (Values::Floats(ours), Values::Floats(theirs)) => ours.extend_from_slice(&theirs),
            (Values::Bools(ours), Values::Bools(theirs)) => ours.append_buffer(&theirs.build()),
            (Values::Texts { offsets, bytes }, Values::Texts { offsets: more, bytes: theirs }) => {
                let base = bytes.len() as i32;
                offsets.extend(more[1..].iter().map(|offset| base + offset));
                bytes.extend_from_slice(&theirs);
            }
            // Both `Nothing`; the caller excludes conflicting kinds.
            _ => {}
        }
        let before = self.len;
        self.len += other.len;
        match (&mut self.present, other.present) {
            (None, None) => {}
            (Some(ours), None) => ours.append_n(other.len, true),
            (ours, Some(theirs)) => {
                ours.get_or_insert_with(|| all_present(before)).append_buffer(&theirs.build());
            }
        }
    }

    /// The finished column; `None` if it holds only NULLs.
    pub(super) fn finish(self) -> Result<Option<ArrayRef>, ArrowError> {
        let nulls = self.present.map(|present| NullBuffer::new(present.build()));
        let array: ArrayRef = match self.values {
            Values::Nothing => return Ok(None),
            Values::Ints(values) => Arc::new(Int64Array::try_new(values.into(), nulls)?),
            Values::Floats(values) => Arc::new(Float64Array::try_new(values.into(), nulls)?),
            Values::Bools(values) => Arc::new(BooleanArray::new(values.build(), nulls)),
            Values::Texts { offsets, bytes } => {
                let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
                Arc::new(StringArray::try_new(offsets, bytes.into(), nulls)?)
            }
            Values::Times(values) => {
                Arc::new(TimestampMicrosecondArray::try_new(values.into(), nulls)?.with_timezone("UTC"))
            }
            Values::Sets { ends, offsets, bytes } => {
                let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
                let members = StringArray::try_new(offsets, bytes.into(), None)?;
                let ends = OffsetBuffer::new(ScalarBuffer::from(ends));
                let element = Field::new(ELEMENT, DataType::Utf8, false);
                Arc::new(ListArray::try_new(element.into(), ends, Arc::new(members), nulls)?)
            }
        };
        Ok(Some(array))
    }

    /// An empty column of the same kind and capacity.
    pub(super) fn emptied(&self) -> Self {
        let values = match &self.values {
            Values::Nothing => Values::Nothing,
            Values::Ints(_) => Values::Ints(Vec::with_capacity(self.len)),
            Values::Floats(_) => Values::Floats(Vec::with_capacity(self.len)),
            Values::Bools(_) => Values::Bools(BooleanBufferBuilder::new(self.len)),
            Values::Texts { bytes, .. } => {
                Values::Texts { offsets: from_zero(self.len), bytes: Vec::with_capacity(bytes.len()) }
            }
            Values::Times(_) => Values::Times(Vec::with_capacity(self.len)),
            Values::Sets { offsets, bytes, .. } => Values::Sets {
                ends: from_zero(self.len),
                offsets: from_zero(offsets.len()),
                bytes: Vec::with_capacity(bytes.len()),
            },
        };
        Self { values, exact: Exact { large_before: !self.is_exact(), ..Exact::default() }, ..Self::new() }
    }

    /// Whether both empty columns take the same values.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.kind() == other.kind() && self.exact.large_before == other.exact.large_before
    }

    fn is_exact(&self) -> bool {
        let Values::Ints(values) = &self.values else { return true };
        let is_known = self.exact.large_before || self.exact.large.is_some();
        !is_known && values[self.exact.checked..].iter().all(|value| is_exact_as_float(*value))
    }

    /// The index of the first text that is not UTF-8, in a column of texts.
    pub(super) fn bad_text(&self) -> Option<usize> {
        let Values::Texts { offsets, bytes } = &self.values else { return None };
        if bytes.is_ascii() {
            return None;
        }
        offsets.windows(2).position(|ends| std::str::from_utf8(&bytes[ends[0] as usize..ends[1] as usize]).is_err())
    }
}

fn empty(kind: Kind) -> Values {
    match kind {
        Kind::Nothing => Values::Nothing,
        Kind::Int => Values::Ints(Vec::new()),
        Kind::Float => Values::Floats(Vec::new()),
        Kind::Bool => Values::Bools(BooleanBufferBuilder::new(0)),
        Kind::Text => Values::Texts { offsets: vec![0], bytes: Vec::new() },
        Kind::Time => Values::Times(Vec::new()),
        Kind::Set => Values::Sets { ends: vec![0], offsets: vec![0], bytes: Vec::new() },
    }
}

/// Empty offsets, with room for `len` more.
fn from_zero(len: usize) -> Vec<i32> {
    let mut offsets = Vec::with_capacity(len + 1);
    offsets.push(0);
    offsets
}

fn all_present(len: usize) -> BooleanBufferBuilder {
    let mut present = BooleanBufferBuilder::new(len + 1);
    present.append_n(len, true);
    present
}
