//! Evaluates conditions over rows.

use std::cmp::Ordering;

use expr::{Comparison, Operator};

use super::bind::{Cond, Leaf, Number, Test};
use pages::{Codes, Dictionary, with_codes};

use crate::column::{Column, Values, ordinal, range_of};
use crate::error::AskError;

/// Rows that load their columns on demand.
pub(crate) trait Rows {
    fn rows(&self) -> usize;
    fn column(&mut self, column: usize) -> Result<&Column, AskError>;
}

impl Cond {
    /// For each row, whether the condition is true.
    pub(crate) fn mask(&self, rows: &mut impl Rows) -> Result<Vec<bool>, AskError> {
        match self {
            Self::All(parts) => {
                let mut all = vec![true; rows.rows()];
                for part in parts {
                    if !all.contains(&true) {
                        break;
                    }
                    all.iter_mut().zip(part.mask(rows)?).for_each(|(all, part)| *all &= part);
                }
                Ok(all)
            }
            Self::Any(parts) => {
                let mut any = vec![false; rows.rows()];
                for part in parts {
                    any.iter_mut().zip(part.mask(rows)?).for_each(|(any, part)| *any |= part);
                }
                Ok(any)
            }
            Self::Constant(value) => Ok(vec![*value; rows.rows()]),
            Self::Leaf(leaf) => Ok(leaf.mask(rows.column(leaf.column)?)),
            Self::Numbers { left, comparison, right } => {
                let (left, right) = (left.evaluate(rows)?, right.evaluate(rows)?);
                Ok(compare_numbers(&left, *comparison, &right))
            }
            Self::Texts { left, comparison, right } => {
                let left = rows.column(*left)?.clone();
                let right = rows.column(*right)?;
                let holds = |row: usize| match (text_at(&left, row), text_at(right, row)) {
                    (Some(a), Some(b)) => comparison.holds(a.cmp(b)),
                    _ => false,
                };
                Ok((0..left.len()).map(holds).collect())
            }
        }
    }
}

fn text_at(column: &Column, row: usize) -> Option<&str> {
    let Values::Texts { codes, dictionary } = &column.values else { return None };
    let code = codes.get(row) as usize;
    (code < dictionary.len() && column.is_valid(row)).then(|| dictionary.get(code))
}

impl Leaf {
    fn mask(&self, column: &Column) -> Vec<bool> {
        if matches!(self.test, Test::Null) {
            return (0..column.len()).map(|row| column.is_valid(row) == self.negated).collect();
        }
        let mut mask = match &column.values {
            Values::Ints(values) => self.ints(values),
            Values::Floats(values) => self.floats(values),
            Values::Texts { codes, dictionary } => self.texts(codes, dictionary),
            Values::Sets { ends, codes, dictionary } => self.members(ends, codes, dictionary),
            Values::Unread(len) => vec![false; *len],
        };
        if let Some(valid) = &column.valid {
            mask.iter_mut().zip(valid).for_each(|(mask, valid)| *mask &= valid);
        }
        mask
    }

    fn ints(&self, values: &[i64]) -> Vec<bool> {
        let Test::Ints(ranges) = &self.test else { return vec![false; values.len()] };
        match ranges[..] {
            [] => vec![self.negated; values.len()],
            [(low, high)] => {
                // One comparison tests both bounds: values below `low` wrap around to large numbers.
                let width = high.wrapping_sub(low) as u64;
                let inside = |v: &i64| (v.wrapping_sub(low) as u64 <= width) != self.negated;
                values.iter().map(inside).collect()
            }
            _ => {
                let inside = |v: &i64| {
                    let place = ranges.partition_point(|(low, _)| low <= v);
                    (place > 0 && *v <= ranges[place - 1].1) != self.negated
                };
                values.iter().map(inside).collect()
            }
        }
    }

