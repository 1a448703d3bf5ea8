//! Accumulators of measures, per group.

use super::grouped::{Grouped, Input, each};
use super::histogram::{Histogram, power_of};
use super::ordered::{CountedValues, DistinctValues};
use super::real::Real;
use crate::coder::Coder;
use crate::column::{Column, Kind, Values, ordinal};
use crate::error::AskError;
use crate::question::Measure;

/// One sum per group.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Sums {
    Ints(Vec<i128>),
    Reals(Vec<Real>),
}

/// The weight of the rows of each group.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Weights {
    /// One per row.
    Rows(Vec<u64>),
    Sums(Sums),
}

/// The accumulators of one measure, one per group.
#[derive(Debug, Clone)]
pub(crate) enum Accumulator {
    Count(Weights),
    /// Sums, and their numbers of rows: a sum of no rows is NULL.
    Sum {
        sums: Sums,
        rows: Vec<u64>,
    },
    Mean {
        sums: Sums,
        weights: Weights,
    },
    Deviation {
        sums: Vec<Real>,
        squares: Vec<Real>,
        weights: Weights,
    },
    /// The least or greatest value, as an ordinal.
    Extreme {
        greatest: bool,
        best: Vec<i64>,
        seen: Vec<bool>,
    },
    ExtremeText {
        greatest: bool,
        best: Vec<Option<Box<str>>>,
    },
    Distinct {
        cells: Vec<DistinctValues>,
        dictionary: Option<Coder>,
    },
    /// All values, as ordinals.
    Values(Vec<CountedValues>),
    Histogram(Histogram),
    /// Values between powers of two.
    LogHistogram(Vec<CountedValues>),
}

impl Sums {
    pub(crate) fn new(real: bool) -> Self {
        if real { Self::Reals(Vec::new()) } else { Self::Ints(Vec::new()) }
    }

    fn grow(&mut self, groups: usize) {
        match self {
            Self::Ints(sums) => sums.resize(groups, 0),
            Self::Reals(sums) => sums.resize(groups, Real::default()),
        }
    }

    fn merge(&mut self, other: &Self, map: &[u32], what: &str) -> Result<(), AskError> {
        match (self, other) {
            (Self::Ints(sums), Self::Ints(other)) => {
                for (sum, &group) in other.iter().zip(map) {
                    add(&mut sums[group as usize], *sum, what)?;
                }
            }
            (Self::Reals(sums), Self::Reals(other)) => {
                other.iter().zip(map).for_each(|(sum, &group)| sums[group as usize].merge(*sum));
            }
            _ => return Err(unlike()),
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        match self {
            Self::Ints(sums) => sums.capacity() * size_of::<i128>(),
            Self::Reals(sums) => sums.capacity() * size_of::<Real>(),
        }
    }

    pub(crate) fn real(&self, group: usize) -> f64 {
        match self {
            Self::Ints(sums) => sums[group] as f64,
            Self::Reals(sums) => sums[group].value(),
        }
    }
}

pub(super) fn add(sum: &mut i128, more: i128, what: &str) -> Result<(), AskError> {
    *sum = sum.checked_add(more).ok_or_else(|| AskError::Overflow { what: what.to_owned() })?;
    Ok(())
}

fn unlike() -> AskError {
    AskError::invalid("cannot merge partial answers to different questions")
}

impl Weights {
    pub(crate) fn new(weight: Option<Kind>) -> Self {
        match weight {
            None => Self::Rows(Vec::new()),
            Some(kind) => Self::Sums(Sums::new(kind == Kind::Float)),
        }
    }

    fn grow(&mut self, groups: usize) {
        match self {
            Self::Rows(rows) => rows.resize(groups, 0),
            Self::Sums(sums) => sums.grow(groups),
        }
    }

    fn merge(&mut self, other: &Self, map: &[u32]) -> Result<(), AskError> {
        match (self, other) {
            (Self::Rows(rows), Self::Rows(other)) => {
                add_rows(rows, other, map);
                Ok(())
            }
            (Self::Sums(sums), Self::Sums(other)) => sums.merge(other, map, "the sum of weights"),
            _ => Err(unlike()),
        }
    }

    fn memory(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.capacity() * size_of::<u64>(),
            Self::Sums(sums) => sums.memory(),
        }
    }

    pub(crate) fn real(&self, group: usize) -> f64 {
        match self {
            Self::Rows(rows) => rows[group] as f64,
            Self::Sums(sums) => sums.real(group),
        }
    }
}

fn add_rows(rows: &mut [u64], other: &[u64], map: &[u32]) {
    other.iter().zip(map).for_each(|(more, &group)| rows[group as usize] += more);
}

