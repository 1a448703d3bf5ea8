//! Page headers.

use crate::encoding;
use crate::thrift::{TRUE, Thrift};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageKind {
    /// Values that the indices in data pages refer to.
    Dictionary,
    /// Data page of version 1.
    Data,
    /// Data page of version 2, with uncompressed levels.
    Data2 { repetitions: usize, definitions: usize },
    /// Readers skip pages of other kinds.
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    pub kind: PageKind,
    /// Bytes in the file, without the header.
    pub stored: usize,
    /// Bytes after decompression.
    pub unpacked: usize,
    /// Values including NULLs; members for lists.
    pub values: usize,
    /// Encoding of the values, one of [`encoding`](crate::encoding).
    pub encoding: i32,
    /// Encoding of definition levels in version 1 pages.
    pub level_encoding: i32,
    /// Whether the page is compressed with the chunk's codec.
    pub compressed: bool,
}

impl Header {
    /// Reads the header and removes it from `bytes`; `None` if invalid.
    pub fn read(bytes: &mut &[u8]) -> Option<Self> {
        let mut thrift = Thrift(bytes);
        let header = Self::of(&mut thrift)?;
        *bytes = thrift.0;
        Some(header)
    }

    /// Bytes of uncompressed levels.
    pub(crate) fn uncompressed_levels(&self) -> usize {
        match self.kind {
            PageKind::Data2 { repetitions, definitions } => repetitions.saturating_add(definitions),
            _ => 0,
        }
    }

    fn of(thrift: &mut Thrift<'_>) -> Option<Self> {
        let mut header = Self {
            kind: PageKind::Other,
            stored: 0,
            unpacked: 0,
            values: 0,
            encoding: 0,
            level_encoding: encoding::RLE,
            compressed: true,
        };
        let mut kind = 0;
        thrift.fields(|thrift, field, ty| {
            match field {
                1 => kind = thrift.int()?,
                2 => header.unpacked = thrift.count()?,
                3 => header.stored = thrift.count()?,
                5 | 7 | 8 => header.part(thrift, field)?,
                _ => thrift.skip(ty, 0)?,
            }
            Some(())
        })?;
        header.kind = match kind {
            0 => PageKind::Data,
            2 => PageKind::Dictionary,
            3 => header.kind,
            _ => PageKind::Other,
        };
        Some(header)
    }

    /// Reads the struct for pages of one kind.
    fn part(&mut self, thrift: &mut Thrift<'_>, part: i16) -> Option<()> {
        let (mut repetitions, mut definitions) = (0, 0);
        thrift.fields(|thrift, field, ty| {
            match (part, field) {
                (_, 1) => self.values = thrift.count()?,
                (5 | 7, 2) | (8, 4) => self.encoding = thrift.int()? as i32,
                (5, 3) => self.level_encoding = thrift.int()? as i32,
                (8, 5) => definitions = thrift.count()?,
                (8, 6) => repetitions = thrift.count()?,
                // The type of a boolean field is its value.
                (8, 7) => self.compressed = ty == TRUE,
                _ => thrift.skip(ty, 0)?,
            }
            Some(())
        })?;
        if part == 8 {
            self.kind = PageKind::Data2 { repetitions, definitions };
        }
        Some(())
    }
}
