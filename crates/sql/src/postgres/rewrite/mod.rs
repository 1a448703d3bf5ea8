//! Rewrites statements of PostgreSQL's clients to statements that DataFusion can plan.

mod casts;
mod names;
mod nothing;
mod order;
mod times;

use datafusion::sql::sqlparser::ast::{
    self, BinaryOperator, CastKind, ExcludeSelectItem, Expr, Function, FunctionArgumentClause, FunctionArguments,
    Ident, ObjectName, ObjectNamePart, Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, Statement,
    TableAlias, TableAliasColumnDef, TableFactor, UnaryOperator, Value,
};

use super::layout::{self, Kind, Layout};
use super::{CATALOG, INFORMATION};
use crate::error::QueryError;
use crate::literals::{Literal, as_list, call};
use crate::syntax::{Node, walk};
pub(crate) use names::without_mark;
use nothing::{Known, known};

/// Texts in statements about PostgreSQL's catalogue. Only these are parsed in PostgreSQL's dialect, because others may
/// use DataFusion's.
const ABOUT: [&str; 9] = [
    "pg_",
    "information_schema",
    "current_setting",
    "set_config",
    "current_schemas",
    "::oid",
    "::name",
    "regclass",
    "regtype",
];

/// Whether a statement may be about PostgreSQL's catalogue.
pub(crate) fn is_about_postgres(sql: &str) -> bool {
    let sql = sql.to_lowercase();
    ABOUT.iter().any(|text| sql.contains(text))
}

pub(crate) enum Rewritten {
    /// A runnable query.
    Question,
    /// A query with these columns and no rows.
    Nothing(Vec<String>),
}

/// Rewrites a statement. `about` is whether it is about PostgreSQL's catalogue. `number` maps table names to numbers.
pub(crate) fn rewrite(
    statement: &mut Statement,
    about: bool,
    number: &dyn Fn(&str) -> Option<i64>,
) -> Result<Rewritten, QueryError> {
    if let Statement::Query(query) = statement
        && known(query) == Some(Known::NoRows)
        && let Some(columns) = nothing::columns(&query.body)
    {
        return Ok(Rewritten::Nothing(columns));
    }
    if let Statement::Query(query) = statement {
        names::name(query);
    }
    let mut names_value = false;
    walk(statement, &mut |node| {
        names_value |= matches!(&node, Node::Expr(expr) if is_named_value(expr));
        Ok(())
    })?;
    let writer = Writer { number, about, names_value };
    walk(statement, &mut |node| match node {
        Node::Expr(expr) => writer.expression(expr),
        Node::Relation(relation) => {
            if let Some(table) = own_table(relation) {
                *relation = ObjectName::from(vec![Ident::new(table.schema), Ident::new(table.name)]);
            }
            Ok(())
        }
        Node::Function(factor) => {
            writer.function_as_table(factor);
            Ok(())
        }
        Node::Select(select) => {
            once_each(select);
            if about { select.projection.iter_mut().try_for_each(membership) } else { Ok(()) }
        }
        Node::Query(query) => {
            order::by_columns(query);
            Ok(())
        }
        Node::Derived => Ok(()),
    })?;
    Ok(Rewritten::Question)
}

/// Whether an expression is the column that `generate_series` has in DataFusion.
fn is_named_value(expr: &Expr) -> bool {
    match expr {
        Expr::Identifier(name) => name.value.eq_ignore_ascii_case("value"),
        Expr::CompoundIdentifier(names) => names.last().is_some_and(|name| name.value.eq_ignore_ascii_case("value")),
        _ => false,
    }
}

fn last(name: &ObjectName) -> Option<&Ident> {
    name.0.last().and_then(ObjectNamePart::as_ident)
}

/// The last part of a name in lower case.
fn last_lower(name: &ObjectName) -> String {
    last(name).map(|name| name.value.to_lowercase()).unwrap_or_default()
}

/// The table of PostgreSQL that a name means. `pg_catalog` is in everybody's search path.
fn own_table(name: &ObjectName) -> Option<Layout> {
    match name.0.as_slice() {
        [ObjectNamePart::Identifier(schema), ObjectNamePart::Identifier(name)] => {
            layout::find(&schema.value, &name.value)
        }
        [ObjectNamePart::Identifier(name)] => layout::find(CATALOG, &name.value),
        _ => None,
    }
}

/// Whether a name begins with one of PostgreSQL's schemas.
fn is_of_catalog(name: &ObjectName) -> bool {
    match name.0.as_slice() {
        [ObjectNamePart::Identifier(schema), _] => {
            [CATALOG, INFORMATION].iter().any(|own| schema.value.eq_ignore_ascii_case(own))
        }
        _ => false,
    }
}

