//! Definitions that users keep: texts of what models play, in versions, and parts that several definitions share.
//!
//! Enters: a name and a text in TOML or JSON; a model's [`model::DefinitionSpec`]. Leaves: durable files in the data
//! folder, one for each version; the whole text of a definition with the parts that it uses; faults with their lines.
//!
//! Guarantees
//! - A version never changes. Of several writers of a name each gets a version of its own.
//! - [`check`] returns the text that a run plays, so that a stored ensemble does not depend on kept definitions.
//!
//! Knows no model: what a definition means, and which of its lists may be shared, is in the model's specification.

mod check;
mod kept;
mod located;
mod parts;
mod places;

pub use check::{Checked, check};
pub use kept::{DefinitionsError, Kept, Library, Listed, TEXT_BYTES_MAX};
pub use located::Located;
pub use parts::Used;
