//! Rows by group.

use std::borrow::Cow;
use std::cell::OnceCell;

use pages::{Codes, with_codes};

use super::ordered::CountedValues;
use super::slots::SLOTS_MIN;
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
    pub(super) of_row: Cow<'a, Codes>,
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
            Some(slots) => with_codes!(&*slots.of_row, codes => {
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
        let (Some(low), Some(high)) = (values.iter().copied().min(), values.iter().copied().max()) else {
            return true;
        };
        let range = high.checked_sub(low).map_or(u64::MAX, |range| (range as u64).saturating_add(1));
        let cells = range.saturating_mul(slots.groups.len() as u64);
        if cells > (self.rows as u64).max(SLOTS_MIN as u64) {
            return false;
        }
        let width = range as usize;
        let mut counts = vec![0u32; cells as usize];
        with_codes!(&*slots.of_row, codes => {
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