impl Accumulator {
    /// An accumulator without groups.
    pub(crate) fn new(measure: &Measure, kind: Option<Kind>, weight: Option<Kind>) -> Self {
        let is_real = kind == Some(Kind::Float);
        let sums = || Sums::new(is_real || weight == Some(Kind::Float));
        let greatest = matches!(measure, Measure::Greatest(_));
        match measure {
            Measure::Count => Self::Count(Weights::new(weight)),
            Measure::Average(_) => Self::Mean { sums: sums(), weights: Weights::new(weight) },
            Measure::Sum(_) => Self::Sum { sums: sums(), rows: Vec::new() },
            Measure::Least(_) | Measure::Greatest(_) if kind == Some(Kind::Text) => {
                Self::ExtremeText { greatest, best: Vec::new() }
            }
            Measure::Least(_) | Measure::Greatest(_) => Self::Extreme { greatest, best: Vec::new(), seen: Vec::new() },
            Measure::Deviation(_) => {
                Self::Deviation { sums: Vec::new(), squares: Vec::new(), weights: Weights::new(weight) }
            }
            Measure::Distinct(_) => {
                Self::Distinct { cells: Vec::new(), dictionary: (kind == Some(Kind::Text)).then(Coder::default) }
            }
            Measure::Quantiles(..) => Self::Values(Vec::new()),
            Measure::Histogram(_) => Self::Histogram(Histogram::new(is_real)),
            Measure::LogHistogram(_) => Self::LogHistogram(Vec::new()),
        }
    }

    /// Adds empty groups up to `groups`.
    pub(crate) fn grow(&mut self, groups: usize) {
        match self {
            Self::Count(weights) => weights.grow(groups),
            Self::Sum { sums, rows } => {
                sums.grow(groups);
                rows.resize(groups, 0);
            }
            Self::Mean { sums, weights } => {
                sums.grow(groups);
                weights.grow(groups);
            }
            Self::Deviation { sums, squares, weights } => {
                sums.resize(groups, Real::default());
                squares.resize(groups, Real::default());
                weights.grow(groups);
            }
            Self::Extreme { best, seen, .. } => {
                best.resize(groups, 0);
                seen.resize(groups, false);
            }
            Self::ExtremeText { best, .. } => best.resize(groups, None),
            Self::Distinct { cells, .. } => cells.resize(groups, DistinctValues::default()),
            Self::Values(by_group) | Self::LogHistogram(by_group) | Self::Histogram(Histogram { by_group, .. }) => {
                by_group.resize(groups, CountedValues::default());
            }
        }
    }

    /// Merges another accumulator; `map` translates its group numbers to the numbers here.
    pub(crate) fn merge(&mut self, other: Self, map: &[u32]) -> Result<(), AskError> {
        match (self, other) {
            (Self::Count(weights), Self::Count(other)) => weights.merge(&other, map)?,
            (Self::Sum { sums, rows }, Self::Sum { sums: other, rows: more }) => {
                sums.merge(&other, map, "a sum")?;
                add_rows(rows, &more, map);
            }
            (Self::Mean { sums, weights }, Self::Mean { sums: other, weights: more }) => {
                sums.merge(&other, map, "a sum")?;
                weights.merge(&more, map)?;
            }
            (
                Self::Deviation { sums, squares, weights },
                Self::Deviation { sums: other, squares: other_squares, weights: more },
            ) => {
                other.iter().zip(map).for_each(|(sum, &group)| sums[group as usize].merge(*sum));
                other_squares.iter().zip(map).for_each(|(sum, &group)| squares[group as usize].merge(*sum));
                weights.merge(&more, map)?;
            }
            (Self::Extreme { greatest, best, seen }, Self::Extreme { best: other, seen: more, .. }) => {
                for ((value, seen_there), &group) in other.into_iter().zip(more).zip(map) {
                    if seen_there {
                        keep(*greatest, &mut best[group as usize], &mut seen[group as usize], value);
                    }
                }
            }
            (Self::ExtremeText { greatest, best }, Self::ExtremeText { best: other, .. }) => {
                for (word, &group) in other.into_iter().zip(map) {
                    if let Some(word) = word {
                        keep_word(*greatest, &mut best[group as usize], &word);
                    }
                }
            }
            (Self::Distinct { cells, dictionary }, Self::Distinct { cells: other, dictionary: more }) => {
                let renamed: Option<Vec<u64>> = match (dictionary, more) {
                    (Some(dictionary), Some(more)) => {
                        Some(more.dictionary().iter().map(|word| u64::from(dictionary.code(word))).collect())
                    }
                    _ => None,
                };
                for (more, &group) in other.into_iter().zip(map) {
                    let here = &mut cells[group as usize];
                    match &renamed {
                        None => here.merge(more),
                        Some(renamed) => {
                            let mut more = more;
                            more.settle();
                            more.values().iter().for_each(|&cell| here.add(renamed[cell as usize]));
                        }
                    }
                }
            }
            (Self::Values(by_group), Self::Values(other))
            | (Self::LogHistogram(by_group), Self::LogHistogram(other)) => {
                other.into_iter().zip(map).for_each(|(counted, &group)| by_group[group as usize].merge(counted));
            }
            (Self::Histogram(histogram), Self::Histogram(other)) => histogram.merge(other, map),
            _ => return Err(unlike()),
        }
        Ok(())
    }

