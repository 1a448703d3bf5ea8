//! Reads segments page by page: single lists, or rows without the pages before them.

use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pages::{
    ColumnPages, Header, PageKind, SharedFile, Values, definition_levels, encoding, hybrid, read_flat,
    repetition_levels, room,
};
use parquet::basic::Type;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use super::encode::wrapped;
use crate::error::{Result, TableError};

/// An open segment: footer in memory, pages on disk.
#[derive(Debug, Clone)]
pub struct SegmentReader {
    path: PathBuf,
    file: SharedFile,
    metadata: Arc<ParquetMetaData>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ListValues {
    I16(Vec<i16>),
    /// Integers; some need 32 bits.
    I32(Vec<i32>),
    F64(Vec<f64>),
    Null,
}

/// The values of a column without lists.
#[derive(Debug, Clone, PartialEq)]
pub enum FlatValues {
    /// Integers; `i32::MIN` is NULL.
    Integers(Vec<i32>),
    /// Real numbers with one zero and one NaN; arbitrary where `valid` is false, for NULL.
    Reals { values: Vec<f64>, valid: Option<Vec<bool>> },
    /// Indices into a dictionary; `u32::MAX` is NULL.
    Texts { codes: Vec<u32>, dictionary: Vec<String> },
}

impl SegmentReader {
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).and_then(SharedFile::new).map_err(TableError::io("open", path))?;
        let (metadata, _) = pages::read_footer(&file).map_err(|e| TableError::pages(path, e))?;
        let reader = Self { path: path.to_owned(), file, metadata: Arc::new(metadata) };
        reader.check_codecs()?;
        Ok(reader)
    }

    /// Rejects codecs that this crate does not support, even if the Parquet library does.
    fn check_codecs(&self) -> Result<()> {
        for chunk in self.metadata.row_groups().iter().flat_map(RowGroupMetaData::columns) {
            if let Some(codec) = pages::unsupported_codec(chunk.compression()) {
                let column = chunk.column_path().string();
                return Err(TableError::Codec { path: self.path.clone(), column, codec });
            }
        }
        Ok(())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn metadata(&self) -> HashMap<String, String> {
        let entries = self.metadata.file_metadata().key_value_metadata();
        entries.into_iter().flatten().map(|kv| (kv.key.clone(), kv.value.clone().unwrap_or_default())).collect()
    }

    pub fn row_groups(&self) -> usize {
        self.metadata.num_row_groups()
    }

    pub fn rows(&self, group: usize) -> usize {
        self.metadata.row_group(group).num_rows() as usize
    }

    pub fn column(&self, name: &str) -> Result<usize> {
        let columns = self.metadata.file_metadata().schema_descr().columns();
        let place = columns.iter().position(|column| column.path().parts()[0] == name);
        place.ok_or_else(|| self.damaged(format!("no column {name:?}")))
    }

    /// Calls `take` with the lists of the given rows (ascending) of a row group. Reads only their pages.
    pub fn lists(
        &self,
        group: usize,
        column: usize,
        rows: impl IntoIterator<Item = usize>,
        mut take: impl FnMut(usize, ListValues),
    ) -> Result<()> {
        let rows: Vec<usize> = rows.into_iter().collect();
        let pages = self.pages(group, column, |page| rows.binary_search(&page.start).is_ok())?;
        let (mut dictionary, mut buffer) = (None, Vec::new());
        let mut wanted = rows.iter();
        let read = pages.each(|page| {
            let body = page.body(&mut buffer)?;
            match page.header.kind {
                PageKind::Dictionary => dictionary = Some(SmallIntegers::new(body)),
                PageKind::Data if page.first_row.is_some() && page.first_row.as_ref() == wanted.next() => {
                    take(page.first_row.unwrap_or_default(), list(&page.header, body, dictionary.as_ref())?);
                }
                _ => return Err(pages::Error::damaged("lists share a page")),
            }
            Ok(())
        });
        read.map_err(|e| TableError::pages(&self.path, e))?;
        match wanted.next() {
            Some(row) => Err(self.damaged(format!("row {row} of row group {group} has no page of its own"))),
            None => Ok(()),
        }
    }

    /// Returns the given rows of a column without lists. Reads only their pages.
    pub fn flat(&self, group: usize, column: usize, rows: Range<usize>) -> Result<FlatValues> {
        // A group without rows has no pages.
        if rows.is_empty() {
            return Ok(match self.metadata.row_group(group).column(column).column_type() {
                Type::BYTE_ARRAY => FlatValues::Texts { codes: Vec::new(), dictionary: Vec::new() },
                Type::DOUBLE => FlatValues::Reals { values: Vec::new(), valid: None },
                _ => FlatValues::Integers(Vec::new()),
            });
        }
        let chunk = self.metadata.row_group(group).column(column);
        let pages = self.pages(group, column, |page| page.start < rows.end && rows.start < page.end)?;
        let read = read_flat(&pages, chunk, self.rows(group), std::slice::from_ref(&rows));
        let pages::Column { values, valid } = read.map_err(|e| TableError::pages(&self.path, e))?;
        match values {
            Values::Ints(values) => {
                let valid = valid.as_deref();
                let value = |(row, value): (usize, i64)| match valid {
                    Some(valid) if !valid[row] => Some(i32::MIN),
                    _ => i32::try_from(value).ok(),
                };
                let values: Option<Vec<i32>> = values.into_iter().enumerate().map(value).collect();
                values.map(FlatValues::Integers).ok_or_else(|| self.damaged("it has integers beyond 32 bits"))
            }
            Values::Texts { codes, dictionary } => {
                let null = dictionary.len() as u32;
                let mut codes = codes.into_wide();
                if valid.is_some() {
                    codes.iter_mut().filter(|code| **code == null).for_each(|code| *code = u32::MAX);
                }
                Ok(FlatValues::Texts { codes, dictionary: dictionary.iter().map(str::to_owned).collect() })
            }
            Values::Floats(values) => Ok(FlatValues::Reals { values, valid }),
        }
    }

    /// The pages of a column chunk with `wanted` row ranges.
    fn pages(&self, group: usize, column: usize, wanted: impl Fn(Range<usize>) -> bool) -> Result<ColumnPages<'_>> {
        let chunk = self.metadata.row_group(group).column(column);
        pages::read_page_locations(&self.file, chunk)
            .and_then(|locations| ColumnPages::located(&self.file, chunk, &locations, wanted))
            .map_err(|e| TableError::pages(&self.path, e))
    }

    fn damaged(&self, reason: impl std::fmt::Display) -> TableError {
        TableError::damaged(&self.path, reason)
    }
}

