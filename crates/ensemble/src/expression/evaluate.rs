//! Evaluates an expression in every world.

use std::cmp::Ordering;
use std::sync::Arc;

use expr::Comparison;

use super::bits::bits;
use super::plan::Truth;
use super::{Expression, Node};
use crate::column::{Column, Narrow};

/// A set of worlds, one bit each, 64 per word. Bits past the last world are 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BitSet {
    words: Vec<u64>,
    length: usize,
}

impl BitSet {
    /// All of `length` worlds.
    pub fn all(length: usize) -> Self {
        let mut set = Self { words: vec![u64::MAX; length.div_ceil(64)], length };
        set.trim();
        set
    }

    /// The worlds for which `holds` returns true.
    pub fn from_fn(length: usize, mut holds: impl FnMut(usize) -> bool) -> Self {
        let mut set = Self { words: vec![0; length.div_ceil(64)], length };
        for world in 0..length {
            set.words[world / 64] |= u64::from(holds(world)) << (world % 64);
        }
        set
    }

    fn trim(&mut self) {
        if let (Some(last), used @ 1..) = (self.words.last_mut(), self.length % 64) {
            *last &= (1 << used) - 1;
        }
    }

    pub fn count(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Number of worlds, in the set or not.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are no worlds at all.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub fn contains(&self, world: usize) -> bool {
        self.words[world / 64] >> (world % 64) & 1 == 1
    }

    /// The worlds in the set, ascending.
    pub fn worlds(&self) -> impl Iterator<Item = usize> {
        (0..self.length).filter(|w| self.contains(*w))
    }

    /// Number of worlds in both sets.
    pub(crate) fn common(&self, other: &Self) -> usize {
        self.words.iter().zip(&other.words).map(|(a, b)| (a & b).count_ones() as usize).sum()
    }

    /// Adds `amount` to the amounts of the worlds in the set.
    pub(crate) fn add_to(&self, amounts: &mut [i64], amount: i64) {
        for (word, amounts) in self.words.iter().zip(amounts.chunks_mut(64)) {
            for (bit, sum) in amounts.iter_mut().enumerate() {
                // All ones for a world in the set.
                let mask = -((word >> bit & 1) as i64);
                *sum += amount & mask;
            }
        }
    }

    pub fn intersect(&mut self, other: &Self) {
        self.combine(other, |a, b| a & b);
    }

    fn combine(&mut self, other: &Self, operation: impl Fn(u64, u64) -> u64) {
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            *a = operation(*a, *b);
        }
    }

    fn complement(mut self) -> Self {
        self.words.iter_mut().for_each(|w| *w = !*w);
        self.trim();
        self
    }
}

impl Expression {
    /// The worlds in which the expression holds (a number holds if it is not 0). `columns` are in the order of
    /// [`Expression::columns`], each with `worlds` values.
    pub fn holds(&self, columns: &[Arc<Column>], worlds: usize) -> BitSet {
        self.holds_while(columns, worlds, &|| true)
    }

    /// As [`Self::holds`], but stops once `wanted` returns false; the set is then meaningless.
    pub fn holds_while(&self, columns: &[Arc<Column>], worlds: usize, wanted: &dyn Fn() -> bool) -> BitSet {
        Evaluation { columns, worlds, wanted }.holds(&self.root)
    }
}

struct Evaluation<'a> {
    columns: &'a [Arc<Column>],
    worlds: usize,
    wanted: &'a dyn Fn() -> bool,
}

