//! Thrift's compact protocol.

use crate::varint;

/// The type of a boolean field whose value is true.
pub(crate) const TRUE: u8 = 1;
const STRUCT: u8 = 12;
/// Limit on nested structs.
const DEPTH_MAX: usize = 16;

/// Bytes not read yet. Methods return `None` if they end early or are not valid.
pub(crate) struct Thrift<'a>(pub(crate) &'a [u8]);

impl Thrift<'_> {
    fn byte(&mut self) -> Option<u8> {
        self.0.split_off_first().copied()
    }

    fn varint(&mut self) -> Option<u64> {
        varint::read(&mut self.0)
    }

    pub(crate) fn int(&mut self) -> Option<i64> {
        varint::read_signed(&mut self.0)
    }

    /// A size or a number of values, which the format limits to 32 bits.
    pub(crate) fn count(&mut self) -> Option<usize> {
        i32::try_from(self.int()?).ok().and_then(|count| usize::try_from(count).ok())
    }

    /// Calls `take` with the number and type of each field of a struct.
    pub(crate) fn fields(&mut self, mut take: impl FnMut(&mut Self, i16, u8) -> Option<()>) -> Option<()> {
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

    /// Calls `take` for each struct of a list.
    pub(crate) fn structs(&mut self, mut take: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        let (count, ty) = self.list()?;
        if ty == STRUCT { (0..count).try_for_each(|_| take(self)) } else { None }
    }

    /// The number of members of a list, which follow, and their type.
    fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        Some((if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) }, head & 0x0F))
    }

    pub(crate) fn skip(&mut self, ty: u8, depth: usize) -> Option<()> {
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
                let (count, ty) = self.list()?;
                for _ in 0..count {
                    // Booleans in lists have one byte each.
                    self.skip(if ty <= 2 { 3 } else { ty }, depth + 1)?;
                }
            }
            STRUCT => self.fields(|thrift, _, ty| thrift.skip(ty, depth + 1))?,
            _ => return None,
        }
        Some(())
    }
}
