//! Values of the parameters `$1`, `$2`, inserted into a statement as literals.

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments,
    Ident, ObjectName, Statement, Value,
};
use serde::{Deserialize, Serialize};

use crate::error::QueryError;
use crate::seconds::with_seconds;
use crate::syntax::{Node, walk};

/// A quoted identifier.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// An identifier, quoted unless it is lower case without special characters.
pub(crate) fn quoted_if_needed(name: &str) -> String {
    let plain = |c: char| c.is_ascii_lowercase() || c == '_';
    let is_plain = name.starts_with(plain) && name.chars().all(|c| plain(c) || c.is_ascii_digit());
    if is_plain { name.to_owned() } else { quoted(name) }
}

/// The function that makes a list of its arguments.
const LIST: &str = "make_array";

/// A value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Literal {
    /// NULL.
    Null,
    /// NULL of a type, in Arrow's notation.
    NullOf(String),
    /// A Boolean.
    Bool(bool),
    /// A number in SQL's notation.
    Number(String),
    /// A text.
    Text(String),
    /// A value in quotes that takes its type from the context.
    Untyped(String),
    /// A text converted to a type, in Arrow's notation.
    Typed(String, String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list.
    List(Vec<Literal>),
}

impl Literal {
    /// A value without a type as one of the type `of`, where the engine does not convert texts by itself. A value that
    /// the type lacks stays a text.
    pub(crate) fn converted(&self, of: &arrow::datatypes::DataType) -> Self {
        use arrow::datatypes::DataType::{Boolean, Float32, Float64};
        let Self::Untyped(text) = self else { return self.clone() };
        let found = match of {
            Boolean => boolean_of(text).map(Self::Bool),
            of if of.is_integer() => text.trim().parse::<i64>().ok().map(|number| Self::Number(number.to_string())),
            Float32 => text.trim().parse::<f32>().ok().map(|number| Self::real(number.into())),
            Float64 => text.trim().parse::<f64>().ok().map(Self::real),
            _ => None,
        };
        found.unwrap_or_else(|| self.clone())
    }

    /// A real number.
    pub fn real(number: f64) -> Self {
        Self::Typed(number.to_string(), "Float64".to_owned())
    }

    /// Bytes of memory, at least.
    pub fn bytes(&self) -> usize {
        let held = match self {
            Self::Null | Self::Bool(_) => 0,
            Self::NullOf(text) | Self::Number(text) | Self::Text(text) | Self::Untyped(text) => text.len(),
            Self::Typed(text, of) => text.len() + of.len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::List(values) => values.iter().map(Self::bytes).sum(),
        };
        size_of::<Self>() + held
    }

    pub(crate) fn expression(&self) -> Expr {
        let text = |text: &String| Expr::Value(Value::SingleQuotedString(text.clone()).into());
        match self {
            Self::Null => Expr::Value(Value::Null.into()),
            Self::NullOf(of) => call("arrow_cast", vec![Self::Null.expression(), text(of)]),
            Self::Bool(value) => Expr::Value(Value::Boolean(*value).into()),
            // A sign is an operator of its own, so the number needs parentheses.
            Self::Number(number) => Expr::Nested(Box::new(Expr::Value(Value::Number(number.clone(), false).into()))),
            Self::Text(value) | Self::Untyped(value) => text(value),
            Self::Typed(value, of) => {
                let completed = of.starts_with("Timestamp").then(|| with_seconds(value)).flatten();
                call("arrow_cast", vec![text(completed.as_ref().unwrap_or(value)), text(of)])
            }
            Self::Bytes(bytes) => {
                let digits: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                Expr::Value(Value::HexStringLiteral(digits.concat()).into())
            }
            Self::List(values) => call(LIST, values.iter().map(Self::expression).collect()),
        }
    }
}

/// The Boolean that a text means in PostgreSQL.
pub fn boolean_of(text: &str) -> Option<bool> {
    match text.trim().to_lowercase().as_str() {
        "t" | "true" | "on" | "yes" | "y" | "1" => Some(true),
        "f" | "false" | "off" | "no" | "n" | "0" => Some(false),
        _ => None,
    }
}

