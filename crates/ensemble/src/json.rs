//! Numbers in JSON, which has none for NaN and infinities: they are the texts `NaN`, `Infinity` and `-Infinity`.

use serde::{Serialize as _, Serializer};
use serde_json::{Value, json};

pub(crate) fn number(number: f64) -> Value {
    match number {
        _ if number.is_finite() => json!(number),
        f64::INFINITY => json!("Infinity"),
        f64::NEG_INFINITY => json!("-Infinity"),
        _ => json!("NaN"),
    }
}

/// Serializes a field as [`number`].
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes every field so")]
pub(crate) fn real<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    number(*value).serialize(serializer)
}

/// Serializes a field as one [`number`] each.
pub(crate) fn reals<S: Serializer>(values: &[f64; 2], serializer: S) -> Result<S::Ok, S::Error> {
    values.map(number).serialize(serializer)
}
