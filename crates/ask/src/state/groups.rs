//! Assigns rows to groups and accumulates their measures.

use std::borrow::Cow;
use std::cell::OnceCell;

use pages::{Codes, Dictionary, with_codes};

use super::accumulator::{Accumulator, Weights};
use super::grouped::{Grouped, Input, Slots};
use super::keys::Keys;
use super::slots::{Cell, Part, SLOTS_MAX, SLOTS_MIN, as_slot, count_codes, part};
use crate::coder::Coder;
use crate::column::{Column, Values, range_of};
use crate::error::AskError;
use crate::plan::{GroupBy, Plan};

#[derive(Debug, Clone)]
pub(crate) struct Groups {
    pub(crate) keys: Keys,
    pub(crate) accumulators: Vec<Accumulator>,
}

impl Groups {
    pub(crate) fn new(plan: &Plan) -> Self {
        let mut groups = Self { keys: Keys::new(&plan.key_kinds()), accumulators: Self::accumulators(plan) };
        if plan.groups.is_empty() {
            // Without key columns, there is one group, even without rows.
            groups.keys.group(&[0]);
            groups.grow();
        }
        groups
    }

    /// An accumulator without groups for each measure.
    pub(crate) fn accumulators(plan: &Plan) -> Vec<Accumulator> {
        let weight = plan.weight.map(|column| plan.kinds[column]);
        plan.measured.iter().map(|measured| Accumulator::new(&measured.measure, measured.kind, weight)).collect()
    }

    fn grow(&mut self) {
        let groups = self.keys.len();
        self.accumulators.iter_mut().for_each(|accumulator| accumulator.grow(groups));
    }

