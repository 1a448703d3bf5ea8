//! A model's input beyond numbers: a text that its user writes.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Describes a definition and how to read it.
#[derive(Clone)]
pub struct DefinitionSpec {
    /// The name of what it defines, one word: `event`.
    pub name: Cow<'static, str>,
    /// Its content and syntax.
    pub doc: Cow<'static, str>,
    /// Whether the model cannot play without one.
    pub required: bool,
    /// Reads a user's text. Returns one JSON object in canonical form: definitions with the same meaning give the same
    /// text, and reading it again returns it unchanged.
    pub read: ReadDefinition,
    /// Lists the questionable parts of a text that [`Self::read`] accepts.
    pub advise: AdviseDefinition,
    /// What definitions may share; `None` if each stands alone.
    pub part: Option<PartSpec>,
}

/// A part of a definition, in a text of its own, that several definitions may use.
#[derive(Clone)]
pub struct PartSpec {
    /// The lists of a definition that a part may hold: `players`. A text with no other keys is a part.
    pub lists: &'static [&'static str],
    /// Checks a part as far as it stands alone.
    pub check: CheckPart,
}

/// Turns a user's text into the canonical form of a definition.
pub type ReadDefinition = Arc<dyn Fn(&str) -> Result<String, DefinitionError> + Send + Sync>;

/// Finds the questionable parts of a valid text.
pub type AdviseDefinition = Arc<dyn Fn(&str) -> Vec<Fault> + Send + Sync>;

/// Checks the text of a part.
pub type CheckPart = Arc<dyn Fn(&str) -> Result<(), DefinitionError> + Send + Sync>;

/// The faults of a definition, as many as can be found at once.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct DefinitionError(pub Vec<Fault>);

/// Something wrong with a definition, or questionable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Its place: `rows[3].tiles[0].rules[1]`, or a line and a column.
    pub place: String,
    /// The fault, and what to do.
    pub reason: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

/// One fault per line.
impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(Fault::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}
