//! Times that are written without seconds, as in `2026-01-01 10:00+00`: Arrow reads only times with seconds.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::{Between, BinaryExpr, Cast, InList};
use datafusion::logical_expr::{Expr, ExprSchemable as _};

/// The time with its seconds; `None` for other texts.
pub(crate) fn with_seconds(text: &str) -> Option<String> {
    let (minute, zone) = text.trim().split_at_checked(16)?;
    let form = minute.bytes().map(|byte| if byte.is_ascii_digit() { b'0' } else { byte.to_ascii_uppercase() });
    let form: Vec<u8> = form.collect();
    let is_minute = matches!(form.as_slice(), b"0000-00-00 00:00" | b"0000-00-00T00:00");
    (is_minute && (zone.is_empty() || zone.starts_with(['+', '-', 'Z', 'z', ' '])))
        .then(|| format!("{minute}:00{zone}"))
}

/// Adds the seconds to constants that become times: in casts and in comparisons, before type coercion.
pub(crate) fn rewrite(mut expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let is_time = |expr: &Expr| matches!(expr.get_type(schema), Ok(DataType::Timestamp(..)));
    let completed = |expr: &Expr| match expr {
        Expr::Literal(value, _) => {
            let text = value.try_as_str().flatten().and_then(with_seconds)?;
            Some(Expr::Literal(ScalarValue::from(text), None))
        }
        _ => None,
    };
    let complete = |expr: &mut Expr| completed(expr).map(|completed| *expr = completed).is_some();
    let changed = match &mut expr {
        Expr::Cast(Cast { expr, field }) => matches!(field.data_type(), DataType::Timestamp(..)) && complete(expr),
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if op.supports_propagation() => {
            match (completed(left), completed(right)) {
                (None, Some(time)) if is_time(left) => **right = time,
                (Some(time), None) if is_time(right) => **left = time,
                _ => return Transformed::no(expr),
            }
            true
        }
        Expr::Between(Between { expr, low, high, .. }) if is_time(expr) => complete(low) | complete(high),
        Expr::InList(InList { expr, list, .. }) if is_time(expr) => {
            list.iter_mut().fold(false, |changed, value| complete(value) | changed)
        }
        _ => false,
    };
    if changed { Transformed::yes(expr) } else { Transformed::no(expr) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_get_seconds() {
        for (text, expected) in [
            ("2026-01-01 10:00+00", Some("2026-01-01 10:00:00+00")),
            ("2026-01-01T10:00Z", Some("2026-01-01T10:00:00Z")),
            (" 2026-01-01 10:00 +05:30", Some("2026-01-01 10:00:00 +05:30")),
            ("2026-01-01 10:00", Some("2026-01-01 10:00:00")),
            ("2026-01-01 10:00:30", None),
            ("2026-01-01 1000+00", None),
            ("2026-01-01", None),
            ("2026-01-01 10:0é", None),
        ] {
            assert_eq!(with_seconds(text).as_deref(), expected, "{text}");
        }
    }
}
