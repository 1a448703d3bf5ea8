//! Functions of `pg_catalog` that clients call before their first query.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::Array as _;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use datafusion::prelude::SessionContext;
use datafusion::scalar::ScalarValue;
use md5::{Digest as _, Md5};

use super::own::OWNER;
use super::relations::{Relations, parts};
use super::types::{is_json, named, written};
use super::{Login, SERVER_VERSION, settings};
use crate::error::QueryError;
use crate::literals::quoted_if_needed;

type OfRow = Box<dyn Fn(&[ScalarValue]) -> Result<ScalarValue> + Send + Sync>;
type OfTyped = fn(&[ScalarValue], &[FieldRef]) -> Result<ScalarValue>;

enum Output {
    Always(ScalarValue),
    /// Depends on the arguments. NULL if the first is NULL.
    Of(OfRow),
    /// Depends on the arguments, NULL included, and on their types.
    Typed(OfTyped),
}

struct CatalogFunction {
    name: &'static str,
    signature: Signature,
    returns: FieldRef,
    output: Output,
}

impl fmt::Debug for CatalogFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CatalogFunction").field(&self.name).finish()
    }
}

impl PartialEq for CatalogFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for CatalogFunction {}

impl Hash for CatalogFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for CatalogFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.returns.data_type().clone())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        match args.arg_fields {
            // A part of `jsonb` is `jsonb`.
            [whole, ..] if self.name == PART_OF_JSON && is_json(whole) => {
                Ok(Arc::new(self.returns.as_ref().clone().with_metadata(whole.metadata().clone())))
            }
            _ => Ok(self.returns.clone()),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let returns = self.returns.data_type();
        let value: &dyn Fn(&[ScalarValue]) -> Result<ScalarValue> = match &self.output {
            Output::Always(value) => return Ok(ColumnarValue::Scalar(value.clone())),
            Output::Of(output_of) => &|row| match row.first() {
                Some(first) if first.is_null() => ScalarValue::try_from(returns),
                _ => output_of(row),
            },
            Output::Typed(output_of) => &|row| output_of(row, &args.arg_fields),
        };
        let scalars = args.args.iter().map(|value| match value {
            ColumnarValue::Scalar(value) => Some(value.clone()),
            ColumnarValue::Array(_) => None,
        });
        if let Some(row) = scalars.collect::<Option<Vec<_>>>() {
            return Ok(ColumnarValue::Scalar(value(&row)?));
        }
        let columns = ColumnarValue::values_to_arrays(&args.args)?;
        let row = |place| columns.iter().map(|c| ScalarValue::try_from_array(c, place)).collect::<Result<Vec<_>>>();
        let values = (0..args.number_rows).map(|place| value(&row(place)?));
        let values = values.collect::<Result<Vec<_>>>()?;
        if values.is_empty() {
            return Ok(ColumnarValue::Array(arrow::array::new_empty_array(returns)));
        }
        Ok(ColumnarValue::Array(ScalarValue::iter_to_array(values)?))
    }
}

pub(super) fn text(value: impl Into<String>) -> ScalarValue {
    ScalarValue::Utf8(Some(value.into()))
}

/// An argument as text; `None` if it is NULL or missing.
pub(super) fn text_at(row: &[ScalarValue], place: usize) -> Option<String> {
    match row.get(place)?.cast_to(&DataType::Utf8) {
        Ok(ScalarValue::Utf8(text)) => text,
        _ => None,
    }
}

/// An argument as a number; `None` if it is NULL, missing or no number.
fn number_at(row: &[ScalarValue], place: usize) -> Option<i64> {
    match row.get(place)?.cast_to(&DataType::Int64) {
        Ok(ScalarValue::Int64(number)) => number,
        _ => None,
    }
}

fn texts(values: &[String]) -> ScalarValue {
    let values: Vec<_> = values.iter().map(text).collect();
    ScalarValue::List(ScalarValue::new_list_nullable(&values, &DataType::Utf8))
}

/// The part of a JSON value at a path of keys.
pub(super) const PART_OF_JSON: &str = "json_extract_path";

/// Adds functions to a session.
pub(super) struct Adder<'a>(pub(super) &'a SessionContext);

