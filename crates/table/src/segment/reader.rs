//! Reads segments page by page: a list without its neighbours, rows without the pages before them.

use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::{
    ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, ParquetMetaDataBuilder, ParquetMetaDataReader,
    RowGroupMetaData,
};
use parquet::file::page_index::offset_index::PageLocation;
use parquet::file::reader::Length as _;
use parquet::file::serialized_reader::SerializedPageReader;

use super::codec;
use super::levels::read_hybrid;
use super::source::Source;
use crate::error::TableError;

/// An open segment: its footer in memory, its pages on disk.
#[derive(Debug, Clone)]
pub struct SegmentReader {
    path: PathBuf,
    file: Source,
    metadata: Arc<ParquetMetaData>,
}

/// The values of one list.
#[derive(Debug, Clone, PartialEq)]
pub enum ListValues {
    /// Integers within 16 bits.
    I16(Vec<i16>),
    /// Integers past 16 bits.
    I32(Vec<i32>),
    /// Real numbers.
    F64(Vec<f64>),
    /// NULL.
    Null,
}

/// The values of a column without lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlatValues {
    /// Integers; `i32::MIN` is NULL.
    Integers(Vec<i32>),
    /// Places in a list of words; `u32::MAX` is NULL.
    Words {
        /// A place a row.
        places: Vec<u32>,
        /// The words.
        words: Vec<String>,
    },
}

type Result<T> = std::result::Result<T, TableError>;

