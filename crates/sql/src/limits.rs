//! Limits on the size of a statement, checked before parsing and planning.
//!
//! Planning takes memory and stack for each level of an expression, and its time grows faster than the statement. The
//! limits are far above what people and tools write. A process that runs untrusted queries also needs isolation,
//! because limits do not cover every cost of a library.

use datafusion::sql::sqlparser::ast::{GroupByExpr, Select, Statement, TableFactor};
use datafusion::sql::sqlparser::dialect::Dialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use crate::error::QueryError;
use crate::syntax::{Node, walk};

/// Stack needed to plan and run the largest statement, in bytes.
pub const STACK_BYTES: usize = 32 << 20;

/// Keywords, names, literals and symbols.
const TOKENS_MAX: usize = 200_000;
/// Each operator can nest an expression one level deeper.
const OPERATORS_MAX: usize = 5_000;
/// `UNION`, `INTERSECT` and `EXCEPT`.
const SET_OPERATORS_MAX: usize = 200;
/// Mentions of tables in one statement, and queries in place of tables.
const TABLES_MAX: usize = 200;
/// Tokens that the parser may read, repeated ones included.
const READS_MAX: usize = 2_000_000;

/// Splits the text of a statement, and checks it.
pub(crate) fn tokens(sql: &str, dialect: &dyn Dialect) -> Result<Vec<TokenWithSpan>, QueryError> {
    let tokens = Tokenizer::new(dialect, sql).tokenize_with_location();
    let tokens = tokens.map_err(|e| QueryError::Syntax { reason: e.to_string() })?;
    let (mut all, mut operators, mut sets) = (0, 0, 0);
    for TokenWithSpan { token, .. } in &tokens {
        all += usize::from(!matches!(token, Token::Whitespace(_)));
        match kind(token) {
            Kind::Operator => operators += 1,
            Kind::SetOperator => sets += 1,
            Kind::Other => {}
        }
    }
    within("tokens", all, TOKENS_MAX)?;
    within("operators", operators, OPERATORS_MAX)?;
    within("set operators", sets, SET_OPERATORS_MAX)?;
    check_brackets(&tokens)?;
    Ok(tokens)
}

/// Checks how often the parser may read tokens because of joins in brackets, as in `FROM ((SELECT ...) AS a JOIN b)`. It
/// reads a query in the last of `n` successive brackets up to `n` times, and a query in that query as many times more.
fn check_brackets(tokens: &[TokenWithSpan]) -> Result<(), QueryError> {
    // `outer`: the times outside each open bracket. `opened`: successive brackets before this token.
    let (mut reads, mut times, mut outer, mut opened) = (0_usize, 1_usize, Vec::new(), 0);
    for TokenWithSpan { token, .. } in tokens {
        match token {
            Token::Whitespace(_) => continue,
            Token::LParen => {
                outer.push(times);
                opened += 1;
                continue;
            }
            Token::RParen => times = outer.pop().unwrap_or(1),
            Token::Word(word) if opened > 1 && starts_query(word.keyword) => {
                let first = outer.len() - opened;
                (1..opened).for_each(|n| outer[first + n] = times.saturating_mul(n));
                times = times.saturating_mul(opened);
            }
            _ => {}
        }
        opened = 0;
        reads = times.saturating_add(reads);
        if reads > READS_MAX {
            return Err(QueryError::too_deep());
        }
    }
    Ok(())
}

fn starts_query(keyword: Keyword) -> bool {
    matches!(keyword, Keyword::SELECT | Keyword::WITH | Keyword::VALUES | Keyword::TABLE | Keyword::FROM)
}

