//! Schemas of bodies, and content types. Programs generate their types from these.

use serde_json::{Value, json};

pub(super) const JSON: &str = "application/json";
pub(super) const ARROW: &str = "application/vnd.apache.arrow.stream";

pub(super) const CSV: &str = "text/csv";
pub(super) const PARQUET: &str = "application/vnd.apache.parquet";

pub(super) fn text() -> Value {
    json!({"type": "string"})
}

pub(super) fn integer() -> Value {
    json!({"type": "integer"})
}

pub(super) fn number() -> Value {
    json!({"type": "number"})
}

pub(super) fn boolean() -> Value {
    json!({"type": "boolean"})
}

pub(super) fn list(of: &Value) -> Value {
    json!({"type": "array", "items": of})
}

/// An object with any names, all with values of one schema.
pub(super) fn map(of: &Value) -> Value {
    json!({"type": "object", "additionalProperties": of})
}

pub(super) fn object(required: &[&str], properties: &Value) -> Value {
    json!({"type": "object", "required": required, "properties": properties})
}

/// An object that always has all properties.
pub(super) fn record(properties: &Value) -> Value {
    let names: Vec<&String> = properties.as_object().into_iter().flat_map(|all| all.keys()).collect();
    json!({"type": "object", "required": names, "properties": properties})
}

pub(super) fn nullable(of: &Value) -> Value {
    json!({"anyOf": [of, {"type": "null"}]})
}

pub(super) fn word(of: &[&str]) -> Value {
    json!({"type": "string", "enum": of})
}

/// A schema with a name in the document.
pub(super) fn named(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}
