//! All tables, and their numbers (OIDs).

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use datafusion::catalog::{CatalogProvider, SchemaProvider};
use table::SIM;

use super::layout;
use super::{CATALOG, INFORMATION, is_own};
use crate::literals::quoted_if_needed;

/// PostgreSQL's numbers of its schemas.
pub(super) const CATALOG_SCHEMA: i64 = 11;
const INFORMATION_SCHEMA: i64 = 13_000;

/// PostgreSQL reserves lower numbers for itself.
const FIRST: u32 = 16_384;

pub(super) struct Relation {
    pub(super) oid: i64,
    pub(super) schema: String,
    pub(super) name: String,
    /// Whether its name needs no schema.
    pub(super) visible: bool,
    pub(super) home: Arc<dyn SchemaProvider>,
}

/// All tables. A number changes only when another table takes it first.
pub(super) struct Relations {
    pub(super) schemas: Vec<(i64, String)>,
    pub(super) tables: Vec<Relation>,
}

impl fmt::Debug for Relations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relations").field("schemas", &self.schemas).finish_non_exhaustive()
    }
}

/// Assigns numbers to names. The same name gets the same number, unless another name has it.
#[derive(Default)]
pub(super) struct Numbers(BTreeSet<u32>);

impl Numbers {
    pub(super) fn of(&mut self, name: &str) -> i64 {
        let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        let mut number = FIRST + hash % (1 << 30);
        while !self.0.insert(number) {
            number += 1;
        }
        i64::from(number)
    }
}

impl Relations {
    /// Lists a catalogue as seen from `database`.
    pub(super) fn list(catalog: &dyn CatalogProvider, database: &str) -> Self {
        let mut numbers = Numbers::default();
        let mut names = catalog.schema_names();
        names.sort_unstable();
        let mut found = Self { schemas: Vec::new(), tables: Vec::new() };
        for schema in names {
            let Some(home) = catalog.schema(&schema) else { continue };
            found.schemas.push((numbers.of(&schema), schema.clone()));
            let mut tables = home.table_names();
            tables.sort_unstable();
            for name in tables {
                let visible = schema == SIM || schema == database;
                let oid = numbers.of(&format!("{schema}.{name}"));
                found.tables.push(Relation { oid, schema: schema.clone(), name, visible, home: home.clone() });
            }
        }
        found
    }

    /// The number of the table that a text names, as `table` or `schema.table`; unquoted names are in lower case.
    pub(super) fn number(&self, name: &str) -> Option<i64> {
        let parts = parts(name)?;
        let found = match parts.as_slice() {
            [schema, name] => self.tables.iter().find(|t| t.schema == *schema && t.name == *name),
            [name] => self.tables.iter().find(|t| t.visible && t.name == *name),
            _ => None,
        };
        let own = || match parts.as_slice() {
            [schema, name] => layout::find(schema, name),
            [name] => layout::find(CATALOG, name),
            _ => None,
        };
        found.map(|t| t.oid).or_else(|| own().map(|table| table.oid))
    }

    /// The name of a table as PostgreSQL writes it: with its schema if necessary.
    pub(super) fn written(&self, oid: i64) -> Option<String> {
        let Some(found) = self.tables.iter().find(|t| t.oid == oid) else {
            return layout::tables().find(|t| t.oid == oid).map(|t| t.name.to_owned());
        };
        let name = quoted_if_needed(&found.name);
        Some(if found.visible { name } else { format!("{}.{name}", quoted_if_needed(&found.schema)) })
    }

    pub(super) fn is_visible(&self, oid: i64) -> bool {
        self.tables.iter().any(|t| t.visible && t.oid == oid)
    }

    /// The numbers and names of all schemas, with PostgreSQL's own.
    pub(super) fn all_schemas(&self) -> impl Iterator<Item = (i64, &str)> {
        let others = self.schemas.iter().map(|(oid, name)| (*oid, name.as_str())).filter(|(_, name)| !is_own(name));
        others.chain([(CATALOG_SCHEMA, CATALOG), (INFORMATION_SCHEMA, INFORMATION)])
    }

    /// The number of the schema that a text names.
    pub(super) fn schema_number(&self, name: &str) -> Option<i64> {
        self.all_schemas().find(|(_, other)| *other == name).map(|(oid, _)| oid)
    }
}

/// Splits a name at its dots. Text in quotes stays as it is, other text becomes lower case. `None` if it is no name.
pub(super) fn parts(name: &str) -> Option<Vec<String>> {
    let (mut parts, mut rest) = (Vec::new(), name.trim());
    loop {
        let (part, after) = if let Some(quoted) = rest.strip_prefix('"') {
            quoted_part(quoted)?
        } else {
            let end = rest.find('.').unwrap_or(rest.len());
            (rest[..end].trim().to_lowercase(), &rest[end..])
        };
        if part.is_empty() {
            return None;
        }
        parts.push(part);
        rest = match after.trim_start().strip_prefix('.') {
            Some(after) => after.trim_start(),
            None if after.trim().is_empty() => return Some(parts),
            None => return None,
        };
    }
}

/// The name up to its closing quote, and the text after it.
fn quoted_part(text: &str) -> Option<(String, &str)> {
    let (mut part, mut characters) = (String::new(), text.char_indices().peekable());
    loop {
        match characters.next()? {
            (_, '"') if characters.next_if(|(_, next)| *next == '"').is_some() => part.push('"'),
            (at, '"') => return Some((part, &text[at + 1..])),
            (_, other) => part.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_at_dots_outside_quotes() {
        for (name, expected) in [
            ("cpu", Some(vec!["cpu"])),
            ("Default.CPU", Some(vec!["default", "cpu"])),
            ("\"a.b\" . \"C\"\"d\"", Some(vec!["a.b", "C\"d"])),
            ("a..b", None),
            ("\"a", None),
            ("\"a\"b", None),
            ("", None),
        ] {
            let expected = expected.map(|parts| parts.into_iter().map(str::to_owned).collect());
            assert_eq!(parts(name), expected, "{name}");
        }
    }

    #[test]
    fn numbers_of_names_are_stable_and_unique() {
        let number = |name: &str| Numbers::default().of(name);
        assert_eq!(number("default.cpu"), number("default.cpu"));
        let mut numbers = Numbers::default();
        assert_ne!(numbers.of("same"), numbers.of("same"));
    }
}
