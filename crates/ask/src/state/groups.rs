//! Assigns rows to groups and accumulates their measures.

use std::borrow::Cow;
use std::cell::OnceCell;

use pages::{Codes, Dictionary};

use super::accumulator::{Accumulator, Weights};
use super::grouped::{Grouped, Input, Slots};
use super::keys::Keys;
use super::slots::{Cell, Part, SLOTS_MAX, SLOTS_MIN, SlotOfRow, part};
use super::split::Split;
use crate::coder::Coder;
use crate::column::{Column, Values, range_of};
use crate::error::AskError;
use crate::plan::{GroupBy, Plan};

/// Whether to look for the group of a row among those that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Find {
    Always,
    /// Each row becomes a group, where it may repeat one: for keys that rarely repeat.
    Never,
}

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
        self.accumulate(plan, rows, columns, Find::Always)
    }

    /// See [`Self::update`].
    pub(super) fn accumulate(
        &mut self,
        plan: &Plan,
        rows: usize,
        columns: &[Option<Column>],
        find: Find,
    ) -> Result<(), AskError> {
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
        let grouped = self.group(rows, &parts, find);
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

    /// Whether groups share nothing but the texts of their keys.
    pub(super) fn can_split(&self) -> bool {
        self.keys.stride() > 1 && self.accumulators.iter().all(Accumulator::can_split)
    }

    /// Takes the accumulators of all groups, and leaves empty ones.
    pub(super) fn take_accumulators(&mut self, plan: &Plan) -> Vec<Accumulator> {
        std::mem::replace(&mut self.accumulators, Self::accumulators(plan))
    }

    /// Keeps some groups; their numbers change. The groups must share nothing but texts.
    pub(super) fn keep(&mut self, groups: &[u32]) {
        if groups.len() == self.keys.len() {
            return;
        }
        let mut part_of = vec![1; self.keys.len()];
        groups.iter().for_each(|group| part_of[*group as usize] = 0);
        let split = Split::new(part_of, 1);
        let cells = self.keys.drain();
        split.deal_keys(&cells, self.keys.stride()).iter().for_each(|kept| self.keys.push(kept));
        let all = std::mem::take(&mut self.accumulators);
        self.accumulators = all.into_iter().flat_map(|one| one.split(&split)).collect();
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
        let Self { keys, accumulators } = other;
        self.absorb(keys.all_cells(), keys.coders(), accumulators)
    }

    /// Merges groups, given by the cells of their keys.
    pub(super) fn absorb(
        &mut self,
        cells: &[u64],
        coders: &[Option<Coder>],
        accumulators: Vec<Accumulator>,
    ) -> Result<(), AskError> {
        let map = self.keys.merge(cells, coders);
        self.add(accumulators, &map)
    }

    /// Merges groups that are not there yet.
    pub(super) fn append(&mut self, other: Self) -> Result<(), AskError> {
        let from = self.keys.len() as u32;
        self.keys.append(other.keys.all_cells(), other.keys.coders());
        let map: Vec<u32> = (from..self.keys.len() as u32).collect();
        self.add(other.accumulators, &map)
    }

    /// Adds accumulators; `map` has the numbers of their groups here.
    fn add(&mut self, accumulators: Vec<Accumulator>, map: &[u32]) -> Result<(), AskError> {
        self.grow();
        let mut pairs = self.accumulators.iter_mut().zip(accumulators);
        pairs.try_for_each(|(accumulator, other)| accumulator.merge(other, map))
    }

    pub(crate) fn memory(&self) -> usize {
        self.keys.memory() + self.accumulators.iter().map(Accumulator::memory).sum::<usize>()
    }

    fn group<'a>(&mut self, rows: usize, keys: &'a [Part<'a>], find: Find) -> Grouped<'a> {
        if keys.is_empty() {
            let of_row = SlotOfRow::Combined(Codes::U8(vec![0; rows]));
            let slots = Slots { of_row, rows: vec![rows as u32], groups: vec![0] };
            return Grouped { rows, slots: Some(slots), groups: OnceCell::new() };
        }
        let parts = keys;
        let most = (4 * rows).clamp(SLOTS_MIN, SLOTS_MAX);
        let space = parts.iter().try_fold(1usize, |space, part| space.checked_mul(part.space()?));
        match space.filter(|space| *space <= most) {
            Some(space) => self.by_slots(rows, parts, space),
            None => Grouped { rows, slots: None, groups: OnceCell::from(self.by_rows(rows, parts, find)) },
        }
    }

    fn by_slots<'a>(&mut self, rows: usize, parts: &'a [Part<'a>], space: usize) -> Grouped<'a> {
        let of_row = SlotOfRow::of(parts, space);
        let counted = of_row.count(space);
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

    fn by_rows(&mut self, rows: usize, parts: &[Part<'_>], find: Find) -> Vec<u32> {
        let stride = self.keys.stride();
        let cells = self.cells(rows, parts);
        if find == Find::Never {
            let from = self.keys.len() as u32;
            self.keys.push(&cells);
            return (from..from + rows as u32).collect();
        }
        let mut groups: Vec<u32> = Vec::with_capacity(rows);
        let mut last: &[u64] = &[];
        for key in cells.chunks_exact(stride) {
            // Consecutive rows are often of the same group.
            let group = match groups.last() {
                Some(&group) if key == last => group,
                _ => self.keys.group(key),
            };
            groups.push(group);
            last = key;
        }
        groups
    }

    /// The cells of the keys of all rows.
    fn cells(&mut self, rows: usize, parts: &[Part<'_>]) -> Vec<u64> {
        /// A dictionary entry without a code yet.
        const NONE: u64 = u64::MAX;
        let stride = self.keys.stride();
        let mut cells = vec![0; rows * stride];
        for (place, part) in parts.iter().enumerate() {
            let keys = cells.chunks_exact_mut(stride);
            if let Part::Wide { values, valid: None } = part {
                keys.zip(&**values).for_each(|(key, value)| key[place] = *value as u64);
                continue;
            }
            let mut codes = vec![NONE; part.dictionary().map_or(0, Dictionary::len)];
            for (row, key) in keys.enumerate() {
                match part.of_row(row) {
                    Cell::Word(word, dictionary) => {
                        if codes[word] == NONE {
                            codes[word] = self.keys.code(place, dictionary.get(word));
                        }
                        key[place] = codes[word];
                    }
                    cell => self.set_cell(key, place, &cell),
                }
            }
        }
        cells
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
            Cow::Owned(Column { values: Values::Texts { codes: Codes::of(members, space), dictionary }, valid });
        from = Some(match from {
            None => sources,
            Some(before) => sources.iter().map(|&row| before[row as usize]).collect(),
        });
    }
    from
}
