//! Slots for the values of key columns, if those are few.

use std::borrow::Cow;
use std::cell::OnceCell;

use pages::hybrid::Index;
use pages::{Codes, Dictionary, with_codes};

use crate::column::{Column, Values, ordinal};
use crate::plan::GroupBy;
use crate::question::Bucket;

/// Number of slots that is always allowed, even for fewer rows.
pub(super) const SLOTS_MIN: usize = 1_024;
pub(super) const SLOTS_MAX: usize = 1 << 20;

/// A value of a key column.
pub(super) enum Cell<'a> {
    Null,
    Whole(i64),
    Word(usize, &'a Dictionary),
}

/// A key column, with slots for its values if those are few.
pub(super) enum Part<'a> {
    Words {
        codes: &'a Codes,
        dictionary: &'a Dictionary,
    },
    /// Integers `low + slot * step`; the last slot is NULL.
    Span {
        slots: OnceCell<Codes>,
        /// The number of rows in each slot, where slots ascend.
        runs: Option<Vec<u32>>,
        low: i64,
        step: i64,
        space: usize,
    },
    Wide {
        values: Cow<'a, [i64]>,
        valid: Option<&'a [bool]>,
    },
}

/// Maximum slots of an integer column.
const SPAN_MAX: u64 = 1 << 16;
/// Mean length of runs of equal slots above which finding their ends is faster than a look at each value.
const RUN_MIN: u64 = 64;

pub(super) fn part<'a>(key: &'a Column, by: &GroupBy) -> Part<'a> {
    let valid = key.valid.as_deref();
    match &key.values {
        Values::Texts { codes, dictionary } => Part::Words { codes, dictionary },
        Values::Floats(values) => Part::Wide { values: values.iter().map(|x| ordinal(*x)).collect(), valid },
        Values::Ints(values) => span(values, valid, by.bucket.unwrap_or(Bucket { micros: 1 })),
        Values::Sets { ends, .. } => Part::Wide { values: vec![0; ends.len()].into(), valid },
        Values::Unread(len) => Part::Wide { values: vec![0; *len].into(), valid },
    }
}

fn span<'a>(values: &'a [i64], valid: Option<&'a [bool]>, bucket: Bucket) -> Part<'a> {
    let step = bucket.micros;
    // Times mostly ascend.
    let ascend = valid.is_none() && values.is_sorted();
    let bounds = match valid {
        None if ascend => values.first().copied().zip(values.last().copied()),
        None => values.iter().copied().min().zip(values.iter().copied().max()),
        Some(valid) => {
            let valid_values = || values.iter().zip(valid).filter(|(_, valid)| **valid).map(|(value, _)| *value);
            valid_values().min().zip(valid_values().max())
        }
    };
    let (low, high) = bounds.unwrap_or((0, 0));
    let (low, high) = (bucket.start_of(low), bucket.start_of(high));
    let wide = || {
        let floored = || values.iter().map(|v| bucket.start_of(*v)).collect();
        Part::Wide { values: if step == 1 { Cow::Borrowed(values) } else { Cow::Owned(floored()) }, valid }
    };
    let Some(slots) = high.checked_sub(low).map(|range| range as u64 / step as u64 + 1) else { return wide() };
    if slots > SPAN_MAX.min(values.len().max(SLOTS_MIN) as u64 * 2) {
        return wide();
    }
    let space = slots as usize + 1;
    let null = slots as u32;
    if ascend && slots.saturating_mul(RUN_MIN) <= values.len() as u64 {
        return Part::Span { slots: OnceCell::new(), runs: Some(runs(values, low, step, space)), low, step, space };
    }
    // NULL rows may hold any value.
    let codes = if step == 1 {
        codes(values, valid, null, |value| (value.wrapping_sub(low) as u64).min(u64::from(null)) as u32)
    } else {
        let (mut from, mut to, mut slot) = (low, low, 0);
        codes(values, valid, null, |value| {
            // Adjacent rows are often in the same span, so most values need no division.
            if value < from || value >= to {
                let steps = (value.wrapping_sub(low) as u64 / step as u64).min(u64::from(null));
                slot = steps as u32;
                from = low.wrapping_add((steps as i64).wrapping_mul(step));
                to = from.saturating_add(step);
            }
            slot
        })
    };
    Part::Span { slots: OnceCell::from(codes), runs: None, low, step, space }
}

/// The slot of each value; `null`, the last one, where it is not valid.
fn codes(values: &[i64], valid: Option<&[bool]>, null: u32, mut slot: impl FnMut(i64) -> u32) -> Codes {
    let space = null as usize + 1;
    match valid {
        None => Codes::of(values.iter().map(|value| slot(*value)), space),
        Some(valid) => {
            Codes::of(values.iter().zip(valid).map(|(value, valid)| if *valid { slot(*value) } else { null }), space)
        }
    }
}

/// Counts the rows of each slot. The values ascend from `low`; of the `space` slots, the last is for NULL and stays empty.
fn runs(values: &[i64], low: i64, step: i64, space: usize) -> Vec<u32> {
    let mut runs = vec![0; space];
    let (mut rest, mut end) = (values, low);
    for (slot, run) in runs[..space - 1].iter_mut().enumerate() {
        end = end.saturating_add(step);
        let length = if slot + 2 == space { rest.len() } else { rest.partition_point(|value| *value < end) };
        *run = length as u32;
        rest = &rest[length..];
    }
    runs
}

/// The slot of each row.
pub(super) enum SlotOfRow<'a> {
    Part(&'a Part<'a>),
    /// One for each combination of the slots of several parts.
    Combined(Codes),
}

