//! The keys of groups.

use std::borrow::Cow;

use hashbrown::HashTable;

use crate::coder::{Coder, hash_cells, hash_text};
use crate::column::Kind;

/// The keys of all groups, which are numbered from 0. A key has one cell per key column (texts as codes), and a last
/// cell of bits that mark NULL.
#[derive(Debug, Clone)]
pub(crate) struct Keys {
    stride: usize,
    cells: Vec<u64>,
    /// Finds the first `indexed` groups.
    table: HashTable<Entry>,
    indexed: usize,
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
        Self { stride: kinds.len() + 1, cells: Vec::new(), table: HashTable::new(), indexed: 0, coders }
    }

    /// The number of cells of a key.
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    pub(crate) fn len(&self) -> usize {
        self.cells.len() / self.stride
    }

    pub(crate) fn cells(&self, group: usize) -> &[u64] {
        &self.cells[group * self.stride..(group + 1) * self.stride]
    }

    pub(super) fn all_cells(&self) -> &[u64] {
        &self.cells
    }

    /// The number of the group with these cells; adds it if new.
    pub(crate) fn group(&mut self, key: &[u64]) -> u32 {
        if self.indexed < self.len() {
            self.index();
        }
        let Self { stride, cells, table, indexed, .. } = self;
        let of = |group: u32| &cells[group as usize * *stride..][..*stride];
        let upper = upper(key);
        let is_it = |entry: &Entry| entry.upper == upper && of(entry.group) == key;
        if let Some(entry) = table.find(spread(upper), is_it) {
            return entry.group;
        }
        let group = (cells.len() / *stride) as u32;
        table.insert_unique(spread(upper), Entry { upper, group }, |entry| entry.hash());
        cells.extend_from_slice(key);
        *indexed += 1;
        group
    }

    /// Adds groups without a look whether they are there already; their numbers follow each other.
    pub(super) fn push(&mut self, cells: &[u64]) {
        self.cells.extend_from_slice(cells);
    }

    fn index(&mut self) {
        let Self { stride, cells, table, indexed, .. } = self;
        let keys = cells.chunks_exact(*stride).enumerate().skip(*indexed);
        table.reserve(cells.len() / *stride - *indexed, |entry| entry.hash());
        for (group, key) in keys {
            let entry = Entry { upper: upper(key), group: group as u32 };
            table.insert_unique(entry.hash(), entry, |entry| entry.hash());
        }
        *indexed = cells.len() / *stride;
    }

    /// Prepares for so many more groups.
    pub(super) fn reserve(&mut self, groups: usize) {
        self.cells.reserve(groups * self.stride);
        self.table.reserve(groups, |entry| entry.hash());
    }

    /// Takes the cells of all groups. Texts keep their codes.
    pub(super) fn drain(&mut self) -> Vec<u64> {
        self.table.clear();
        self.indexed = 0;
        std::mem::take(&mut self.cells)
    }

    /// The codes of texts, by column.
    pub(super) fn coders(&self) -> &[Option<Coder>] {
        &self.coders
    }

    pub(super) fn into_coders(self) -> Vec<Option<Coder>> {
        self.coders
    }

    /// The part of each of some groups, the same for all [`Keys`].
    pub(super) fn parts(&self, cells: &[u64]) -> Vec<u8> {
        // The table uses the upper half of the hash.
        let part = |key: &[u64]| hash_cells(key) as u8;
        let keys = cells.chunks_exact(self.stride);
        if self.coders.iter().all(Option::is_none) {
            return keys.map(part).collect();
        }
        let mut key = vec![0; self.stride];
        keys.map(|cells| {
            key.copy_from_slice(cells);
            for (column, coder) in self.coders.iter().enumerate() {
                let Some(coder) = coder.as_ref().filter(|_| !is_null(cells, column)) else { continue };
                key[column] = hash_text(coder.dictionary().get(cells[column] as usize));
            }
            part(&key)
        })
        .collect()
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
        is_null(self.cells(group), column)
    }

    pub(super) fn columns(&self) -> usize {
        self.coders.len()
    }

    pub(super) fn set_coder(&mut self, column: usize, coder: Coder) {
        self.coders[column] = Some(coder);
    }

    /// Adds the groups of other keys; returns their numbers here.
    pub(super) fn merge(&mut self, cells: &[u64], coders: &[Option<Coder>]) -> Vec<u32> {
        let cells = self.recoded(cells, coders);
        cells.chunks_exact(self.stride).map(|key| self.group(key)).collect()
    }

    /// Adds groups that are not there yet; their numbers follow each other.
    pub(super) fn append(&mut self, cells: &[u64], coders: &[Option<Coder>]) {
        let cells = self.recoded(cells, coders);
        self.push(&cells);
    }

    /// Cells with the codes that their texts have here.
    fn recoded<'a>(&mut self, cells: &'a [u64], coders: &[Option<Coder>]) -> Cow<'a, [u64]> {
        /// A text whose code was not looked up yet.
        const NONE: u64 = u64::MAX;
        let mut recoded = Cow::Borrowed(cells);
        for (column, coder) in coders.iter().enumerate() {
            let Some(coder) = coder else { continue };
            let texts = coder.dictionary();
            // A part of the groups may have few of very many texts.
            let mut codes = if texts.len() <= cells.len() { vec![NONE; texts.len()] } else { Vec::new() };
            for key in recoded.to_mut().chunks_exact_mut(self.stride).filter(|key| !is_null(key, column)) {
                let text = key[column] as usize;
                key[column] = match codes.get_mut(text) {
                    None => self.code(column, texts.get(text)),
                    Some(code) if *code == NONE => {
                        *code = self.code(column, texts.get(text));
                        *code
                    }
                    Some(code) => *code,
                };
            }
        }
        recoded
    }

    pub(crate) fn memory(&self) -> usize {
        let coders = self.coders.iter().flatten().map(Coder::memory).sum::<usize>();
        self.cells.capacity() * size_of::<u64>() + self.table.allocation_size() + coders
    }
}

fn is_null(key: &[u64], column: usize) -> bool {
    key[key.len() - 1] >> column & 1 == 1
}

fn upper(key: &[u64]) -> u32 {
    (hash_cells(key) >> 32) as u32
}