/// A call of the function `name`.
pub(crate) fn call(name: &str, args: Vec<Expr>) -> Expr {
    let args = args.into_iter().map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg))).collect();
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

/// An operation on two values.
pub(crate) fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) }
}

/// Parses a PostgreSQL array of texts, such as `{a,"b c",NULL}`, with NULL as `None`; `None` if it is invalid.
pub fn texts_of(list: &str) -> Option<Vec<Option<String>>> {
    let mut rest = list.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
    let mut items = Vec::new();
    while !rest.is_empty() {
        let (text, quoted, after) = item_of(rest)?;
        items.push((quoted || !text.eq_ignore_ascii_case("null")).then_some(text));
        rest = match after.trim_start().strip_prefix(',') {
            Some(after) if !after.trim().is_empty() => after.trim_start(),
            None if after.trim().is_empty() => "",
            _ => return None,
        };
    }
    Some(items)
}

/// An item, whether it was quoted, and the rest of the text.
fn item_of(text: &str) -> Option<(String, bool, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(',').unwrap_or(text.len());
        let item = text[..end].trim();
        return (!item.is_empty() && !item.contains(['{', '}', '"'])).then(|| (item.to_owned(), false, &text[end..]));
    };
    let (mut item, mut characters) = (String::new(), quoted.char_indices());
    while let Some((place, character)) = characters.next() {
        match character {
            '"' => return Some((item, true, &quoted[place + 1..])),
            '\\' => item.push(characters.next()?.1),
            other => item.push(other),
        }
    }
    None
}

/// Converts a text that is a PostgreSQL array to a list.
pub(crate) fn as_list(value: &Literal) -> Literal {
    match value {
        Literal::Text(text) | Literal::Untyped(text) => match texts_of(text) {
            Some(texts) => Literal::List(texts.into_iter().map(|t| t.map_or(Literal::Null, Literal::Text)).collect()),
            None => value.clone(),
        },
        other => other.clone(),
    }
}

/// Replaces parameters with values; without values only counts the parameters.
pub(crate) fn place(statement: &mut Statement, values: Option<&[Literal]>) -> Result<usize, QueryError> {
    let mut places = Places { values, most: 0 };
    walk(statement, &mut |node| match node {
        Node::Expr(expr @ Expr::AnyOp { .. }) => places.place_any(expr),
        Node::Expr(Expr::AllOp { right, .. }) => places.place(right, as_list),
        Node::Expr(Expr::Cast { expr, data_type: DataType::Array(_), .. }) => places.place(expr, as_list),
        Node::Expr(other) => places.place(other, Literal::clone),
        _ => Ok(()),
    })?;
    Ok(places.most)
}

/// Numbers the parameters that are written `?`, in their order in the text.
pub(crate) fn number_marks(statement: &mut Statement) -> Result<(), QueryError> {
    let (mut marks, mut numbered) = (Vec::new(), false);
    walk(statement, &mut |node| {
        if let Node::Expr(Expr::Value(value)) = node
            && let Value::Placeholder(name) = &value.value
        {
            if name == "?" { marks.push(value.span.start) } else { numbered = true }
        }
        Ok(())
    })?;
    if numbered && !marks.is_empty() {
        return Err(QueryError::Syntax { reason: "cannot mix ? and $1: write one of them".to_owned() });
    }
    marks.sort_unstable();
    marks.dedup();
    if marks.is_empty() {
        return Ok(());
    }
    walk(statement, &mut |node| {
        if let Node::Expr(Expr::Value(value)) = node
            && let Value::Placeholder(name) = &mut value.value
            && let Ok(place) = marks.binary_search(&value.span.start)
        {
            *name = format!("${}", place + 1);
        }
        Ok(())
    })
}

/// The items of a list that [`Literal::expression`] wrote; `None` if there are none.
fn items(list: &Expr) -> Option<Vec<Expr>> {
    let Expr::Function(Function { name, args: FunctionArguments::List(list), .. }) = list else { return None };
    if name.to_string() != LIST {
        return None;
    }
    let item = |arg: &FunctionArg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(item)) => Some(item.clone()),
        _ => None,
    };
    list.args.iter().map(item).collect::<Option<Vec<_>>>().filter(|items| !items.is_empty())
}

