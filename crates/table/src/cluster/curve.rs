//! Curves through a cube of cells.
//!
//! A cell is a number: its highest bits are the coordinate in the first dimension, and so on. All dimensions have the
//! same number of coordinates, a power of two.

use crate::layout::Curve;

/// A cube of cells: each dimension has 2^`bits` coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cube {
    pub dimensions: u32,
    pub bits: u32,
}

impl Cube {
    /// The number of cells. A cube has at most 32 bits.
    pub(crate) fn cells(self) -> u64 {
        1 << (self.dimensions * self.bits)
    }

    /// The cell at position `at` of a curve.
    pub(crate) fn cell(self, curve: Curve, at: u64) -> u64 {
        match curve {
            Curve::Lexical => at,
            Curve::ZOrder => self.join(&self.untwine(at)),
            Curve::Hilbert => self.join(&self.hilbert(at)),
        }
    }

    /// Splits a number whose bits cycle through the dimensions, highest first, into coordinates.
    fn untwine(self, at: u64) -> [u32; 32] {
        let mut places = [0; 32];
        for level in 0..self.bits {
            for d in 0..self.dimensions {
                let bit = at >> (level * self.dimensions + (self.dimensions - 1 - d)) & 1;
                places[d as usize] |= (bit as u32) << level;
            }
        }
        places
    }

    /// John Skilling, "Programming the Hilbert curve" (2004): undoes the Gray code of the transposed number, then the
    /// rotations and reflections of each level.
    fn hilbert(self, at: u64) -> [u32; 32] {
        let n = self.dimensions as usize;
        let mut x = self.untwine(at);
        if self.bits == 0 || n == 0 {
            return x;
        }
        let carried = x[n - 1] >> 1;
        for d in (1..n).rev() {
            x[d] ^= x[d - 1];
        }
        x[0] ^= carried;
        for level in 1..self.bits {
            let low = (1 << level) - 1;
            for d in (0..n).rev() {
                if x[d] >> level & 1 == 1 {
                    x[0] ^= low;
                } else {
                    let differ = (x[0] ^ x[d]) & low;
                    x[0] ^= differ;
                    x[d] ^= differ;
                }
            }
        }
        x
    }

    fn join(self, places: &[u32; 32]) -> u64 {
        places[..self.dimensions as usize].iter().fold(0, |cell, &place| cell << self.bits | u64::from(place))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn places(cube: Cube, cell: u64) -> Vec<i64> {
        let place = |d| cell >> (cube.bits * (cube.dimensions - 1 - d)) & ((1 << cube.bits) - 1);
        (0..cube.dimensions).map(|d| place(d) as i64).collect()
    }

    fn cube() -> impl Strategy<Value = Cube> {
        (1u32..=6).prop_flat_map(|dimensions| {
            (Just(dimensions), 0..=12 / dimensions).prop_map(|(dimensions, bits)| Cube { dimensions, bits })
        })
    }

    proptest! {
        #[test]
        fn every_curve_visits_every_cell_once(
            cube in cube(), curve in prop::sample::select(vec![Curve::Hilbert, Curve::ZOrder, Curve::Lexical]),
        ) {
            let mut cells: Vec<u64> = (0..cube.cells()).map(|at| cube.cell(curve, at)).collect();
            cells.sort_unstable();
            prop_assert!(cells.into_iter().eq(0..cube.cells()));
        }

        #[test]
        fn hilbert_neighbours_are_adjacent(cube in cube()) {
            for at in 1..cube.cells() {
                let [a, b] = [at - 1, at].map(|at| places(cube, cube.cell(Curve::Hilbert, at)));
                let steps: i64 = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).sum();
                prop_assert_eq!(steps, 1, "from {:?} to {:?}", a, b);
            }
        }
    }

    #[test]
    fn small_curves_match_known_paths() {
        let cube = Cube { dimensions: 2, bits: 2 };
        let visited = |curve| (0..16).map(|at| places(cube, cube.cell(curve, at))).collect::<Vec<_>>();
        let pairs = |text: &str| -> Vec<Vec<i64>> {
            text.split(' ').map(|p| p.bytes().map(|b| i64::from(b - b'0')).collect()).collect()
        };
        assert_eq!(visited(Curve::Hilbert), pairs("00 10 11 01 02 03 13 12 22 23 33 32 31 21 20 30"));
        assert_eq!(visited(Curve::ZOrder), pairs("00 01 10 11 02 03 12 13 20 21 30 31 22 23 32 33"));
        assert_eq!(visited(Curve::Lexical), pairs("00 01 02 03 10 11 12 13 20 21 22 23 30 31 32 33"));
    }
}
