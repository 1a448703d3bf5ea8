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
    pub(crate) fn new(parts: Vec<ListValues>, scale: i32) -> Self {
        Self { values: narrow(parts), scale }
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
        let width = match &self.values {
            Narrow::U8(_) => 1,
            Narrow::I16(_) => 2,
            Narrow::I32(_) => 4,
            Narrow::F64(_) => 8,
        };
        self.len() * width
    }
}

fn narrow(parts: Vec<ListValues>) -> Narrow {
    if parts.iter().any(|p| matches!(p, ListValues::F64(_))) {
        let reals = parts.into_iter().flat_map(|p| match p {
            ListValues::F64(v) => v,
            ListValues::I16(v) => v.into_iter().map(f64::from).collect(),
            ListValues::I32(v) => v.into_iter().map(f64::from).collect(),
            ListValues::Null => Vec::new(),
        });
        return Narrow::F64(reals.collect());
    }
    if parts.iter().any(|p| matches!(p, ListValues::I32(_))) {
        let integers = parts.into_iter().flat_map(|p| match p {
            ListValues::I32(v) => v,
            ListValues::I16(v) => v.into_iter().map(i32::from).collect(),
            ListValues::F64(_) | ListValues::Null => Vec::new(),
        });
        return Narrow::I32(integers.collect());
    }
    let slices = || {
        parts.iter().map(|p| match p {
            ListValues::I16(v) => v.as_slice(),
            _ => &[],
        })
    };
    // The high bytes of all values together: if none is set, every value fits in a byte.
    let high = slices().flatten().fold(0, |bits, v| bits | v);
    if high & !0xFF == 0 {
        Narrow::U8(slices().flatten().map(|v| *v as u8).collect())
    } else {
        Narrow::I16(slices().flatten().copied().collect())
    }
}