/// A dictionary of small integers, for lists of 16-bit integers. As an index has a byte, looking one up needs no check.
struct SmallIntegers {
    entries: [i16; 256],
    count: usize,
    /// Whether this program wrote it: then the entries follow from the indices, which vectors compute faster.
    is_wrapped: bool,
}

impl SmallIntegers {
    fn new(plain: &[u8]) -> Self {
        let (stored, _) = plain.as_chunks::<4>();
        let mut entries = [0; 256];
        entries.iter_mut().zip(stored).for_each(|(entry, stored)| *entry = i32::from_le_bytes(*stored) as i16);
        let is_wrapped =
            entries.iter().zip(0..=u8::MAX).take(stored.len()).all(|(entry, index)| *entry == wrapped(index));
        Self { entries, count: stored.len(), is_wrapped }
    }

    fn of(&self, indices: Vec<u8>) -> Vec<i16> {
        if self.is_wrapped {
            indices.into_iter().map(wrapped).collect()
        } else {
            indices.into_iter().map(|index| self.entries[usize::from(index)]).collect()
        }
    }
}

/// How many values a list's page has.
fn count(header: &Header, body: &mut &[u8]) -> pages::Result<usize> {
    /// The level of a value.
    const VALUE: u8 = 2;
    repetition_levels(header, body)?;
    let packed = definition_levels(header, body)?;
    if hybrid::is_one_run(packed, header.values, VALUE) {
        return Ok(header.values);
    }
    let mut levels: Vec<u8> = Vec::with_capacity(room(header.values));
    hybrid::read(packed, 2, header.values, &mut levels)?;
    Ok(levels.iter().map(|level| usize::from(*level == VALUE)).sum())
}

fn list(header: &Header, mut body: &[u8], dictionary: Option<&SmallIntegers>) -> pages::Result<ListValues> {
    const SHORT: pages::Error = pages::Error::damaged("a page of a list ends early");
    let count = count(header, &mut body)?;
    if count == 0 {
        return Ok(ListValues::Null);
    }
    match header.encoding {
        encoding::RLE_DICTIONARY => {
            let dictionary = dictionary.ok_or(pages::Error::damaged("a page refers to a missing dictionary"))?;
            let mut places: Vec<u8> = Vec::with_capacity(room(count));
            hybrid::places(body, count, dictionary.count, &mut places)?;
            Ok(ListValues::I16(dictionary.of(places)))
        }
        encoding::BYTE_STREAM_SPLIT if body.len() == 4 * count => Ok(join_integers(body, count)),
        encoding::BYTE_STREAM_SPLIT if body.len() == 8 * count => {
            let value = |i: usize| f64::from_le_bytes(std::array::from_fn(|b| body[b * count + i]));
            Ok(ListValues::F64((0..count).map(value).collect()))
        }
        encoding::PLAIN if body.len() == 4 * count => {
            let (values, _) = body.as_chunks();
            Ok(narrowed(values.iter().copied().map(i32::from_le_bytes).collect()))
        }
        encoding::PLAIN if body.len() == 8 * count => {
            let (values, _) = body.as_chunks();
            Ok(ListValues::F64(values.iter().copied().map(f64::from_le_bytes).collect()))
        }
        _ => Err(SHORT),
    }
}

fn join_integers(planes: &[u8], count: usize) -> ListValues {
    let (low, rest) = planes.split_at(count);
    let (high, upper) = rest.split_at(count);
    let (third, fourth) = upper.split_at(count);
    let narrow: Vec<i16> = low.iter().zip(high).map(|(&l, &h)| i16::from_le_bytes([l, h])).collect();
    let fits = narrow.iter().zip(third).zip(fourth).all(|((&v, &t), &f)| {
        let sign = if v < 0 { 0xFF } else { 0 };
        t == sign && f == sign
    });
    if fits {
        return ListValues::I16(narrow);
    }
    let value = |i: usize| i32::from_le_bytes(std::array::from_fn(|b| planes[b * count + i]));
    ListValues::I32((0..count).map(value).collect())
}

fn narrowed(values: Vec<i32>) -> ListValues {
    match values.iter().map(|&value| i16::try_from(value)).collect() {
        Ok(narrow) => ListValues::I16(narrow),
        Err(_) => ListValues::I32(values),
    }
}
