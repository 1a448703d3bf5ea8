//! Times as PostgreSQL writes them: templates such as `YYYY-MM-DD`, multiples of intervals, zones.

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, TimezoneInfo,
    Value,
};

use super::{last_lower, text};
use crate::error::QueryError;
use crate::literals::call;
use crate::postgres::times::{AT_ZONE, TIMES_INTERVAL};

/// Patterns of templates and DataFusion's patterns for them, longest first. A pattern after a point takes the point
/// along, because the fraction of a second has one in DataFusion.
const PATTERNS: [(&str, &str); 31] = [
    (".US", "%.6f"),
    (".MS", "%.3f"),
    ("IYYY", "%G"),
    ("YYYY", "%Y"),
    ("HH24", "%H"),
    ("HH12", "%I"),
    ("FMMONTH", "%B"),
    ("FMHH24", "%-H"),
    ("FMHH12", "%-I"),
    ("FMDAY", "%A"),
    ("FMDDD", "%-j"),
    ("FMDD", "%-d"),
    ("FMMM", "%-m"),
    ("FMMI", "%-M"),
    ("FMSS", "%-S"),
    ("FMHH", "%-I"),
    ("DDD", "%j"),
    ("MON", "%b"),
    ("US", "%6f"),
    ("MS", "%3f"),
    ("YY", "%y"),
    ("MM", "%m"),
    ("DD", "%d"),
    ("DY", "%a"),
    ("HH", "%I"),
    ("MI", "%M"),
    ("SS", "%S"),
    ("AM", "%p"),
    ("PM", "%p"),
    ("IW", "%V"),
    ("ID", "%u"),
];

/// Rewrites an expression with times. `None` if it needs no change.
pub(super) fn expression(expr: &mut Expr) -> Result<Option<Expr>, QueryError> {
    Ok(match expr {
        Expr::Function(function) => return templated(function),
        Expr::BinaryOp { left, op: BinaryOperator::Multiply, right } if is_interval(left) || is_interval(right) => {
            let (interval, number) = if is_interval(left) { (left, right) } else { (right, left) };
            Some(call(TIMES_INTERVAL, vec![(**interval).clone(), (**number).clone()]))
        }
        Expr::AtTimeZone { timestamp, time_zone } => {
            Some(call(AT_ZONE, vec![(**time_zone).clone(), (**timestamp).clone()]))
        }
        Expr::TypedString(typed) if is_timestamp(&typed.data_type) => {
            epoch(&mut typed.value.value);
            None
        }
        Expr::Cast { expr, data_type, .. } if is_timestamp(data_type) => {
            if let Expr::Value(value) = &mut **expr {
                epoch(&mut value.value);
            }
            None
        }
        _ => None,
    })
}

fn is_timestamp(of: &DataType) -> bool {
    matches!(of, DataType::Timestamp(..)) || of.to_string().eq_ignore_ascii_case("timestamptz")
}

/// Writes out the time that PostgreSQL calls `epoch`.
fn epoch(value: &mut Value) {
    if matches!(value, Value::SingleQuotedString(text) if text.trim().eq_ignore_ascii_case("epoch")) {
        *value = Value::SingleQuotedString("1970-01-01 00:00:00".to_owned());
    }
}

fn is_interval(expr: &Expr) -> bool {
    match expr {
        Expr::Interval(_) => true,
        Expr::Nested(expr) => is_interval(expr),
        Expr::Cast { data_type, .. } => matches!(data_type, DataType::Interval { .. }),
        Expr::Function(function) => last_lower(&function.name) == TIMES_INTERVAL,
        _ => false,
    }
}

/// Replaces the template of a function with DataFusion's. `to_timestamp` returns a time with a zone in PostgreSQL.
fn templated(function: &mut Function) -> Result<Option<Expr>, QueryError> {
    let name = last_lower(&function.name);
    let writes = match name.as_str() {
        "to_char" => true,
        "to_date" | "to_timestamp" => false,
        _ => return Ok(None),
    };
    let FunctionArguments::List(list) = &mut function.args else { return Ok(None) };
    let [_, FunctionArg::Unnamed(FunctionArgExpr::Expr(template))] = list.args.as_mut_slice() else { return Ok(None) };
    let Expr::Value(value) = &*template else { return Ok(None) };
    let Some(written) = value.value.clone().into_string() else { return Ok(None) };
    // DataFusion's own templates have percent signs, and mean a constant without one.
    if written.contains('%') || written.is_empty() {
        return Ok(None);
    }
    *template = text(pattern(&name, &written, writes)?);
    if name != "to_timestamp" {
        return Ok(None);
    }
    let data_type = DataType::Timestamp(None, TimezoneInfo::WithTimeZone);
    let expr = Box::new(Expr::Function(function.clone()));
    Ok(Some(Expr::Cast { kind: CastKind::Cast, expr, data_type, array: false, format: None }))
}

/// DataFusion's pattern for a template. `writes` is whether a text is written, and not read.
fn pattern(function: &str, template: &str, writes: bool) -> Result<String, QueryError> {
    let (mut pattern, mut rest) = (String::new(), template);
    'next: while let Some(first) = rest.chars().next() {
        for (postgres, own) in PATTERNS {
            if rest.get(..postgres.len()).is_some_and(|start| start.eq_ignore_ascii_case(postgres)) {
                // A text may have fewer digits than the template.
                pattern.push_str(if !writes && postgres.starts_with('.') { "%.f" } else { own });
                rest = &rest[postgres.len()..];
                continue 'next;
            }
        }
        if let Some(quoted) = rest.strip_prefix('"') {
            let (literal, after) = quoted.split_once('"').unwrap_or((quoted, ""));
            pattern.push_str(literal);
            rest = after;
            continue;
        }
        if first.is_alphabetic() {
            let short = &rest[..rest.floor_char_boundary(8)];
            let reason = format!(
                "{function} cannot read the template {template:?} from {short:?} on: write YYYY, MM, DD, HH24, MI, SS, MS, US, \"text\", or \
                 patterns of DataFusion such as %Y-%m-%d"
            );
            return Err(QueryError::Invalid { reason });
        }
        pattern.push(first);
        rest = &rest[first.len_utf8()..];
    }
    Ok(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_become_patterns() {
        for (template, writes, expected) in [
            ("YYYY-MM-DD HH24:MI:SS.US", false, "%Y-%m-%d %H:%M:%S%.f"),
            ("YYYY-MM-DD HH24:MI:SS.US", true, "%Y-%m-%d %H:%M:%S%.6f"),
            ("yyyy-mm-dd\"T\"hh24:mi:ss.ms\"Z\"", true, "%Y-%m-%dT%H:%M:%S%.3fZ"),
            ("YYYYMMDDHH24MISS", false, "%Y%m%d%H%M%S"),
            ("Dy, FMDD Mon YY, HH12 PM", true, "%a, %-d %b %y, %I %p"),
            ("IYYY-\"W\"IW-ID", true, "%G-W%V-%u"),
        ] {
            assert_eq!(pattern("to_char", template, writes).unwrap(), expected, "{template}");
        }
        for unknown in ["TZH", "Month", "999.9 x", "YYYY Q"] {
            assert!(pattern("to_char", unknown, true).is_err(), "{unknown}");
        }
    }
}
