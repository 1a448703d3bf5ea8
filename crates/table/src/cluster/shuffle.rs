//! Moves rows into the order of a curve, in bounded memory.
//!
//! The order is fixed before any row moves. The counts of rows per cell along the curve give the position of each
//! cell's first row. A row takes its cell's next free position. The position determines its *bin*, a row group of fixed
//! size. All bins are filled exactly, even if many rows share a cell. This is a counting sort: it compares no rows, and
//! moves every row once.
//!
//! Rows keep their order within a bin. Questions read row groups whole, so this costs nothing, and columns that grow
//! with time (timestamps, sequence numbers) stay cheap to store.

use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::SchemaRef;

use super::curve::Cube;
use super::spill::{Piece, Spill};
use crate::error::Result;
use crate::layout::Curve;

/// Assigns bins to rows by their cells.
#[derive(Debug)]
pub(crate) struct Placement {
    next: Vec<u64>,
    bin_rows: u64,
    rows: u64,
}

impl Placement {
    /// Orders the cells of a cube along a curve. `counts` holds the rows of each cell.
    pub(crate) fn new(cube: Cube, curve: Curve, counts: &[u64], bin_rows: u64) -> Self {
        let mut next = vec![0; counts.len()];
        let mut rows = 0;
        for at in 0..cube.cells() {
            let cell = cube.cell(curve, at) as usize;
            next[cell] = rows;
            rows += counts[cell];
        }
        Self { next, bin_rows, rows }
    }

    pub(crate) fn bins(&self) -> usize {
        self.rows.div_ceil(self.bin_rows) as usize
    }

    /// The bins of the next rows, given their cells.
    pub(crate) fn bins_of(&mut self, cells: &[u32]) -> Vec<u32> {
        let place = |&cell: &u32| {
            let next = &mut self.next[cell as usize];
            *next += 1;
            ((*next - 1) / self.bin_rows) as u32
        };
        cells.iter().map(place).collect()
    }
}

/// Rows in bins, in memory up to a limit, then on disk.
#[derive(Debug)]
pub(crate) struct Shuffle {
    root: std::path::PathBuf,
    schema: SchemaRef,
    bins: Vec<Bin>,
    held: usize,
    memory: usize,
    spill: Option<Spill>,
}

#[derive(Debug, Default)]
struct Bin {
    spilled: Vec<Piece>,
    held: Vec<RecordBatch>,
}

impl Shuffle {
    /// Creates empty bins in a table's folder; they use at most `memory` bytes.
    pub(crate) fn new(root: &std::path::Path, schema: &SchemaRef, bins: usize, memory: usize) -> Self {
        let bins = (0..bins).map(|_| Bin::default()).collect();
        Self { root: root.to_owned(), schema: schema.clone(), bins, held: 0, memory, spill: None }
    }

    pub(crate) fn spilled(&self) -> u64 {
        self.spill.as_ref().map_or(0, Spill::bytes)
    }

    pub(crate) fn push(&mut self, batch: &RecordBatch, bins: &[u32]) -> Result<()> {
        let (order, ends) = by_bin(bins, self.bins.len());
        let sorted = take_record_batch(batch, &order)?;
        self.held += sorted.get_array_memory_size();
        let mut start = 0;
        for (bin, end) in self.bins.iter_mut().zip(ends) {
            if end > start {
                bin.held.push(sorted.slice(start, end - start));
                start = end;
            }
        }
        if self.held > self.memory { self.spill_all() } else { Ok(()) }
    }

    fn spill_all(&mut self) -> Result<()> {
        let spill = match &mut self.spill {
            Some(spill) => spill,
            none => none.insert(Spill::create(&self.root)?),
        };
        for bin in self.bins.iter_mut().filter(|b| !b.held.is_empty()) {
            let whole = concat_batches(&self.schema, &bin.held)?;
            bin.held.clear();
            bin.spilled.push(spill.put(&[whole], &self.schema)?);
        }
        self.held = 0;
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.bins.len()
    }

    /// Removes and returns the rows of a bin, in order of arrival.
    pub(crate) fn take(&mut self, bin: usize) -> Result<Vec<RecordBatch>> {
        let rows = self.rows(bin);
        self.bins[bin] = Bin::default();
        rows
    }

    /// The rows of a bin, in order of arrival.
    pub(crate) fn rows(&mut self, bin: usize) -> Result<Vec<RecordBatch>> {
        let Bin { spilled, held } = &self.bins[bin];
        let mut batches = Vec::with_capacity(spilled.len() + held.len());
        for &piece in spilled {
            if let Some(spill) = &mut self.spill {
                batches.extend(spill.get(piece)?);
            }
        }
        batches.extend(held.iter().cloned());
        Ok(batches)
    }
}

/// Row indices sorted by bin (stable), and where each bin ends.
fn by_bin(bins: &[u32], count: usize) -> (UInt32Array, Vec<usize>) {
    let mut ends = vec![0; count + 1];
    bins.iter().for_each(|&bin| ends[bin as usize + 1] += 1);
    (0..count).for_each(|bin| ends[bin + 1] += ends[bin]);
    let mut order = vec![0; bins.len()];
    for (row, &bin) in bins.iter().enumerate() {
        let next = &mut ends[bin as usize];
        order[*next] = row as u32;
        *next += 1;
    }
    ends.truncate(count);
    (order.into(), ends)
}
