//! Completes `t.*` to `s.t.*` where a query reads the table as `s.t`: DataFusion wants the name as it is in `FROM`.

use datafusion::sql::sqlparser::ast::{
    Ident, ObjectName, ObjectNamePart, Select, SelectItem, SelectItemQualifiedWildcardKind, TableFactor,
    TableWithJoins, VisitMut,
};

use crate::error::QueryError;
use crate::syntax::{Node, factors, walk};

/// Completes the names of all such columns in a statement.
pub(crate) fn complete(of: &mut impl VisitMut) -> Result<(), QueryError> {
    walk(of, &mut |node| {
        if let Node::Select(select) = node {
            complete_in(select);
        }
        Ok(())
    })
}

fn complete_in(select: &mut Select) {
    let Select { projection, from, .. } = select;
    for item in projection {
        let SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) = item else {
            continue;
        };
        if let [ObjectNamePart::Identifier(table)] = name.0.as_slice()
            && let Some(full) = from.iter().find_map(|tables| full_name(tables, table))
        {
            *name = full.clone();
        }
    }
}

/// The name of a table in `FROM` that has no other name and ends with `table`.
fn full_name<'a>(tables: &'a TableWithJoins, table: &Ident) -> Option<&'a ObjectName> {
    factors(tables).find_map(|factor| match factor {
        TableFactor::Table { name, alias: None, args: None, .. } => {
            let last = name.0.last().and_then(ObjectNamePart::as_ident)?;
            (folded(last) == folded(table)).then_some(name)
        }
        TableFactor::NestedJoin { table_with_joins, alias: None } => full_name(table_with_joins, table),
        _ => None,
    })
}

/// A name as SQL reads it: in lower case, unless it is quoted.
fn folded(name: &Ident) -> String {
    if name.quote_style.is_some() { name.value.clone() } else { name.value.to_lowercase() }
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::dialect::GenericDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    use super::*;

    #[test]
    fn wildcards_get_the_schema_of_their_table() {
        for (sql, expected) in [
            ("SELECT t.* FROM s.t", "SELECT s.t.* FROM s.t"),
            ("SELECT \"t\".*, 1 FROM s.T", "SELECT s.T.*, 1 FROM s.T"),
            ("SELECT u.*, a.* FROM s.t AS a JOIN r.u ON true", "SELECT r.u.*, a.* FROM s.t AS a JOIN r.u ON true"),
            (
                "SELECT 1 FROM (SELECT t.* FROM (s.t CROSS JOIN u)) x",
                "SELECT 1 FROM (SELECT s.t.* FROM (s.t CROSS JOIN u)) x",
            ),
            ("SELECT t.* FROM t", "SELECT t.* FROM t"),
            ("SELECT \"T\".* FROM s.t", "SELECT \"T\".* FROM s.t"),
            ("SELECT t.* FROM s.t AS u", "SELECT t.* FROM s.t AS u"),
            ("SELECT r.t.* FROM s.t, r.t", "SELECT r.t.* FROM s.t, r.t"),
        ] {
            let mut statement = Parser::parse_sql(&GenericDialect {}, sql).unwrap().remove(0);
            complete(&mut statement).unwrap();
            assert_eq!(statement.to_string(), expected, "{sql}");
        }
    }
}
