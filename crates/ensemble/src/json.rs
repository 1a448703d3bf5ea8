//! Numbers in JSON, which has none for NaN and infinities: a [`Cell`] has texts for them.

use model::Cell;
use serde::{Serialize as _, Serializer};
use serde_json::{Value, json};

/// A number as a [`Cell`].
pub(crate) fn number(number: f64) -> Value {
    json!(Cell::from(number))
}

/// Serializes a field as a [`Cell`].
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes every field so")]
pub(crate) fn real<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    Cell::from(*value).serialize(serializer)
}

/// Serializes a field as one [`Cell`] each.
pub(crate) fn reals<S: Serializer>(values: &[f64; 2], serializer: S) -> Result<S::Ok, S::Error> {
    values.map(Cell::from).serialize(serializer)
}