struct Places<'a> {
    values: Option<&'a [Literal]>,
    /// The greatest parameter number.
    most: usize,
}

impl Places<'_> {
    /// Replaces `x = ANY($1)` with `x IN (...)`. DataFusion cannot push down the former for lists of times or floats.
    fn place_any(&mut self, expr: &mut Expr) -> Result<(), QueryError> {
        let Expr::AnyOp { left, compare_op, right, .. } = expr else { return Ok(()) };
        let before = right.clone();
        self.place(right, as_list)?;
        if *compare_op == BinaryOperator::Eq
            && before != *right
            && let Some(list) = items(right)
        {
            *expr = Expr::InList { expr: left.clone(), list, negated: false };
        }
        Ok(())
    }

    /// Replaces a parameter with its value, converted by `due`.
    fn place(&mut self, expr: &mut Expr, due: fn(&Literal) -> Literal) -> Result<(), QueryError> {
        if let Expr::Nested(inner) = expr {
            return self.place(inner, due);
        }
        let Expr::Value(value) = &*expr else { return Ok(()) };
        let Value::Placeholder(name) = &value.value else { return Ok(()) };
        let refuse = |reason| Err(QueryError::Syntax { reason });
        let Some(number) = name.strip_prefix('$').and_then(|n| n.parse::<u16>().ok()).filter(|n| *n > 0) else {
            return refuse(format!("invalid parameter {name}: write $1, $2"));
        };
        self.most = self.most.max(number.into());
        let Some(values) = self.values else { return Ok(()) };
        let Some(value) = values.get(usize::from(number) - 1) else {
            return refuse(format!("missing value for parameter {name}"));
        };
        *expr = due(value).expression();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_marks_are_numbered_from_left_to_right() {
        use datafusion::sql::sqlparser::dialect::GenericDialect;
        use datafusion::sql::sqlparser::parser::Parser;
        let numbered = |sql: &str| {
            let mut statement = Parser::parse_sql(&GenericDialect {}, sql).unwrap().remove(0);
            number_marks(&mut statement).map(|()| statement.to_string())
        };
        let sql = "SELECT ?, a + ? AS \"?\", '?' FROM t\nWHERE b IN (?, ?) AND c = ANY(?) ORDER BY a LIMIT ?";
        let expected = "SELECT $1, a + $2 AS \"?\", '?' FROM t WHERE b IN ($3, $4) AND c = ANY($5) ORDER BY a LIMIT $6";
        assert_eq!(numbered(sql).unwrap(), expected);
        assert_eq!(numbered("SELECT $2, $1").unwrap(), "SELECT $2, $1");
        assert!(numbered("SELECT ?, $1").unwrap_err().to_string().contains("cannot mix"));
    }

    #[test]
    fn untyped_values_take_a_type() {
        use arrow::datatypes::DataType::{Boolean, Float64, Int64, Utf8};
        let of = |text: &str, of| Literal::Untyped(text.to_owned()).converted(&of);
        assert_eq!(of(" T", Boolean), Literal::Bool(true));
        assert_eq!(of("+5", Int64), Literal::Number("5".to_owned()));
        assert_eq!(of("0.5", Float64), Literal::Typed("0.5".to_owned(), "Float64".to_owned()));
        for (text, other) in [("5.0", Int64), ("x", Boolean), ("x", Float64), ("5", Utf8)] {
            assert_eq!(of(text, other), Literal::Untyped(text.to_owned()));
        }
        assert_eq!(Literal::Text("5".to_owned()).converted(&Int64), Literal::Text("5".to_owned()));
    }

    #[test]
    fn postgresql_arrays_are_parsed() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            texts_of(r#"{a, NULL,"b\"c,","null",""}"#),
            Some(vec![some("a"), None, some("b\"c,"), some("null"), some("")])
        );
        assert_eq!(texts_of("{}"), Some(Vec::new()));
        for wrong in ["a,b", "{a,,b}", "{\"a}", "{a", "{{a}}", "{a,}"] {
            assert_eq!(texts_of(wrong), None, "{wrong}");
        }
    }
}
