//! A condition in the SQL that means the same.

use std::fmt::Write as _;

use super::parse::{Expr, Name, Operand, Operator};

/// A text as SQL writes it.
pub(crate) fn text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Words of SQL that columns of events are likely to be called.
const RESERVED: [&str; 12] =
    ["time", "group", "order", "user", "value", "count", "from", "to", "select", "where", "limit", "end"];

/// A name in quotes.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A column's name as SQL writes it.
pub(crate) fn column(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    if plain && !RESERVED.contains(&name) { name.to_owned() } else { quoted(name) }
}

/// The condition in SQL, in parentheses where it needs them.
pub(crate) fn condition(expr: &Expr) -> String {
    let name = |name: &Name| column(&name.name);
    let not = |negated: bool| if negated { "NOT " } else { "" };
    match expr {
        Expr::All(parts) => joined(parts, " AND "),
        Expr::Any(parts) => joined(parts, " OR "),
        Expr::Not(inner) => format!("NOT ({})", condition(inner)),
        Expr::Compare { left, comparison, right, .. } => {
            format!("{} {} {}", operand(left), comparison.sign(), operand(right))
        }
        Expr::Match { column, pattern, negated, .. } => {
            format!("{} {} {}", name(column), if *negated { "!~" } else { "~" }, text(pattern))
        }
        Expr::In { column, values, negated } => {
            let values: Vec<String> = values.iter().map(operand).collect();
            format!("{} {}IN ({})", name(column), not(*negated), values.join(", "))
        }
        Expr::IsNull { column, negated } => format!("{} IS {}NULL", name(column), not(*negated)),
        Expr::Has { column, member, negated } => {
            format!("{}array_has({}, {})", not(*negated), name(column), text(member))
        }
        Expr::Holds(column) => name(column),
        Expr::Constant(value) => value.to_string(),
    }
}

fn joined(parts: &[Expr], word: &str) -> String {
    parts.iter().map(|part| format!("({})", condition(part))).collect::<Vec<_>>().join(word)
}

fn operand(of: &Operand) -> String {
    match of {
        Operand::Column(name) => column(&name.name),
        Operand::Int(value) => value.to_string(),
        // With an exponent it is a real number however round it is.
        Operand::Real(value) => format!("{value:e}"),
        Operand::Text(value, _) => text(value),
        Operand::Bool(value) => value.to_string(),
        Operand::Null => "NULL".to_owned(),
        Operand::Negative(inner) => format!("(- {})", operand(inner)),
        Operand::Chain(first, rest) => chain(first, rest),
    }
}

/// As SQL reads it from left to right too. From the first division on everything is a real number.
fn chain(first: &Operand, rest: &[(Operator, Operand, usize)]) -> String {
    let mut sql = operand(first);
    let mut divided = false;
    for (operator, right, _) in rest {
        if *operator == Operator::Divide && !divided {
            sql = format!("CAST({sql} AS DOUBLE)");
            divided = true;
        }
        let _ = write!(sql, " {} {}", operator.sign(), operand(right));
    }
    format!("({sql})")
}
