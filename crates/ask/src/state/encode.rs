//! Encodes groups as bytes.
//!
//! Numbers that are often small have variable length, and compression follows. The bytes do not contain the question,
//! so the reader supplies empty accumulators for it.

use pages::{Dictionary, varint};

use super::accumulator::{Accumulator, Sums, Weights};
use super::groups::Groups;
use super::histogram::Histogram;
use super::keys::Keys;
use super::ordered::{CountedValues, DistinctValues};
use super::real::Real;
use crate::coder::Coder;
use crate::column::Kind;

#[derive(Debug, Default)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl Bytes {
    pub(crate) fn number(&mut self, value: u64) {
        varint::push(&mut self.0, value);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn signed(&mut self, value: i64) {
        varint::push_signed(&mut self.0, value);
    }

    fn dictionary(&mut self, dictionary: &Dictionary) {
        self.number(dictionary.len() as u64);
        dictionary.iter().for_each(|word| self.text(word));
    }

    fn reals(&mut self, reals: &[Real]) {
        for real in reals {
            self.0.extend_from_slice(&real.sum.to_le_bytes());
            self.0.extend_from_slice(&real.rest.to_le_bytes());
        }
    }

    fn numbers(&mut self, numbers: &[u64]) {
        numbers.iter().for_each(|n| self.number(*n));
    }

    fn sums(&mut self, sums: &Sums) {
        match sums {
            Sums::Ints(sums) => sums.iter().for_each(|sum| self.0.extend_from_slice(&sum.to_le_bytes())),
            Sums::Reals(sums) => self.reals(sums),
        }
    }

    fn weights(&mut self, weights: &Weights) {
        match weights {
            Weights::Rows(rows) => self.numbers(rows),
            Weights::Sums(sums) => self.sums(sums),
        }
    }

    fn by_group(&mut self, by_group: &[CountedValues]) {
        for counted in by_group {
            self.number(counted.values().len() as u64);
            let mut last = 0i64;
            for &(value, times) in counted.values() {
                self.signed(value.wrapping_sub(last));
                self.number(times);
                last = value;
            }
        }
    }
}

/// Bytes to decode. Invalid bytes return `None`.
pub(crate) struct Input<'a>(pub(crate) &'a [u8]);