impl SegmentReader {
    /// Opens a segment and reads its footer.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).and_then(Source::new).map_err(TableError::io("open", path))?;
        let metadata =
            ParquetMetaDataReader::new().parse_and_finish(&file).map_err(|e| TableError::damaged(path, e))?;
        let bytes = file.len();
        let reader = Self { path: path.to_owned(), file, metadata: Arc::new(metadata) };
        if !reader.chunks_lie_within(bytes) {
            return Err(reader.damaged("its footer points outside of it"));
        }
        reader.check_codecs()?;
        Ok(reader)
    }

    /// Refuses codecs that we do not write, whatever the Parquet library happens to be built with.
    fn check_codecs(&self) -> Result<()> {
        for chunk in self.metadata.row_groups().iter().flat_map(RowGroupMetaData::columns) {
            if let Some(codec) = codec::foreign(chunk.compression()) {
                let column = chunk.column_path().string();
                return Err(TableError::Codec { path: self.path.clone(), column, codec });
            }
        }
        Ok(())
    }

    /// Whether every column chunk lies in the file, which the Parquet library takes for granted.
    fn chunks_lie_within(&self, bytes: u64) -> bool {
        let inside = |chunk: &ColumnChunkMetaData| {
            let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
            let end = start.checked_add(chunk.compressed_size());
            start >= 0 && chunk.compressed_size() >= 0 && end.is_some_and(|end| end as u64 <= bytes)
        };
        self.metadata.row_groups().iter().all(|g| g.num_rows() >= 0 && g.columns().iter().all(inside))
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The facts that were written into its footer.
    pub fn facts(&self) -> HashMap<String, String> {
        let entries = self.metadata.file_metadata().key_value_metadata();
        entries.into_iter().flatten().map(|kv| (kv.key.clone(), kv.value.clone().unwrap_or_default())).collect()
    }

    /// Number of row groups.
    pub fn row_groups(&self) -> usize {
        self.metadata.num_row_groups()
    }

    /// Rows of a row group.
    pub fn rows(&self, group: usize) -> usize {
        self.metadata.row_group(group).num_rows() as usize
    }

    /// Names of the columns, in order.
    pub fn column_names(&self) -> Vec<String> {
        let schema = self.metadata.file_metadata().schema_descr();
        schema.columns().iter().map(|c| c.path().parts()[0].clone()).collect()
    }

    /// The place of a column by name.
    pub fn column(&self, name: &str) -> Result<usize> {
        let names = self.column_names();
        let place = names.iter().position(|n| n == name);
        place.ok_or_else(|| self.damaged(format!("it has no column {name:?}")))
    }

    /// Hands the lists of some rows (ascending) of a row group to `take`, reading their pages only.
    pub fn lists(
        &self,
        group: usize,
        column: usize,
        rows: impl IntoIterator<Item = usize>,
        mut take: impl FnMut(usize, ListValues),
    ) -> Result<()> {
        let pages = self.page_locations(group, column)?;
        let (mut reader, dictionary) = self.pages(group, column, &pages)?;
        let mut at = 0;
        for row in rows {
            if pages.get(row).is_none_or(|p| p.first_row_index != row as i64) {
                return Err(self.damaged(format!("row {row} of row group {group} has no page of its own")));
            }
            while at < row {
                reader.skip_next_page().map_err(|e| self.damaged(e))?;
                at += 1;
            }
            let page = self.next_data_page(&mut reader)?;
            take(row, self.decode_list(&page, dictionary.as_deref())?);
            at += 1;
        }
        Ok(())
    }

    /// Rows `rows` of a column without lists, reading the pages that hold them only.
    pub fn flat(&self, group: usize, column: usize, rows: Range<usize>) -> Result<FlatValues> {
        let mut out = Flat::default();
        let text = self.is_text(column);
        // A group without rows has no pages, and no dictionary before them.
        if !rows.is_empty() {
            self.read_flat(group, column, rows, &mut out)?;
        }
        Ok(if text {
            FlatValues::Words { places: out.places, words: out.words }
        } else {
            FlatValues::Integers(out.integers)
        })
    }

    fn read_flat(&self, group: usize, column: usize, rows: Range<usize>, out: &mut Flat) -> Result<()> {
        let pages = self.page_locations(group, column)?;
        let (mut reader, dictionary) = self.pages(group, column, &pages)?;
        let (total, text) = (self.rows(group), self.is_text(column));
        for (i, page) in pages.iter().enumerate() {
            let first = page.first_row_index as usize;
            let end = pages.get(i + 1).map_or(total, |next| next.first_row_index as usize);
            if end <= rows.start {
                reader.skip_next_page().map_err(|e| self.damaged(e))?;
                continue;
            }
            if first >= rows.end {
                break;
            }
            let page = self.next_data_page(&mut reader)?;
            let keep = rows.start.saturating_sub(first)..(rows.end - first).min(end - first);
            self.decode_flat(&page, dictionary.as_deref(), text, keep, out)?;
        }
        Ok(())
    }

    fn is_text(&self, column: usize) -> bool {
        let schema = self.metadata.file_metadata().schema_descr();
        schema.column(column).physical_type() == parquet::basic::Type::BYTE_ARRAY
    }

    fn page_locations(&self, group: usize, column: usize) -> Result<Vec<PageLocation>> {
        let one = ParquetMetaDataBuilder::new(self.metadata.file_metadata().clone())
            .add_row_group(self.metadata.row_group(group).clone())
            .build();
        let mut reader = ParquetMetaDataReader::new_with_metadata(one)
            .with_column_index_policy(PageIndexPolicy::Skip)
            .with_offset_index_policy(PageIndexPolicy::Required);
        reader.read_page_indexes(&self.file).map_err(|e| self.damaged(e))?;
        let indexed = reader.finish().map_err(|e| self.damaged(e))?;
        let index = indexed.offset_index().and_then(|groups| groups.first()).and_then(|columns| columns.get(column));
        Ok(index.ok_or_else(|| self.damaged("it has no page index"))?.page_locations().clone())
    }

    /// A reader of the data pages of a chunk, and its dictionary.
    fn pages(
        &self,
        group: usize,
        column: usize,
        pages: &[PageLocation],
    ) -> Result<(SerializedPageReader<Source>, Option<Bytes>)> {
        let group = self.metadata.row_group(group);
        let (chunk, rows) = (group.column(column), group.num_rows() as usize);
        let mut reader = SerializedPageReader::new(Arc::new(self.file.clone()), chunk, rows, Some(pages.to_vec()))
            .map_err(|e| self.damaged(e))?;
        if chunk.dictionary_page_offset().is_none() {
            return Ok((reader, None));
        }
        match reader.get_next_page().map_err(|e| self.damaged(e))? {
            Some(Page::DictionaryPage { buf, .. }) => Ok((reader, Some(buf))),
            _ => Err(self.damaged("a column does not begin with its dictionary")),
        }
    }

    fn next_data_page(&self, reader: &mut SerializedPageReader<Source>) -> Result<DataPage> {
        match reader.get_next_page().map_err(|e| self.damaged(e))? {
            Some(Page::DataPage { buf, num_values, encoding, .. }) => {
                Ok(DataPage { body: buf, levels: num_values as usize, encoding })
            }
            Some(_) => Err(self.damaged("it has pages that we do not write")),
            None => Err(self.damaged("it ends before its last page")),
        }
    }

    fn decode_list(&self, page: &DataPage, dictionary: Option<&[u8]>) -> Result<ListValues> {
        let fail = |reason: &str| self.damaged(reason);
        let (_, rest) = level_bytes(&page.body).ok_or_else(|| fail("a page has no repetition levels"))?;
        let (definition, values) = level_bytes(rest).ok_or_else(|| fail("a page has no definition levels"))?;
        let mut present = 0;
        read_hybrid(definition, 2, page.levels, |level, run| present += if level == 2 { run } else { 0 })
            .map_err(fail)?;
        if present == 0 {
            return Ok(ListValues::Null);
        }
        match page.encoding {
            Encoding::RLE_DICTIONARY => {
                let dictionary = dictionary.ok_or_else(|| fail("a page refers to a missing dictionary"))?;
                decode_indices(values, dictionary, present).map_err(fail).map(ListValues::I16)
            }
            Encoding::BYTE_STREAM_SPLIT if values.len() == 4 * present => Ok(join_integers(values, present)),
            Encoding::BYTE_STREAM_SPLIT if values.len() == 8 * present => {
                let value = |i: usize| f64::from_le_bytes(std::array::from_fn(|b| values[b * present + i]));
                Ok(ListValues::F64((0..present).map(value).collect()))
            }
            Encoding::PLAIN if values.len() == 4 * present => {
                Ok(list_of((0..present).filter_map(|i| integer_at(values, i)).collect()))
            }
            Encoding::PLAIN if values.len() == 8 * present => {
                let (values, _) = values.as_chunks();
                Ok(ListValues::F64(values.iter().copied().map(f64::from_le_bytes).collect()))
            }
            other => Err(self.damaged(format!("a page of {present} values is encoded as {other:?}"))),
        }
    }

    fn decode_flat(
        &self,
        page: &DataPage,
        dictionary: Option<&[u8]>,
        text: bool,
        keep: Range<usize>,
        out: &mut Flat,
    ) -> Result<()> {
        let fail = |reason: &str| self.damaged(reason);
        let (definition, values) = level_bytes(&page.body).ok_or_else(|| fail("a page has no levels"))?;
        let mut present = Vec::with_capacity(page.levels);
        read_hybrid(definition, 1, page.levels, |level, run| present.extend(std::iter::repeat_n(level == 1, run)))
            .map_err(fail)?;
        let count = present.iter().filter(|&&p| p).count();
        let mut places = Vec::with_capacity(count);
        let mut integers = Vec::new();
        match page.encoding {
            Encoding::RLE_DICTIONARY => {
                let (&width, indices) = values.split_first().ok_or_else(|| fail("a page ends early"))?;
                read_hybrid(indices, u32::from(width), count, |i, run| places.extend(std::iter::repeat_n(i, run)))
                    .map_err(fail)?;
            }
            Encoding::BYTE_STREAM_SPLIT if values.len() == 4 * count => {
                let value = |i: usize| i32::from_le_bytes(std::array::from_fn(|b| values[b * count + i]));
                integers.extend((0..count).map(value));
            }
            Encoding::PLAIN if !text && values.len() == 4 * count => {
                integers.extend((0..count).filter_map(|i| integer_at(values, i)));
            }
            Encoding::PLAIN if text => {
                let words = texts(values).ok_or_else(|| fail("a text ends early"))?;
                places.extend((out.words.len() as u32)..(out.words.len() + words.len()) as u32);
                out.words.extend(words);
            }
            other => return Err(self.damaged(format!("a page is encoded as {other:?}"))),
        }
        if page.encoding == Encoding::RLE_DICTIONARY {
            let dictionary = dictionary.ok_or_else(|| fail("a page refers to a missing dictionary"))?;
            if text {
                if out.words.is_empty() {
                    out.words = texts(dictionary).ok_or_else(|| fail("a text ends early"))?;
                }
            } else {
                let entry = |place: &u32| integer_at(dictionary, *place as usize);
                let found: Option<Vec<i32>> = places.iter().map(entry).collect();
                integers = found.ok_or_else(|| fail("an index points past the dictionary"))?;
            }
        }
        let mut next = 0;
        for (row, here) in present.into_iter().enumerate() {
            let kept = keep.contains(&row);
            if text && kept {
                let place = if here { places.get(next).copied() } else { Some(u32::MAX) };
                out.places.push(place.ok_or_else(|| fail("a page ends early"))?);
            } else if kept {
                let value = if here { integers.get(next).copied() } else { Some(i32::MIN) };
                out.integers.push(value.ok_or_else(|| fail("a page ends early"))?);
            }
            next += usize::from(here);
        }
        Ok(())
    }

    fn damaged(&self, reason: impl std::fmt::Display) -> TableError {
        TableError::damaged(&self.path, reason)
    }
}

