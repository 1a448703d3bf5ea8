//! Patterns that keep their meaning through the optimizer.
//!
//! DataFusion turns simple regular expressions into `LIKE` without escaping backslashes, reads patterns of `SIMILAR TO`
//! as regular expressions, and supports only the backslash as escape character.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::Result;
use datafusion::functions::regex::regexp_like;
use datafusion::logical_expr::expr::{BinaryExpr, Like, ScalarFunction};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable as _, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility, cast, lit,
};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr as PhysicalBinary, Column, Literal};
use regex_syntax::hir::{Hir, HirKind};

use crate::error::QueryError;

pub(super) fn rewrite(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_match(op) => Ok(matching(*left, op, *right)),
        // With two arguments it becomes an operator, which can prune.
        Expr::ScalarFunction(ScalarFunction { func, mut args })
            if func.name() == "regexp_like" && args.len() == 2 && constant(&args[1]).is_some() =>
        {
            let pattern = args.swap_remove(1);
            Ok(Transformed::yes(matching(args.swap_remove(0), Operator::RegexMatch, pattern).data))
        }
        Expr::SimilarTo(like) => similar(like, schema),
        Expr::Like(like) => escaped(like, schema),
        other => Ok(Transformed::no(other)),
    }
}

fn is_match(op: Operator) -> bool {
    use Operator::{RegexIMatch, RegexMatch, RegexNotIMatch, RegexNotMatch};
    matches!(op, RegexMatch | RegexIMatch | RegexNotMatch | RegexNotIMatch)
}

/// The text of a constant expression, without its casts.
fn constant(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Literal(value, _) => value.try_as_str().flatten(),
        Expr::Cast(cast) if cast.field.data_type().is_string() => constant(&cast.expr),
        _ => None,
    }
}

/// A match that the optimizer turns into `LIKE` only if the meaning stays the same.
fn matching(left: Expr, op: Operator, right: Expr) -> Transformed<Expr> {
    let as_it_is = |right| Expr::BinaryExpr(BinaryExpr { left: Box::new(left.clone()), op, right: Box::new(right) });
    match (constant(&right), &right) {
        (Some(pattern), _) => match kept_from_like(pattern) {
            Some(kept) => Transformed::yes(as_it_is(like_literal(&right, kept))),
            None => Transformed::no(as_it_is(right)),
        },
        (None, Expr::Literal(..)) => Transformed::no(as_it_is(right)),
        // The optimizer may still turn the pattern into a literal.
        (None, _) => {
            let function = Matches { op, signature: Signature::any(2, Volatility::Immutable) };
            let function = Arc::new(ScalarUDF::new_from_impl(function));
            Transformed::yes(Expr::ScalarFunction(ScalarFunction::new_udf(function, vec![left, right])))
        }
    }
}

/// A literal of `text` with the type of another literal.
fn like_literal(other: &Expr, text: String) -> Expr {
    match other {
        Expr::Cast(inner) => cast(like_literal(&inner.expr, text), inner.field.data_type().clone()),
        _ => lit(text),
    }
}

/// An equivalent regular expression, in a group, that the optimizer does not turn into `LIKE`. `None` if `LIKE` is
/// correct.
fn kept_from_like(pattern: &str) -> Option<String> {
    let parsed = regex_syntax::parse(pattern).ok()?;
    has_backslash(&parsed).then(|| format!("({parsed})"))
}

fn has_backslash(part: &Hir) -> bool {
    match part.kind() {
        HirKind::Literal(literal) => literal.0.contains(&b'\\'),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(has_backslash),
        HirKind::Capture(capture) => has_backslash(&capture.sub),
        HirKind::Repetition(repeated) => has_backslash(&repeated.sub),
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) => false,
    }
}

fn similar(like: Like, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let Like { negated, expr, pattern, escape_char, case_insensitive } = like;
    if matches!(&*pattern, Expr::Literal(value, _) if value.is_null()) {
        return Ok(Transformed::yes(lit(ScalarValue::Boolean(None))));
    }
    let Some(text) = constant(&pattern) else {
        return Err(refused("the pattern of SIMILAR TO must be a constant: use ~ for other patterns"));
    };
    let regex = similar_to_regex(text, escape_char.unwrap_or('\\'))?;
    let of = expr.get_type(schema)?;
    let op = match (negated, case_insensitive) {
        (false, false) => Operator::RegexMatch,
        (false, true) => Operator::RegexIMatch,
        (true, false) => Operator::RegexNotMatch,
        (true, true) => Operator::RegexNotIMatch,
    };
    let pattern = if of == DataType::Utf8 { lit(regex) } else { cast(lit(regex), of) };
    Ok(Transformed::yes(matching(*expr, op, pattern).data))
}

