//! Codes for texts, and hashes.

use hashbrown::HashTable;

use pages::Dictionary;

/// Assigns each distinct text a code, counting from 0.
#[derive(Debug, Clone, Default)]
pub(crate) struct Coder {
    dictionary: Dictionary,
    table: HashTable<u32>,
}

impl Coder {
    pub(crate) fn code(&mut self, word: &str) -> u32 {
        let hash = hash_text(word);
        let Self { dictionary, table } = self;
        if let Some(&code) = table.find(hash, |&code| dictionary.get(code as usize) == word) {
            return code;
        }
        let code = dictionary.len() as u32;
        dictionary.push(word);
        table.insert_unique(hash, code, |&code| hash_text(dictionary.get(code as usize)));
        code
    }

    pub(crate) fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    pub(crate) fn into_dictionary(self) -> Dictionary {
        self.dictionary
    }

    pub(crate) fn memory(&self) -> usize {
        self.dictionary.memory() + self.table.allocation_size()
    }
}

/// Multiplies two numbers and folds the product: each bit of the result depends on all bits of both.
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

const KEY: u64 = 0x9E37_79B9_7F4A_7C15;

pub(crate) fn hash_cells(cells: &[u64]) -> u64 {
    cells.iter().fold(KEY, |hash, &cell| mix(hash ^ cell, KEY ^ 0x5555_5555_5555_5555))
}

pub(crate) fn hash_text(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    };
    let hash = bytes.chunks(8).fold(KEY ^ bytes.len() as u64, |hash, chunk| mix(hash ^ word(chunk), KEY));
    mix(hash, KEY)
}