    /// Accumulates rows; `columns` are indexed as in the plan.
    pub(crate) fn update(&mut self, plan: &Plan, rows: usize, columns: &[Option<Column>]) -> Result<(), AskError> {
        if rows == 0 {
            return Ok(());
        }
        let missing = || AskError::invalid("a column was not read");
        let column = |place: usize| columns[place].as_ref().ok_or_else(missing);
        let mut keys = Vec::with_capacity(plan.groups.len());
        for group in &plan.groups {
            keys.push(relabelled(column(group.column)?, group));
        }
        let spread = spread(rows, &mut keys);
        let rows = spread.as_ref().map_or(rows, Vec::len);
        let parts: Vec<Part<'_>> = keys.iter().zip(&plan.groups).map(|(key, by)| part(key, by)).collect();
        let grouped = self.group(rows, &parts);
        self.grow();
        for (accumulator, measured) in self.accumulators.iter_mut().zip(&plan.measured) {
            let spread_out = |place: Option<usize>| -> Result<Option<Spread<'_>>, AskError> {
                let Some(place) = place else { return Ok(None) };
                Ok(Some(match &spread {
                    None => Spread::Same(column(place)?),
                    Some(rows) => Spread::Repeated(column(place)?.take(rows)),
                }))
            };
            let (of, weight) = (spread_out(measured.column)?, spread_out(plan.weight)?);
            let weight = weight.as_ref().map(Spread::column);
            accumulator.update(&Input { grouped: &grouped, column: of.as_ref().map(Spread::column), weight })?;
        }
        Ok(())
    }

    /// Counts rows for a question that needs only their number.
    pub(crate) fn count_rows(&mut self, rows: u64) {
        for accumulator in &mut self.accumulators {
            if let Accumulator::Count(Weights::Rows(counts)) = accumulator {
                counts[0] += rows;
            }
        }
    }

    /// Sorts pending values, so that accumulators can be read or encoded.
    pub(crate) fn settle(&mut self) {
        self.accumulators.iter_mut().for_each(Accumulator::settle);
    }

    pub(crate) fn merge(&mut self, mut other: Self) -> Result<(), AskError> {
        // Merging the smaller into the larger is faster.
        if other.keys.len() > self.keys.len() {
            std::mem::swap(self, &mut other);
        }
        let map = self.keys.merge(&other.keys);
        self.grow();
        self.accumulators
            .iter_mut()
            .zip(other.accumulators)
            .try_for_each(|(accumulator, other)| accumulator.merge(other, &map))
    }

    pub(crate) fn memory(&self) -> usize {
        self.keys.memory() + self.accumulators.iter().map(Accumulator::memory).sum::<usize>()
    }

    fn group<'a>(&mut self, rows: usize, keys: &'a [Part<'a>]) -> Grouped<'a> {
        if keys.is_empty() {
            let slots =
                Slots { of_row: Cow::Owned(Codes::U8(vec![0; rows])), rows: vec![rows as u32], groups: vec![0] };
            return Grouped { rows, slots: Some(slots), groups: OnceCell::new() };
        }
        let parts = keys;
        let most = (4 * rows).clamp(SLOTS_MIN, SLOTS_MAX);
        let space = parts.iter().try_fold(1usize, |space, part| space.checked_mul(part.space()?));
        match space.filter(|space| *space <= most) {
            Some(space) => self.by_slots(rows, parts, space),
            None => Grouped { rows, slots: None, groups: OnceCell::from(self.by_rows(rows, parts)) },
        }
    }

    fn by_slots<'a>(&mut self, rows: usize, parts: &'a [Part<'a>], space: usize) -> Grouped<'a> {
        let of_row = match parts {
            [one] => Cow::Borrowed(one.slots()),
            parts => {
                let mut slots = vec![0u32; rows];
                for part in parts {
                    let width = part.space().unwrap_or(1) as u32;
                    with_codes!(part.slots(), codes => {
                        slots.iter_mut().zip(codes).for_each(|(slot, &code)| *slot = *slot * width + as_slot(code));
                    });
                }
                Cow::Owned(Codes::U32(slots))
            }
        };
        let counted = with_codes!(&*of_row, codes => count_codes(codes, space));
        let mut groups = vec![0; space];
        let mut cells = vec![0; parts.len() + 1];
        for (slot, group) in groups.iter_mut().enumerate().filter(|(slot, _)| counted[*slot] > 0) {
            let mut rest = slot;
            *cells.last_mut().unwrap_or(&mut 0) = 0;
            for (place, part) in parts.iter().enumerate().rev() {
                let space = part.space().unwrap_or(1);
                self.set_cell(&mut cells, place, &part.of_slot(rest % space));
                rest /= space;
            }
            *group = self.keys.group(&cells);
        }
        Grouped { rows, slots: Some(Slots { of_row, rows: counted, groups }), groups: OnceCell::new() }
    }

    fn by_rows(&mut self, rows: usize, parts: &[Part<'_>]) -> Vec<u32> {
        /// A dictionary entry without a code yet.
        const NONE: u64 = u64::MAX;
        let mut numbers: Vec<Vec<u64>> =
            parts.iter().map(|p| vec![NONE; p.dictionary().map_or(0, Dictionary::len)]).collect();
        let mut cells = vec![0; parts.len() + 1];
        let mut last: Option<(Vec<u64>, u32)> = None;
        let mut groups = Vec::with_capacity(rows);
        for row in 0..rows {
            cells[parts.len()] = 0;
            for (place, part) in parts.iter().enumerate() {
                match part.of_row(row) {
                    Cell::Word(code, dictionary) => {
                        let number = &mut numbers[place][code];
                        if *number == NONE {
                            *number = self.keys.code(place, dictionary.get(code));
                        }
                        cells[place] = *number;
                    }
                    cell => self.set_cell(&mut cells, place, &cell),
                }
            }
            // Consecutive rows are often of the same group.
            let group = match &last {
                Some((same, group)) if *same == cells => *group,
                _ => self.keys.group(&cells),
            };
            match &mut last {
                Some((same, number)) => {
                    same.copy_from_slice(&cells);
                    *number = group;
                }
                none => *none = Some((cells.clone(), group)),
            }
            groups.push(group);
        }
        groups
    }

    fn set_cell(&mut self, cells: &mut [u64], place: usize, cell: &Cell<'_>) {
        cells[place] = match cell {
            Cell::Null => {
                if let Some(nulls) = cells.last_mut() {
                    *nulls |= 1 << place;
                }
                0
            }
            Cell::Whole(value) => *value as u64,
            Cell::Word(code, dictionary) => self.keys.code(place, dictionary.get(*code)),
        };
    }
}

/// A measured column, after rows were repeated for the members of sets.
enum Spread<'a> {
    Same(&'a Column),
    Repeated(Column),
}

impl Spread<'_> {
    fn column(&self) -> &Column {
        match self {
            Self::Same(column) => column,
            Self::Repeated(column) => column,
        }
    }
}

/// A key column, relabelled.
type Key<'a> = Cow<'a, Column>;

fn relabelled<'a>(column: &'a Column, by: &GroupBy) -> Key<'a> {
    let relabel = |dictionary: &Dictionary| {
        let mut new = Dictionary::default();
        dictionary.iter().for_each(|word| new.push(&by.relabel(word)));
        new
    };
    match &column.values {
        _ if by.replacements.is_empty() => Cow::Borrowed(column),
        Values::Texts { codes, dictionary } => {
            let values = Values::Texts { codes: codes.clone(), dictionary: relabel(dictionary).into() };
            Cow::Owned(Column { values, valid: column.valid.clone() })
        }
        Values::Sets { ends, codes, dictionary } => {
            // Members that get the same label become one.
            let mut coder = Coder::default();
            let new: Vec<u32> = relabel(dictionary).iter().map(|word| coder.code(word)).collect();
            let dictionary = coder.into_dictionary();
            let null = dictionary.len() as u32;
            let (mut new_ends, mut new_codes) = (Vec::with_capacity(ends.len()), Vec::with_capacity(codes.len()));
            for row in 0..ends.len() {
                let at = new_codes.len();
                for &code in &codes[range_of(ends, row)] {
                    let code = new.get(code as usize).copied().unwrap_or(null);
                    if !new_codes[at..].contains(&code) {
                        new_codes.push(code);
                    }
                }
                new_ends.push(new_codes.len() as u32);
            }
            let values = Values::Sets { ends: new_ends, codes: new_codes, dictionary: dictionary.into() };
            Cow::Owned(Column { values, valid: column.valid.clone() })
        }
        _ => Cow::Borrowed(column),
    }
}