    fn floats(&self, values: &[f64]) -> Vec<bool> {
        match &self.test {
            Test::Float(comparison, value) => {
                let value = ordinal(*value);
                values.iter().map(|x| comparison.holds(ordinal(*x).cmp(&value)) != self.negated).collect()
            }
            Test::FloatIn(list) => {
                let list: Vec<i64> = list.iter().map(|x| ordinal(*x)).collect();
                values.iter().map(|x| list.contains(&ordinal(*x)) != self.negated).collect()
            }
            _ => vec![false; values.len()],
        }
    }

    /// Tests each distinct value once.
    fn texts(&self, codes: &Codes, dictionary: &Dictionary) -> Vec<bool> {
        let passes = |word: &str| {
            let passed = match &self.test {
                Test::Text(comparison, value) => comparison.holds(word.cmp(value)),
                Test::TextIn(list) => list.contains(word),
                Test::Match(regex) => regex.is_match(word),
                _ => return false,
            };
            passed != self.negated
        };
        let mut passed: Vec<bool> = dictionary.iter().map(passes).collect();
        // NULL.
        passed.push(false);
        with_codes!(codes, codes => codes.iter().map(|&code| passed[code as usize]).collect())
    }

    fn members(&self, ends: &[u32], codes: &[u32], dictionary: &Dictionary) -> Vec<bool> {
        let Test::Has(member) = &self.test else { return vec![false; ends.len()] };
        let is_it: Vec<bool> = dictionary.iter().map(|word| word == member).chain([false]).collect();
        let has = |row: usize| codes[range_of(ends, row)].iter().any(|&code| is_it[code as usize]);
        (0..ends.len()).map(|row| has(row) != self.negated).collect()
    }
}

/// One number per row; values of invalid rows are unspecified.
struct Numbers {
    values: NumberValues,
    valid: Option<Vec<bool>>,
}

enum NumberValues {
    Ints(Vec<i128>),
    Reals(Vec<f64>),
}

impl Number {
    fn evaluate(&self, rows: &mut impl Rows) -> Result<Numbers, AskError> {
        let len = rows.rows();
        Ok(match self {
            Self::Column(column) => {
                let column = rows.column(*column)?;
                let values = match &column.values {
                    Values::Ints(values) => NumberValues::Ints(values.iter().map(|&v| i128::from(v)).collect()),
                    Values::Floats(values) => NumberValues::Reals(values.clone()),
                    _ => NumberValues::Reals(vec![f64::NAN; len]),
                };
                Numbers { values, valid: column.valid.clone() }
            }
            Self::Int(value) => Numbers { values: NumberValues::Ints(vec![i128::from(*value); len]), valid: None },
            Self::Real(value) => Numbers { values: NumberValues::Reals(vec![*value; len]), valid: None },
            Self::Negative(inner) => inner.evaluate(rows)?.each(|v| -v, |v| -v),
            Self::Absolute(inner) => inner.evaluate(rows)?.each(i128::abs, f64::abs),
            Self::Chain(first, rest) => {
                let mut left = first.evaluate(rows)?;
                for (operator, right) in rest {
                    let right = right.evaluate(rows)?;
                    left = match operator {
                        Operator::Min => left.chosen(right, Ordering::is_le),
                        Operator::Max => left.chosen(right, Ordering::is_ge),
                        _ => {
                            let valid = both(left.valid, right.valid);
                            let values = apply(left.values, *operator, right.values, valid.as_deref())?;
                            Numbers { values, valid }
                        }
                    };
                }
                left
            }
        })
    }
}

impl Numbers {
    fn each(self, of_ints: impl Fn(i128) -> i128, of_reals: impl Fn(f64) -> f64) -> Self {
        let values = match self.values {
            NumberValues::Ints(values) => NumberValues::Ints(values.into_iter().map(of_ints).collect()),
            NumberValues::Reals(values) => NumberValues::Reals(values.into_iter().map(of_reals).collect()),
        };
        Self { values, valid: self.valid }
    }

    fn is_valid(&self, row: usize) -> bool {
        self.valid.as_ref().is_none_or(|valid| valid[row])
    }

