//! Values that a model may not emit.

use world::World;

/// A value that its column cannot hold, or was not declared to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{column} of {entity} is {value} in world {world}, and may be from {min} to {max}")]
pub struct OutOfRange {
    /// Whose value it is.
    pub entity: String,
    /// The outcome, or the column of its events.
    pub column: String,
    /// The world.
    pub world: World,
    /// The value.
    pub value: i64,
    /// Smallest value that may be.
    pub min: i64,
    /// Largest value that may be.
    pub max: i64,
}
