//! Maps rows to cells of the cube of clustering columns.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::SchemaRef;

use super::curve::Cube;
use super::rank::Ranks;
use crate::error::{Result, TableError};
use crate::input::Input;

/// Maximum bits of a cell: one counter per cell must fit in the cache.
const CELL_BITS_MAX: u32 = 20;
/// Minimum rows per cell, on average: finer cells would only separate rows of the same row group.
const CELL_ROWS: u64 = 8;
/// Places of the input to sample, and rows from each.
const SAMPLE_PLACES: u64 = 128;
const SAMPLE_PLACE_ROWS: u64 = 512;

/// The clustering columns with more than one value, and their quantiles.
#[derive(Debug)]
pub(crate) struct Keys {
    cube: Cube,
    ranks: Vec<(usize, Ranks)>,
}

impl Keys {
    /// Divides the columns at `columns` by a sample of them, to order `rows` rows. Also returns the skipped columns,
    /// which have only one value.
    pub(crate) fn of_sample(sample: &RecordBatch, columns: &[usize], rows: u64) -> (Self, Vec<usize>) {
        let varies = |i: &usize| Ranks::of_sample(sample.column(*i), 1).is_some();
        let (varying, constant): (Vec<usize>, Vec<usize>) = (0..columns.len()).partition(varies);
        let cell_bits = (rows / CELL_ROWS).max(2).ilog2().min(CELL_BITS_MAX);
        let dimensions = varying.len() as u32;
        let bits = cell_bits.checked_div(dimensions).unwrap_or(0).max(1);
        let ranks = varying.iter().filter_map(|&i| Some((columns[i], Ranks::of_sample(sample.column(i), bits)?)));
        let keys = Self { cube: Cube { dimensions, bits }, ranks: ranks.collect() };
        (keys, constant.into_iter().map(|i| columns[i]).collect())
    }

    pub(crate) fn cube(&self) -> Cube {
        self.cube
    }

    /// The columns by position in the table, with their quantiles.
    pub(crate) fn ranks(&self) -> &[(usize, Ranks)] {
        &self.ranks
    }

    /// The cell of every row. `column` returns a column by its position in the table.
    pub(crate) fn cells<'a>(&self, rows: usize, column: impl Fn(usize) -> &'a ArrayRef) -> Vec<u32> {
        let mut cells = vec![0; rows];
        for (position, ranks) in &self.ranks {
            ranks.places(column(*position), |row, place| cells[row] = cells[row] << self.cube.bits | place);
        }
        cells
    }
}

/// Samples rows of the clustering columns evenly from the whole input.
pub(crate) fn sample(inputs: &[Input], schema: &SchemaRef, columns: &[usize]) -> Result<RecordBatch> {
    let groups: Vec<(usize, usize, u64)> = inputs
        .iter()
        .enumerate()
        .flat_map(|(i, input)| {
            let groups = input.metadata().metadata().row_groups().iter().enumerate();
            groups.map(move |(g, group)| (i, g, group.num_rows() as u64))
        })
        .collect();
    let total: u64 = groups.iter().map(|g| g.2).sum();
    let mut batches = Vec::new();
    let mut before = 0;
    for (input, group, rows) in groups {
        // Sample places are spread evenly over all rows; each group gets those that fall into it.
        let places_before = |row: u64| (row * SAMPLE_PLACES).div_ceil(total.max(1));
        let places = places_before(before + rows) - places_before(before);
        before += rows;
        if places > 0 {
            let wanted = (places * SAMPLE_PLACE_ROWS).min(rows);
            batches.push(spread(&inputs[input], group, rows, wanted, columns)?);
        }
    }
    Ok(concat_batches(&Arc::new(schema.project(columns)?), &batches)?)
}

/// Returns `wanted` rows of a row group, spread evenly.
fn spread(input: &Input, group: usize, rows: u64, wanted: u64, columns: &[usize]) -> Result<RecordBatch> {
    let mut parts = Vec::new();
    let mut before = 0;
    let mut next = 0;
    for batch in input.rows(Some(vec![group]), Some(columns))? {
        let batch = batch?;
        let end = before + batch.num_rows() as u64;
        let mut taken = Vec::new();
        while next < wanted && next * rows / wanted < end {
            taken.push((next * rows / wanted - before) as u32);
            next += 1;
        }
        before = end;
        parts.push(take_record_batch(&batch, &UInt32Array::from(taken))?);
    }
    let schema = parts
        .first()
        .map(RecordBatch::schema)
        .ok_or_else(|| TableError::Unexpected("a row group returned no rows".to_owned()))?;
    Ok(concat_batches(&schema, &parts)?)
}