    /// Chooses each row's number if its order to the `other` one satisfies `is_it`, otherwise the other number. Like
    /// `least` and `greatest` in SQL, it is NULL only if both are.
    fn chosen(self, other: Self, is_it: fn(Ordering) -> bool) -> Self {
        let chosen = |row: usize| match (self.is_valid(row), other.is_valid(row)) {
            (true, true) => is_it(self.values.order(&other.values, row)),
            (valid, _) => valid,
        };
        let chosen: Vec<bool> = (0..self.values.len()).map(chosen).collect();
        let valid = (0..chosen.len()).map(|row| self.is_valid(row) || other.is_valid(row)).collect();
        let pick = |row: usize| chosen[row];
        let values = match (self.values, other.values) {
            (NumberValues::Ints(a), NumberValues::Ints(b)) => NumberValues::Ints(picked(&a, &b, pick)),
            (a, b) => NumberValues::Reals(picked(&a.into_reals(), &b.into_reals(), pick)),
        };
        Self { values, valid: Some(valid) }
    }
}

fn picked<T: Copy>(a: &[T], b: &[T], pick: impl Fn(usize) -> bool) -> Vec<T> {
    a.iter().zip(b).enumerate().map(|(row, (a, b))| if pick(row) { *a } else { *b }).collect()
}

fn both(a: Option<Vec<bool>>, b: Option<Vec<bool>>) -> Option<Vec<bool>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.into_iter().zip(b).map(|(a, b)| a && b).collect()),
        (a, b) => a.or(b),
    }
}

impl NumberValues {
    fn len(&self) -> usize {
        match self {
            Self::Ints(values) => values.len(),
            Self::Reals(values) => values.len(),
        }
    }

    fn order(&self, other: &Self, row: usize) -> Ordering {
        match (self, other) {
            (Self::Ints(a), Self::Ints(b)) => a[row].cmp(&b[row]),
            (Self::Reals(a), Self::Reals(b)) => ordinal(a[row]).cmp(&ordinal(b[row])),
            (Self::Ints(a), Self::Reals(b)) => ordinal(a[row] as f64).cmp(&ordinal(b[row])),
            (Self::Reals(a), Self::Ints(b)) => ordinal(a[row]).cmp(&ordinal(b[row] as f64)),
        }
    }

    fn into_reals(self) -> Vec<f64> {
        match self {
            Self::Ints(values) => values.into_iter().map(|v| v as f64).collect(),
            Self::Reals(values) => values,
        }
    }
}

fn apply(
    left: NumberValues,
    operator: Operator,
    right: NumberValues,
    valid: Option<&[bool]>,
) -> Result<NumberValues, AskError> {
    let (left, right) = match (left, right, operator) {
        (NumberValues::Ints(a), NumberValues::Ints(b), Operator::Add | Operator::Subtract | Operator::Multiply) => {
            let one = |(row, (a, b)): (usize, (i128, i128))| {
                let result = match operator {
                    Operator::Add => a.checked_add(b),
                    Operator::Subtract => a.checked_sub(b),
                    _ => a.checked_mul(b),
                };
                // Values of NULL rows are unspecified, so their overflow does not count.
                let is_null = valid.is_some_and(|valid| !valid[row]);
                result
                    .or(is_null.then_some(0))
                    .ok_or(AskError::Overflow { what: "arithmetic in a condition".to_owned() })
            };
            let values = a.into_iter().zip(b).enumerate().map(one).collect::<Result<_, _>>()?;
            return Ok(NumberValues::Ints(values));
        }
        (left, right, _) => (left.into_reals(), right.into_reals()),
    };
    let one = |(a, b)| operator.of(a, b);
    Ok(NumberValues::Reals(left.into_iter().zip(right).map(one).collect()))
}

fn compare_numbers(left: &Numbers, comparison: Comparison, right: &Numbers) -> Vec<bool> {
    let holds = |row: usize| comparison.holds(left.values.order(&right.values, row));
    (0..left.values.len()).map(|row| left.is_valid(row) && right.is_valid(row) && holds(row)).collect()
}