impl Evaluation<'_> {
    fn holds(&self, node: &Node) -> BitSet {
        match node {
            Node::All(parts) => self.joined(parts, |a, b| a & b),
            Node::Any(parts) => self.joined(parts, |a, b| a | b),
            Node::Not(a) => self.holds(a).complement(),
            Node::Compare(comparison, a, b) => match (&**a, &**b) {
                (Node::Column(c), Node::Number(n)) => compare(&self.columns[*c], *comparison, *n),
                (Node::Number(n), Node::Column(c)) => compare(&self.columns[*c], comparison.exchanged(), *n),
                _ => self.test(node),
            },
            Node::Column(c) => compare(&self.columns[*c], Comparison::NotEqual, 0.0),
            _ => self.test(node),
        }
    }

    fn joined(&self, parts: &[Node], operation: impl Fn(u64, u64) -> u64) -> BitSet {
        let mut parts = parts.iter().take_while(|_| (self.wanted)()).map(|part| self.holds(part));
        let mut set = parts.next().unwrap_or_else(|| BitSet::all(self.worlds));
        parts.for_each(|part| set.combine(&part, &operation));
        set
    }

    /// Tests 64 worlds at a time.
    fn test(&self, node: &Node) -> BitSet {
        let truth = Truth::plan(node, self.columns);
        let mut set = BitSet { words: vec![0; self.worlds.div_ceil(64)], length: self.worlds };
        for (place, word) in set.words.iter_mut().enumerate().take_while(|_| (self.wanted)()) {
            let worlds = 64 * place..self.worlds.min(64 * (place + 1));
            let mut holds = [false; 64];
            let holds = &mut holds[..worlds.len()];
            truth.fill(worlds, holds);
            *word = holds.iter().enumerate().fold(0, |word, (i, holds)| word | u64::from(*holds) << i);
        }
        set
    }
}

fn holds(comparison: Comparison, a: f64, b: f64) -> bool {
    comparison.holds(expr::order(a, b))
}

/// A number in a column's integers: an integer only if a value of the column is the same double as the number. The
/// product alone may be rounded to an integer, or away from one: 0.29 * 100 is 28.999999999999996.
fn bound(number: f64, scale: i32) -> f64 {
    let scale = f64::from(scale);
    let nearest = (number * scale).round();
    match number.partial_cmp(&(nearest / scale)) {
        Some(Ordering::Equal) => nearest,
        Some(Ordering::Greater) => nearest + 0.25,
        Some(Ordering::Less) => nearest - 0.25,
        None => number * scale,
    }
}

/// Compares a column with a number: for integers a range test, 64 worlds per word.
fn compare(column: &Column, comparison: Comparison, number: f64) -> BitSet {
    let bound = bound(number, column.scale);
    let (low, high) = match comparison {
        Comparison::Less => (f64::NEG_INFINITY, bound.ceil() - 1.0),
        Comparison::LessOrEqual => (f64::NEG_INFINITY, bound.floor()),
        Comparison::Greater => (bound.floor() + 1.0, f64::INFINITY),
        Comparison::GreaterOrEqual => (bound.ceil(), f64::INFINITY),
        Comparison::Equal | Comparison::NotEqual => (bound.ceil(), bound.floor()),
    };
    let set = match &column.values {
        Narrow::U8(v) => {
            in_range(v, low.max(0.0), high.min(255.0), |x, low, width| x.wrapping_sub(low as u8) <= width as u8)
        }
        Narrow::I16(v) => in_range(v, low.max(-32_768.0), high.min(32_767.0), |x, low, width| {
            x.wrapping_sub(low as i16) as u16 <= width as u16
        }),
        Narrow::I32(v) => in_range(v, low.max(-2_147_483_648.0), high.min(2_147_483_647.0), |x, low, width| {
            x.wrapping_sub(low as i32) as u32 <= width as u32
        }),
        Narrow::F64(v) => {
            return BitSet { words: bits(v, |value| holds(comparison, value, number)), length: v.len() };
        }
    };
    if comparison == Comparison::NotEqual { set.complement() } else { set }
}

/// The worlds with values from `low` to `high`; `test` gets the value, `low` and the range's width.
#[inline]
fn in_range<T: Copy>(values: &[T], low: f64, high: f64, test: impl Fn(T, i64, u64) -> bool) -> BitSet {
    if low > high {
        return BitSet { words: vec![0; values.len().div_ceil(64)], length: values.len() };
    }
    let (low, width) = (low as i64, (high - low) as u64);
    BitSet { words: bits(values, |value| test(value, low, width)), length: values.len() }
}
