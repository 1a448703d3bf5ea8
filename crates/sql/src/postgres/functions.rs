//! Functions of `pg_catalog` that clients call before their first query.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use datafusion::prelude::SessionContext;
use datafusion::scalar::ScalarValue;

use super::relations::Relations;
use super::types::{named, written};
use super::{Login, SERVER_VERSION};
use crate::literals::quoted;

enum Output {
    Always(ScalarValue),
    /// Depends on a number, such as a table's.
    OfNumber(Box<dyn Fn(i64) -> ScalarValue + Send + Sync>),
    /// Depends on a text, such as a name.
    OfText(Box<dyn Fn(&str) -> ScalarValue + Send + Sync>),
}

struct CatalogFunction {
    name: &'static str,
    signature: Signature,
    returns: DataType,
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
        Ok(self.returns.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let first = |to: &DataType| -> Result<_> {
            let values = match args.args.first() {
                Some(values) => values.to_array(args.number_rows)?,
                None => ScalarValue::try_from(to)?.to_array_of_size(args.number_rows)?,
            };
            Ok(cast(&values, to)?)
        };
        let null = ScalarValue::try_from(&self.returns)?;
        let outputs: Vec<ScalarValue> = match &self.output {
            Output::Always(value) => return Ok(ColumnarValue::Scalar(value.clone())),
            Output::OfNumber(output_of) => {
                let numbers = first(&DataType::Int64)?;
                numbers.as_primitive::<Int64Type>().iter().map(|n| n.map_or_else(|| null.clone(), output_of)).collect()
            }
            Output::OfText(output_of) => {
                let texts = first(&DataType::Utf8)?;
                texts.as_string::<i32>().iter().map(|t| t.map_or_else(|| null.clone(), output_of)).collect()
            }
        };
        if outputs.is_empty() {
            return Ok(ColumnarValue::Array(arrow::array::new_empty_array(&self.returns)));
        }
        Ok(ColumnarValue::Array(ScalarValue::iter_to_array(outputs)?))
    }
}

fn text(value: impl Into<String>) -> ScalarValue {
    ScalarValue::Utf8(Some(value.into()))
}

pub(super) fn register(context: &SessionContext, relations: &Arc<Relations>, login: &Login) {
    let add = |name: &'static str, returns: DataType, output: Output| {
        let signature = Signature::one_of(vec![TypeSignature::Nullary, TypeSignature::VariadicAny], Volatility::Stable);
        context.register_udf(ScalarUDF::new_from_impl(CatalogFunction { name, signature, returns, output }));
    };
    let always = |name: &'static str, value: ScalarValue| add(name, value.data_type(), Output::Always(value));
    let version = format!("PostgreSQL {SERVER_VERSION} (manyworlds {})", env!("CARGO_PKG_VERSION"));
    always("version", text(version));
    always("current_database", text(&login.database));
    always("current_catalog", text(&login.database));
    always("current_schema", text(&login.database));
    always("pg_backend_pid", ScalarValue::Int64(Some(0)));
    always("pg_is_in_recovery", ScalarValue::Boolean(Some(false)));
    always("pg_encoding_to_char", text("UTF8"));
    for name in ["current_user", "session_user", "user", "current_role", "pg_get_userbyid"] {
        always(name, text(&login.user));
    }
    for name in ["has_table_privilege", "has_schema_privilege", "has_database_privilege", "has_any_column_privilege"] {
        always(name, ScalarValue::Boolean(Some(true)));
    }
    for name in ["pg_type_is_visible", "pg_function_is_visible"] {
        always(name, ScalarValue::Boolean(Some(true)));
    }
    // No table here has these properties.
    for name in [
        "obj_description",
        "col_description",
        "shobj_description",
        "pg_get_expr",
        "pg_get_constraintdef",
        "pg_get_indexdef",
        "pg_get_viewdef",
        "pg_get_partkeydef",
        "pg_size_pretty",
        "inet_server_addr",
        "current_setting",
    ] {
        always(name, ScalarValue::Utf8(None));
    }
    for name in ["pg_relation_size", "pg_total_relation_size", "pg_table_size", "pg_database_size"] {
        always(name, ScalarValue::Int64(None));
    }
    let tables = relations.clone();
    let is_visible = move |oid| ScalarValue::Boolean(Some(tables.is_visible(oid)));
    add("pg_table_is_visible", DataType::Boolean, Output::OfNumber(Box::new(is_visible)));
    add("format_type", DataType::Utf8, Output::OfNumber(Box::new(|oid| text(written(oid)))));
    add("to_regtype", DataType::Int64, Output::OfText(Box::new(|name| ScalarValue::Int64(named(name)))));
    let tables = relations.clone();
    let number = move |name: &str| ScalarValue::Int64(tables.number(name));
    add("to_regclass", DataType::Int64, Output::OfText(Box::new(number)));
    let quote = |name: &str| {
        let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        text(if plain { name.to_owned() } else { quoted(name) })
    };
    add("quote_ident", DataType::Utf8, Output::OfText(Box::new(quote)));
}
