//! The values of an input by world, in memory and in an unnamed file.
//!
//! A *lane* is what comes together in a row: all outcomes that an entity has in the wide form, one in the long form.
//! Each column of a lane is an array over worlds, which rows fill in any order. Once the arrays exceed a limit, ranges of
//! worlds that every lane has move to the file, so input that is sorted by world may have any size.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use arrow::buffer::MutableBuffer;
use arrow::datatypes::ToByteSlice;

const VALUE_BYTES: usize = size_of::<f64>();

/// The values of one lane in memory, from the grid's first world on.
#[derive(Debug)]
pub(crate) struct Lane {
    filled: Filled,
    columns: Vec<Vec<f64>>,
}

/// Worlds with values, one bit each.
#[derive(Debug, Default)]
struct Filled {
    words: Vec<u64>,
    /// One past the last world with values.
    end: usize,
}

impl Filled {
    /// Adds a world; false if it was there.
    fn add(&mut self, world: usize) -> bool {
        let (word, bit) = (world / 64, 1 << (world % 64));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        self.end = self.end.max(world + 1);
        is_new
    }

    /// Adds consecutive worlds; fails with the first that was there.
    fn add_all(&mut self, worlds: Range<usize>) -> Result<(), usize> {
        if worlds.start >= self.end {
            self.end = worlds.end;
            self.words.resize(worlds.end.div_ceil(64), 0);
            for word in worlds.start / 64..worlds.end.div_ceil(64) {
                let low = worlds.start.saturating_sub(word * 64).min(64);
                let high = (worlds.end - word * 64).min(64);
                self.words[word] |= (u64::MAX >> (64 - (high - low))) << low;
            }
            return Ok(());
        }
        worlds.into_iter().try_for_each(|world| if self.add(world) { Ok(()) } else { Err(world) })
    }

    /// The first world without values.
    fn first_hole(&self) -> usize {
        let full = self.words.iter().take_while(|word| **word == u64::MAX).count();
        full * 64 + self.words.get(full).map_or(0, |word| word.trailing_ones() as usize)
    }

    /// The first world with values; `None` if there is none.
    fn first(&self) -> Option<usize> {
        let word = self.words.iter().position(|word| *word != 0)?;
        Some(word * 64 + self.words[word].trailing_zeros() as usize)
    }

    /// Forgets the first worlds.
    fn drop_first(&mut self, worlds: usize) {
        let kept: Vec<usize> = (worlds..self.end).filter(|w| self.words[w / 64] >> (w % 64) & 1 == 1).collect();
        *self = Self::default();
        kept.into_iter().for_each(|world| _ = self.add(world - worlds));
    }
}

/// The rows of a batch that belong to one lane.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rows<'a> {
    All,
    Some(&'a [u32]),
}

impl Rows<'_> {
    pub(crate) fn row(self, place: usize) -> usize {
        match self {
            Self::All => place,
            Self::Some(rows) => rows[place] as usize,
        }
    }
}

/// The values of an input.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    /// The first world in memory; those before it are in the file.
    first: usize,
    lanes: Vec<Lane>,
    bytes: usize,
    file: Option<File>,
    /// Worlds of a range in the file.
    range_worlds: usize,
}

impl Grid {
    pub(crate) fn lanes(&self) -> usize {
        self.lanes.len()
    }

    /// Adds a lane of some columns; `None` if worlds without it are in the file.
    pub(crate) fn add_lane(&mut self, columns: usize) -> Option<usize> {
        (self.first == 0).then(|| {
            self.lanes.push(Lane { filled: Filled::default(), columns: vec![Vec::new(); columns] });
            self.lanes.len() - 1
        })
    }

    /// Leaves fewer columns to a lane that has no values yet.
    pub(crate) fn narrow(&mut self, lane: usize, columns: usize) {
        self.lanes[lane].columns.truncate(columns);
    }

    /// Makes room for more worlds of every lane, but for no more than `limit` bytes in all: moving large arrays as they
    /// grow takes a fifth of the time of an import.
    pub(crate) fn reserve(&mut self, worlds: usize, limit: usize) {
        let columns = self.lanes.iter().map(|lane| lane.columns.len()).sum::<usize>();
        let worlds = worlds.min(limit / (columns * VALUE_BYTES).max(1));
        let columns = self.lanes.iter_mut().flat_map(|lane| &mut lane.columns);
        columns.for_each(|column| column.reserve_exact(worlds));
    }

