//! Iterates over the pages of a column chunk.

use std::ops::Range;

use parquet::basic::Compression;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::page_index::offset_index::PageLocation;

use crate::header::{Header, PageKind};
use crate::{Error, Result, SharedFile, codec};

/// Neighbouring pages are read together, up to this many bytes.
const READ_BYTES: u64 = 1 << 20;

/// Capacity to reserve for `values` values. The limit protects against damaged headers.
pub fn room(values: usize) -> usize {
    const ROOM_MAX: usize = 1 << 20;
    values.saturating_add(8).min(ROOM_MAX)
}

/// The pages of a column chunk: all, or the dictionary and the pages with wanted rows.
pub struct ColumnPages<'a> {
    file: &'a SharedFile,
    codec: Compression,
    parts: Vec<Part>,
}

/// Contiguous pages; only the first row of the first page may be known.
struct Part {
    bytes: Range<u64>,
    first_row: Option<usize>,
}

pub struct Page<'a> {
    pub header: Header,
    /// The page's first row within the row group, if a page index provides it.
    pub first_row: Option<usize>,
    codec: Compression,
    stored: &'a [u8],
}

impl<'a> ColumnPages<'a> {
    /// All pages, in one read.
    pub fn all(file: &'a SharedFile, chunk: &ColumnChunkMetaData) -> Self {
        let (start, length) = chunk.byte_range();
        let parts = vec![Part { bytes: start..start + length, first_row: Some(0) }];
        Self { file, codec: chunk.compression(), parts }
    }

    /// The bytes before the first data page (the dictionary) and the data pages with `wanted` rows.
    pub fn located(
        file: &'a SharedFile,
        chunk: &ColumnChunkMetaData,
        locations: &[PageLocation],
        wanted: impl Fn(Range<usize>) -> bool,
    ) -> Result<Self> {
        let (start, length) = chunk.byte_range();
        let mut parts = Vec::new();
        let mut push = |from: i64, to: i64, first_row| {
            let outside = Error::damaged("the page index points outside the column chunk");
            let (from, to) = (u64::try_from(from).ok(), u64::try_from(to).ok());
            let bytes = from.zip(to).filter(|(from, to)| start <= *from && from <= to && *to <= start + length);
            let (from, to) = bytes.ok_or(outside)?;
            parts.push(Part { bytes: from..to, first_row });
            Ok::<_, Error>(())
        };
        let first = locations.first().map_or(0, |page| page.offset);
        if first as u64 > start {
            push(start as i64, first, None)?;
        }
        for (page, location) in locations.iter().enumerate() {
            let from = location.first_row_index as usize;
            let to = locations.get(page + 1).map_or(usize::MAX, |next| next.first_row_index as usize);
            if wanted(from..to) {
                push(
                    location.offset,
                    location.offset.saturating_add(location.compressed_page_size.into()),
                    Some(from),
                )?;
            }
        }
        Ok(Self { file, codec: chunk.compression(), parts })
    }

    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes.end - part.bytes.start).sum()
    }

    pub fn each(&self, mut take: impl FnMut(&Page<'_>) -> Result<()>) -> Result<()> {
        let mut buffer = Vec::new();
        let mut parts = &self.parts[..];
        while let Some(first) = parts.first() {
            let start = first.bytes.start;
            let neighbours = parts
                .windows(2)
                .take_while(|pair| pair[0].bytes.end == pair[1].bytes.start && pair[1].bytes.end - start <= READ_BYTES);
            let (together, rest) = parts.split_at(1 + neighbours.count());
            parts = rest;
            let end = together.last().map_or(start, |last| last.bytes.end);
            buffer.clear();
            buffer.resize((end - start) as usize, 0);
            self.file.read_at(&mut buffer, start)?;
            for part in together {
                let bytes = &buffer[(part.bytes.start - start) as usize..(part.bytes.end - start) as usize];
                self.each_of(part, bytes, &mut take)?;
            }
        }
        Ok(())
    }

    fn each_of(&self, part: &Part, mut bytes: &[u8], take: &mut impl FnMut(&Page<'_>) -> Result<()>) -> Result<()> {
        let mut first_row = part.first_row;
        while !bytes.is_empty() {
            let header = Header::read(&mut bytes).ok_or(Error::damaged("a page has no header"))?;
            let stored = bytes.split_off(..header.stored).ok_or(Error::SHORT)?;
            let is_data = matches!(header.kind, PageKind::Data | PageKind::Data2 { .. });
            let row = if is_data { first_row.take() } else { None };
            take(&Page { header, first_row: row, codec: self.codec, stored })?;
        }
        Ok(())
    }
}

impl Page<'_> {
    /// Returns the levels and values of the page. Decompresses into `buffer` if needed.
    pub fn body<'b>(&'b self, buffer: &'b mut Vec<u8>) -> Result<&'b [u8]> {
        if self.codec == Compression::UNCOMPRESSED || !self.header.compressed {
            return Ok(self.stored);
        }
        // Levels in version 2 pages are never compressed.
        let plain = self.header.uncompressed_levels();
        let (levels, packed) = self.stored.split_at_checked(plain).ok_or(Error::SHORT)?;
        let size = self.header.unpacked.checked_sub(plain).ok_or(Error::SHORT)?;
        buffer.clear();
        // A page of NULLs has no values, and some writers store nothing for them.
        if size > 0 {
            codec::decompress(self.codec, packed, size, buffer)?;
        }
        if !levels.is_empty() {
            buffer.splice(0..0, levels.iter().copied());
        }
        Ok(buffer)
    }
}

#[cfg(test)]
mod tests {
    use parquet::basic::ZstdLevel;

    use super::*;

    #[test]
    fn pages_without_values_are_read() {
        let kind = PageKind::Data2 { repetitions: 0, definitions: 2 };
        let header =
            Header { kind, stored: 2, unpacked: 2, values: 3, encoding: 0, level_encoding: 0, compressed: true };
        for codec in [Compression::SNAPPY, Compression::LZ4_RAW, Compression::ZSTD(ZstdLevel::default())] {
            let page = Page { header: header.clone(), first_row: None, codec, stored: &[6, 0] };
            assert_eq!(page.body(&mut Vec::new()).unwrap(), [6, 0]);
        }
    }
}
