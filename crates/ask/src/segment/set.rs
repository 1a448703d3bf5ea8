//! Sets: lists of text.

use std::ops::Range;
use std::sync::Arc;

use pages::{ColumnPages, Dictionary, Error, PageKind, Result, definition_levels, encoding, hybrid, repetition_levels};
use pages::{room, text};
use parquet::file::metadata::ColumnChunkMetaData;

use crate::column::{Column, Values};

/// Reads all rows of a column chunk of lists.
pub(super) fn column(pages: &ColumnPages<'_>, chunk: &ColumnChunkMetaData, rows: usize) -> Result<Column> {
    let max = chunk.column_descr().max_def_level() as u8;
    // From this level on a member exists; one level below the list is empty, and below that it is NULL.
    let member = if chunk.column_descr().self_type().is_optional() { max - 1 } else { max };
    let mut out = Sets {
        ends: Vec::with_capacity(room(rows)),
        codes: Vec::new(),
        valid: Vec::with_capacity(room(rows)),
        dictionary: Dictionary::default(),
    };
    let mut buffer = Vec::new();
    pages.each(|page| {
        let header = &page.header;
        let mut body = match header.kind {
            PageKind::Other => return Ok(()),
            _ => page.body(&mut buffer)?,
        };
        if header.kind == PageKind::Dictionary {
            return text::read(encoding::PLAIN, body, header.values, &mut out.dictionary);
        }
        let mut repetitions: Vec<u8> = Vec::with_capacity(room(header.values));
        hybrid::read(repetition_levels(header, &mut body)?, 1, header.values, &mut repetitions)?;
        let mut definitions: Vec<u8> = Vec::with_capacity(room(header.values));
        let width = u32::from(max).ilog2() + 1;
        hybrid::read(definition_levels(header, &mut body)?, width, header.values, &mut definitions)?;
        let count: usize = definitions.iter().map(|level| usize::from(*level == max)).sum();
        let mut members: Vec<u32> = Vec::with_capacity(room(count));
        match header.encoding {
            encoding::RLE_DICTIONARY | encoding::PLAIN_DICTIONARY => {
                hybrid::places(body, count, out.dictionary.len(), &mut members)?;
            }
            of => {
                let first = out.dictionary.len() as u32;
                text::read(of, body, count, &mut out.dictionary)?;
                members.extend(first..out.dictionary.len() as u32);
            }
        }
        out.push(&repetitions, &definitions, &members, (member, max))
    })?;
    if out.ends.len() != rows {
        return Err(Error::damaged("its pages do not hold the rows of their row group"));
    }
    Ok(out.finish())
}

/// The code of a NULL member until the dictionary is complete.
const NULL: u32 = u32::MAX;
const SHORT: Error = Error::damaged("a page of lists is truncated");

struct Sets {
    ends: Vec<u32>,
    codes: Vec<u32>,
    valid: Vec<bool>,
    dictionary: Dictionary,
}

impl Sets {
    fn push(&mut self, repetitions: &[u8], definitions: &[u8], members: &[u32], (member, max): (u8, u8)) -> Result<()> {
        let mut members = members.iter();
        for (&repeats, &level) in repetitions.iter().zip(definitions) {
            if repeats == 0 {
                self.ends.push(self.codes.len() as u32);
                self.valid.push(level + 1 >= member);
            }
            if level < member {
                continue;
            }
            let code = if level == max { *members.next().ok_or(SHORT)? } else { NULL };
            self.codes.push(code);
            *self.ends.last_mut().ok_or(SHORT)? = self.codes.len() as u32;
        }
        Ok(())
    }

    fn finish(self) -> Column {
        // Pages may repeat a text in the dictionary, and a list may repeat a member.
        let mut coder = crate::coder::Coder::default();
        let numbers: Vec<u32> = self.dictionary.iter().map(|word| coder.code(word)).collect();
        let dictionary = coder.into_dictionary();
        let null = dictionary.len() as u32;
        let (mut ends, mut codes) = (Vec::with_capacity(self.ends.len()), Vec::with_capacity(self.codes.len()));
        let mut from = 0;
        for end in self.ends {
            let at = codes.len();
            for &code in &self.codes[from..end as usize] {
                let code = if code == NULL { null } else { numbers[code as usize] };
                if !codes[at..].contains(&code) {
                    codes.push(code);
                }
            }
            ends.push(codes.len() as u32);
            from = end as usize;
        }
        let valid = self.valid.contains(&false).then_some(self.valid);
        Column { values: Values::Sets { ends, codes, dictionary: Arc::new(dictionary) }, valid }
    }
}

/// The rows of some ranges.
pub(super) fn within(column: Column, ranges: &[Range<usize>]) -> Column {
    if ranges.len() == 1 && ranges[0] == (0..column.len()) {
        return column;
    }
    let rows: Vec<u32> = ranges.iter().flat_map(|range| range.start as u32..range.end as u32).collect();
    column.take(&rows)
}
