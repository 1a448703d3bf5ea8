//! The values of an expression in all worlds, as a column.

use std::ops::Range;
use std::sync::Arc;

use super::Expression;
use super::plan::{Exact, Real};
use crate::column::{Column, Narrow};

/// Worlds computed at once: their intermediate values stay in the caches.
const CHUNK: usize = 1024;

impl Expression {
    /// The expression's number in every world; 1 and 0 for a condition, also for one inside a number. `columns` are in the order of
    /// [`Expression::columns`], each with `worlds` values.
    ///
    /// Sums, differences, products, minima and maxima of stored integers and decimal constants are exact, and so is
    /// division by a constant: the column holds integers with a scale if they fit in 32 bits, else the real numbers
    /// next to the exact ones. All other numbers are computed in doubles. Division by 0 gives an infinity or NaN.
    ///
    /// Needs 16 bytes per world and 24 KB per level of nesting. Stops once `wanted` returns false; the column is then
    /// meaningless.
    pub fn values(&self, columns: &[Arc<Column>], worlds: usize, wanted: &dyn Fn() -> bool) -> Column {
        match Real::plan(&self.root, columns) {
            Real::Exact(exact) => whole(&exact, worlds, wanted),
            real => {
                let mut values = vec![0.0; worlds];
                in_chunks(&mut values, wanted, |worlds, out| real.fill(worlds, out));
                Column { values: Narrow::F64(values), scale: 1 }
            }
        }
    }
}

/// Calls `fill` with consecutive worlds and their values.
fn in_chunks<T>(values: &mut [T], wanted: &dyn Fn() -> bool, mut fill: impl FnMut(Range<usize>, &mut [T])) {
    for (number, chunk) in values.chunks_mut(CHUNK).enumerate().take_while(|_| wanted()) {
        fill(number * CHUNK..number * CHUNK + chunk.len(), chunk);
    }
}

/// Exact numbers in the narrowest type that holds them.
fn whole(exact: &Exact, worlds: usize, wanted: &dyn Fn() -> bool) -> Column {
    let mut values = vec![0i64; worlds];
    in_chunks(&mut values, wanted, |worlds, out| exact.fill(worlds, out));
    let low = values.iter().copied().min().unwrap_or(0);
    let high = values.iter().copied().max().unwrap_or(0);
    let holds = |min: i64, max: i64| low >= min && high <= max;
    let Ok(scale) = i32::try_from(exact.scale) else {
        return real_quotients(&values, exact.scale);
    };
    let values = if holds(0, u8::MAX.into()) {
        Narrow::U8(values.iter().map(|x| *x as u8).collect())
    } else if holds(i16::MIN.into(), i16::MAX.into()) {
        Narrow::I16(values.iter().map(|x| *x as i16).collect())
    } else if holds(i32::MIN.into(), i32::MAX.into()) {
        Narrow::I32(values.iter().map(|x| *x as i32).collect())
    } else {
        return real_quotients(&values, scale.into());
    };
    Column { values, scale }
}

fn real_quotients(values: &[i64], scale: i64) -> Column {
    Column { values: Narrow::F64(values.iter().map(|x| *x as f64 / scale as f64).collect()), scale: 1 }
}