    /// The first world in memory.
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// Bytes of the values in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// One past the last world of a lane.
    pub(crate) fn end(&self, lane: usize) -> usize {
        self.first + self.lanes[lane].filled.end
    }

    /// The first world of all lanes in memory.
    pub(crate) fn first_filled(&self) -> Option<usize> {
        self.lanes.iter().filter_map(|lane| lane.filled.first()).min().map(|world| self.first + world)
    }

    /// The first world that a lane lacks.
    pub(crate) fn first_hole(&self, lane: usize) -> usize {
        self.first + self.lanes[lane].filled.first_hole()
    }

    /// Bytes that memory needs for a lane up to the world `end`, beside those in use.
    pub(crate) fn growth(&self, lane: usize, end: usize) -> usize {
        let lane = &self.lanes[lane];
        end.saturating_sub(self.first + lane.filled.end).saturating_mul(lane.columns.len() * VALUE_BYTES)
    }

    /// Puts rows of a lane in their worlds, of which none may be before the first in memory. `columns` are those of the
    /// lane, over all rows of the batch.
    ///
    /// # Errors
    /// The place in `worlds` of a world that the lane has already.
    pub(crate) fn put(&mut self, lane: usize, worlds: &[u32], rows: Rows<'_>, columns: &[&[f64]]) -> Result<(), usize> {
        let Some(&start) = worlds.first() else { return Ok(()) };
        let (start, before) = (start as usize - self.first, self.lanes[lane].filled.end);
        let lane = &mut self.lanes[lane];
        let is_run = worlds.windows(2).all(|pair| pair[1] == pair[0] + 1);
        if is_run {
            lane.filled.add_all(start..start + worlds.len()).map_err(|world| world - start)?;
        } else {
            let mut all = worlds.iter().map(|world| *world as usize - self.first);
            all.position(|world| !lane.filled.add(world)).map_or(Ok(()), Err)?;
        }
        let end = lane.filled.end;
        for (to, from) in lane.columns.iter_mut().zip(columns) {
            match rows {
                Rows::All if is_run && start == before => to.extend_from_slice(&from[..worlds.len()]),
                Rows::Some(rows) if is_run && start == before => to.extend(rows.iter().map(|row| from[*row as usize])),
                _ => {
                    to.resize(end, 0.0);
                    for (place, world) in worlds.iter().enumerate() {
                        to[*world as usize - self.first] = from[rows.row(place)];
                    }
                }
            }
        }
        self.bytes += (end - before) * lane.columns.len() * VALUE_BYTES;
        Ok(())
    }

    /// The column of a lane in memory.
    pub(crate) fn column(&self, (lane, column): Place) -> &[f64] {
        &self.lanes[lane].columns[column]
    }

    /// Moves the first `ranges` ranges of `range_worlds` worlds to a file in `folder`; every lane must have all of their
    /// worlds. All calls name the same `range_worlds`.
    pub(crate) fn spill(&mut self, ranges: usize, range_worlds: usize, folder: &Path) -> io::Result<()> {
        if self.file.is_none() {
            disk::create_dir_all(folder)?;
            self.file = Some(tempfile::tempfile_in(folder)?);
        }
        let Some(file) = &self.file else { return Ok(()) };
        self.range_worlds = range_worlds;
        let width = self.lanes.iter().map(|lane| lane.columns.len()).sum::<usize>();
        for range in 0..ranges {
            let at = (self.first + range * range_worlds) * width;
            for (place, column) in self.lanes.iter().flat_map(|lane| &lane.columns).enumerate() {
                let values = &column[range * range_worlds..(range + 1) * range_worlds];
                file.write_all_at(values.to_byte_slice(), ((at + place * range_worlds) * VALUE_BYTES) as u64)?;
            }
        }
        let moved = ranges * range_worlds;
        for lane in &mut self.lanes {
            lane.filled.drop_first(moved);
            lane.columns.iter_mut().for_each(|column| drop(column.drain(..moved)));
        }
        self.first += moved;
        self.bytes -= moved * width * VALUE_BYTES;
        Ok(())
    }