/// Removes the schema from the name of a function of PostgreSQL.
fn without_schema(name: &mut ObjectName) {
    if is_of_catalog(name) {
        name.0.remove(0);
    }
}

fn null() -> Expr {
    Expr::Value(Value::Null.into())
}

fn number(value: &str) -> Expr {
    Expr::Value(Value::Number(value.to_owned(), false).into())
}

fn boolean(value: bool) -> Expr {
    Expr::Value(Value::Boolean(value).into())
}

fn text(value: impl Into<String>) -> Expr {
    Expr::Value(Value::SingleQuotedString(value.into()).into())
}

/// Removes columns from `t.*` that are also named next to it, as in `SELECT t.oid, t.*`: DataFusion wants unique names.
fn once_each(select: &mut Select) {
    let named: Vec<(String, Ident)> = select
        .projection
        .iter()
        .filter_map(|item| match item {
            SelectItem::UnnamedExpr(Expr::CompoundIdentifier(names)) => {
                let (column, table) = names.split_last()?;
                Some((table.last()?.value.clone(), column.clone()))
            }
            _ => None,
        })
        .collect();
    for item in &mut select.projection {
        let SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(table), options) = item else {
            continue;
        };
        let of_table = named.iter().filter(|(named, _)| last(table).is_some_and(|table| table.value == *named));
        let columns: Vec<ObjectName> = of_table.map(|(_, column)| ObjectName::from(vec![column.clone()])).collect();
        if options.opt_exclude.is_none() && !columns.is_empty() {
            options.opt_exclude = Some(ExcludeSelectItem::Multiple(columns));
        }
    }
}

/// Replaces `x IN (SELECT ...)` and `EXISTS (SELECT ...)` in a column of an answer. DataFusion plans them only as
/// conditions of rows.
fn membership(item: &mut SelectItem) -> Result<(), QueryError> {
    walk(item, &mut |node| {
        let Node::Expr(of) = node else { return Ok(()) };
        if let Expr::Exists { subquery, negated } = of
            && let Some(found) = has_rows((**subquery).clone(), !*negated)
        {
            *of = found;
        } else if let Expr::InSubquery { expr, subquery, negated } = of
            && let Some(list) = list_of((**subquery).clone())
        {
            let found = call("array_has", vec![list, (**expr).clone()]);
            // The list of no rows is NULL.
            let found = call("coalesce", vec![found, boolean(false)]);
            *of = if *negated { Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(found) } } else { found };
        }
        Ok(())
    })
}

/// The select of a query without set operations, if it neither limits nor aggregates its rows.
fn plain_select(query: &mut Query) -> Option<&mut Select> {
    let limited = query.limit_clause.is_some() || query.fetch.is_some();
    match &mut *query.body {
        SetExpr::Select(select) if !limited && select.distinct.is_none() && !nothing::aggregates(select) => {
            Some(select)
        }
        _ => None,
    }
}

/// The single expression that a select returns.
fn single(select: &mut Select) -> Option<&mut Expr> {
    match select.projection.as_mut_slice() {
        [SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }] => Some(expr),
        _ => None,
    }
}

/// A subquery that compares the number of its rows with zero: whether it `has` rows, or has none.
fn has_rows(mut query: Query, has: bool) -> Option<Expr> {
    let select = plain_select(&mut query)?;
    let (left, right) = (Box::new(call("count", vec![number("1")])), Box::new(number("0")));
    let op = if has { BinaryOperator::Gt } else { BinaryOperator::Eq };
    select.projection = vec![SelectItem::UnnamedExpr(Expr::BinaryOp { left, op, right })];
    query.order_by = None;
    Some(Expr::Subquery(Box::new(query)))
}

/// Lets a subquery return its first row. DataFusion accepts correlated subqueries only if they aggregate.
fn first_row(query: &mut Query) {
    let Some(select) = plain_select(query) else { return };
    let grouped = !matches!(&select.group_by, ast::GroupByExpr::Expressions(by, _) if by.is_empty());
    if grouped {
        return;
    }
    if let Some(expr) = single(select) {
        *expr = call("first_value", vec![expr.clone()]);
    }
}

/// Writes `ARRAY(SELECT x ...)` as a subquery that aggregates to a list.
fn list_of(mut query: Query) -> Option<Expr> {
    let order = order::take(&mut query);
    let expr = single(plain_select(&mut query)?)?;
    let order = order.map(|order| order::of_values(order, expr));
    let mut list = call("array_agg", vec![expr.clone()]);
    if let (Expr::Function(Function { args: FunctionArguments::List(list), .. }), Some(order)) = (&mut list, order) {
        list.clauses.push(FunctionArgumentClause::OrderBy(order));
    }
    *expr = list;
    Some(Expr::Subquery(Box::new(query)))
}

