//! The output of a model: columns of numbers for one entity over a range of worlds.

use std::ops::Range;

use world::{World, WorldRange};

use crate::{Failure, OutOfRange};

/// NULL in a column of label codes.
pub const NULL_LABEL: u8 = u8::MAX;
/// NULL in a nullable event column of `i8`.
pub const NULL_I8: i8 = i8::MIN;
/// NULL in a nullable event column of `i16`.
pub const NULL_I16: i16 = i16::MIN;
/// NULL in a nullable event column of `i32`.
pub const NULL_I32: i32 = i32::MIN;

/// Values of one outcome, one per world of a block, in the narrowest type that fits. Integers are the value times the
/// outcome's catalogue scale.
#[derive(Debug, Clone, Copy)]
pub enum Values<'a> {
    I16(&'a [i16]),
    I32(&'a [i32]),
    /// Real numbers, unscaled.
    F64(&'a [f64]),
}

impl Values<'_> {
    /// Number of worlds.
    pub fn len(&self) -> usize {
        match self {
            Self::I16(v) => v.len(),
            Self::I32(v) => v.len(),
            Self::F64(v) => v.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// All outcomes of one entity for a range of worlds.
#[derive(Debug)]
pub struct OutcomeBlock<'a> {
    /// Index into the catalogue's entities.
    pub entity: usize,
    /// The worlds, in order: value `i` of every column belongs to world `range.first() + i`.
    pub range: WorldRange,
    /// One column for each outcome of the entity's kind, in catalogue order.
    pub columns: Vec<Values<'a>>,
}

/// One event column over the rows of a block.
#[derive(Debug, Clone, Copy)]
pub enum EventValues<'a> {
    /// Codes of an [`EventKind::Label`](crate::EventKind::Label) column; [`NULL_LABEL`] is NULL.
    Label(&'a [u8]),
    /// 8-bit integers; in a nullable column [`NULL_I8`] is NULL.
    I8(&'a [i8]),
    /// 16-bit integers; in a nullable column [`NULL_I16`] is NULL.
    I16(&'a [i16]),
    /// 32-bit integers; in a nullable column [`NULL_I32`] is NULL.
    I32(&'a [i32]),
    /// Real numbers, infinities and NaN included. In a nullable column, a row whose `valid` is false is NULL: no number
    /// stands for it. All zeros count as one value, and so do all NaNs.
    F64 { values: &'a [f64], valid: Option<&'a [bool]> },
}

impl EventValues<'_> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Label(v) => v.len(),
            Self::I8(v) => v.len(),
            Self::I16(v) => v.len(),
            Self::I32(v) => v.len(),
            Self::F64 { values, .. } => values.len(),
        }
    }

    /// The number or code of a row; `None` for NULL.
    #[inline]
    pub fn value(&self, row: usize) -> Option<f64> {
        match *self {
            Self::F64 { values, valid } => valid.is_none_or(|valid| valid[row]).then_some(values[row]),
            _ => self.number(row).map(f64::from),
        }
    }

    /// The integer or code of a row; `None` for NULL and in a column of real numbers.
    #[inline]
    pub fn number(&self, row: usize) -> Option<i32> {
        match *self {
            Self::Label(v) => (v[row] != NULL_LABEL).then_some(i32::from(v[row])),
            Self::I8(v) => (v[row] != NULL_I8).then_some(i32::from(v[row])),
            Self::I16(v) => (v[row] != NULL_I16).then_some(i32::from(v[row])),
            Self::I32(v) => (v[row] != NULL_I32).then_some(v[row]),
            Self::F64 { .. } => None,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The events of one entity for a range of worlds: all rows of the first world, then of the next.
#[derive(Debug, Clone)]
pub struct EventBlock<'a> {
    /// Index into the catalogue's entities.
    pub entity: usize,
    pub range: WorldRange,
    /// Number of rows of each world, in the order of the range.
    pub rows: &'a [u32],
    /// One column for each event column of the catalogue, in catalogue order.
    pub columns: Vec<EventValues<'a>>,
}

impl EventBlock<'_> {
    /// Each world, with the range of its rows in the columns.
    pub fn worlds(&self) -> impl Iterator<Item = (World, Range<usize>)> {
        let mut end = 0;
        self.range.worlds().zip(self.rows).map(move |(world, rows)| {
            let first = end;
            end += *rows as usize;
            (world, first..end)
        })
    }
}

/// Why a model stopped before the end of a range.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// The sink accepts no more blocks and keeps the reason; the model returns this error at once.
    #[error("the sink accepts no more blocks")]
    Sink,
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// The model cannot play these worlds.
    #[error("the model {0}")]
    Failed(#[from] Failure),
}

impl Stop {
    /// The reason for people, with the name of the model that stopped.
    pub fn reason(&self, model: &str) -> String {
        match self {
            Self::Failed(failure) => format!("model {model} {failure}"),
            Self::Sink | Self::OutOfRange(_) => self.to_string(),
        }
    }
}

/// Receives a model's blocks.
pub trait Sink {
    /// Receives the outcomes of one entity.
    fn outcomes(&mut self, block: OutcomeBlock<'_>) -> Result<(), Stop>;

    /// Receives the events of one entity, before the same entity's outcomes and only if events are wanted.
    fn events(&mut self, block: EventBlock<'_>) -> Result<(), Stop>;

    /// Notes that the model still plays, and returns whether it should go on. A model that waits for somebody else calls
    /// this about once a second; one that computes need not.
    ///
    /// # Errors
    /// [`Stop::Sink`] if the range is not wanted any more.
    fn waiting(&mut self) -> Result<(), Stop> {
        Ok(())
    }
}
