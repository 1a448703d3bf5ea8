//! Takes rows in: finds the group of each, then lets each measure add them up.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::keys::Keys;
use super::{Bag, Tally};
use pages::{Codes, Dictionary, with_codes};

use crate::column::{Column, Values, ordinal, range_of};
use crate::error::AskError;
use crate::plan::{GroupBy, Plan};
use crate::words::Coder;

/// What is known of the groups of some rows.
#[derive(Debug, Clone)]
pub(crate) struct Groups {
    pub(crate) keys: Keys,
    pub(crate) tallies: Vec<Tally>,
}

/// Some rows for one measure.
pub(crate) struct Input<'a> {
    pub(crate) grouped: &'a Grouped<'a>,
    pub(crate) column: Option<&'a Column>,
    pub(crate) weight: Option<&'a Column>,
}

/// The groups of some rows.
pub(crate) struct Grouped<'a> {
    rows: usize,
    /// By slot: how many rows are in it, and the number of its group.
    slots: Option<Slots<'a>>,
    /// By row: the number of its group.
    groups: OnceCell<Vec<u32>>,
}

/// Every combination of the values of the key columns has a slot, where those are few.
struct Slots<'a> {
    of_row: Cow<'a, Codes>,
    rows: Vec<u32>,
    groups: Vec<u32>,
}

/// Slots, at most, where rows are fewer.
const SLOTS_MIN: usize = 1_024;
const SLOTS_MAX: usize = 1 << 20;

impl Groups {
    pub(crate) fn new(plan: &Plan) -> Self {
        let mut groups = Self { keys: Keys::new(&plan.key_kinds()), tallies: plan.tallies() };
        if plan.groups.is_empty() {
            // All rows are one group, even where there are none.
            groups.keys.group(&[0]);
            groups.grow();
        }
        groups
    }

    fn grow(&mut self) {
        let groups = self.keys.len();
        self.tallies.iter_mut().for_each(|tally| tally.grow(groups));
    }

    /// Takes in rows, whose columns are at the places that the plan has them.
    pub(crate) fn take(&mut self, plan: &Plan, rows: usize, columns: &[Option<Column>]) -> Result<(), AskError> {
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
        for (tally, measured) in self.tallies.iter_mut().zip(&plan.measured) {
            let spread_out = |place: Option<usize>| -> Result<Option<Spread<'_>>, AskError> {
                let Some(place) = place else { return Ok(None) };
                Ok(Some(match &spread {
                    None => Spread::Same(column(place)?),
                    Some(rows) => Spread::Taken(column(place)?.take(rows)),
                }))
            };
            let (of, weight) = (spread_out(measured.column)?, spread_out(plan.weight)?);
            let weight = weight.as_ref().map(Spread::column);
            tally.take(&Input { grouped: &grouped, column: of.as_ref().map(Spread::column), weight })?;
        }
        Ok(())
    }

    /// Counts rows of which nothing else is asked.
    pub(crate) fn count_rows(&mut self, rows: u64) {
        for tally in &mut self.tallies {
            if let Tally::Count(super::Weights::Rows(counts)) = tally {
                counts[0] += rows;
            }
        }
    }

    /// Puts values in order, so that they can be told or written.
    pub(crate) fn settle(&mut self) {
        self.tallies.iter_mut().for_each(Tally::settle);
    }

    pub(crate) fn merge(&mut self, mut other: Self) -> Result<(), AskError> {
        // The fewer are added to the more.
        if other.keys.len() > self.keys.len() {
            std::mem::swap(self, &mut other);
        }
        let map = self.keys.merge(&other.keys);
        self.grow();
        self.tallies.iter_mut().zip(other.tallies).try_for_each(|(tally, other)| tally.merge(other, &map))
    }

    pub(crate) fn memory(&self) -> usize {
        self.keys.memory() + self.tallies.iter().map(Tally::memory).sum::<usize>()
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
        let counted = with_codes!(&*of_row, codes => histogram(codes, space));
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
        /// A word without a number yet.
        const NONE: u64 = u64::MAX;
        let mut numbers: Vec<Vec<u64>> =
            parts.iter().map(|p| vec![NONE; p.words().map_or(0, Dictionary::len)]).collect();
        let mut cells = vec![0; parts.len() + 1];
        let mut last: Option<(Vec<u64>, u32)> = None;
        let mut groups = Vec::with_capacity(rows);
        for row in 0..rows {
            cells[parts.len()] = 0;
            for (place, part) in parts.iter().enumerate() {
                match part.of_row(row) {
                    Cell::Word(code, words) => {
                        let number = &mut numbers[place][code];
                        if *number == NONE {
                            *number = self.keys.code(place, words.get(code));
                        }
                        cells[place] = *number;
                    }
                    cell => self.set_cell(&mut cells, place, &cell),
                }
            }
            // Rows of a group often follow one another.
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
            Cell::Word(code, words) => self.keys.code(place, words.get(*code)),
        };
    }
}

