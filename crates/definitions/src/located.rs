//! A fault with its line.

use serde::Serialize;

use crate::places::Position;

/// A fault or an advice, with its line where the text allows to find it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Located {
    /// The place: `rows[3].tiles[0].rules[1]`.
    pub place: String,
    pub reason: String,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// In characters, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// The part that has the place, as `NAME@VERSION`; `None`: the text itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
}

impl Located {
    pub(crate) fn at(place: &str, reason: String, text: &str, byte: usize) -> Self {
        Self::new(place.to_owned(), reason, Some(Position::of(text, byte)), None)
    }

    pub(crate) fn new(place: String, reason: String, position: Option<Position>, part: Option<String>) -> Self {
        let (line, column) = (position.map(|p| p.line), position.map(|p| p.column));
        Self { place, reason, line, column, part }
    }
}