impl<'a> SlotOfRow<'a> {
    /// Of the combined parts, which have `space` slots.
    pub(super) fn of(parts: &'a [Part<'a>], space: usize) -> Self {
        match parts {
            [one] => Self::Part(one),
            parts if space <= 1 << 8 => Self::Combined(Codes::U8(combined(parts))),
            parts if space <= 1 << 16 => Self::Combined(Codes::U16(combined(parts))),
            parts => Self::Combined(Codes::U32(combined(parts))),
        }
    }

    pub(super) fn codes(&self) -> &Codes {
        match self {
            Self::Part(part) => part.slots(),
            Self::Combined(codes) => codes,
        }
    }

    /// The number of rows in each slot.
    pub(super) fn count(&self, space: usize) -> Vec<u32> {
        match self {
            Self::Part(Part::Span { runs: Some(runs), .. }) => runs.clone(),
            _ => with_codes!(self.codes(), codes => count_codes(codes, space)),
        }
    }
}

/// Numbers each combination of the slots of several parts. `T` must be wide enough for all of them.
fn combined<T: Index>(parts: &[Part<'_>]) -> Vec<T> {
    let mut slots: Vec<T> = Vec::new();
    for part in parts {
        let space = part.space().unwrap_or(1) as u32;
        with_codes!(part.slots(), codes => {
            if slots.is_empty() {
                slots = codes.iter().map(|&code| T::of(as_slot(code))).collect();
            } else {
                // Only the bits of `T` count, so that the loop works on as many numbers at once as fit a vector.
                let slot = |before: T, code| (before.place() as u32).wrapping_mul(space).wrapping_add(code);
                slots.iter_mut().zip(codes).for_each(|(of_row, &code)| *of_row = T::of(slot(*of_row, as_slot(code))));
            }
        });
    }
    slots
}

impl Part<'_> {
    pub(super) fn space(&self) -> Option<usize> {
        match self {
            Self::Words { dictionary, .. } => Some(dictionary.len() + 1),
            Self::Span { space, .. } => Some(*space),
            Self::Wide { .. } => None,
        }
    }

    pub(super) fn slots(&self) -> &Codes {
        const NONE: &Codes = &Codes::U8(Vec::new());
        match self {
            Self::Words { codes, .. } => codes,
            Self::Span { slots, runs, space, .. } => slots.get_or_init(|| {
                let mut codes: Vec<u32> = Vec::new();
                for (run, slot) in runs.iter().flatten().zip(0..) {
                    codes.resize(codes.len() + *run as usize, slot);
                }
                Codes::of(codes, *space)
            }),
            Self::Wide { .. } => NONE,
        }
    }

    pub(super) fn dictionary(&self) -> Option<&Dictionary> {
        match self {
            Self::Words { dictionary, .. } => Some(dictionary),
            _ => None,
        }
    }

    pub(super) fn of_slot(&self, slot: usize) -> Cell<'_> {
        match self {
            Self::Words { dictionary, .. } if slot < dictionary.len() => Cell::Word(slot, dictionary),
            Self::Span { low, step, space, .. } if slot + 1 < *space => Cell::Whole(low + slot as i64 * step),
            _ => Cell::Null,
        }
    }

    pub(super) fn of_row(&self, row: usize) -> Cell<'_> {
        match self {
            Self::Words { codes, .. } => self.of_slot(codes.get(row) as usize),
            Self::Span { .. } => self.of_slot(self.slots().get(row) as usize),
            Self::Wide { values, valid } => {
                if valid.is_none_or(|valid| valid[row]) {
                    Cell::Whole(values[row])
                } else {
                    Cell::Null
                }
            }
        }
    }
}

fn as_slot(code: impl Into<u32>) -> u32 {
    code.into()
}

fn count_codes<C: Copy + Into<u32>>(codes: &[C], space: usize) -> Vec<u32> {
    /// Below this number of codes, counting in four arrays is faster: a repeated code does not stall the next addition.
    const FOURFOLD_MAX: usize = 4_096;
    let at = |code: C| code.into() as usize;
    if space > FOURFOLD_MAX {
        let mut counts = vec![0; space];
        codes.iter().for_each(|&code| counts[at(code)] += 1);
        return counts;
    }
    let mut counts = vec![[0u32; 4]; space];
    let (fours, rest) = codes.as_chunks::<4>();
    for four in fours {
        counts[at(four[0])][0] += 1;
        counts[at(four[1])][1] += 1;
        counts[at(four[2])][2] += 1;
        counts[at(four[3])][3] += 1;
    }
    rest.iter().for_each(|&code| counts[at(code)][0] += 1);
    counts.iter().map(|four| four.iter().sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_of_ascending_and_other_values_are_equal() {
        let slots = |values: &[i64], step| {
            let bucket = Bucket { micros: step };
            let part = span(values, None, bucket);
            let Part::Span { low, space, .. } = part else { panic!("no span") };
            let rows = SlotOfRow::Part(&part);
            let slots: Vec<u32> = with_codes!(rows.codes(), codes => codes.iter().map(|code| as_slot(*code)).collect());
            (slots, rows.count(space), low, space)
        };
        for (first, each, step) in [(-50_000, 7, 1_000), (0, 0, 10), (3, 1, 100), (i64::MAX - 5_000, 1, 4_000)] {
            let values: Vec<i64> = (0..4_000).map(|n| first + n * each).collect();
            let (ascending, counted, low, space) = slots(&values, step);
            let backwards: Vec<i64> = values.iter().rev().copied().collect();
            let (mut other, counted_backwards, ..) = slots(&backwards, step);
            other.reverse();
            assert_eq!(counted, counted_backwards);
            assert_eq!(ascending, other, "{first} {each} {step}");
            assert_eq!(ascending.last().map(|slot| *slot as usize + 2), Some(space));
            assert_eq!(low, Bucket { micros: step }.start_of(first));
        }
    }
}