impl Adder<'_> {
    fn add(&self, name: &'static str, returns: Field, output: Output) {
        let signature = Signature::one_of(vec![TypeSignature::Nullary, TypeSignature::VariadicAny], Volatility::Stable);
        let returns = Arc::new(returns);
        self.0.register_udf(ScalarUDF::new_from_impl(CatalogFunction { name, signature, returns, output }));
    }

    fn always(&self, names: &[&'static str], value: &ScalarValue) {
        for name in names {
            self.add(name, Field::new(*name, value.data_type(), true), Output::Always(value.clone()));
        }
    }

    fn of(
        &self,
        name: &'static str,
        returns: DataType,
        output: impl Fn(&[ScalarValue]) -> Result<ScalarValue> + Send + Sync + 'static,
    ) {
        self.add(name, Field::new(name, returns, true), Output::Of(Box::new(output)));
    }

    pub(super) fn typed(&self, name: &'static str, returns: Field, output: OfTyped) {
        self.add(name, returns, Output::Typed(output));
    }
}

pub(super) fn register(context: &SessionContext, relations: &Arc<Relations>, login: &Login) {
    let add = Adder(context);
    constants(&add, login);
    privileges(&add);
    names(&add, relations);
    lists(&add, login);
    let own = login.clone();
    add.of("current_setting", DataType::Utf8, move |row| {
        let name = text_at(row, 0).unwrap_or_default();
        let value = settings::all(&own).into_iter().find(|(known, _)| known.eq_ignore_ascii_case(&name));
        let may_miss = matches!(row.get(1), Some(ScalarValue::Boolean(Some(true))));
        match value {
            Some((_, value)) => Ok(text(value)),
            None if may_miss => Ok(ScalarValue::Utf8(None)),
            None => Err(invalid(format!("unknown setting {name:?}"))),
        }
    });
    // Settings of other names have no effect here, as with SET.
    add.of("set_config", DataType::Utf8, |row| Ok(ScalarValue::Utf8(text_at(row, 1))));
}

pub(super) fn invalid(reason: String) -> DataFusionError {
    QueryError::Invalid { reason }.into()
}

fn constants(add: &Adder<'_>, login: &Login) {
    let version = format!("PostgreSQL {SERVER_VERSION} (manyworlds {})", env!("CARGO_PKG_VERSION"));
    add.always(&["version"], &text(version));
    add.always(&["current_database", "current_catalog"], &text(&login.database));
    add.always(&["current_schema"], &text(&login.schema));
    add.always(&["current_user", "session_user", "user", "current_role", "pg_get_userbyid"], &text(&login.user));
    add.always(&["pg_encoding_to_char"], &text("UTF8"));
    add.always(&["pg_backend_pid"], &ScalarValue::Int32(Some(login.pid)));
    add.always(&["pg_my_temp_schema"], &ScalarValue::Int64(Some(0)));
    let no = [
        "pg_is_in_recovery",
        "pg_is_other_temp_schema",
        "pg_is_wal_replay_paused",
        "pg_relation_is_publishable",
        "row_security_active",
    ];
    add.always(&no, &ScalarValue::Boolean(Some(false)));
    let yes = [
        "pg_has_role",
        "pg_type_is_visible",
        "pg_function_is_visible",
        "pg_collation_is_visible",
        "pg_opclass_is_visible",
        "pg_operator_is_visible",
        "pg_conversion_is_visible",
        "pg_statistics_obj_is_visible",
        "pg_ts_config_is_visible",
        "pg_ts_dict_is_visible",
        "pg_ts_parser_is_visible",
        "pg_ts_template_is_visible",
    ];
    add.always(&yes, &ScalarValue::Boolean(Some(true)));
    // No table here has these properties.
    let none = [
        "obj_description",
        "col_description",
        "shobj_description",
        "pg_get_expr",
        "pg_get_constraintdef",
        "pg_get_indexdef",
        "pg_get_viewdef",
        "pg_get_partkeydef",
        "pg_get_serial_sequence",
        "pg_get_functiondef",
        "pg_get_function_result",
        "pg_get_function_arguments",
        "pg_get_function_identity_arguments",
        "pg_get_ruledef",
        "pg_get_triggerdef",
        "pg_tablespace_location",
        "pg_size_pretty",
        "pg_stat_get_numscans",
        "inet_server_addr",
        "inet_client_addr",
    ];
    add.always(&none, &ScalarValue::Utf8(None));
    add.always(&["inet_server_port", "inet_client_port"], &ScalarValue::Int32(None));
    add.always(&["txid_current"], &ScalarValue::Int64(Some(0)));
    let unknown = ScalarValue::TimestampMicrosecond(None, Some("UTC".into()));
    add.always(&["pg_postmaster_start_time", "pg_conf_load_time"], &unknown);
    let sizes = ["pg_relation_size", "pg_total_relation_size", "pg_table_size", "pg_indexes_size", "pg_database_size"];
    add.always(&sizes, &ScalarValue::Int64(None));
}