/// Checks a parsed statement.
pub(crate) fn check_statement(statement: &mut Statement) -> Result<(), QueryError> {
    let (mut tables, mut derived) = (0, 0);
    walk(statement, &mut |node| {
        let unheeded = match &node {
            Node::Factor(factor) => unheeded_of_table(factor),
            Node::Select(select) => unheeded_of_select(select),
            _ => None,
        };
        if let Some((clause, instead)) = unheeded {
            return Err(QueryError::Invalid { reason: format!("{clause} is not supported: write {instead}") });
        }
        tables += usize::from(matches!(node, Node::Relation(_)));
        derived += usize::from(matches!(node, Node::Derived));
        within("tables", tables.max(derived), TABLES_MAX)
    })
}

/// A clause that is parsed and that DataFusion then ignores, with what to write instead.
type Unheeded = (&'static str, &'static str);

fn unheeded_of_table(factor: &TableFactor) -> Option<Unheeded> {
    match factor {
        TableFactor::Table { sample: Some(_), .. } | TableFactor::Derived { sample: Some(_), .. } => {
            Some(("TABLESAMPLE", "WHERE random() < 0.1"))
        }
        TableFactor::Table { partitions, .. } if !partitions.is_empty() => Some(("PARTITION", "a condition")),
        TableFactor::Table { version: Some(_), .. } => Some(("a version of a table", "its name alone")),
        TableFactor::Table { json_path: Some(_), .. } => Some(("a path behind a table", "its name alone")),
        // Those of PostgreSQL's catalogue return no rows here.
        TableFactor::Table { with_ordinality: true, name, .. } if name.0.len() == 1 => {
            Some(("WITH ORDINALITY", "row_number() OVER ()"))
        }
        _ => None,
    }
}

fn unheeded_of_select(select: &Select) -> Option<Unheeded> {
    let (GroupByExpr::All(modifiers) | GroupByExpr::Expressions(_, modifiers)) = &select.group_by;
    [
        (select.prewhere.is_some(), ("PREWHERE", "WHERE")),
        (!select.connect_by.is_empty(), ("CONNECT BY", "WITH RECURSIVE")),
        (!modifiers.is_empty(), ("WITH after GROUP BY", "GROUP BY ROLLUP (...) or GROUP BY CUBE (...)")),
        (select.exclude.is_some(), ("EXCLUDE after the columns", "* EXCLUDE (...)")),
    ]
    .into_iter()
    .find_map(|(is_there, clause)| is_there.then_some(clause))
}

fn within(what: &str, count: usize, most: usize) -> Result<(), QueryError> {
    if count <= most {
        return Ok(());
    }
    Err(QueryError::TooLarge { reason: format!("it has more than {most} {what}") })
}

enum Kind {
    Operator,
    SetOperator,
    Other,
}

