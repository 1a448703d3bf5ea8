//! What leaves a model: columns of numbers for one entity over a range of worlds.

use world::WorldRange;

/// NULL in a column of label codes.
pub const NULL_LABEL: u8 = u8::MAX;
/// NULL in a nullable event column of `i8`.
pub const NULL_I8: i8 = i8::MIN;
/// NULL in a nullable event column of `i16`.
pub const NULL_I16: i16 = i16::MIN;
/// NULL in a nullable event column of `i32`.
pub const NULL_I32: i32 = i32::MIN;

/// One outcome over the worlds of a block, a value a world, in the narrowest type that holds it.
/// Integers are the outcome's value times its catalogue scale.
#[derive(Debug, Clone, Copy)]
pub enum Values<'a> {
    /// Integers within 16 bits.
    I16(&'a [i16]),
    /// Integers within 32 bits.
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

    /// Whether there is no world in it.
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
    /// Small integers; [`NULL_I8`] is NULL where the column is nullable.
    I8(&'a [i8]),
    /// Integers within 16 bits; [`NULL_I16`] is NULL where the column is nullable.
    I16(&'a [i16]),
    /// Integers within 32 bits; [`NULL_I32`] is NULL where the column is nullable.
    I32(&'a [i32]),
}

impl EventValues<'_> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Label(v) => v.len(),
            Self::I8(v) => v.len(),
            Self::I16(v) => v.len(),
            Self::I32(v) => v.len(),
        }
    }

    /// Whether there is no row in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The events of one entity for a range of worlds: all rows of the first world, then of the next.
#[derive(Debug)]
pub struct EventBlock<'a> {
    /// Index into the catalogue's entities.
    pub entity: usize,
    /// The worlds.
    pub range: WorldRange,
    /// Rows of each world, in the order of the range.
    pub rows: &'a [u32],
    /// One column for each of the catalogue's event columns, in its order.
    pub columns: Vec<EventValues<'a>>,
}

/// Why a sink wants no more: the model returns it at once.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Stop(pub Box<dyn std::error::Error + Send + Sync>);

/// Takes a model's blocks.
pub trait Sink {
    /// Takes the outcomes of one entity.
    fn outcomes(&mut self, block: OutcomeBlock<'_>) -> Result<(), Stop>;

    /// Takes the events of one entity. Called before the same entity's outcomes, and only where events are wanted.
    fn events(&mut self, block: EventBlock<'_>) -> Result<(), Stop>;
}