/// Privileges that everybody has who may log in. No table can be changed.
const PRIVILEGES: [&str; 4] = ["select", "usage", "connect", "execute"];

/// Functions of an object and, last, of privileges in a list, of which one is enough.
fn privileges(add: &Adder<'_>) {
    for name in [
        "has_table_privilege",
        "has_schema_privilege",
        "has_database_privilege",
        "has_any_column_privilege",
        "has_column_privilege",
        "has_function_privilege",
    ] {
        add.of(name, DataType::Boolean, |row| {
            let wanted = text_at(row, row.len().saturating_sub(1)).unwrap_or_default().to_lowercase();
            let has = wanted.split(',').any(|wanted| PRIVILEGES.contains(&wanted.trim()));
            Ok(ScalarValue::Boolean(Some(has)))
        });
    }
}

fn names(add: &Adder<'_>, relations: &Arc<Relations>) {
    let tables = relations.clone();
    add.of("pg_table_is_visible", DataType::Boolean, move |row| {
        Ok(ScalarValue::Boolean(number_at(row, 0).map(|oid| tables.is_visible(oid))))
    });
    let tables = relations.clone();
    add.of("to_regclass", DataType::Int64, move |row| {
        let number = |name: String| name.parse().ok().or_else(|| tables.number(&name));
        Ok(ScalarValue::Int64(text_at(row, 0).and_then(number)))
    });
    let tables = relations.clone();
    add.of(NAME_OF_TABLE, DataType::Utf8, move |row| {
        let name = |value: String| match value.parse() {
            Ok(oid) => tables.written(oid).unwrap_or(value),
            Err(_) => value,
        };
        Ok(ScalarValue::Utf8(text_at(row, 0).map(name)))
    });
    let schemas = relations.clone();
    add.of("to_regnamespace", DataType::Int64, move |row| {
        let number = |name: String| name.parse().ok().or_else(|| schemas.schema_number(parts(&name)?.first()?));
        Ok(ScalarValue::Int64(text_at(row, 0).and_then(number)))
    });
    let schemas = relations.clone();
    add.of(NAME_OF_SCHEMA, DataType::Utf8, move |row| {
        let oid = number_at(row, 0);
        let name =
            schemas.all_schemas().find(|(number, _)| Some(*number) == oid).map(|(_, name)| quoted_if_needed(name));
        Ok(ScalarValue::Utf8(name.or_else(|| text_at(row, 0))))
    });
    add.always(&["to_regrole"], &ScalarValue::Int64(Some(OWNER)));
    add.of("to_regproc", DataType::Int64, |row| {
        let name = text_at(row, 0).unwrap_or_default();
        Err(invalid(format!("no number of the function {name:?}: functions have none here")))
    });
    add.of("format_type", DataType::Utf8, |row| {
        // A cast of a text to `regtype` asks for the name of a type by its name.
        let oid = number_at(row, 0).or_else(|| named(&text_at(row, 0)?)).unwrap_or_default();
        let modifier = number_at(row, 1).unwrap_or(-1) - 4;
        let name = written(oid);
        Ok(text(if oid == 1700 && modifier >= 0 {
            format!("{name}({},{})", modifier >> 16, modifier & 0x7ff)
        } else {
            name
        }))
    });
    add.of("to_regtype", DataType::Int64, |row| {
        Ok(ScalarValue::Int64(text_at(row, 0).and_then(|name| name.parse().ok().or_else(|| named(&name)))))
    });
    add.of("quote_ident", DataType::Utf8, |row| {
        Ok(ScalarValue::Utf8(text_at(row, 0).map(|name| quoted_if_needed(&name))))
    });
    add.of("quote_literal", DataType::Utf8, |row| Ok(ScalarValue::Utf8(text_at(row, 0).map(|t| text_literal(&t)))));
    add.of("md5", DataType::Utf8, |row| {
        Ok(ScalarValue::Utf8(text_at(row, 0).map(|text| format!("{:x}", Md5::digest(text)))))
    });
    add.of("format", DataType::Utf8, |row| format(row).map(text).map_err(invalid));
}

