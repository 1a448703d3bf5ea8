//! Translates conditions to SQL.

use std::fmt::Write as _;

use expr::{Expr, Name, Node, Operator};

/// A string literal.
pub(crate) fn text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// SQL keywords that are likely column names.
const RESERVED: [&str; 12] =
    ["time", "group", "order", "user", "value", "count", "from", "to", "select", "where", "limit", "end"];

/// A quoted identifier.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A column name, quoted if SQL requires it.
pub(crate) fn column(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    if plain && !RESERVED.contains(&name) { name.to_owned() } else { quoted(name) }
}

/// A condition or number in SQL, in parentheses where needed.
pub(crate) fn condition(expr: &Expr) -> String {
    let name = |name: &Name| column(&name.text);
    let not = |negated: bool| if negated { "NOT " } else { "" };
    match &expr.node {
        Node::All(parts) => joined(parts, " AND "),
        Node::Any(parts) => joined(parts, " OR "),
        Node::Not(inner) => format!("NOT ({})", condition(inner)),
        Node::Compare(left, comparison, right) => {
            format!("{} {} {}", condition(left), comparison.sign(), condition(right))
        }
        Node::Match { name: of, pattern, negated, .. } => {
            format!("{} {} {}", name(of), if *negated { "!~" } else { "~" }, text(pattern))
        }
        Node::In { name: of, values, negated } => {
            let values: Vec<String> = values.iter().map(condition).collect();
            format!("{} {}IN ({})", name(of), not(*negated), values.join(", "))
        }
        Node::IsNull { name: of, negated } => format!("{} IS {}NULL", name(of), not(*negated)),
        Node::Has { name: of, member, negated } => {
            format!("{}array_has({}, {})", not(*negated), name(of), text(member))
        }
        Node::Name(name) => column(name),
        Node::Int(value) => value.to_string(),
        // The exponent makes it a real number even without a fraction.
        Node::Real(value) => format!("{value:e}"),
        Node::Text(value) => text(value),
        Node::Bool(value) => value.to_string(),
        Node::Null => "NULL".to_owned(),
        Node::Negative(inner) => format!("(- {})", condition(inner)),
        Node::Absolute(inner) => format!("abs({})", condition(inner)),
        Node::Chain(first, rest) => chain(first, rest),
    }
}

fn joined(parts: &[Expr], word: &str) -> String {
    parts.iter().map(|part| format!("({})", condition(part))).collect::<Vec<_>>().join(word)
}

/// SQL also evaluates from left to right. After the first division, all values are real numbers.
fn chain(first: &Expr, rest: &[(Operator, Expr)]) -> String {
    let mut sql = condition(first);
    let mut divided = false;
    for (operator, right) in rest {
        let right = condition(right);
        let sign = match operator {
            Operator::Add => '+',
            Operator::Subtract => '-',
            Operator::Multiply => '*',
            Operator::Divide => '/',
            Operator::Min => return format!("least({sql}, {right})"),
            Operator::Max => return format!("greatest({sql}, {right})"),
        };
        if *operator == Operator::Divide && !divided {
            sql = format!("CAST({sql} AS DOUBLE)");
            divided = true;
        }
        let _ = write!(sql, " {sign} {right}");
    }
    format!("({sql})")
}