    /// The values of a column in some worlds: of one range of the file, or in memory. `buffer` holds them if they are
    /// read.
    pub(crate) fn values<'a>(
        &'a self,
        place: Place,
        worlds: Range<usize>,
        buffer: &'a mut MutableBuffer,
    ) -> io::Result<&'a [f64]> {
        let Some(file) = self.file.as_ref().filter(|_| worlds.start < self.first) else {
            return Ok(&self.column(place)[worlds.start - self.first..worlds.end - self.first]);
        };
        let columns = |lanes: &[Lane]| lanes.iter().map(|lane| lane.columns.len()).sum::<usize>();
        let (width, before) = (columns(&self.lanes), columns(&self.lanes[..place.0]));
        let range = worlds.start - worlds.start % self.range_worlds;
        let at = range * width + (before + place.1) * self.range_worlds + (worlds.start - range);
        buffer.resize(worlds.len() * VALUE_BYTES, 0);
        file.read_exact_at(buffer.as_slice_mut(), (at * VALUE_BYTES) as u64)?;
        Ok(buffer.typed_data())
    }
}

/// A lane, and one of its columns.
pub(crate) type Place = (usize, usize);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Worlds come in any order and pieces, and leave for the file in ranges: every value is found in its world.
        #[test]
        fn values_stay_with_their_worlds(pieces in prop::collection::vec(1usize..150, 1..12), reversed: bool, size in 1usize..70) {
            let folder = tempfile::tempdir().unwrap();
            let mut grid = Grid::default();
            let lanes = [grid.add_lane(2).unwrap(), grid.add_lane(2).unwrap()];
            let value = |lane: usize, column: usize, world: u32| (world * 4 + lane as u32 * 2 + column as u32) as f64;
            let mut end = 0u32;
            for (number, piece) in pieces.into_iter().enumerate() {
                let mut worlds: Vec<u32> = (end..end + piece as u32).collect();
                if reversed && number % 2 == 1 {
                    worlds.reverse();
                }
                end += piece as u32;
                for lane in lanes {
                    let columns = [0, 1].map(|c| worlds.iter().map(|w| value(lane, c, *w)).collect::<Vec<f64>>());
                    prop_assert_eq!(grid.put(lane, &worlds, Rows::All, &[&columns[0], &columns[1]]), Ok(()));
                }
                let whole = (end as usize - grid.first()) / size;
                if number % 3 == 2 {
                    grid.spill(whole, size, folder.path()).unwrap();
                    prop_assert!(grid.first() == 0 || grid.add_lane(1).is_none());
                }
            }
            prop_assert_eq!(grid.bytes(), (end as usize - grid.first()) * 4 * VALUE_BYTES);
            let mut buffer = MutableBuffer::new(0);
            for lane in lanes {
                prop_assert_eq!((grid.end(lane), grid.first_hole(lane)), (end as usize, end as usize));
                for column in [0, 1] {
                    for start in (0..end as usize).step_by(size) {
                        let worlds = start..(start + size).min(end as usize);
                        let expected: Vec<f64> = worlds.clone().map(|w| value(lane, column, w as u32)).collect();
                        prop_assert_eq!(grid.values((lane, column), worlds, &mut buffer).unwrap(), &expected);
                    }
                }
            }
        }

        #[test]
        fn holes_and_repeats_are_found(worlds in prop::collection::vec(0u32..200, 1..60)) {
            let mut grid = Grid::default();
            let lane = grid.add_lane(1).unwrap();
            let values = vec![1.0; worlds.len()];
            let repeated = (0..worlds.len()).find(|i| worlds[..*i].contains(&worlds[*i]));
            prop_assert_eq!(grid.put(lane, &worlds, Rows::All, &[&values]).err(), repeated);
            if repeated.is_none() {
                let hole = (0..=200).find(|world| !worlds.contains(&(*world as u32))).unwrap();
                prop_assert_eq!(grid.first_hole(lane), hole);
                prop_assert_eq!(grid.first_filled(), worlds.iter().min().map(|world| *world as usize));
                let free: Vec<u32> = (hole as u32..hole as u32 + 3).collect();
                let clash = free.iter().position(|world| worlds.contains(world));
                prop_assert_eq!(grid.put(lane, &free, Rows::All, &[&[2.0; 3]]).err(), clash);
            }
        }
    }
}