/// Write numbers of a table and of a schema as their names, as casts from `regclass` and `regnamespace` to `text` do.
pub(super) const NAME_OF_TABLE: &str = "pg_name_of_table";
pub(super) const NAME_OF_SCHEMA: &str = "pg_name_of_schema";

fn lists(add: &Adder<'_>, login: &Login) {
    let list = DataType::new_list(DataType::Utf8, true);
    let schemas = settings::schemas(login);
    add.of("current_schemas", list.clone(), move |row| {
        let own = matches!(row.first(), Some(ScalarValue::Boolean(Some(true)))).then(|| super::CATALOG.to_owned());
        Ok(texts(&own.into_iter().chain(schemas.iter().cloned()).collect::<Vec<_>>()))
    });
    add.of("parse_ident", list, |row| {
        let name = text_at(row, 0).unwrap_or_default();
        let parts = parts(&name).ok_or_else(|| invalid(format!("{name:?} is not a name")))?;
        Ok(texts(&parts))
    });
    for (name, upper) in [("array_lower", false), ("array_upper", true)] {
        add.of(name, DataType::Int64, move |row| {
            let length = match row.first() {
                Some(ScalarValue::List(list)) if number_at(row, 1) == Some(1) => list.value(0).len(),
                _ => 0,
            };
            Ok(ScalarValue::Int64((length > 0).then_some(if upper { length as i64 } else { 1 })))
        });
    }
}

fn text_literal(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

/// Maximum bytes of a text that `format` writes.
const FORMATTED_MAX: usize = 1 << 20;

/// Fills the places `%s`, `%I` and `%L` of a text.
fn format(row: &[ScalarValue]) -> Result<String, String> {
    let pattern = text_at(row, 0).unwrap_or_default();
    let (mut written, mut rest, mut place) = (String::new(), pattern.as_str(), 1);
    while let Some((before, after)) = rest.split_once('%') {
        written.push_str(before);
        let mut kinds = after.chars();
        let kind = kinds.next();
        rest = kinds.as_str();
        if kind == Some('%') {
            written.push('%');
            continue;
        }
        let value = row.get(place).map(|_| text_at(row, place)).ok_or("format has too few values")?;
        place += 1;
        match (kind, value) {
            (Some('s'), value) => written.push_str(&value.unwrap_or_default()),
            (Some('I'), Some(value)) => written.push_str(&quoted_if_needed(&value)),
            (Some('I'), None) => return Err("a name cannot be NULL".to_owned()),
            (Some('L'), Some(value)) => written.push_str(&text_literal(&value)),
            (Some('L'), None) => written.push_str("NULL"),
            (other, _) => {
                return Err(format!("format does not know %{}", other.map_or_else(String::new, String::from)));
            }
        }
        if written.len() > FORMATTED_MAX {
            return Err("format writes at most 1 MB".to_owned());
        }
    }
    written.push_str(rest);
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_fills_its_places() {
        let row = |values: &[Option<&str>]| values.iter().map(|v| ScalarValue::Utf8(v.map(str::to_owned))).collect();
        let written = |values: &[Option<&str>]| {
            let row: Vec<ScalarValue> = row(values);
            format(&row)
        };
        assert_eq!(written(&[Some("%s.%I%%"), Some("a"), Some("B c")]).unwrap(), "a.\"B c\"%");
        assert_eq!(written(&[Some("%L, %L"), Some("it's"), None]).unwrap(), "'it''s', NULL");
        for wrong in [&[Some("%s")][..], &[Some("%x"), Some("a")], &[Some("%I"), None], &[Some("%"), Some("a")]] {
            assert!(written(wrong).is_err(), "{wrong:?}");
        }
        let long = "x".repeat(FORMATTED_MAX);
        assert!(written(&[Some("%s%s"), Some(&long), Some(&long)]).is_err());
    }
}
