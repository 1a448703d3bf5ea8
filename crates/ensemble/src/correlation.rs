//! Correlations between the outcomes of one entity over all worlds.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};

use crate::column::{Column, Narrow};
use crate::threads::{available, joined};

/// Worlds per chunk: their columns stay in the caches.
const CHUNK: usize = 2048;
/// Columns per tile; tiles below the diagonal mirror those above it.
const TILE: usize = 128;

/// The matrix of Pearson correlations; NaN for constant outcomes.
///
/// Standardises and multiplies columns in single precision, chunk by chunk, and sums chunks in double precision: the
/// error stays below 1e-5.
pub fn correlation(columns: &[impl AsRef<Column> + Sync]) -> Array2<f64> {
    let n = columns.len();
    let worlds = columns.first().map_or(0, |c| c.as_ref().len());
    let threads = available();
    let chunks: Vec<usize> = (0..worlds).step_by(CHUNK).collect();
    let mut total = Array2::<f64>::zeros((n, n));
    let moments = all_moments(columns, threads);
    std::thread::scope(|scope| {
        let (chunks, moments) = (&chunks, &moments);
        let sum = |first: usize| {
            // New memory of zeros would fault twice in each page, once for the read and once for the write, and the second
            // fault interrupts the other threads. Negative zeros are written first, and change no sum.
            let mut sum = Array2::from_elem((n, n), -0.0);
            let mut block = Array2::zeros((n, CHUNK.min(worlds)));
            for &from in chunks.iter().skip(first).step_by(threads) {
                let mut block = block.slice_mut(s![.., ..CHUNK.min(worlds - from)]);
                standardise(columns, moments, from, &mut block);
                add_products(&mut sum, &block.view());
            }
            sum
        };
        let workers: Vec<_> = (0..threads).map(|first| scope.spawn(move || sum(first))).collect();
        workers.into_iter().for_each(|worker| total += &joined(worker));
    });
    for i in 0..n {
        for j in 0..=i {
            let r = if i == j { 1.0 } else { (total[[j, i]] / worlds as f64).clamp(-1.0, 1.0) };
            let r = if moments[i].1 > 0.0 && moments[j].1 > 0.0 { r } else { f64::NAN };
            total[[i, j]] = r;
            total[[j, i]] = r;
        }
    }
    total
}

/// Evaluates an expression with a column's stored values. A column's scale does not change its correlations.
macro_rules! of_values {
    ($column:expr, $values:ident => $result:expr) => {
        match &$column.values {
            Narrow::U8($values) => $result,
            Narrow::I16($values) => $result,
            Narrow::I32($values) => $result,
            Narrow::F64($values) => $result,
        }
    };
}

/// Mean and standard deviation of each column's stored values.
fn all_moments(columns: &[impl AsRef<Column> + Sync], threads: usize) -> Vec<(f64, f64)> {
    let share = columns.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let of = |columns: &[_]| columns.iter().map(|c: &_| moments(AsRef::<Column>::as_ref(c))).collect::<Vec<_>>();
        let workers: Vec<_> = columns.chunks(share).map(|columns| scope.spawn(move || of(columns))).collect();
        workers.into_iter().flat_map(joined).collect()
    })
}

fn moments(column: &Column) -> (f64, f64) {
    fn of<T: Copy + Into<f64>>(values: &[T]) -> (f64, f64) {
        /// Sums side by side, for vector instructions.
        const LANES: usize = 16;
        let Some(first) = values.first().map(|value| (*value).into()) else { return (0.0, 0.0) };
        let (sum, squares) = pulp::Arch::new().dispatch(|| {
            let (mut sums, mut squares) = ([0.0; LANES], [0.0; LANES]);
            for chunk in values.chunks(LANES) {
                for ((value, sum), squares) in chunk.iter().zip(&mut sums).zip(&mut squares) {
                    // From the first value on, so that a constant deviates by nothing, and nothing is lost far from 0.
                    let difference = (*value).into() - first;
                    *sum += difference;
                    *squares += difference * difference;
                }
            }
            (sums.iter().sum::<f64>(), squares.iter().sum::<f64>())
        });
        let n = values.len() as f64;
        let mean = sum / n;
        (first + mean, (squares / n - mean * mean).max(0.0).sqrt())
    }
    of_values!(column, values => of(values))
}