/// Repeats each row for every member of its sets. Returns the original row of each; `None` without sets.
fn spread(rows: usize, keys: &mut [Key<'_>]) -> Option<Vec<u32>> {
    let mut from: Option<Vec<u32>> = None;
    for place in 0..keys.len() {
        let Values::Sets { ends, codes, dictionary } = &keys[place].values else { continue };
        let (dictionary, null) = (dictionary.clone(), dictionary.len() as u32);
        let (mut sources, mut members) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        for row in 0..ends.len() {
            let own = &codes[range_of(ends, row)];
            if own.is_empty() {
                sources.push(row as u32);
                members.push(null);
            }
            sources.resize(sources.len() + own.len(), row as u32);
            members.extend_from_slice(own);
        }
        let space = dictionary.len() + 1;
        let valid = members.contains(&null).then(|| members.iter().map(|code| *code != null).collect());
        for (other, key) in keys.iter_mut().enumerate() {
            if other != place {
                *key = Cow::Owned(key.take(&sources));
            }
        }
        keys[place] =
            Cow::Owned(Column { values: Values::Texts { codes: Codes::from_u32(members, space), dictionary }, valid });
        from = Some(match from {
            None => sources,
            Some(before) => sources.iter().map(|&row| before[row as usize]).collect(),
        });
    }
    from
}