    pub(crate) fn memory(&self) -> usize {
        match self {
            Self::Count(weights) => weights.memory(),
            Self::Sum { sums, rows } => sums.memory() + rows.capacity() * size_of::<u64>(),
            Self::Mean { sums, weights } => sums.memory() + weights.memory(),
            Self::Deviation { sums, squares, weights } => {
                (sums.capacity() + squares.capacity()) * size_of::<Real>() + weights.memory()
            }
            Self::Extreme { best, seen, .. } => best.capacity() * size_of::<i64>() + seen.capacity(),
            Self::ExtremeText { best, .. } => {
                let words = best.iter().flatten().map(|word| word.len()).sum::<usize>();
                best.capacity() * size_of::<Option<Box<str>>>() + words
            }
            Self::Distinct { cells, dictionary } => {
                let own = cells.capacity() * size_of::<DistinctValues>() + dictionary.as_ref().map_or(0, Coder::memory);
                own + cells.iter().map(DistinctValues::memory).sum::<usize>()
            }
            Self::Values(by_group) | Self::LogHistogram(by_group) | Self::Histogram(Histogram { by_group, .. }) => {
                by_group.capacity() * size_of::<CountedValues>()
                    + by_group.iter().map(CountedValues::memory).sum::<usize>()
            }
        }
    }

    /// Sorts pending values, so that they are readable.
    pub(crate) fn settle(&mut self) {
        match self {
            Self::Distinct { cells, .. } => cells.iter_mut().for_each(DistinctValues::settle),
            Self::Values(by_group) | Self::LogHistogram(by_group) | Self::Histogram(Histogram { by_group, .. }) => {
                by_group.iter_mut().for_each(CountedValues::settle);
            }
            _ => {}
        }
    }

    pub(crate) fn update(&mut self, input: &Input<'_>) -> Result<(), AskError> {
        match (self, input.column, input.weight) {
            (Self::Count(Weights::Rows(rows)), ..) => input.grouped.count(rows),
            (Self::Count(Weights::Sums(sums)), _, Some(weight)) => {
                add_all(sums, weight, None, input.grouped, &mut |_| {})?;
            }
            (Self::Sum { sums, rows }, Some(column), weight) => {
                add_all(sums, column, weight, input.grouped, &mut |group| rows[group] += 1)?;
            }
            (Self::Mean { sums, weights: Weights::Rows(rows) }, Some(column), None) => {
                add_all(sums, column, None, input.grouped, &mut |group| rows[group] += 1)?;
            }
            (Self::Mean { sums, weights: Weights::Sums(weights) }, Some(column), Some(weight)) => {
                add_all(sums, column, Some(weight), input.grouped, &mut |_| {})?;
                add_all(weights, &masked(weight, column), None, input.grouped, &mut |_| {})?;
            }
            (Self::Deviation { sums, squares, weights }, Some(column), weight) => {
                deviate(sums, squares, column, weight, input.grouped);
                match (weights, weight) {
                    (Weights::Rows(rows), _) => each(column, input.grouped, |_, group| rows[group] += 1),
                    (Weights::Sums(sums), Some(weight)) => {
                        add_all(sums, &masked(weight, column), None, input.grouped, &mut |_| {})?;
                    }
                    _ => return Err(unlike()),
                }
            }
            (Self::Extreme { greatest, best, seen }, Some(column), _) => {
                let value = ordinals(column);
                each(column, input.grouped, |row, group| {
                    keep(*greatest, &mut best[group], &mut seen[group], value(row));
                });
            }
            (Self::ExtremeText { greatest, best }, Some(column), _) => {
                if let Values::Texts { codes, dictionary } = &column.values {
                    each(column, input.grouped, |row, group| {
                        keep_word(*greatest, &mut best[group], dictionary.get(codes.get(row) as usize));
                    });
                }
            }
            (Self::Distinct { cells, dictionary }, Some(column), _) => {
                distinct(cells, dictionary.as_mut(), column, input.grouped);
            }
            (Self::Values(by_group), Some(column), _) => {
                if !input.grouped.weigh_dense(column, by_group) {
                    let value = ordinals(column);
                    each(column, input.grouped, |row, group| by_group[group].add((value(row), 1)));
                }
            }
            (Self::LogHistogram(by_group), Some(column), _) => {
                each(column, input.grouped, |row, group| by_group[group].add((power_of(column, row), 1)));
            }
            (Self::Histogram(histogram), Some(column), _) => histogram.update(column, input.grouped),
            _ => return Err(unlike()),
        }
        Ok(())
    }
}

