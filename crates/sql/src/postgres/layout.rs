//! The tables of PostgreSQL's own schemas as release 15 has them. Tools name their columns even where they hold nothing.

/// One table per line: schema and name, number (OID), columns with the letter of their kind.
const TABLES: &str = include_str!("layout.txt");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Boolean,
    Integer,
    Float,
    Text,
    Integers,
    Texts,
}

/// A table that PostgreSQL has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) schema: &'static str,
    pub(super) name: &'static str,
    pub(super) oid: i64,
    columns: &'static str,
}

impl Layout {
    /// The columns in order.
    pub(super) fn columns(&self) -> impl Iterator<Item = (&'static str, Kind)> {
        self.columns.split(' ').filter_map(|column| {
            let (name, kind) = column.split_once(':')?;
            let kind = match kind {
                "b" => Kind::Boolean,
                "i" => Kind::Integer,
                "f" => Kind::Float,
                "I" => Kind::Integers,
                "T" => Kind::Texts,
                _ => Kind::Text,
            };
            Some((name, kind))
        })
    }
}

fn parse(line: &'static str) -> Option<Layout> {
    let (table, rest) = line.split_once(' ')?;
    let (schema, name) = table.split_once('.')?;
    let (oid, columns) = rest.split_once(' ')?;
    Some(Layout { schema, name, oid: oid.parse().ok()?, columns })
}

pub(super) fn tables() -> impl Iterator<Item = Layout> {
    TABLES.lines().filter_map(parse)
}

pub(super) fn find(schema: &str, name: &str) -> Option<Layout> {
    let is_it = |table: &Layout| table.schema.eq_ignore_ascii_case(schema) && table.name.eq_ignore_ascii_case(name);
    tables().find(is_it)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_line_is_a_table_of_its_own() {
        let names: BTreeSet<_> = tables().map(|table| (table.schema, table.name)).collect();
        assert_eq!(names.len(), TABLES.lines().count());
        for table in tables() {
            let columns: BTreeSet<_> = table.columns().map(|(name, _)| name).collect();
            assert_eq!(columns.len(), table.columns.split(' ').count(), "{}", table.name);
        }
        assert_eq!(find("pg_catalog", "PG_CLASS").map(|table| table.oid), Some(1259));
        assert!(find("pg_catalog", "columns").is_none());
    }
}
