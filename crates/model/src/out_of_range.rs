//! Values outside their column's range.

use world::World;

/// A value that its column cannot store, or that is outside its declared range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{column} of {entity} is {value} in world {world}: must be from {min} to {max}")]
pub struct OutOfRange {
    pub entity: String,
    /// The outcome or event column.
    pub column: String,
    pub world: World,
    pub value: i64,
    pub min: i64,
    pub max: i64,
}