fn kind(token: &Token) -> Kind {
    match token {
        Token::Word(word) => match word.keyword {
            Keyword::UNION | Keyword::INTERSECT | Keyword::EXCEPT | Keyword::MINUS => Kind::SetOperator,
            Keyword::AND
            | Keyword::OR
            | Keyword::XOR
            | Keyword::NOT
            | Keyword::IS
            | Keyword::LIKE
            | Keyword::ILIKE
            | Keyword::RLIKE
            | Keyword::REGEXP
            | Keyword::SIMILAR
            | Keyword::BETWEEN
            | Keyword::IN
            | Keyword::COLLATE
            | Keyword::AT => Kind::Operator,
            _ => Kind::Other,
        },
        Token::Number(..)
        | Token::Char(_)
        | Token::SingleQuotedString(_)
        | Token::DoubleQuotedString(_)
        | Token::DollarQuotedString(_)
        | Token::EscapedStringLiteral(_)
        | Token::UnicodeStringLiteral(_)
        | Token::NationalStringLiteral(_)
        | Token::HexStringLiteral(_)
        | Token::Placeholder(_)
        | Token::Whitespace(_)
        | Token::Comma
        | Token::SemiColon
        | Token::LParen
        | Token::RParen
        | Token::EOF => Kind::Other,
        // Symbols, including the period and brackets that access parts of a value.
        _ => Kind::Operator,
    }
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::dialect::GenericDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    use super::*;

    fn refusal(sql: &str) -> Option<String> {
        tokens(sql, &GenericDialect {}).err().map(|error| error.to_string())
    }

    #[test]
    fn statements_over_a_limit_are_rejected() {
        let repeated = |first: &str, more: &str, times: usize| format!("SELECT {first}{}", more.repeat(times));
        for (sql, limit) in [
            (repeated("1", "+1", OPERATORS_MAX + 1), "5000 operators"),
            (repeated("1", "::int", OPERATORS_MAX + 1), "5000 operators"),
            (repeated("a", " AND a", OPERATORS_MAX + 1), "5000 operators"),
            (repeated("a", ".a", OPERATORS_MAX + 1), "5000 operators"),
            (repeated("a", "[1]", OPERATORS_MAX + 1), "5000 operators"),
            (repeated("1", " UNION ALL SELECT 1", SET_OPERATORS_MAX + 1), "200 set operators"),
            (repeated("1", ", 1", TOKENS_MAX / 2), "200000 tokens"),
        ] {
            let message = refusal(&sql).unwrap();
            assert!(message.contains(&format!("more than {limit}")), "{message}");
        }
        for sql in [
            repeated("1", "+1", OPERATORS_MAX),
            repeated("1", " UNION ALL SELECT 1", SET_OPERATORS_MAX),
            repeated("a IN (1", ", 1", TOKENS_MAX / 2 - 10),
            format!("SELECT '{}'", "+".repeat(OPERATORS_MAX * 2)),
        ] {
            assert_eq!(refusal(&sql), None, "{}", &sql[..20]);
        }
    }

    #[test]
    fn clauses_that_would_be_ignored_are_refused() {
        for (sql, clause) in [
            ("SELECT 1 FROM t TABLESAMPLE SYSTEM (10)", "TABLESAMPLE"),
            ("SELECT 1 FROM t AS a TABLESAMPLE BERNOULLI (10) REPEATABLE (7)", "TABLESAMPLE"),
            ("SELECT 1 FROM u WHERE EXISTS (SELECT 1 FROM t TABLESAMPLE SYSTEM (10))", "TABLESAMPLE"),
            ("SELECT 1 FROM t PARTITION (p0)", "PARTITION"),
            ("SELECT 1 FROM generate_series(1, 3) WITH ORDINALITY", "WITH ORDINALITY"),
            ("SELECT count(*) FROM t PREWHERE x > 5", "PREWHERE"),
            ("SELECT a FROM t START WITH a = 1 CONNECT BY PRIOR b = c", "CONNECT BY"),
            ("SELECT a, count(*) FROM t GROUP BY a WITH ROLLUP", "WITH after GROUP BY"),
        ] {
            let refused = check_statement(&mut Parser::parse_sql(&GenericDialect {}, sql).unwrap()[0]);
            assert!(refused.unwrap_err().to_string().contains(&format!("{clause} is not supported")), "{sql}");
        }
        let of_catalogue = "SELECT 1 FROM pg_catalog.unnest(a) WITH ORDINALITY";
        check_statement(&mut Parser::parse_sql(&GenericDialect {}, of_catalogue).unwrap()[0]).unwrap();
    }

    #[test]
    fn statements_with_too_many_tables_are_rejected() {
        let checked = |sql: &str| check_statement(&mut Parser::parse_sql(&GenericDialect {}, sql).unwrap()[0]);
        let tables =
            |count: usize| format!("SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM t{})", ", t".repeat(count - 2));
        let derived = |count: usize| format!("SELECT 1 FROM (SELECT 1 FROM t){}", ", (VALUES (1))".repeat(count - 1));
        for sql in [tables(TABLES_MAX), derived(TABLES_MAX)] {
            assert!(checked(&sql).is_ok());
        }
        for sql in [tables(TABLES_MAX + 1), derived(TABLES_MAX + 1)] {
            let message = checked(&sql).unwrap_err().to_string();
            assert!(message.contains("more than 200 tables"), "{message}");
        }
    }
}