/// A column for a measure, after rows were spread over the members of sets.
enum Spread<'a> {
    Same(&'a Column),
    Taken(Column),
}

impl Spread<'_> {
    fn column(&self) -> &Column {
        match self {
            Self::Same(column) => column,
            Self::Taken(column) => column,
        }
    }
}

/// The values of a key column, relabelled.
type Key<'a> = Cow<'a, Column>;

fn relabelled<'a>(column: &'a Column, by: &GroupBy) -> Key<'a> {
    let relabel = |words: &Dictionary| {
        let mut new = Dictionary::default();
        words.iter().for_each(|word| new.push(&by.relabel(word)));
        new
    };
    match &column.values {
        _ if by.replacements.is_empty() => Cow::Borrowed(column),
        Values::Texts { codes, words } => {
            let values = Values::Texts { codes: codes.clone(), words: relabel(words).into() };
            Cow::Owned(Column { values, valid: column.valid.clone() })
        }
        Values::Sets { ends, codes, words } => {
            // Members that become the same label are one.
            let mut coder = Coder::default();
            let new: Vec<u32> = relabel(words).iter().map(|word| coder.code(word)).collect();
            let words = coder.into_words();
            let null = words.len() as u32;
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
            let values = Values::Sets { ends: new_ends, codes: new_codes, words: words.into() };
            Cow::Owned(Column { values, valid: column.valid.clone() })
        }
        _ => Cow::Borrowed(column),
    }
}

/// Puts a row in the place of each member of its sets. Gives the row that each then comes from; `None` where there are
/// no sets.
fn spread(rows: usize, keys: &mut [Key<'_>]) -> Option<Vec<u32>> {
    let mut from: Option<Vec<u32>> = None;
    for place in 0..keys.len() {
        let Values::Sets { ends, codes, words } = &keys[place].values else { continue };
        let (words, null) = (words.clone(), words.len() as u32);
        let (mut taken, mut members) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        for row in 0..ends.len() {
            let own = &codes[range_of(ends, row)];
            if own.is_empty() {
                taken.push(row as u32);
                members.push(null);
            }
            taken.resize(taken.len() + own.len(), row as u32);
            members.extend_from_slice(own);
        }
        let space = words.len() + 1;
        let valid = members.contains(&null).then(|| members.iter().map(|code| *code != null).collect());
        for (other, key) in keys.iter_mut().enumerate() {
            if other != place {
                *key = Cow::Owned(key.take(&taken));
            }
        }
        keys[place] =
            Cow::Owned(Column { values: Values::Texts { codes: Codes::from_u32(members, space), words }, valid });
        from = Some(match from {
            None => taken,
            Some(before) => taken.iter().map(|&row| before[row as usize]).collect(),
        });
    }
    from
}

/// A value of a key column.
enum Cell<'a> {
    Null,
    Whole(i64),
    Word(usize, &'a Dictionary),
}

/// A key column, with slots for its values where those are few.
enum Part<'a> {
    Words {
        codes: &'a Codes,
        words: &'a Dictionary,
    },
    /// Whole numbers `low + slot * step`; the last slot is NULL.
    Span {
        slots: Codes,
        low: i64,
        step: i64,
        space: usize,
    },
    Wide {
        values: Cow<'a, [i64]>,
        valid: Option<&'a [bool]>,
    },
}

/// Slots of a column of whole numbers, at most.
const SPAN_MAX: u64 = 1 << 16;

fn part<'a>(key: &'a Column, by: &GroupBy) -> Part<'a> {
    let valid = key.valid.as_deref();
    match &key.values {
        Values::Texts { codes, words } => Part::Words { codes, words },
        Values::Floats(values) => Part::Wide { values: values.iter().map(|x| ordinal(*x)).collect(), valid },
        Values::Ints(values) => {
            let (step, origin) = by.bucket.map_or((1, 0), |bucket| (bucket.micros, bucket.origin()));
            span(values, valid, step, origin)
        }
        Values::Sets { ends, .. } => Part::Wide { values: vec![0; ends.len()].into(), valid },
        Values::Unread(len) => Part::Wide { values: vec![0; *len].into(), valid },
    }
}

/// Where the span begins that a value lies in.
fn floor(value: i64, step: i64, origin: i64) -> i64 {
    value.saturating_sub((value.wrapping_sub(origin)).rem_euclid(step))
}