struct DataPage {
    body: Bytes,
    levels: usize,
    encoding: Encoding,
}

#[derive(Default)]
struct Flat {
    integers: Vec<i32>,
    places: Vec<u32>,
    words: Vec<String>,
}

/// Levels, and what follows them.
fn level_bytes(body: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = body.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}

fn integer_at(dictionary: &[u8], place: usize) -> Option<i32> {
    dictionary.get(place * 4..place * 4 + 4).and_then(|b| b.try_into().ok()).map(i32::from_le_bytes)
}

fn decode_indices(values: &[u8], dictionary: &[u8], count: usize) -> std::result::Result<Vec<i16>, &'static str> {
    let (&width, indices) = values.split_first().ok_or("a page ends early")?;
    if width > 8 {
        return Err("an index is wider than a byte");
    }
    let entries: Vec<i16> = dictionary
        .chunks_exact(4)
        .map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]]) as i16)
        .chain(std::iter::repeat(0))
        .take(256)
        .collect();
    let mut out = Vec::with_capacity(count);
    if let Some(bytes) = whole_bytes(width, indices, count) {
        out.extend(bytes.iter().map(|&b| entries[usize::from(b)]));
        return Ok(out);
    }
    read_hybrid(indices, u32::from(width), count, |i, run| {
        out.extend(std::iter::repeat_n(entries[(i & 0xFF) as usize], run));
    })?;
    Ok(out)
}

