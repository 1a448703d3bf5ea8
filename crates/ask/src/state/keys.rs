//! The keys of groups.

use hashbrown::HashTable;

use crate::coder::{Coder, hash_cells};
use crate::column::Kind;

/// The keys of all groups, which are numbered from 0. A key has one cell per key column (texts as codes), and a last
/// cell of bits that mark NULL.
#[derive(Debug, Clone)]
pub(crate) struct Keys {
    stride: usize,
    cells: Vec<u64>,
    table: HashTable<Entry>,
    coders: Vec<Option<Coder>>,
}

/// A group and the upper half of its hash, so that the table can grow without reading cells.
#[derive(Debug, Clone, Copy)]
struct Entry {
    upper: u32,
    group: u32,
}

impl Entry {
    fn hash(self) -> u64 {
        spread(self.upper)
    }
}

/// Expands half a hash to all bits that the table uses.
fn spread(upper: u32) -> u64 {
    u64::from(upper) << 32 | u64::from(upper)
}

impl Keys {
    pub(crate) fn new(kinds: &[Kind]) -> Self {
        let coder = |kind: &Kind| matches!(kind, Kind::Text | Kind::Set).then(Coder::default);
        let coders = kinds.iter().map(coder).collect();
        Self { stride: kinds.len() + 1, cells: Vec::new(), table: HashTable::new(), coders }
    }

    pub(crate) fn len(&self) -> usize {
        self.cells.len() / self.stride
    }

    pub(crate) fn cells(&self, group: usize) -> &[u64] {
        &self.cells[group * self.stride..(group + 1) * self.stride]
    }

    /// The number of the group with these cells; adds it if new.
    pub(crate) fn group(&mut self, key: &[u64]) -> u32 {
        let Self { stride, cells, table, .. } = self;
        let of = |group: u32| &cells[group as usize * *stride..][..*stride];
        let upper = (hash_cells(key) >> 32) as u32;
        let is_it = |entry: &Entry| entry.upper == upper && of(entry.group) == key;
        if let Some(entry) = table.find(spread(upper), is_it) {
            return entry.group;
        }
        let group = (cells.len() / *stride) as u32;
        table.insert_unique(spread(upper), Entry { upper, group }, |entry| entry.hash());
        cells.extend_from_slice(key);
        group
    }

    /// The code of a text of a key column.
    pub(crate) fn code(&mut self, column: usize, word: &str) -> u64 {
        self.coders[column].as_mut().map_or(0, |coder| u64::from(coder.code(word)))
    }

    /// The text of a cell of a key column.
    pub(crate) fn word(&self, column: usize, cell: u64) -> &str {
        self.coders[column].as_ref().map_or("", |coder| coder.dictionary().get(cell as usize))
    }

    pub(crate) fn dictionary(&self, column: usize) -> Option<&pages::Dictionary> {
        self.coders[column].as_ref().map(Coder::dictionary)
    }

    pub(crate) fn is_null(&self, group: usize, column: usize) -> bool {
        self.cells(group)[self.stride - 1] >> column & 1 == 1
    }

    pub(super) fn columns(&self) -> usize {
        self.coders.len()
    }

    pub(super) fn set_coder(&mut self, column: usize, coder: Coder) {
        self.coders[column] = Some(coder);
    }

    /// Adds the groups of another; returns their numbers here.
    pub(crate) fn merge(&mut self, other: &Self) -> Vec<u32> {
        let maps: Vec<Option<Vec<u64>>> = (0..self.coders.len())
            .map(|column| Some(other.dictionary(column)?.iter().map(|word| self.code(column, word)).collect()))
            .collect();
        let mut key = vec![0; self.stride];
        let mut numbers = Vec::with_capacity(other.len());
        for group in 0..other.len() {
            key.copy_from_slice(other.cells(group));
            for (column, map) in maps.iter().enumerate() {
                if let Some(map) = map.as_ref().filter(|_| !other.is_null(group, column)) {
                    key[column] = map[key[column] as usize];
                }
            }
            numbers.push(self.group(&key));
        }
        numbers
    }

    pub(crate) fn memory(&self) -> usize {
        let coders = self.coders.iter().flatten().map(Coder::memory).sum::<usize>();
        self.cells.capacity() * size_of::<u64>() + self.table.allocation_size() + coders
    }
}
