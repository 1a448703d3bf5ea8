//! Parses SQL with a bounded amount of work.
//!
//! The parser (sqlparser 0.62) reads some texts twice. If `CAST(...)` fails as a cast, for instance at the limit of
//! nesting, it reads it again as a function of that name. So its work can double with each level, far below its limit of
//! 50 levels. The parser asks its dialect before it reads an operand of an expression: there [`Metered`] counts.

use std::any::TypeId;
use std::cell::Cell;

use datafusion::config;
use datafusion::error::DataFusionError;
use datafusion::sql::parser::{DFParser, DFParserBuilder};
use datafusion::sql::sqlparser::ast::Expr;
use datafusion::sql::sqlparser::dialect::{Dialect, GenericDialect, PostgreSqlDialect, Precedence};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};

use crate::error::QueryError;
use crate::limits;

/// Operands that the parser may read, repeated ones included. The longest statement has 200,000.
const OPERANDS_MAX: usize = 500_000;
/// The same for each token, and for any statement: few texts are read more than twice.
const OPERANDS_EACH: usize = 8;
const OPERANDS_LEAST: usize = 10_000;

/// Parses a text within the limits of a statement.
pub(crate) fn parse<T>(
    sql: &str,
    dialect: config::Dialect,
    read: impl FnOnce(DFParser<'_>) -> Result<T, DataFusionError>,
) -> Result<T, QueryError> {
    match dialect {
        config::Dialect::PostgreSQL => metered(sql, PostgreSqlDialect {}, OPERANDS_MAX, read),
        _ => metered(sql, GenericDialect {}, OPERANDS_MAX, read),
    }
}

fn metered<T>(
    sql: &str,
    dialect: impl Dialect,
    most: usize,
    read: impl FnOnce(DFParser<'_>) -> Result<T, DataFusionError>,
) -> Result<T, QueryError> {
    let tokens = limits::tokens(sql, &dialect)?;
    let most = most.min(OPERANDS_LEAST + OPERANDS_EACH * tokens.len());
    let dialect = Metered { dialect, left: Cell::new(most) };
    let parsed = DFParserBuilder::new(tokens).with_dialect(&dialect).build().and_then(read);
    parsed.map_err(|error| if dialect.left.get() == 0 { QueryError::too_deep() } else { error.into() })
}

/// A dialect that stops the parser after a number of operands.
#[derive(Debug)]
struct Metered<D> {
    dialect: D,
    left: Cell<usize>,
}

macro_rules! forward_switches {
    ($($name:ident)*) => { $(fn $name(&self) -> bool { self.dialect.$name() })* };
}

/// Forwards all methods that the two dialects override. The parser needs no others: texts are split into tokens before.
impl<D: Dialect> Dialect for Metered<D> {
    fn parse_prefix(&self, _: &mut Parser<'_>) -> Option<Result<Expr, ParserError>> {
        let Some(left) = self.left.get().checked_sub(1) else {
            return Some(Err(ParserError::RecursionLimitExceeded));
        };
        self.left.set(left);
        None
    }

    fn dialect(&self) -> TypeId {
        self.dialect.dialect()
    }

    fn is_identifier_start(&self, character: char) -> bool {
        self.dialect.is_identifier_start(character)
    }

    fn is_identifier_part(&self, character: char) -> bool {
        self.dialect.is_identifier_part(character)
    }

    fn is_reserved_for_identifier(&self, keyword: Keyword) -> bool {
        self.dialect.is_reserved_for_identifier(keyword)
    }

    fn get_next_precedence(&self, parser: &Parser<'_>) -> Option<Result<u8, ParserError>> {
        self.dialect.get_next_precedence(parser)
    }

    fn prec_value(&self, precedence: Precedence) -> u8 {
        let value = |precedence| self.dialect.prec_value(precedence);
        match precedence {
            // Operators such as `->>` bind as `||` does. The generic dialect lets them bind looser than `=`.
            Precedence::PgOther if value(Precedence::PgOther) < value(Precedence::Eq) => value(Precedence::MulDivModOp),
            other => value(other),
        }
    }

    forward_switches! {
        allow_extract_custom allow_extract_single_quotes support_map_literal_syntax
        supports_alter_column_type_using supports_array_join_syntax supports_array_typedef_with_brackets
        supports_asc_desc_in_column_definition supports_bitwise_shift_operators
        supports_comma_separated_set_assignments supports_comma_separated_trim supports_comment_on
        supports_comment_optimizer_hint supports_connect_by supports_constraint_keyword_without_name
        supports_create_index_with_clause supports_create_table_like_parenthesized
        supports_create_view_comment_syntax supports_cte_without_as supports_data_type_signed_suffix
        supports_detach supports_dictionary_syntax supports_empty_projections
        supports_explain_with_utility_options supports_extract_comma_syntax supports_factorial_operator
        supports_filter_during_aggregation supports_from_first_select supports_geometric_types
        supports_group_by_expr supports_group_by_with_modifier supports_insert_table_alias supports_install
        supports_interpolate supports_interval_options supports_key_column_option
        supports_left_associative_joins_without_parens supports_limit_by supports_limit_comma
        supports_listen_notify supports_load_extension supports_match_against supports_match_recognize
        supports_multiline_comment_hints supports_named_fn_args_with_assignment_operator
        supports_named_fn_args_with_colon_operator supports_named_fn_args_with_expr_name
        supports_nested_comments supports_notnull_operator supports_numeric_literal_underscores
        supports_optimize_table supports_parens_around_table_factor supports_parenthesized_set_variables
        supports_partition_by_after_order_by supports_pipe_operator supports_prewhere
        supports_projection_trailing_commas supports_quote_delimited_string supports_select_format
        supports_select_item_multi_column_alias supports_select_wildcard_except
        supports_select_wildcard_exclude supports_select_wildcard_ilike supports_select_wildcard_rename
        supports_select_wildcard_replace supports_select_wildcard_with_alias supports_set_names
        supports_settings supports_start_transaction_modifier supports_string_escape_constant
        supports_struct_literal supports_try_convert supports_unicode_string_literal
        supports_update_order_by supports_user_host_grantee supports_values_as_table_factor
        supports_window_clause_named_window_reference supports_window_function_null_treatment_arg
        supports_with_fill supports_xml_expressions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Constructs that nest: the text before an inner one, and after it.
    const EXPRESSIONS: &[[&str; 2]] = &[
        ["(", ")"],
        ["CAST(", " AS INT)"],
        ["TRY_CAST(", " AS INT)"],
        ["CONVERT(", ", INT)"],
        ["ARRAY[CAST(", " AS INT)]"],
        ["CASE WHEN ", " THEN 1 END"],
        ["CASE (", ") WHEN 1 THEN 1 END"],
        ["CASE - ", " WHEN 1 THEN 1 END"],
        ["EXTRACT(YEAR FROM ", ")"],
        ["SUBSTRING(", " FROM 1)"],
        ["OVERLAY(", " PLACING 'x' FROM 1)"],
        ["TRIM(BOTH 'x' FROM ", ")"],
        ["POSITION(", " IN 'x')"],
        ["CEIL(", ")"],
        ["FLOOR(", " TO DAY)"],
        ["EXISTS (SELECT ", ")"],
        ["(SELECT ", ")"],
        ["1 IN (SELECT ", ")"],
        ["1 = ANY(", ")"],
        ["ARRAY[", "]"],
        ["[", "]"],
        ["a[", "]"],
        ["ARRAY(SELECT ", ")"],
        ["STRUCT(", ")"],
        ["{'a': ", "}"],
        ["MAP {'a': ", "}"],
        ["INTERVAL (", ") DAY"],
        ["INTERVAL - ", ""],
        ["TIMESTAMP ", "'2020-01-01'"],
        ["x -> ", ""],
        ["f((x, y) -> ", ")"],
        ["f(", ")"],
        ["f(1, a => ", ")"],
        ["f(1) OVER (ORDER BY ", ")"],
        ["{fn f(", ")}"],
        ["NOT ", ""],
        ["NOT (", ")"],
        ["NOT [", "]"],
        ["NOT - ", ""],
        ["NOT (1) = ", ""],
        ["NOT (1) BETWEEN 1 AND ", ""],
        ["- ", ""],
    ];
    const TABLES: &[[&str; 2]] = &[
        ["(", " JOIN b ON true)"],
        ["(SELECT * FROM ", ")"],
        ["((SELECT * FROM ", ") x CROSS JOIN b)"],
        ["((((SELECT * FROM ", ") CROSS JOIN b) CROSS JOIN b) CROSS JOIN b)"],
        ["(((SELECT * FROM a) UNION (SELECT * FROM ", ")) CROSS JOIN b)"],
        ["((SELECT * FROM ", "), b)"],
        ["LATERAL (SELECT * FROM ", ")"],
        ["a JOIN (", ") ON true"],
        ["UNNEST(", ")"],
        ["TABLE(", ")"],
    ];
    const QUERIES: &[[&str; 2]] = &[
        ["(", ")"],
        ["(", ") UNION SELECT 1"],
        ["WITH x AS (", ") SELECT 1"],
        ["VALUES ((", "))"],
        ["SELECT 1 LIMIT (", ")"],
        ["SELECT 1 WHERE EXISTS (", ")"],
        ["EXPLAIN ", ""],
    ];

    /// The error of a statement that may read a few operands only.
    fn error(sql: &str, dialect: impl Dialect) -> Option<String> {
        metered(sql, dialect, 1_500, |mut parser| parser.parse_statements()).err().map(|error| error.to_string())
    }

    /// Runs a test with the stack that a query has.
    fn with_stack(test: fn()) {
        std::thread::Builder::new().stack_size(limits::STACK_BYTES).spawn(test).unwrap().join().unwrap();
    }

    #[test]
    fn nested_statements_end() {
        with_stack(parse_nested);
    }

    /// Without its limits, the parser would need longer than anybody waits for most of these.
    fn parse_nested() {
        let kinds = [(EXPRESSIONS, "SELECT ", "1"), (TABLES, "SELECT * FROM ", "a"), (QUERIES, "", "SELECT 1")];
        for (constructs, start, inner) in kinds {
            for [open, close] in constructs {
                // Each is also closed wrongly, because the parser reads it in another way then.
                for (close, depth) in [close, ")", ""].into_iter().flat_map(|c| [10, 30, 60, 250].map(|d| (c, d))) {
                    let sql = format!("{start}{}{inner}{}", open.repeat(depth), close.repeat(depth));
                    error(&sql, GenericDialect {});
                    error(&sql, PostgreSqlDialect {});
                }
            }
        }
    }

    #[test]
    fn deep_statements_have_a_clear_error() {
        with_stack(parse_deep);
    }

    fn parse_deep() {
        let nested = |open: &str, close: &str, depth: usize| {
            error(&format!("SELECT {}1{}", open.repeat(depth), close.repeat(depth)), GenericDialect {})
        };
        for (open, close) in [("CAST(", " AS INT)"), ("f(", ")"), ("(", ")"), ("ARRAY[", "]")] {
            assert_eq!(nested(open, close, 40), None, "{open}");
            for depth in [50, 100, 250] {
                let message = nested(open, close, depth).unwrap();
                assert_eq!(message, "the statement is too large: it is nested too deeply", "{open}");
            }
        }
        let joined =
            |depth| format!("SELECT * FROM {}a{}", "((SELECT * FROM ".repeat(depth), ") JOIN b)".repeat(depth));
        assert_eq!(error(&joined(8), GenericDialect {}), None);
        assert_eq!(
            error(&joined(30), GenericDialect {}).unwrap(),
            "the statement is too large: it is nested too deeply"
        );
    }
}
