//! What a model plays that numbers alone cannot say: a text that its user wrote.

use std::fmt;

/// What a definition is, and how it is read.
#[derive(Clone, Copy)]
pub struct DefinitionSpec {
    /// What it defines, one word: `event`.
    pub name: &'static str,
    /// What it holds, and how it is written.
    pub doc: &'static str,
    /// Reads what a user wrote. What comes back is the same for definitions that mean the same: one JSON object, which it
    /// reads back as itself.
    pub read: fn(&str) -> Result<String, DefinitionError>,
}

/// What is wrong with a definition: everything that could be told at once.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct DefinitionError(pub Vec<Fault>);

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where: `rows[3].tiles[0].rules[1]`, or a line and a column.
    pub place: String,
    /// What, and what to do.
    pub reason: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

/// One fault a line.
impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(Fault::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}
