//! Why an item is refused, and the reports of refused items.

use super::decoded::Refused;
use super::limits::Limits;
use super::value::Value;

/// Why an item is refused.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) field: Option<String>,
    pub(crate) reason: String,
}

impl Refusal {
    /// Names the field that the refusal is about.
    pub(crate) fn of_field(&mut self, field: &[u8]) {
        self.field = Some(String::from_utf8_lossy(field).into_owned());
    }
}

/// Boxed to keep results small: refusals are rare.
pub(crate) type Taken<T> = Result<T, Box<Refusal>>;

/// Refuses a whole item.
#[cold]
pub(crate) fn refuse<T>(reason: impl Into<String>) -> Taken<T> {
    Err(Box::new(Refusal { field: None, reason: reason.into() }))
}

/// Refuses an item because of a field.
#[cold]
pub(crate) fn refuse_field<T>(field: &[u8], reason: impl Into<String>) -> Taken<T> {
    Err(Box::new(Refusal { field: Some(String::from_utf8_lossy(field).into_owned()), reason: reason.into() }))
}

impl Limits {
    /// Refuses an item that exceeds the body's limit on values.
    #[cold]
    pub(crate) fn too_many_cells<T>(&self) -> Taken<T> {
        let max = self.cells_max;
        refuse(format!("the body holds more than {max} values, rows times columns: send fewer rows at once"))
    }

    /// Checks how many values of an item have another type than those before. Each takes as much memory as eight others.
    #[inline]
    pub(crate) fn check_misfits(&self, misfits: usize) -> Taken<()> {
        if misfits.saturating_mul(8) <= self.cells_max {
            return Ok(());
        }
        refuse(format!("{misfits} values have another type than those before: send fewer rows at once"))
    }
}

#[inline]
pub(crate) fn check_text(name: &[u8], value: Value<'_>, limits: &Limits) -> Taken<()> {
    match value {
        Value::Text(text) if text.len() > limits.text_bytes_max => refuse_field(
            name,
            format!("the text has {} bytes, where {} are allowed", text.len(), limits.text_bytes_max),
        ),
        Value::Set(members) if members.len() > limits.text_bytes_max => refuse_field(
            name,
            format!("the set has {} bytes, where {} are allowed", members.len(), limits.text_bytes_max),
        ),
        _ => Ok(()),
    }
}

/// Refused items of a body: reported up to [`Limits::refused_max`], and then only counted.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    pub(crate) refused: Vec<Refused>,
    pub(crate) beyond: usize,
}

impl Refusals {
    pub(crate) fn push(&mut self, position: usize, table: Option<&[u8]>, refusal: Refusal, limits: &Limits) {
        if self.refused.len() == limits.refused_max {
            self.beyond += 1;
            return;
        }
        let table = table.map(|name| excerpt(name, limits.table_bytes_max, b""));
        self.refused.push(Refused { position, table, field: refusal.field, reason: refusal.reason });
    }
}

/// The start of a text for reports: at most `bytes_max` bytes, before the first of `ends`.
pub(crate) fn excerpt(raw: &[u8], bytes_max: usize, ends: &[u8]) -> String {
    let raw = &raw[..raw.len().min(bytes_max)];
    let end = raw.iter().position(|byte| ends.contains(byte)).unwrap_or(raw.len());
    String::from_utf8_lossy(&raw[..end]).into_owned()
}

/// A value for reports, truncated if long.
pub(crate) fn shown(raw: &[u8]) -> String {
    excerpt(raw, 64, b"")
}