/// Translates a pattern of `SIMILAR TO`. It matches the whole text; `%` stands for any characters and `_` for one.
fn similar_to_regex(pattern: &str, escape: char) -> Result<String> {
    let mut regex = "^(?s:".to_owned();
    let (mut characters, mut in_class) = (pattern.chars(), false);
    while let Some(character) = characters.next() {
        match character {
            c if c == escape => {
                regex.push_str(&regex_syntax::escape(next(&mut characters, pattern)?.encode_utf8(&mut [0; 4])));
            }
            '[' | ']' => {
                in_class = character == '[';
                regex.push(character);
            }
            '%' if !in_class => regex.push_str(".*"),
            '_' if !in_class => regex.push('.'),
            '|' | '*' | '+' | '?' | '{' | '}' | '(' | ')' if !in_class => regex.push(character),
            '^' | '-' | ':' if in_class => regex.push(character),
            c => regex.push_str(&regex_syntax::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    Ok(regex + ")$")
}

/// A `LIKE` with backslash as its escape character.
fn escaped(like: Like, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let Some(text) = constant(&like.pattern) else { return Ok(Transformed::no(Expr::Like(like))) };
    let escape = like.escape_char.unwrap_or('\\');
    let (mut pattern, mut characters) = (String::new(), text.chars());
    while let Some(character) = characters.next() {
        if character == escape {
            pattern.extend(['\\', next(&mut characters, text)?]);
        } else {
            pattern.extend((character == '\\').then_some('\\'));
            pattern.push(character);
        }
    }
    if like.escape_char.is_none() {
        return Ok(Transformed::no(Expr::Like(like)));
    }
    let of = like.pattern.get_type(schema)?;
    let pattern = if of == DataType::Utf8 { lit(pattern) } else { cast(lit(pattern), of) };
    Ok(Transformed::yes(Expr::Like(Like { pattern: Box::new(pattern), escape_char: None, ..like })))
}

/// The character after an escape character.
fn next(characters: &mut std::str::Chars<'_>, pattern: &str) -> Result<char> {
    characters.next().ok_or_else(|| refused(&format!("the pattern {pattern:?} ends with its escape character")))
}

fn refused(reason: &str) -> datafusion::error::DataFusionError {
    QueryError::Invalid { reason: reason.to_owned() }.into()
}

/// A match with a pattern that is not a literal.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Matches {
    op: Operator,
    signature: Signature,
}

impl ScalarUDFImpl for Matches {
    fn name(&self) -> &'static str {
        match self.op {
            Operator::RegexMatch => "matches",
            Operator::RegexIMatch => "matches_any_case",
            Operator::RegexNotMatch => "matches_not",
            _ => "matches_not_any_case",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let text = args.args[0].to_array(args.number_rows)?;
        let mut fields = vec![Field::new("text", text.data_type().clone(), true)];
        let mut columns = vec![text];
        let pattern: Arc<dyn PhysicalExpr> = match &args.args[1] {
            ColumnarValue::Scalar(pattern) => Arc::new(Literal::new(pattern.clone())),
            ColumnarValue::Array(patterns) => {
                fields.push(Field::new("pattern", patterns.data_type().clone(), true));
                columns.push(patterns.clone());
                Arc::new(Column::new("pattern", 1))
            }
        };
        let rows = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?;
        PhysicalBinary::new(Arc::new(Column::new("text", 0)), self.op, pattern).evaluate(&rows)
    }
}

/// DataFusion's `regexp_like`, hidden from the rule that makes it an operator and then `LIKE`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct RegexpLike(Arc<ScalarUDF>);

impl Default for RegexpLike {
    fn default() -> Self {
        Self(regexp_like())
    }
}

impl ScalarUDFImpl for RegexpLike {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn signature(&self) -> &Signature {
        self.0.signature()
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.0.return_type(types)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        self.0.invoke_with_args(args)
    }
}
