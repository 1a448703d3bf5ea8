//! A model's own failures, as data.

use std::fmt;

use world::World;

/// Why a model could not play a range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Failure {
    /// The reason in the model's words; may have several lines, such as a traceback.
    pub message: String,
    /// The name of the entity, if known.
    pub entity: Option<String>,
    /// The first world that fails, if known.
    pub world: Option<World>,
}

impl Failure {
    /// A failure of which only the reason is known.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), entity: None, world: None }
    }
}

/// Formats as `failed on table-2 in world 137: MESSAGE`, to follow the model's name.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("failed")?;
        self.entity.iter().try_for_each(|entity| write!(f, " on {entity}"))?;
        self.world.iter().try_for_each(|world| write!(f, " in world {world}"))?;
        write!(f, ": {}", self.message)
    }
}