fn span<'a>(values: &'a [i64], valid: Option<&'a [bool]>, step: i64, origin: i64) -> Part<'a> {
    let bounds = match valid {
        None => values.iter().copied().min().zip(values.iter().copied().max()),
        Some(valid) => {
            let known = || values.iter().zip(valid).filter(|(_, valid)| **valid).map(|(value, _)| *value);
            known().min().zip(known().max())
        }
    };
    let (low, high) = bounds.unwrap_or((0, 0));
    let (low, high) = (floor(low, step, origin), floor(high, step, origin));
    let wide = || {
        let floored = || values.iter().map(|v| floor(*v, step, origin)).collect();
        Part::Wide { values: if step == 1 { Cow::Borrowed(values) } else { Cow::Owned(floored()) }, valid }
    };
    let Some(slots) = high.checked_sub(low).map(|range| range as u64 / step as u64 + 1) else { return wide() };
    if slots > SPAN_MAX.min(values.len().max(SLOTS_MIN) as u64 * 2) {
        return wide();
    }
    let space = slots as usize + 1;
    let null = slots as u32;
    // Values that are NULL may lie anywhere.
    let mut codes: Vec<u32> = if step == 1 {
        values.iter().map(|v| (v.wrapping_sub(low) as u64).min(u64::from(null)) as u32).collect()
    } else {
        let (mut from, mut to, mut slot) = (low, low, 0);
        let of = |value: i64| {
            // Neighbours often lie in the same span: most values need no division.
            if value < from || value >= to {
                let steps = (value.wrapping_sub(low) as u64 / step as u64).min(u64::from(null));
                slot = steps as u32;
                from = low.wrapping_add((steps as i64).wrapping_mul(step));
                to = from.saturating_add(step);
            }
            slot
        };
        values.iter().copied().map(of).collect()
    };
    if let Some(valid) = valid {
        codes.iter_mut().zip(valid).filter(|(_, valid)| !**valid).for_each(|(code, _)| *code = null);
    }
    Part::Span { slots: Codes::U32(codes), low, step, space }
}

impl Part<'_> {
    fn space(&self) -> Option<usize> {
        match self {
            Self::Words { words, .. } => Some(words.len() + 1),
            Self::Span { space, .. } => Some(*space),
            Self::Wide { .. } => None,
        }
    }

    fn slots(&self) -> &Codes {
        const NONE: &Codes = &Codes::U8(Vec::new());
        match self {
            Self::Words { codes, .. } => codes,
            Self::Span { slots, .. } => slots,
            Self::Wide { .. } => NONE,
        }
    }

    fn words(&self) -> Option<&Dictionary> {
        match self {
            Self::Words { words, .. } => Some(words),
            _ => None,
        }
    }

    fn of_slot(&self, slot: usize) -> Cell<'_> {
        match self {
            Self::Words { words, .. } if slot < words.len() => Cell::Word(slot, words),
            Self::Span { low, step, space, .. } if slot + 1 < *space => Cell::Whole(low + slot as i64 * step),
            _ => Cell::Null,
        }
    }

    fn of_row(&self, row: usize) -> Cell<'_> {
        match self {
            Self::Words { codes, .. } => self.of_slot(codes.get(row) as usize),
            Self::Span { slots, .. } => self.of_slot(slots.get(row) as usize),
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

/// How often each code occurs.
fn histogram<C: Copy + Into<u32>>(codes: &[C], space: usize) -> Vec<u32> {
    /// Codes up to which it pays to count in four places: one that repeats then need not wait for itself.
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

impl Grouped<'_> {
    /// The number of each row's group.
    pub(super) fn groups(&self) -> &[u32] {
        self.groups.get_or_init(|| match &self.slots {
            Some(slots) => with_codes!(&*slots.of_row, codes => {
                codes.iter().map(|&code| slots.groups[code as usize]).collect()
            }),
            None => vec![0; self.rows],
        })
    }

    /// Adds the rows of each group to `counts`.
    pub(super) fn count(&self, counts: &mut [u64]) {
        match &self.slots {
            Some(slots) => {
                let seen = slots.rows.iter().zip(&slots.groups).filter(|(rows, _)| **rows > 0);
                seen.for_each(|(&rows, &group)| counts[group as usize] += u64::from(rows));
            }
            None => self.groups().iter().for_each(|&group| counts[group as usize] += 1),
        }
    }

    /// Counts the values of a column of integers by slot and value, where both are few; false where they are not.
    pub(super) fn weigh_dense(&self, column: &Column, bags: &mut [Bag]) -> bool {
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
            let bag = &mut bags[slots.groups[slot] as usize];
            let seen = counts.iter().enumerate().filter(|(_, times)| **times > 0);
            seen.for_each(|(place, &times)| bag.add((low + place as i64, u64::from(times))));
        }
        true
    }
}
