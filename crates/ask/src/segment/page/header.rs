//! Headers of pages, in Thrift's compact protocol.

use table::varint;

/// What a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Dictionary,
    Data,
    /// Of the second version: its levels are never compressed, and take so many bytes.
    Data2 {
        repetitions: usize,
        definitions: usize,
    },
    Other,
}

/// The header of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    /// Bytes of the page as it is stored, and once it is not compressed any more.
    pub(super) stored: usize,
    pub(super) unpacked: usize,
    /// Values, those that are NULL included; in a page of lists levels, one a member.
    pub(super) values: usize,
    pub(super) encoding: i32,
    /// The encoding of levels in pages of the first version.
    pub(super) level_encoding: i32,
    pub(super) compressed: bool,
}

impl Header {
    /// Cuts the header off the front; `None` where there is none.
    pub(super) fn read(bytes: &mut &[u8]) -> Option<Self> {
        let mut thrift = Thrift(bytes);
        let header = Self::of(&mut thrift)?;
        *bytes = thrift.0;
        Some(header)
    }

    /// Bytes of levels that are not compressed.
    pub(super) fn levels(&self) -> usize {
        match self.kind {
            Kind::Data2 { repetitions, definitions } => repetitions + definitions,
            _ => 0,
        }
    }

    fn of(thrift: &mut Thrift<'_>) -> Option<Self> {
        let mut header = Self {
            kind: Kind::Other,
            stored: 0,
            unpacked: 0,
            values: 0,
            encoding: 0,
            level_encoding: super::encoding::RLE,
            compressed: true,
        };
        let mut kind = 0;
        thrift.fields(|thrift, field, ty| {
            match field {
                1 => kind = thrift.int()?,
                2 => header.unpacked = usize::try_from(thrift.int()?).ok()?,
                3 => header.stored = usize::try_from(thrift.int()?).ok()?,
                5 | 7 | 8 => header.part(thrift, field)?,
                _ => thrift.skip(ty, 0)?,
            }
            Some(())
        })?;
        header.kind = match kind {
            0 => Kind::Data,
            2 => Kind::Dictionary,
            3 => header.kind,
            _ => Kind::Other,
        };
        Some(header)
    }

    /// What pages of one kind have.
    fn part(&mut self, thrift: &mut Thrift<'_>, part: i16) -> Option<()> {
        let (mut repetitions, mut definitions) = (0, 0);
        thrift.fields(|thrift, field, ty| {
            match (part, field) {
                (_, 1) => self.values = usize::try_from(thrift.int()?).ok()?,
                (5 | 7, 2) | (8, 4) => self.encoding = thrift.int()? as i32,
                (5, 3) => self.level_encoding = thrift.int()? as i32,
                (8, 5) => definitions = usize::try_from(thrift.int()?).ok()?,
                (8, 6) => repetitions = usize::try_from(thrift.int()?).ok()?,
                // Truths are in the type.
                (8, 7) => self.compressed = ty == TRUE,
                _ => thrift.skip(ty, 0)?,
            }
            Some(())
        })?;
        if part == 8 {
            self.kind = Kind::Data2 { repetitions, definitions };
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
