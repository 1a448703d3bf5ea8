//! One outcome in memory over all worlds, in the narrowest type that holds it.

use std::ops::Range;

use table::ListValues;

/// Values in the narrowest type that holds them all.
#[derive(Debug, Clone, PartialEq)]
pub enum Narrow {
    U8(Vec<u8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    F64(Vec<f64>),
}

/// One outcome over all worlds of an ensemble.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The stored integers (or reals).
    pub values: Narrow,
    /// Divide a stored integer by this to get the value.
    pub scale: i32,
}

impl Column {
    /// A column without values yet, with room for so many worlds.
    pub(crate) fn new(worlds: usize, scale: i32) -> Self {
        Self { values: Narrow::U8(Vec::with_capacity(worlds)), scale }
    }

    /// Appends the values of the next range.
    pub(crate) fn append(&mut self, values: &ListValues, worlds: usize) {
        self.values.append(values, worlds);
    }

    /// The value at an index; see [`StoredEnsemble::place`](crate::StoredEnsemble::place) for the index of a world.
    #[inline]
    pub fn value(&self, place: usize) -> f64 {
        let scale = f64::from(self.scale);
        match &self.values {
            Narrow::U8(v) => f64::from(v[place]) / scale,
            Narrow::I16(v) => f64::from(v[place]) / scale,
            Narrow::I32(v) => f64::from(v[place]) / scale,
            Narrow::F64(v) => v[place],
        }
    }

    /// The smallest difference between values; `None` for real numbers.
    pub(crate) fn unit(&self) -> Option<f64> {
        (!matches!(self.values, Narrow::F64(_))).then(|| 1.0 / f64::from(self.scale))
    }

    /// Number of worlds.
    pub fn len(&self) -> usize {
        match &self.values {
            Narrow::U8(v) => v.len(),
            Narrow::I16(v) => v.len(),
            Narrow::I32(v) => v.len(),
            Narrow::F64(v) => v.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values at some indices, copied.
    pub(crate) fn slice(&self, places: Range<usize>) -> Self {
        let values = match &self.values {
            Narrow::U8(v) => Narrow::U8(v[places].to_vec()),
            Narrow::I16(v) => Narrow::I16(v[places].to_vec()),
            Narrow::I32(v) => Narrow::I32(v[places].to_vec()),
            Narrow::F64(v) => Narrow::F64(v[places].to_vec()),
        };
        Self { values, scale: self.scale }
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        self.len() * self.values.width()
    }
}

/// Appends numbers to values of a type that holds them.
macro_rules! extend {
    ($values:expr, $more:expr) => {
        match $values {
            Narrow::U8(values) => values.extend($more.iter().map(|v| *v as u8)),
            Narrow::I16(values) => values.extend($more.iter().map(|v| *v as i16)),
            Narrow::I32(values) => values.extend($more.iter().map(|v| *v as i32)),
            Narrow::F64(values) => values.extend($more.iter().map(|v| *v as f64)),
        }
    };
}

impl Narrow {
    /// Bytes of a value.
    fn width(&self) -> usize {
        match self {
            Self::U8(_) => 1,
            Self::I16(_) => 2,
            Self::I32(_) => 4,
            Self::F64(_) => 8,
        }
    }

    /// Appends values, after widening those before if they need it. `room` is how many there will be.
    fn append(&mut self, more: &ListValues, room: usize) {
        let needed = match more {
            // The high bytes of all values together: if none is set, every value fits in a byte.
            ListValues::I16(v) if v.iter().fold(0, |bits, v| bits | v) & !0xFF == 0 => Self::U8(Vec::new()),
            ListValues::I16(_) => Self::I16(Vec::new()),
            ListValues::I32(_) => Self::I32(Vec::new()),
            ListValues::F64(_) => Self::F64(Vec::new()),
            ListValues::Null => return,
        };
        if needed.width() > self.width() {
            let before = std::mem::replace(self, needed);
            self.reserve(room);
            match before {
                Self::U8(before) => extend!(self, before),
                Self::I16(before) => extend!(self, before),
                Self::I32(before) => extend!(self, before),
                Self::F64(before) => extend!(self, before),
            }
        }
        match more {
            ListValues::I16(more) => extend!(self, more),
            ListValues::I32(more) => extend!(self, more),
            ListValues::F64(more) => extend!(self, more),
            ListValues::Null => {}
        }
    }

    fn reserve(&mut self, room: usize) {
        match self {
            Self::U8(values) => values.reserve_exact(room),
            Self::I16(values) => values.reserve_exact(room),
            Self::I32(values) => values.reserve_exact(room),
            Self::F64(values) => values.reserve_exact(room),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(parts: &[ListValues]) -> Narrow {
        let mut column = Column::new(8, 1);
        parts.iter().for_each(|part| column.append(part, 8));
        column.values
    }

    #[test]
    fn values_are_as_narrow_as_the_widest_range_allows() {
        let bytes = || ListValues::I16(vec![0, 255]);
        let words = || ListValues::I16(vec![-1, 256]);
        let wide = || ListValues::I32(vec![70_000]);
        let reals = || ListValues::F64(vec![0.5, -0.0]);
        assert_eq!(column(&[bytes(), bytes()]), Narrow::U8(vec![0, 255, 0, 255]));
        assert_eq!(column(&[bytes(), words(), bytes()]), Narrow::I16(vec![0, 255, -1, 256, 0, 255]));
        assert_eq!(column(&[words(), wide(), bytes()]), Narrow::I32(vec![-1, 256, 70_000, 0, 255]));
        assert_eq!(column(&[bytes(), wide()]), Narrow::I32(vec![0, 255, 70_000]));
        for (first, start) in [(bytes(), [0.0, 255.0]), (words(), [-1.0, 256.0])] {
            assert_eq!(column(&[first, reals()]), Narrow::F64([&start[..], &[0.5, -0.0]].concat()));
        }
        assert_eq!(column(&[wide(), reals(), words()]), Narrow::F64(vec![70_000.0, 0.5, -0.0, -1.0, 256.0]));
        assert_eq!(column(&[ListValues::Null, bytes()]), Narrow::U8(vec![0, 255]));
    }
}
