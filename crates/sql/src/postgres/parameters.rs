//! Types of the parameters `$1`, `$2` that a statement writes out or that follow from its form.

use std::collections::{BTreeMap, BTreeSet};

use datafusion::sql::sqlparser::ast::{Expr, LimitClause, Statement, Value};

use super::types::named;
use crate::error::QueryError;
use crate::syntax::{Node, walk};

/// PostgreSQL's number of `bigint`.
const BIGINT: u32 = 20;

/// What a statement says about its parameters, by number.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    /// Types as PostgreSQL's numbers (OIDs): of `$1::uuid`, and of `LIMIT $1`.
    pub(crate) types: BTreeMap<usize, u32>,
    /// Parameters that are lists of what they are compared with: of `= ANY($1)`.
    pub(crate) lists: BTreeSet<usize>,
}

/// Reads the types of parameters. Replaces `x = ANY($1)` with `x = $1`, so that the type of an item can be inferred.
pub(crate) fn written_types(statement: &mut Statement) -> Result<Written, QueryError> {
    let mut written = Written::default();
    walk(statement, &mut |node| {
        match node {
            Node::Expr(Expr::Cast { expr, data_type, .. }) => {
                let oid = named(&data_type.to_string()).and_then(|oid| u32::try_from(oid).ok());
                written.types.extend(number(expr).zip(oid));
            }
            Node::Expr(expr) => {
                if let Expr::AnyOp { left, compare_op, right, .. } = expr
                    && let Some(number) = number(right)
                {
                    written.lists.insert(number);
                    let (left, op, right) = (left.clone(), compare_op.clone(), right.clone());
                    *expr = Expr::BinaryOp { left, op, right };
                }
            }
            Node::Query(query) => {
                if let Some(LimitClause::LimitOffset { limit, offset, .. }) = &query.limit_clause {
                    let counts = limit.iter().chain(offset.as_ref().map(|offset| &offset.value));
                    written.types.extend(counts.filter_map(number).map(|number| (number, BIGINT)));
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(written)
}

/// The number of the parameter that an expression is.
fn number(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Nested(expr) => number(expr),
        Expr::Value(value) => match &value.value {
            Value::Placeholder(name) => name.strip_prefix('$')?.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    use super::*;

    #[test]
    fn casts_limits_and_lists_tell_types() {
        let sql = "SELECT $1::uuid, CAST($2 AS INT[]), ($3)::pg_catalog.timestamptz, $4::numeric(10, 2) \
                   FROM t WHERE a = ANY($5) LIMIT $6 OFFSET $7";
        let mut statement = Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap().remove(0);
        let written = written_types(&mut statement).unwrap();
        let types = [(1, 2950), (2, 1007), (3, 1184), (4, 1700), (6, BIGINT), (7, BIGINT)];
        assert_eq!(written, Written { types: types.into(), lists: [5].into() });
        assert!(statement.to_string().contains("WHERE a = $5"), "{statement}");
    }
}