/// The indices themselves where they are a byte each in one packed run, as we write them.
fn whole_bytes(width: u8, indices: &[u8], count: usize) -> Option<&[u8]> {
    if width != 8 {
        return None;
    }
    let header = indices.iter().position(|b| b & 0x80 == 0)? + 1;
    let one_packed_run = indices[0] & 1 == 1 && indices.len() == header + count.next_multiple_of(8);
    one_packed_run.then(|| &indices[header..header + count])
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
        ListValues::I16(narrow)
    } else {
        let value = |i: usize| i32::from_le_bytes(std::array::from_fn(|b| planes[b * count + i]));
        ListValues::I32((0..count).map(value).collect())
    }
}

/// A list of integers, as narrow as they are.
fn list_of(values: Vec<i32>) -> ListValues {
    match values.iter().map(|&value| i16::try_from(value)).collect() {
        Ok(narrow) => ListValues::I16(narrow),
        Err(_) => ListValues::I32(values),
    }
}

fn texts(mut plain: &[u8]) -> Option<Vec<String>> {
    let mut words = Vec::new();
    while !plain.is_empty() {
        let (length, rest) = plain.split_first_chunk::<4>()?;
        let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        words.push(String::from_utf8(text.to_vec()).ok()?);
        plain = rest;
    }
    Some(words)
}
