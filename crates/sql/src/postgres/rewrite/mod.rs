//! Rewrites statements of PostgreSQL's clients to statements that DataFusion can plan.

mod aggregates;
mod casts;
mod catalog;
mod json;
mod names;
mod nothing;
mod order;
mod series;
mod subqueries;
mod times;

use datafusion::sql::sqlparser::ast::{
    self, BinaryOperator, CastKind, ExcludeSelectItem, Expr, Fetch, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, Ident, LimitClause, ObjectName, ObjectNamePart, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind, Statement, TableAlias, TableAliasColumnDef, TableFactor, TimezoneInfo,
    UnaryOperator, Value,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;

use super::layout::{self, Layout};
use super::{CATALOG, INFORMATION};
use crate::error::QueryError;
use crate::literals::{Literal, as_list, binary, call};
use crate::syntax::{Node, walk};
use crate::wildcards;
pub(crate) use names::{without_mark, without_marks};
use nothing::{Known, known};
pub(crate) use subqueries::conditions;
use subqueries::{first_row, in_columns, list_of};

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
    catalog::name_type_functions(statement)?;
    if let Statement::Query(query) = statement
        && known(query) == Some(Known::NoRows)
        && let Some(columns) = nothing::columns(&query.body)
    {
        return Ok(Rewritten::Nothing(columns));
    }
    if let Statement::Query(query) = statement {
        names::name(query);
        casts::show_tables(&mut query.body);
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
            aggregates::answer_before(select)?;
            json::of_rows(select)?;
            for item in &mut select.projection {
                keep_name(item, about);
                signed(item);
                in_columns(item)?;
                series::as_rows(item)?;
            }
            Ok(())
        }
        Node::Query(query) => {
            order::by_columns(query);
            limited(query);
            Ok(())
        }
        Node::Derived | Node::Factor(_) => Ok(()),
    })?;
    // Names of PostgreSQL's tables have their schema now.
    wildcards::complete(statement)?;
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

/// The name that stands before columns of a table, if there is one.
fn qualifier(factor: &TableFactor) -> Option<&Ident> {
    match factor {
        TableFactor::Table { alias: Some(alias), .. } | TableFactor::Derived { alias: Some(alias), .. } => {
            Some(&alias.name)
        }
        TableFactor::Table { name, .. } => last(name),
        _ => None,
    }
}

