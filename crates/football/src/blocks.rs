//! Collects one game over many worlds into the columns of its blocks.

use std::array;

use model::{EventBlock, EventValues, OutcomeBlock, Values};
use world::WorldRange;

use crate::play::{COLUMNS, Column, Field, Play};

/// Worlds per tile. A tile's rows fit in the second-level cache while they become columns.
const TILE: usize = 32;
/// Outcomes that become columns at once.
const EIGHT: usize = 8;

/// Rows of outcomes, transposed into columns one tile at a time.
pub(crate) struct OutcomeColumns<const OUTCOMES: usize> {
    worlds: usize,
    filled: usize,
    tile: Box<[[i16; OUTCOMES]; TILE]>,
    /// Column by column, each in whole tiles.
    columns: Vec<[i16; TILE]>,
}

impl<const OUTCOMES: usize> OutcomeColumns<OUTCOMES> {
    pub(crate) fn new(worlds: usize) -> Self {
        let columns = vec![[0; TILE]; OUTCOMES * worlds.div_ceil(TILE)];
        Self { worlds, filled: 0, tile: Box::new([[0; OUTCOMES]; TILE]), columns }
    }

    /// The row of the next world, for the caller to fill in.
    pub(crate) fn row(&mut self) -> &mut [i16; OUTCOMES] {
        if self.filled > 0 && self.filled.is_multiple_of(TILE) {
            self.turn();
        }
        self.filled += 1;
        &mut self.tile[(self.filled - 1) % TILE]
    }

    /// Copies the tile into the columns, with what an unfinished last tile holds beyond its rows.
    fn turn(&mut self) {
        let place = (self.filled - 1) / TILE;
        let tiles = self.worlds.div_ceil(TILE);
        let (tile, whole) = (&self.tile, OUTCOMES / EIGHT * EIGHT);
        let (eights, others) = self.columns.split_at_mut(whole * tiles);
        for (first, columns) in (0..).step_by(EIGHT).zip(eights.chunks_exact_mut(EIGHT * tiles)) {
            for (row, rows) in (0..).step_by(4).zip(tile.as_chunks::<4>().0) {
                let values = interleave(rows.each_ref().map(|row| array::from_fn(|i| row[first + i])));
                for (column, four) in columns.chunks_exact_mut(tiles).zip(values) {
                    column[place][row..row + 4].copy_from_slice(&four);
                }
            }
        }
        for (outcome, column) in (whole..).zip(others.chunks_exact_mut(tiles)) {
            column[place] = array::from_fn(|row| tile[row][outcome]);
        }
    }

    /// The finished block; the next row starts the next entity. Every world must have its row.
    pub(crate) fn block(&mut self, entity: usize, range: WorldRange) -> OutcomeBlock<'_> {
        assert_eq!(self.filled, self.worlds, "one row a world");
        self.turn();
        self.filled = 0;
        let columns = self.columns.chunks_exact(self.worlds.div_ceil(TILE));
        let columns = columns.map(|column| Values::I16(&column.as_flattened()[..self.worlds])).collect();
        OutcomeBlock { entity, range, columns }
    }
}

/// The columns of four rows. Pairs of values are joined in wider words, as vector units do it.
fn interleave(rows: [[i16; EIGHT]; 4]) -> [[i16; 4]; EIGHT] {
    let pairs = |rows: [[i16; EIGHT]; 2]| -> [u32; EIGHT] {
        array::from_fn(|i| u32::from(rows[0][i] as u16) | u32::from(rows[1][i] as u16) << 16)
    };
    let [a, b, c, d] = rows;
    let (low, high) = (pairs([a, b]), pairs([c, d]));
    let word = |i: usize| u64::from(low[i]) | u64::from(high[i]) << 32;
    array::from_fn(|i| [0, 16, 32, 48].map(|bits| (word(i) >> bits) as i16))
}

enum Buffer {
    Label(Vec<u8>),
    I8(Vec<i8>),
    I16(Vec<i16>),
}

/// Plays of one game over many worlds, by column.
pub(crate) struct PlayColumns {
    columns: &'static [Column],
    rows: Vec<u32>,
    buffers: Vec<Buffer>,
}

impl PlayColumns {
    pub(crate) fn new(columns: &'static [Column]) -> Self {
        let buffers = columns.iter().map(|c| match c.field {
            Field::Label { .. } => Buffer::Label(Vec::new()),
            Field::I8 { .. } => Buffer::I8(Vec::new()),
            Field::I16 { .. } => Buffer::I16(Vec::new()),
        });
        Self { columns, rows: Vec::new(), buffers: buffers.collect() }
    }

    /// Appends the plays of the next world.
    pub(crate) fn push(&mut self, plays: &[Play]) {
        self.rows.push(plays.len() as u32);
        for (column, buffer) in self.columns.iter().zip(&mut self.buffers) {
            match (&column.field, buffer) {
                (Field::Label { read, .. }, Buffer::Label(out)) => read(plays, out),
                (Field::I8 { read, .. }, Buffer::I8(out)) => read(plays, out),
                (Field::I16 { read, .. }, Buffer::I16(out)) => read(plays, out),
                _ => unreachable!("buffers are made from the columns"),
            }
        }
    }

    /// The finished block.
    pub(crate) fn block(&self, entity: usize, range: WorldRange) -> EventBlock<'_> {
        let columns = self.buffers.iter().map(|b| match b {
            Buffer::Label(v) => EventValues::Label(v),
            Buffer::I8(v) => EventValues::I8(v),
            Buffer::I16(v) => EventValues::I16(v),
        });
        EventBlock { entity, range, rows: &self.rows, columns: columns.collect() }
    }

    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        for buffer in &mut self.buffers {
            match buffer {
                Buffer::Label(v) => v.clear(),
                Buffer::I8(v) => v.clear(),
                Buffer::I16(v) => v.clear(),
            }
        }
    }
}

/// Reads the plays in rows `first..first + count` of a block, which may lack the last columns.
pub(crate) fn plays_of(block: &EventBlock<'_>, first: usize, count: usize, plays: &mut Vec<Play>) {
    plays.clear();
    plays.resize(count, Play::EMPTY);
    for (column, values) in COLUMNS.iter().zip(&block.columns) {
        match (&column.field, values) {
            (Field::Label { write, .. }, EventValues::Label(v)) => write(plays, &v[first..first + count]),
            (Field::I8 { write, .. }, EventValues::I8(v)) => write(plays, &v[first..first + count]),
            (Field::I16 { write, .. }, EventValues::I16(v)) => write(plays, &v[first..first + count]),
            _ => unreachable!("column {} of a play block has another type", column.name),
        }
    }
}