struct Writer<'a> {
    number: &'a dyn Fn(&str) -> Option<i64>,
    about: bool,
    /// Whether the statement names a column `value`.
    names_value: bool,
}

/// Functions of one value that PostgreSQL allows as a table.
const VALUES: [&str; 8] = [
    "current_database",
    "current_schema",
    "current_schemas",
    "current_setting",
    "parse_ident",
    "string_to_array",
    "to_regclass",
    "version",
];

impl Writer<'_> {
    fn expression(&self, expr: &mut Expr) -> Result<(), QueryError> {
        if let Some(changed) = times::expression(expr)? {
            *expr = changed;
        }
        let changed = match expr {
            Expr::BinaryOp { left, op, right } => {
                operator(op);
                self.about.then(|| compared(left, op, right)).flatten()
            }
            // A pattern, and not a position.
            Expr::Substring { expr, substring_from: Some(pattern), substring_for: None, special: false, .. } if matches!(&**pattern, Expr::Value(value) if value.value.clone().into_string().is_some()) =>
            {
                let found = call("regexp_match", vec![(**expr).clone(), (**pattern).clone()]);
                Some(call("array_element", vec![found, number("1")]))
            }
            Expr::Collate { expr, .. } => Some((**expr).clone()),
            Expr::Cast { expr, data_type, kind: CastKind::Cast | CastKind::DoubleColon, .. } => {
                if matches!(data_type, ast::DataType::Array(_)) {
                    list(expr);
                }
                casts::cast(expr, data_type, self.number)?
            }
            Expr::Like { pattern, escape_char, .. } | Expr::ILike { pattern, escape_char, .. } => {
                escape(pattern, escape_char);
                None
            }
            Expr::AnyOp { right, .. } => {
                list(right);
                None
            }
            Expr::AllOp { left, compare_op: BinaryOperator::NotEq, right } => {
                list(right);
                let any = Expr::AnyOp {
                    left: left.clone(),
                    compare_op: BinaryOperator::Eq,
                    right: right.clone(),
                    is_some: false,
                };
                Some(Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(Expr::Nested(Box::new(any))) })
            }
            Expr::Case { conditions, .. } => {
                conditions.iter_mut().for_each(never);
                None
            }
            Expr::Function(function) => function_call(function),
            Expr::Subquery(query) => self.subquery(query),
            Expr::InSubquery { subquery, negated, .. } | Expr::Exists { subquery, negated } => {
                (known(subquery) == Some(Known::NoRows)).then(|| boolean(*negated))
            }
            _ => None,
        };
        if let Some(changed) = changed {
            *expr = changed;
        }
        Ok(())
    }

    fn subquery(&self, query: &mut Query) -> Option<Expr> {
        match known(query) {
            Some(Known::NoRows | Known::AggregatesOfNothing { counts: false }) => Some(null()),
            Some(Known::AggregatesOfNothing { counts: true }) => None,
            None => {
                if self.about {
                    first_row(query);
                }
                None
            }
        }
    }

    /// Rewrites a function in place of a table.
    fn function_as_table(&self, factor: &mut TableFactor) {
        let TableFactor::Table { name, alias, args, .. } = factor else { return };
        without_schema(name);
        let function = last_lower(name);
        if matches!(function.as_str(), "pg_get_keywords" | "pg_show_all_settings") {
            *args = None;
            return;
        }
        if function == "generate_series" && !self.names_value {
            // PostgreSQL names the column like the table.
            if let Some(alias) = alias.as_mut().filter(|alias| alias.columns.is_empty()) {
                alias.columns.push(TableAliasColumnDef { name: alias.name.clone(), data_type: None });
            }
            return;
        }
        let Some(arguments) = args.as_ref().filter(|_| VALUES.contains(&function.as_str())) else { return };
        let mut expr = call(&function, Vec::new());
        if let Expr::Function(Function { args: FunctionArguments::List(list), .. }) = &mut expr {
            list.args.clone_from(&arguments.args);
        }
        let named = alias.as_ref().map_or_else(|| Ident::new(function), |alias| alias.name.clone());
        *factor = derived(expr, named);
    }
}

/// A table of one row and one column: `UNNEST([expr]) AS name(name)`.
fn derived(expr: Expr, name: Ident) -> TableFactor {
    let column = TableAliasColumnDef { name: name.clone(), data_type: None };
    TableFactor::UNNEST {
        alias: Some(TableAlias { explicit: true, name, columns: vec![column], at: None }),
        array_exprs: vec![call("make_array", vec![expr])],
        with_offset: false,
        with_offset_alias: None,
        with_ordinality: false,
    }
}

