//! Rows.

use super::reader::{Reader, Token};
use super::{Parts, Stop, read_time};
use crate::names::TIME;
use crate::refusal::{Taken, refuse_field};
use crate::tables::Tables;
use crate::value::Value;

pub(super) const HOST: &[u8] = b"host";

/// Adds a row to its table.
pub(super) fn take(parts: &Parts<'_>, table: &[u8], tables: &mut Tables<'_>) -> Result<(), Stop> {
    let place = tables.open(table)?;
    let limits = tables.limits;
    let table = tables.table(place);
    let mut buffer = String::new();
    let host = match parts.host {
        Some(token) => Some(tag(token, HOST, &mut buffer)?),
        None => None,
    };
    if let Some(host) = host {
        let column = table.column(HOST, limits)?;
        table.add_value(column, host, limits)?;
    }
    let mut time = parts.time;
    if let Some(mut reader) = parts.fields {
        for _ in 0..keys(&mut reader, "`fields`")? {
            let name = reader.token()?.text("a field's name")?;
            let token = reader.token()?;
            // Some clients send the columnar form's `time` here.
            if name == TIME.as_bytes() && time.is_none() {
                time = read_time(token)?;
                continue;
            }
            let column = table.column(name, limits)?;
            table.add_value(column, field(token, name)?, limits)?;
        }
    }
    if let Some(mut reader) = parts.tags {
        let mut buffer = String::new();
        for _ in 0..keys(&mut reader, "`tags`")? {
            let name = reader.token()?.text("a field's name")?;
            let value = tag(reader.token()?, name, &mut buffer)?;
            if name == HOST && host == Some(value) {
                continue;
            }
            let column = table.column(name, limits)?;
            table.add_value(column, value, limits)?;
        }
    }
    Ok(tables.commit(place, time)?)
}

fn keys(reader: &mut Reader<'_>, what: &str) -> Result<usize, Stop> {
    match reader.token()? {
        Token::Value(Value::Null) => Ok(0),
        token => Ok(token.keys(what)?),
    }
}

#[inline]
pub(super) fn field<'a>(token: Token<'a>, name: &[u8]) -> Taken<Value<'a>> {
    match token {
        Token::Value(value) => checked(value, name),
        other => refuse_field(name, format!("it is {}, but a number, text or boolean is expected", other.word())),
    }
}

/// A value whose text is UTF-8.
#[inline]
pub(super) fn checked<'a>(value: Value<'a>, name: &[u8]) -> Taken<Value<'a>> {
    match value {
        Value::Text(text) if std::str::from_utf8(text).is_err() => refuse_field(name, "the text is not valid UTF-8"),
        value => Ok(value),
    }
}

/// A number as text, with an exponent where it would otherwise have up to 326 digits.
fn float_text(value: f64) -> String {
    let size = value.abs();
    let is_usual = size == 0.0 || (1e-5..1e16).contains(&size);
    if is_usual { value.to_string() } else { format!("{value:?}") }
}

/// A tag's value as text.
pub(super) fn tag<'a>(token: Token<'a>, name: &[u8], buffer: &'a mut String) -> Taken<Value<'a>> {
    *buffer = match field(token, name)? {
        Value::Int(value) => value.to_string(),
        Value::Float(value) => float_text(value),
        Value::Bool(value) => value.to_string(),
        value => return Ok(value),
    };
    Ok(Value::Text(buffer.as_bytes()))
}