/// A query from its text, to be filled.
fn parsed(sql: &str) -> Option<Box<Query>> {
    Parser::new(&GenericDialect {}).try_with_sql(sql).ok()?.parse_query().ok()
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

/// Writes `FETCH FIRST n ROWS ONLY` as `LIMIT n`.
fn limited(query: &mut Query) {
    let Some(Fetch { with_ties: false, percent: false, quantity }) = &query.fetch else { return };
    let first = Some(quantity.clone().unwrap_or_else(|| number("1")));
    match &mut query.limit_clause {
        Some(LimitClause::LimitOffset { limit: limit @ None, .. }) => *limit = first,
        limit @ None => *limit = Some(LimitClause::LimitOffset { limit: first, offset: None, limit_by: Vec::new() }),
        _ => return,
    }
    query.fetch = None;
}

/// Functions of DataFusion whose numbers have no sign. PostgreSQL has none such, and clients would get decimals.
const UNSIGNED: [&str; 8] =
    ["array_length", "array_ndims", "array_position", "cardinality", "dense_rank", "ntile", "rank", "row_number"];

/// Gives a sign to the numbers of a column.
fn signed(item: &mut SelectItem) {
    let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item else { return };
    if matches!(expr, Expr::Function(function) if UNSIGNED.contains(&&*last_lower(&function.name))) {
        *expr = cast_to(expr.clone(), ast::DataType::BigInt(None));
    }
}

fn cast_to(expr: Expr, data_type: ast::DataType) -> Expr {
    Expr::Cast { kind: CastKind::Cast, expr: Box::new(expr), data_type, array: false, format: None }
}

/// Keeps the name of a column that [`value_of`] replaces.
fn keep_name(item: &mut SelectItem, about: bool) {
    if let SelectItem::UnnamedExpr(expr) = item
        && value_of(expr, about).is_some()
    {
        let alias = Ident::new(names::of(expr).to_lowercase());
        *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
    }
}

/// The value of a name that has the same one in all rows: a reserved word, or a column that every table of PostgreSQL
/// has and `*` lacks.
fn value_of(expr: &Expr, about: bool) -> Option<Expr> {
    match expr {
        Expr::Identifier(name) if name.quote_style.is_none() => constant(name),
        // The parser takes some of these words for functions.
        Expr::Function(function) if matches!(function.args, FunctionArguments::None) => {
            constant(&Ident::new(last_lower(&function.name)))
        }
        Expr::CompoundIdentifier(names) if about => match names.as_slice() {
            [schema, name] if schema.value.eq_ignore_ascii_case(CATALOG) => constant(name),
            // The transaction that wrote a row.
            [.., name] if name.value.eq_ignore_ascii_case("xmin") => Some(number("0")),
            _ => None,
        },
        _ => None,
    }
}

/// The value of a name that PostgreSQL reserves.
fn constant(name: &Ident) -> Option<Expr> {
    match name.value.to_lowercase().as_str() {
        function @ ("current_schema" | "current_role") => Some(call(function, Vec::new())),
        "localtime" => Some(call("current_time", Vec::new())),
        "localtimestamp" => {
            Some(cast_to(call("now", Vec::new()), ast::DataType::Timestamp(None, TimezoneInfo::WithoutTimeZone)))
        }
        _ => None,
    }
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
                if self.about {
                    casts::combined(left, op, right);
                    catalog::compared(left, op, right);
                }
                json::part(left, op, right)
            }
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => value_of(expr, self.about),
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
            Expr::Case { operand, conditions, .. } => {
                conditions.iter_mut().for_each(catalog::never);
                catalog::cases_of_truth(operand.as_deref(), conditions);
                None
            }
            Expr::Function(function) => function_call(function).or_else(|| value_of(expr, self.about)),
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
            Some(Known::AggregatesOfNothing { counts: true }) => subqueries::is_count(query).then(|| number("0")),
            None => {
                if !self.about {
                    return None;
                }
                let expression = subqueries::expression(query).or_else(|| catalog::number_of_table(query));
                if expression.is_none() {
                    first_row(query);
                }
                expression
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
        if function == series::SERIES {
            args.iter_mut().for_each(|args| series::without_casts(&mut args.args));
        }
        if function == series::SERIES && !self.names_value {
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

/// Writes a pattern with the escape character that DataFusion knows, a backslash. Hibernate writes none: `ESCAPE ''`.
/// The planner translates constant patterns character by character.
fn escape(pattern: &mut Expr, character: &mut Option<ast::ValueWithSpan>) {
    let written = character.as_ref().and_then(|value| value.value.clone().into_string());
    let Some(written) = written.filter(|written| written != "\\") else { return };
    let is_constant = matches!(&*pattern, Expr::Value(value) if value.value.clone().into_string().is_some());
    if is_constant && !written.is_empty() {
        return;
    }
    *character = None;
    let doubled = call("replace", vec![pattern.clone(), text("\\"), text("\\\\")]);
    *pattern = if written.is_empty() { doubled } else { call("replace", vec![doubled, text(written), text("\\")]) };
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
    match (last_lower(&function.name).as_str(), &function.args) {
        (_, FunctionArguments::Subquery(query)) if known(query) == Some(Known::NoRows) => {
            Some(call("make_array", Vec::new()))
        }
        ("array", FunctionArguments::Subquery(query)) => list_of((**query).clone()),
        ("json_agg" | "jsonb_agg", _) => json::aggregate(function),
        ("mod", FunctionArguments::List(list)) => modulo(&list.args),
        _ => None,
    }
}

fn modulo(args: &[FunctionArg]) -> Option<Expr> {
    let [FunctionArg::Unnamed(FunctionArgExpr::Expr(left)), FunctionArg::Unnamed(FunctionArgExpr::Expr(right))] = args
    else {
        return None;
    };
    let nested = |expr| Expr::Nested(Box::new(expr));
    Some(nested(binary(nested(left.clone()), BinaryOperator::Modulo, nested(right.clone()))))
}
