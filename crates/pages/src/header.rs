//! Headers of pages, in Thrift's compact protocol.

use crate::{encoding, varint};

/// What a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageKind {
    /// The values that places in data pages stand for.
    Dictionary,
    /// A data page of the first version.
    Data,
    /// A data page of the second version, whose levels are never compressed.
    Data2 {
        /// Bytes of the repetition levels.
        repetitions: usize,
        /// Bytes of the definition levels.
        definitions: usize,
    },
    /// Of a kind that is skipped.
    Other,
}

/// The header of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// What the page is.
    pub kind: PageKind,
    /// Bytes in the file, after the header.
    pub stored: usize,
    /// Bytes once decompressed.
    pub unpacked: usize,
    /// Values, NULLs included; in a column of lists, members.
    pub values: usize,
    /// How values are encoded: see [`encoding`](crate::encoding).
    pub encoding: i32,
    /// The encoding of definition levels in pages of the first version.
    pub level_encoding: i32,
    /// Whether the chunk's codec was used.
    pub compressed: bool,
}

impl Header {
    /// Cuts the header off the front; `None` where there is none.
    pub fn read(bytes: &mut &[u8]) -> Option<Self> {
        let mut thrift = Thrift(bytes);
        let header = Self::of(&mut thrift)?;
        *bytes = thrift.0;
        Some(header)
    }

    /// Bytes of levels that are not compressed.
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

    /// What pages of one kind have.
    fn part(&mut self, thrift: &mut Thrift<'_>, part: i16) -> Option<()> {
        let (mut repetitions, mut definitions) = (0, 0);
        thrift.fields(|thrift, field, ty| {
            match (part, field) {
                (_, 1) => self.values = thrift.count()?,
                (5 | 7, 2) | (8, 4) => self.encoding = thrift.int()? as i32,
                (5, 3) => self.level_encoding = thrift.int()? as i32,
                (8, 5) => definitions = thrift.count()?,
                (8, 6) => repetitions = thrift.count()?,
                // Truths are in the type.
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
/// Structures inside one another, at most.
const DEPTH_MAX: usize = 16;

struct Thrift<'a>(&'a [u8]);

impl Thrift<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    fn varint(&mut self) -> Option<u64> {
        varint::read(&mut self.0)
    }

    fn int(&mut self) -> Option<i64> {
        varint::read_signed(&mut self.0)
    }

    /// A size or a number of values: the format has 32 bits for it.
    fn count(&mut self) -> Option<usize> {
        i32::try_from(self.int()?).ok().and_then(|count| usize::try_from(count).ok())
    }

    /// Calls `take` with the number and type of each field of a structure.
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
            7 => drop(self.take(8)?),
            8 => {
                let length = self.varint()?;
                self.take(usize::try_from(length).ok()?)?;
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                for _ in 0..count {
                    // Truths in lists take a byte each.
                    self.skip(if head & 0x0F <= 2 { 3 } else { head & 0x0F }, depth + 1)?;
                }
            }
            12 => self.fields(|thrift, _, ty| thrift.skip(ty, depth + 1))?,
            _ => return None,
        }
        Some(())
    }

    fn take(&mut self, length: usize) -> Option<()> {
        self.0 = self.0.get(length..)?;
        Some(())
    }
}
