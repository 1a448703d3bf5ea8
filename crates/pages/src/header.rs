//! Page headers in Thrift's compact protocol.

use crate::{encoding, varint};

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

const TRUE: u8 = 1;
/// Limit on nested structs.
const DEPTH_MAX: usize = 16;

struct Thrift<'a>(&'a [u8]);

impl Thrift<'_> {
    fn byte(&mut self) -> Option<u8> {
        self.0.split_off_first().copied()
    }

    fn varint(&mut self) -> Option<u64> {
        varint::read(&mut self.0)
    }

    fn int(&mut self) -> Option<i64> {
        varint::read_signed(&mut self.0)
    }

    /// A size or a number of values, which the format limits to 32 bits.
    fn count(&mut self) -> Option<usize> {
        i32::try_from(self.int()?).ok().and_then(|count| usize::try_from(count).ok())
    }

    /// Calls `take` with the number and type of each field of a struct.
    fn fields(&mut self, mut take: impl FnMut(&mut Self, i16, u8) -> Option<()>) -> Option<()> {
        let mut field = 0i16;
        loop {
            let byte = self.byte()?;
            if byte == 0 {
                return Some(());
            }
            field = if byte >> 4 == 0 { self.int()? as i16 } else { field.checked_add(i16::from(byte >> 4))? };
            take(self, field, byte & 0x0F)?;
        }
    }

    fn skip(&mut self, ty: u8, depth: usize) -> Option<()> {
        if depth > DEPTH_MAX {
            return None;
        }
        match ty {
            1 | 2 => {}
            3 => drop(self.byte()?),
            4..=6 => drop(self.varint()?),
            7 => drop(self.0.split_off(..8)?),
            8 => {
                let length = self.varint()?;
                self.0.split_off(..usize::try_from(length).ok()?)?;
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                for _ in 0..count {
                    // Booleans in lists have one byte each.
                    self.skip(if head & 0x0F <= 2 { 3 } else { head & 0x0F }, depth + 1)?;
                }
            }
            12 => self.fields(|thrift, _, ty| thrift.skip(ty, depth + 1))?,
            _ => return None,
        }
        Some(())
    }
}