impl<'a> Input<'a> {
    pub(crate) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        varint::read(&mut self.0)
    }

    /// A count of items, each at least one byte long.
    fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|count| *count <= self.0.len())
    }

    pub(crate) fn text(&mut self) -> Option<&'a str> {
        let length = self.count()?;
        std::str::from_utf8(self.take(length)?).ok()
    }

    fn signed(&mut self) -> Option<i64> {
        varint::read_signed(&mut self.0)
    }

    fn coder(&mut self) -> Option<Coder> {
        let count = self.count()?;
        let mut coder = Coder::default();
        for place in 0..count {
            // Each text occurs once.
            (coder.code(self.text()?) as usize == place).then_some(())?;
        }
        Some(coder)
    }

    fn float(&mut self) -> Option<f64> {
        Some(f64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn reals(&mut self, groups: usize) -> Option<Vec<Real>> {
        (0..groups).map(|_| Some(Real { sum: self.float()?, rest: self.float()? })).collect()
    }

    fn numbers(&mut self, groups: usize) -> Option<Vec<u64>> {
        (0..groups).map(|_| self.number()).collect()
    }

    fn sums(&mut self, like: &Sums, groups: usize) -> Option<Sums> {
        Some(match like {
            Sums::Ints(_) => {
                let sums = (0..groups).map(|_| Some(i128::from_le_bytes(self.take(16)?.try_into().ok()?)));
                Sums::Ints(sums.collect::<Option<_>>()?)
            }
            Sums::Reals(_) => Sums::Reals(self.reals(groups)?),
        })
    }

    fn weights(&mut self, like: &Weights, groups: usize) -> Option<Weights> {
        Some(match like {
            Weights::Rows(_) => Weights::Rows(self.numbers(groups)?),
            Weights::Sums(sums) => Weights::Sums(self.sums(sums, groups)?),
        })
    }

    fn by_group(&mut self, groups: usize) -> Option<Vec<CountedValues>> {
        let counted = |_| {
            let count = self.count()?;
            let mut values: Vec<(i64, u64)> = Vec::with_capacity(count);
            let mut last = 0i64;
            for place in 0..count {
                let value = last.wrapping_add(self.signed()?);
                (place == 0 || value > last).then_some(())?;
                values.push((value, self.number()?));
                last = value;
            }
            Some(CountedValues::from_ordered(values))
        };
        (0..groups).map(counted).collect()
    }
}

impl Groups {
    /// Writes all groups; accumulators must be settled.
    pub(crate) fn encode(&self, out: &mut Bytes) {
        self.keys.encode(out);
        self.accumulators.iter().for_each(|accumulator| accumulator.encode(out));
    }

    /// Reads groups with the given key kinds into the given empty accumulators.
    pub(crate) fn decode(input: &mut Input<'_>, kinds: &[Kind], accumulators: Vec<Accumulator>) -> Option<Self> {
        let keys = Keys::decode(input, kinds)?;
        let groups = keys.len();
        let accumulators = accumulators.into_iter().map(|like| like.decode(input, groups)).collect::<Option<_>>()?;
        Some(Self { keys, accumulators })
    }
}

impl Keys {
    fn encode(&self, out: &mut Bytes) {
        for column in 0..self.columns() {
            if let Some(dictionary) = self.dictionary(column) {
                out.dictionary(dictionary);
            }
        }
        out.number(self.len() as u64);
        for group in 0..self.len() {
            self.cells(group).iter().for_each(|cell| out.signed(*cell as i64));
        }
    }

    fn decode(input: &mut Input<'_>, kinds: &[Kind]) -> Option<Self> {
        let mut keys = Self::new(kinds);
        for column in 0..kinds.len() {
            if keys.dictionary(column).is_some() {
                keys.set_coder(column, input.coder()?);
            }
        }
        let groups = input.count()?;
        let mut cells = vec![0; kinds.len() + 1];
        for group in 0..groups {
            for cell in &mut cells {
                *cell = input.signed()? as u64;
            }
            let nulls = cells[kinds.len()];
            (nulls < 1 << kinds.len()).then_some(())?;
            for (column, cell) in cells.iter().enumerate().take(kinds.len()) {
                let in_dictionary = keys.dictionary(column).is_none_or(|dictionary| *cell < dictionary.len() as u64);
                (in_dictionary || nulls >> column & 1 == 1).then_some(())?;
            }
            // Each group occurs once.
            (keys.group(&cells) as usize == group).then_some(())?;
        }
        Some(keys)
    }
}

impl Accumulator {
    fn encode(&self, out: &mut Bytes) {
        match self {
            Self::Count(weights) => out.weights(weights),
            Self::Sum { sums, rows } => {
                out.sums(sums);
                out.numbers(rows);
            }
            Self::Mean { sums, weights } => {
                out.sums(sums);
                out.weights(weights);
            }
            Self::Deviation { sums, squares, weights } => {
                out.reals(sums);
                out.reals(squares);
                out.weights(weights);
            }
            Self::Extreme { best, seen, .. } => {
                best.iter().for_each(|value| out.signed(*value));
                seen.iter().for_each(|seen| out.0.push(u8::from(*seen)));
            }
            Self::ExtremeText { best, .. } => {
                for word in best {
                    out.0.push(u8::from(word.is_some()));
                    out.text(word.as_deref().unwrap_or_default());
                }
            }
            Self::Distinct { cells, dictionary } => {
                if let Some(dictionary) = dictionary {
                    out.dictionary(dictionary.dictionary());
                }
                for cells in cells {
                    out.number(cells.values().len() as u64);
                    let mut last = 0;
                    for &cell in cells.values() {
                        out.number(cell.wrapping_sub(last));
                        last = cell;
                    }
                }
            }
            Self::Values(by_group) | Self::LogHistogram(by_group) => out.by_group(by_group),
            Self::Histogram(Histogram { shift, by_group }) => {
                out.signed(i64::from(*shift));
                out.by_group(by_group);
            }
        }
    }

    /// Reads the state of this empty accumulator for `groups` groups.
    fn decode(self, input: &mut Input<'_>, groups: usize) -> Option<Self> {
        let flag = |input: &mut Input<'_>| match input.take(1)? {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        };
        Some(match self {
            Self::Count(like) => Self::Count(input.weights(&like, groups)?),
            Self::Sum { sums, .. } => Self::Sum { sums: input.sums(&sums, groups)?, rows: input.numbers(groups)? },
            Self::Mean { sums, weights } => {
                Self::Mean { sums: input.sums(&sums, groups)?, weights: input.weights(&weights, groups)? }
            }
            Self::Deviation { weights, .. } => Self::Deviation {
                sums: input.reals(groups)?,
                squares: input.reals(groups)?,
                weights: input.weights(&weights, groups)?,
            },
            Self::Extreme { greatest, .. } => Self::Extreme {
                greatest,
                best: (0..groups).map(|_| input.signed()).collect::<Option<_>>()?,
                seen: (0..groups).map(|_| flag(input)).collect::<Option<_>>()?,
            },
            Self::ExtremeText { greatest, .. } => {
                let word = |_| {
                    let is_some = flag(input)?;
                    let word: Box<str> = input.text()?.into();
                    Some(is_some.then_some(word))
                };
                Self::ExtremeText { greatest, best: (0..groups).map(word).collect::<Option<_>>()? }
            }
            Self::Distinct { dictionary, .. } => {
                let dictionary = match dictionary {
                    Some(_) => Some(input.coder()?),
                    None => None,
                };
                let most = dictionary.as_ref().map(|dictionary| dictionary.dictionary().len() as u64);
                let one = |_| {
                    let count = input.count()?;
                    let mut cells: Vec<u64> = Vec::with_capacity(count);
                    for place in 0..count {
                        let last = cells.last().copied().unwrap_or(0);
                        let cell = last.wrapping_add(input.number()?);
                        ((place == 0 || cell > last) && most.is_none_or(|most| cell < most)).then_some(())?;
                        cells.push(cell);
                    }
                    Some(DistinctValues::from_ordered(cells))
                };
                let cells = (0..groups).map(one).collect::<Option<_>>()?;
                Self::Distinct { cells, dictionary }
            }
            Self::Values(_) => Self::Values(input.by_group(groups)?),
            Self::LogHistogram(_) => Self::LogHistogram(input.by_group(groups)?),
            Self::Histogram(_) => {
                let shift = i32::try_from(input.signed()?).ok().filter(|shift| (-2_000..2_000).contains(shift))?;
                Self::Histogram(Histogram { shift, by_group: input.by_group(groups)? })
            }
        })
    }
}
