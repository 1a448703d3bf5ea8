//! Rows by group.

use std::cell::OnceCell;

use pages::with_codes;

use super::ordered::CountedValues;
use super::slots::{SLOTS_MIN, SlotOfRow};
use crate::column::{Column, Values};

/// Input of one measure: some rows.
pub(crate) struct Input<'a> {
    pub(crate) grouped: &'a Grouped<'a>,
    pub(crate) column: Option<&'a Column>,
    pub(crate) weight: Option<&'a Column>,
}

/// The groups of some rows.
pub(crate) struct Grouped<'a> {
    pub(super) rows: usize,
    /// Per slot, its number of rows and the number of its group.
    pub(super) slots: Option<Slots<'a>>,
    /// Per row, the number of its group.
    pub(super) groups: OnceCell<Vec<u32>>,
}

/// One slot for every combination of key values, if those are few.
pub(super) struct Slots<'a> {
    pub(super) of_row: SlotOfRow<'a>,
    pub(super) rows: Vec<u32>,
    pub(super) groups: Vec<u32>,
}

/// Calls `visit` with every row that is not NULL in the column, and its group.
pub(super) fn each(column: &Column, grouped: &Grouped<'_>, mut visit: impl FnMut(usize, usize)) {
    let groups = grouped.groups();
    match &column.valid {
        None => groups.iter().enumerate().for_each(|(row, &group)| visit(row, group as usize)),
        Some(valid) => {
            let rows = groups.iter().zip(valid).enumerate().filter(|(_, (_, valid))| **valid);
            rows.for_each(|(row, (&group, _))| visit(row, group as usize));
        }
    }
}

impl Grouped<'_> {
    pub(super) fn groups(&self) -> &[u32] {
        self.groups.get_or_init(|| match &self.slots {
            Some(slots) => with_codes!(slots.of_row.codes(), codes => {
                codes.iter().map(|&code| slots.groups[code as usize]).collect()
            }),
            None => vec![0; self.rows],
        })
    }

    /// Adds the number of rows of each group to `counts`.
    pub(super) fn count(&self, counts: &mut [u64]) {
        match &self.slots {
            Some(slots) => {
                let seen = slots.rows.iter().zip(&slots.groups).filter(|(rows, _)| **rows > 0);
                seen.for_each(|(&rows, &group)| counts[group as usize] += u64::from(rows));
            }
            None => self.groups().iter().for_each(|&group| counts[group as usize] += 1),
        }
    }

    /// Counts the values of an integer column by slot and value; returns false if there are too many of either.
    pub(super) fn weigh_dense(&self, column: &Column, by_group: &mut [CountedValues]) -> bool {
        let (Some(slots), Values::Ints(values), None) = (&self.slots, &column.values, &column.valid) else {
            return false;
        };
        if values.is_empty() {
            return true;
        }
        let most = (self.rows as u64).max(SLOTS_MIN as u64) / slots.groups.len() as u64;
        let fits = |(_, width): &(i64, u64)| *width <= most;
        let Some((low, width)) = block(values).filter(fits).or_else(|| span(values).filter(fits)) else {
            return false;
        };
        let width = width as usize;
        let mut counts = vec![0u32; width * slots.groups.len()];
        with_codes!(slots.of_row.codes(), codes => {
            for (&code, value) in codes.iter().zip(values) {
                counts[code as usize * width + (value - low) as usize] += 1;
            }
        });
        for (slot, counts) in counts.chunks_exact(width).enumerate().filter(|(slot, _)| slots.rows[*slot] > 0) {
            let counted = &mut by_group[slots.groups[slot] as usize];
            let seen = counts.iter().enumerate().filter(|(_, times)| **times > 0);
            seen.for_each(|(place, &times)| counted.add((low + place as i64, u64::from(times))));
        }
        true
    }
}

/// The lowest value, and how many integers there are up to the highest.
fn span(values: &[i64]) -> Option<(i64, u64)> {
    let (low, high) = (values.iter().copied().min()?, values.iter().copied().max()?);
    Some((low, (high.checked_sub(low)? as u64).checked_add(1)?))
}

/// Like [`span`], with all integers that differ from a value in no other bits than the values do: takes a fifth of the
/// time without instructions that compare wide integers.
fn block(values: &[i64]) -> Option<(i64, u64)> {
    let first = *values.first()?;
    let differing = values.iter().fold(0, |bits, value| bits | (value ^ first)) as u64;
    let width = differing.checked_add(1)?.checked_next_power_of_two()?;
    Some((first & !((width - 1) as i64), width))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn blocks_have_all_values(first in any::<i64>(), bits in 0u32..64, others in prop::collection::vec(any::<i64>(), 0..9)) {
            let near = others.iter().map(|other| first ^ (other.unsigned_abs() & ((1 << bits) - 1)) as i64);
            let values: Vec<i64> = std::iter::once(first).chain(near).collect();
            let (low, width) = block(&values).unwrap();
            prop_assert!(values.iter().all(|value| (value.wrapping_sub(low) as u64) < width), "{low} {width}");
            prop_assert!(width <= 1 << bits);
            prop_assert!(span(&values).is_none_or(|(lowest, least)| low <= lowest && least <= width));
        }
    }

    #[test]
    fn values_of_both_signs_are_in_no_block() {
        assert_eq!(block(&[-1, 1]), None);
        assert_eq!(span(&[-1, 1]), Some((-1, 3)));
        assert_eq!(span(&[i64::MIN, i64::MAX]), None);
    }
}