/// Fills a row of `block` for each column, with its values from world `from` on.
fn standardise(
    columns: &[impl AsRef<Column>],
    moments: &[(f64, f64)],
    from: usize,
    block: &mut ArrayViewMut2<'_, f32>,
) {
    fn fill<T: Copy + Into<f64>>(row: &mut [f32], values: &[T], mean: f64, factor: f64) {
        pulp::Arch::new().dispatch(|| {
            for (standardised, value) in row.iter_mut().zip(values) {
                *standardised = (((*value).into() - mean) * factor) as f32;
            }
        });
    }
    let to = from + block.ncols();
    for ((mut row, column), &(mean, deviation)) in block.rows_mut().into_iter().zip(columns).zip(moments) {
        let row = row.as_slice_mut().expect("rows of a block are contiguous");
        let factor = if deviation > 0.0 { 1.0 / deviation } else { 0.0 };
        of_values!(column.as_ref(), values => fill(row, &values[from..to], mean, factor));
    }
}

/// Adds the products of all pairs of rows, on and above the diagonal tile by tile.
fn add_products(sum: &mut Array2<f64>, block: &ArrayView2<'_, f32>) {
    let n = block.nrows();
    let mut tile = Array2::<f32>::zeros((TILE, TILE));
    for i in (0..n).step_by(TILE) {
        for j in (i..n).step_by(TILE) {
            let (i_end, j_end) = ((i + TILE).min(n), (j + TILE).min(n));
            let mut part = tile.slice_mut(s![..i_end - i, ..j_end - j]);
            general_mat_mul(1.0, &block.slice(s![i..i_end, ..]), &block.slice(s![j..j_end, ..]).t(), 0.0, &mut part);
            let mut target = sum.slice_mut(s![i..i_end, j..j_end]);
            target.zip_mut_with(&part, |t, p| *t += f64::from(*p));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn the_matrix_is_that_of_the_definition() {
        let mut random = world::Stream::new(world::Seed(1), world::World(0), 0, 0);
        let worlds = 5_000;
        let mut columns: Vec<Arc<Column>> = Vec::new();
        let base: Vec<i16> = (0..worlds).map(|_| (random.normal() * 100.0) as i16).collect();
        for mix in 0..150 {
            let values =
                base.iter().map(|b| (i32::from(*b) * mix / 100) as i16 + (random.normal() * 50.0) as i16).collect();
            columns.push(Arc::new(Column { values: Narrow::I16(values), scale: 1 + mix % 3 }));
        }
        columns.push(Arc::new(Column { values: Narrow::U8(vec![7; worlds]), scale: 1 }));
        let matrix = correlation(&columns);
        for (i, j) in [(0, 0), (0, 149), (149, 0), (30, 140), (149, 148), (5, 6)] {
            let (a, b) = (&columns[i], &columns[j]);
            let mean = |c: &Column| (0..worlds).map(|w| c.value(w)).sum::<f64>() / worlds as f64;
            let (ma, mb) = (mean(a), mean(b));
            let product = |x: &Column, mx: f64, y: &Column, my: f64| -> f64 {
                (0..worlds).map(|w| (x.value(w) - mx) * (y.value(w) - my)).sum()
            };
            let expected = product(a, ma, b, mb) / (product(a, ma, a, ma) * product(b, mb, b, mb)).sqrt();
            assert!((matrix[[i, j]] - expected).abs() < 1e-5, "({i}, {j}): {} and {expected}", matrix[[i, j]]);
        }
        assert!(matrix[[150, 3]].is_nan() && matrix[[150, 150]].is_nan());
    }

    #[test]
    fn moments_are_exact_for_any_number_of_worlds_and_far_from_zero() {
        for worlds in [1_u32, 2, 15, 16, 17, 33, 1_000] {
            for offset in [0.0, 1e9, -1e15] {
                let values = (0..worlds).map(|world| offset + f64::from(world)).collect();
                let (mean, deviation) = moments(&Column { values: Narrow::F64(values), scale: 1 });
                let n = f64::from(worlds);
                assert_eq!(mean, offset + (n - 1.0) / 2.0, "{worlds} from {offset}");
                // The variance of the first n whole numbers.
                let expected = ((n * n - 1.0) / 12.0).sqrt();
                assert!((deviation - expected).abs() <= 1e-12 * expected, "{deviation} and {expected}");
            }
        }
        let constant = Column { values: Narrow::F64(vec![0.1 + 1e12; 1_001]), scale: 1 };
        assert_eq!(moments(&constant), (0.1 + 1e12, 0.0));
    }
}
