//! Finds the lines of places such as `rows[3].tiles[0].name` in a text in TOML.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A line and a column, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Position {
    /// The position of a byte.
    pub(crate) fn of(text: &str, byte: usize) -> Self {
        let before = &text[..text.floor_char_boundary(byte)];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { line, column }
    }

    /// The position that a place names: `line 3, column 5`.
    pub(crate) fn parse(place: &str) -> Option<Self> {
        let (line, column) = place.strip_prefix("line ")?.split_once(", column ")?;
        Some(Self { line: line.parse().ok()?, column: column.parse().ok()? })
    }
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Item(usize),
}

/// The steps of a place: `rows[3]."a.b"` has three. `None` if it is no path.
pub(crate) fn steps(place: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = place;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (number, after) = inner.split_once(']')?;
            steps.push(Step::Item(number.parse().ok()?));
            rest = after;
        } else if let Some(inner) = rest.strip_prefix('"') {
            // The key as Rust quotes it: an escaped quote does not end it.
            let end = inner.match_indices('"').map(|(at, _)| at).find(|at| !inner[..*at].ends_with('\\'))?;
            steps.push(Step::Key(inner[..end].replace("\\\"", "\"").replace("\\\\", "\\")));
            rest = &inner[end + 1..];
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            steps.push(Step::Key(rest[..end].to_owned()));
            rest = &rest[end..];
        }
        rest = rest.strip_prefix('.').unwrap_or(rest);
    }
    Some(steps)
}

/// The position of the last step that the table has; `None` if it has none of them.
pub(crate) fn find(text: &str, table: &DeTable<'_>, steps: &[Step]) -> Option<Position> {
    let (mut found, mut at) = (None, None::<&Spanned<DeValue<'_>>>);
    for step in steps {
        let next = match (step, at.map(Spanned::get_ref)) {
            (Step::Key(key), None) => table.get_key_value(&**key),
            (Step::Key(key), Some(DeValue::Table(inner))) => inner.get_key_value(&**key),
            (Step::Item(item), Some(DeValue::Array(items))) => match items.get(*item) {
                Some(value) => {
                    (found, at) = (Some(value.span().start), Some(value));
                    continue;
                }
                None => None,
            },
            _ => None,
        };
        let Some((key, value)) = next else { break };
        (found, at) = (Some(key.span().start), Some(value));
    }
    found.map(|byte| Position::of(text, byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"# é
name = "x"
"a.b" = 1
list = [{ k = 1 }, { k = 2 }]

[[rows]]
[[rows.tiles]]
key = "t1"
[[rows.tiles]]
key = "t2"
[[rows]]
tiles = [{ key = "t3" },
  { key = "t4", n = 5 }]
"#;

    #[test]
    fn places_have_lines() {
        let table = DeTable::parse(TEXT).unwrap();
        let at = |place: &str| {
            find(TEXT, table.get_ref(), &steps(place).unwrap()).map(|Position { line, column }| (line, column))
        };
        assert_eq!(at("name"), Some((2, 1)));
        assert_eq!(at("\"a.b\""), Some((3, 1)));
        assert_eq!(at("list[1].k"), Some((4, 22)));
        assert_eq!(at("rows[0].tiles[1].key"), Some((10, 1)));
        assert_eq!(at("rows[0].tiles[1]").map(|(line, _)| line), Some(9));
        assert_eq!(at("rows[1]").map(|(line, _)| line), Some(11));
        assert_eq!(at("rows[1].tiles[1].n"), Some((13, 17)));
        assert_eq!(at("rows[1].tiles[1].missing"), at("rows[1].tiles[1]"), "the nearest place that exists");
        assert_eq!(at("nothing"), None);
        assert_eq!(Position::parse("line 3, column 14"), Some(Position { line: 3, column: 14 }));
        assert_eq!(Position::parse("rows[3]"), None);
    }
}
