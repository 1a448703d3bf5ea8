//! Walks a syntax tree.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, ObjectName, Query, Select, TableFactor, TableWithJoins, VisitMut, VisitorMut,
};

use crate::error::QueryError;

/// A node of a syntax tree that can be checked and changed.
pub(crate) enum Node<'a> {
    Expr(&'a mut Expr),
    /// The name of a table or a function that returns one.
    Relation(&'a mut ObjectName),
    /// A query or a list in place of a table.
    Derived,
    /// Any item of `FROM`.
    Factor(&'a mut TableFactor),
    /// A function in place of a table.
    Function(&'a mut TableFactor),
    Query(&'a mut Query),
    Select(&'a mut Select),
}

/// Calls `each` for the nodes of a statement or an expression, parents first, until it fails.
///
/// There is one type of visitor for all walks, because each type compiles the traversal of the whole tree again.
pub(crate) fn walk(
    of: &mut impl VisitMut,
    each: &mut dyn FnMut(Node<'_>) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    walk_to(usize::MAX, of, each)
}

/// The tables of an item of `FROM`, without those of joins in brackets.
pub(crate) fn factors(tables: &TableWithJoins) -> impl Iterator<Item = &TableFactor> {
    std::iter::once(&tables.relation).chain(tables.joins.iter().map(|join| &join.relation))
}

/// Like [`walk`], without what is in queries within.
pub(crate) fn walk_outside_queries(
    of: &mut impl VisitMut,
    each: &mut dyn FnMut(Node<'_>) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    walk_to(0, of, each)
}

fn walk_to(
    deepest: usize,
    of: &mut impl VisitMut,
    each: &mut dyn FnMut(Node<'_>) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    match of.visit(&mut Walk { each, depth: 0, deepest }) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Walk<'a> {
    each: &'a mut dyn FnMut(Node<'_>) -> Result<(), QueryError>,
    /// The queries around the current node.
    depth: usize,
    deepest: usize,
}

impl Walk<'_> {
    fn call(&mut self, node: Node<'_>) -> ControlFlow<QueryError> {
        if self.depth > self.deepest {
            return ControlFlow::Continue(());
        }
        (self.each)(node).map_or_else(ControlFlow::Break, ControlFlow::Continue)
    }
}

impl VisitorMut for Walk<'_> {
    type Break = QueryError;

    fn pre_visit_relation(&mut self, relation: &mut ObjectName) -> ControlFlow<QueryError> {
        self.call(Node::Relation(relation))
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<QueryError> {
        self.call(Node::Factor(factor))?;
        match factor {
            TableFactor::Derived { .. } | TableFactor::UNNEST { .. } => self.call(Node::Derived),
            TableFactor::Table { args: Some(_), .. } => self.call(Node::Function(factor)),
            _ => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<QueryError> {
        self.depth += 1;
        self.call(Node::Query(query))
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<QueryError> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<QueryError> {
        self.call(Node::Select(select))
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<QueryError> {
        self.call(Node::Expr(expr))
    }
}