/// Removes a recursive query about types that are made of others, as asyncpg asks it: it would not be planned, and no
/// type here is a domain or a row.
fn never(when: &mut ast::CaseWhen) {
    let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = &when.condition else { return };
    let Expr::CompoundIdentifier(names) = &**left else { return };
    let is_kind = names.last().is_some_and(|name| name.value == "typtype");
    let other =
        matches!(&**right, Expr::Value(kind) if kind.value.clone().into_string().is_some_and(|kind| kind != "b"));
    if is_kind && other && matches!(&when.result, Expr::Subquery(query) if query.with.is_some()) {
        when.result = null();
    }
}

/// Rewrites a comparison of a column of PostgreSQL's catalogue whose type differs here. Returns its new form if more than
/// a side changes.
fn compared(left: &mut Expr, op: &BinaryOperator, right: &mut Expr) -> Option<Expr> {
    if is_function(left) && matches!(right, Expr::Value(number) if matches!(number.value, Value::Number(..))) {
        // PostgreSQL writes the function of number 0 so.
        *right = text("-");
    }
    // No function has a number here.
    let is_number =
        |expr: &Expr| matches!(expr, Expr::CompoundIdentifier(names) if names.last().is_some_and(|n| n.value == "oid"));
    if *op == BinaryOperator::Eq && ((is_function(left) && is_number(right)) || (is_function(right) && is_number(left)))
    {
        return Some(boolean(false));
    }
    if let Expr::Value(value) = &*right
        && let Some(word) = value.value.clone().into_string()
        && is_truth(left)
    {
        match word.to_lowercase().as_str() {
            "t" | "true" => *right = boolean(true),
            "f" | "false" => *right = boolean(false),
            _ => {}
        }
    }
    None
}

/// Whether an expression is a column that PostgreSQL's catalogue has, and that is true or false.
fn is_truth(expr: &Expr) -> bool {
    let name = match expr {
        Expr::Identifier(name) => Some(name),
        Expr::CompoundIdentifier(names) => names.last(),
        _ => None,
    };
    let is_it = |name: &Ident| {
        let mut columns = layout::tables()
            .filter(|table| table.schema == CATALOG)
            .flat_map(|table| table.columns().collect::<Vec<_>>());
        columns.any(|(column, kind)| kind == Kind::Boolean && column == name.value)
    };
    name.is_some_and(is_it)
}

/// Whether an expression is a column of `pg_type` that names a function. It is text here, and a number in PostgreSQL.
fn is_function(expr: &Expr) -> bool {
    const FUNCTIONS: [&str; 4] = ["typinput", "typoutput", "typreceive", "typsend"];
    let name = match expr {
        Expr::Identifier(name) => Some(name),
        Expr::CompoundIdentifier(names) => names.last(),
        _ => None,
    };
    name.is_some_and(|name| FUNCTIONS.contains(&name.value.as_str()))
}

/// Replaces an operator that is written with its schema, `OPERATOR(pg_catalog.~)`.
fn operator(op: &mut BinaryOperator) {
    let BinaryOperator::PGCustomBinaryOperator(names) = op else { return };
    match names.last().map(String::as_str) {
        Some("~") => *op = BinaryOperator::PGRegexMatch,
        Some("!~") => *op = BinaryOperator::PGRegexNotMatch,
        Some("~*") => *op = BinaryOperator::PGRegexIMatch,
        Some("=") => *op = BinaryOperator::Eq,
        Some("<>") => *op = BinaryOperator::NotEq,
        _ => {}
    }
}

/// Writes a pattern with the escape character that DataFusion knows, a backslash.
fn escape(pattern: &mut Expr, character: &mut Option<ast::ValueWithSpan>) {
    let written = character.as_ref().and_then(|value| value.value.clone().into_string());
    let Some(written) = written.filter(|written| !written.is_empty() && written != "\\") else { return };
    *character = None;
    let doubled = call("replace", vec![pattern.clone(), text("\\"), text("\\\\")]);
    *pattern = call("replace", vec![doubled, text(written), text("\\")]);
}

/// Turns a list that is written as text, `'{a,b}'`, into an array.
fn list(expr: &mut Expr) {
    if let Expr::Nested(inner) = expr {
        return list(inner);
    }
    let Expr::Value(value) = &*expr else { return };
    let Some(text) = value.value.clone().into_string() else { return };
    if let list @ Literal::List(_) = as_list(&Literal::Text(text)) {
        *expr = list.expression();
    }
}

fn function_call(function: &mut Function) -> Option<Expr> {
    without_schema(&mut function.name);
    match &function.args {
        FunctionArguments::Subquery(query) if known(query) == Some(Known::NoRows) => {
            Some(call("make_array", Vec::new()))
        }
        FunctionArguments::Subquery(query) if last_lower(&function.name) == "array" => list_of((**query).clone()),
        _ => None,
    }
}