fn keep(greatest: bool, best: &mut i64, seen: &mut bool, value: i64) {
    if !*seen || (greatest && value > *best) || (!greatest && value < *best) {
        *best = value;
        *seen = true;
    }
}

fn keep_word(greatest: bool, best: &mut Option<Box<str>>, word: &str) {
    let better = best.as_deref().is_none_or(|best| if greatest { word > best } else { word < best });
    if better {
        *best = Some(word.into());
    }
}

/// The values of a numeric column as integers of the same order.
fn ordinals(column: &Column) -> impl Fn(usize) -> i64 + '_ {
    move |row| match &column.values {
        Values::Ints(values) => values[row],
        Values::Floats(values) => ordinal(values[row]),
        _ => 0,
    }
}

/// Adds the values of a column, times their weight if any; calls `also` with each value and its group.
fn add_all(
    sums: &mut Sums,
    column: &Column,
    weight: Option<&Column>,
    grouped: &Grouped<'_>,
    also: &mut impl FnMut(usize),
) -> Result<(), AskError> {
    let mut failed = None;
    match (sums, &column.values, weight.map(|weight| (weight, &weight.values))) {
        (Sums::Ints(sums), Values::Ints(values), None) => each(column, grouped, |row, group| {
            sums[group] += i128::from(values[row]);
            also(group);
        }),
        (Sums::Reals(sums), Values::Floats(values), None) => each(column, grouped, |row, group| {
            sums[group].add(values[row]);
            also(group);
        }),
        (Sums::Ints(sums), Values::Ints(values), Some((weight, Values::Ints(weights)))) => {
            each(column, grouped, |row, group| {
                if weight.is_valid(row) {
                    let product = i128::from(values[row]) * i128::from(weights[row]);
                    failed = failed.take().or(add(&mut sums[group], product, "a weighted sum").err());
                    also(group);
                }
            });
        }
        (Sums::Reals(sums), values, Some((weight, weights))) => each(column, grouped, |row, group| {
            if weight.is_valid(row) {
                sums[group].add_product(real(values, row), real(weights, row));
                also(group);
            }
        }),
        _ => return Err(unlike()),
    }
    failed.map_or(Ok(()), Err)
}

/// The column, with NULL where `by` is NULL too.
fn masked(column: &Column, by: &Column) -> Column {
    let valid = match (&column.valid, &by.valid) {
        (Some(a), Some(b)) => Some(a.iter().zip(b).map(|(a, b)| *a && *b).collect()),
        (a, b) => a.clone().or_else(|| b.clone()),
    };
    Column { values: column.values.clone(), valid }
}

fn real(values: &Values, row: usize) -> f64 {
    match values {
        Values::Ints(values) => values[row] as f64,
        Values::Floats(values) => values[row],
        _ => 0.0,
    }
}

fn deviate(sums: &mut [Real], squares: &mut [Real], column: &Column, weight: Option<&Column>, grouped: &Grouped<'_>) {
    each(column, grouped, |row, group| {
        let x = real(&column.values, row);
        match weight {
            None => {
                sums[group].add(x);
                squares[group].add_product(x, x);
            }
            Some(weight) if weight.is_valid(row) => {
                let w = real(&weight.values, row);
                sums[group].add_product(w, x);
                let square = x * x;
                squares[group].add_product(w, square);
                squares[group].add_product(w, x.mul_add(x, -square));
            }
            Some(_) => {}
        }
    });
}

fn distinct(cells: &mut [DistinctValues], dictionary: Option<&mut Coder>, column: &Column, grouped: &Grouped<'_>) {
    if let (Values::Texts { codes, dictionary }, Some(coder)) = (&column.values, dictionary) {
        let numbers: Vec<u64> = dictionary.iter().map(|word| u64::from(coder.code(word))).collect();
        // Dictionaries may repeat a text; equal texts share a code.
        each(column, grouped, |row, group| cells[group].add(numbers[codes.get(row) as usize]));
    } else {
        let value = ordinals(column);
        each(column, grouped, |row, group| cells[group].add(value(row) as u64));
    }
}
