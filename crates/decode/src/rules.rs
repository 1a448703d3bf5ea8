//! Rules for the fields of a stream's rows.

use std::collections::HashMap;

use super::error::{DecodeError, wrong};
use super::kind::Kind;
use super::names::TIME;
use super::number::{self, Digits};
use super::time::{self, Moment};
use super::value::Value;

/// How to read the rows of a stream. Fields are named like their columns: `a_b` is the field `b` of the object `a`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowRules {
    /// Path of the row in each document: `$.a.b`, or `a.b`. An array there holds a row in each of its objects.
    pub path: Option<String>,
    /// Fields to leave out; objects with all their contents.
    pub exclude: Vec<String>,
    /// Integer fields: whole numbers written as texts or floats become integers.
    pub ints: Vec<String>,
    /// Time fields with their formats: a strftime format, or by default a number (unit by magnitude) or RFC 3339. UTC
    /// without an offset.
    pub timestamps: Vec<(String, Option<String>)>,
    /// The field of the row's time, instead of `time`.
    pub time: Option<String>,
}

/// The rule for a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// No rule: its first value gives it its type.
    Plain,
    Excluded,
    RowTime,
    /// Named like the row's time without being it: its values have no column.
    Homeless,
    Int,
    /// Times, in the format at this index.
    Timestamp(usize),
}

/// The rules prepared for rows. By default no field is the row's time, and texts are texts.
#[derive(Debug, Default, Clone)]
pub(super) struct Rules {
    /// Whether a field may be named `time`.
    pub(super) has_time_field: bool,
    pub(super) path: Vec<Box<[u8]>>,
    roles: HashMap<Box<[u8]>, Role>,
    formats: Vec<Option<time::Format>>,
    time_format: Option<time::Format>,
}

impl Rules {
    pub(super) fn new(rules: &RowRules) -> Result<Self, DecodeError> {
        let mut made = Self { has_time_field: true, ..Self::default() };
        if let Some(path) = &rules.path {
            made.path = read_path(path)?;
        }
        let row_time = rules.time.as_deref().unwrap_or(TIME);
        for name in &rules.ints {
            made.set(name, Role::Int)?;
        }
        for (name, format) in &rules.timestamps {
            let format = format.as_deref().map(|format| read_format(name, format)).transpose()?;
            if name == row_time {
                made.time_format = format;
            } else {
                made.set(name, Role::Timestamp(made.formats.len()))?;
                made.formats.push(format);
            }
        }
        if row_time != TIME {
            made.set(TIME, Role::Homeless)?;
        }
        made.set(row_time, Role::RowTime)?;
        for name in &rules.exclude {
            made.roles.insert(name.as_bytes().into(), Role::Excluded);
        }
        Ok(made)
    }

    fn set(&mut self, name: &str, role: Role) -> Result<(), DecodeError> {
        match self.roles.insert(name.as_bytes().into(), role) {
            Some(before) if before != role => {
                wrong(format!("field {name:?} is named twice, for two purposes: name it once"))
            }
            _ => Ok(()),
        }
    }

    /// Makes `time` an ordinary field.
    pub(super) fn forget_time(&mut self) {
        self.roles.remove(TIME.as_bytes());
    }

    pub(super) fn role(&self, name: &[u8]) -> Role {
        self.roles.get(name).copied().unwrap_or(Role::Plain)
    }

    /// The value to store in a column of a role that holds `kind` so far; `None` if it does not fit. `written` returns
    /// the value as in the input.
    pub(super) fn fit<'v>(
        &self,
        role: Role,
        kind: Kind,
        value: Value<'v>,
        written: impl FnOnce() -> Vec<u8>,
    ) -> Option<Value<'v>> {
        match (role, value) {
            (Role::Excluded, _) | (_, Value::Null) => Some(Value::Null),
            (Role::Plain, Value::Text(text)) if self.has_time_field => match (kind, time::of_rfc3339(text)) {
                (Kind::Nothing | Kind::Time, Some(micros)) => Some(Value::Time(micros)),
                (Kind::Time, None) => None,
                _ => Some(value),
            },
            (Role::Plain, _) | (Role::Int, Value::Int(_)) => Some(value),
            (Role::Int, Value::Float(value)) => number::whole(value).map(Value::Int),
            (Role::Int, Value::Text(text)) => {
                let digits = Digits::read(text);
                let all = digits.is_number() && digits.len() == text.len();
                digits.whole().filter(|_| all).map(Value::Int)
            }
            // A row's time has no column.
            (Role::Int | Role::Homeless | Role::RowTime, _) => None,
            (Role::Timestamp(place), _) => {
                read_time(value, self.formats[place].as_ref(), written)?.whole().map(Value::Time)
            }
        }
    }

    /// The moment of a row's time value; `None` if it is not a time.
    pub(super) fn row_time(&self, value: Value<'_>, written: impl FnOnce() -> Vec<u8>) -> Option<Moment> {
        read_time(value, self.time_format.as_ref(), written)
    }
}

fn read_time(value: Value<'_>, format: Option<&time::Format>, written: impl FnOnce() -> Vec<u8>) -> Option<Moment> {
    match (value, format) {
        (Value::Time(micros), _) => Some(Moment::of_micros(micros)),
        (Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::Huge, Some(format)) => format.read(&written()),
        (Value::Int(value), None) => Some(time::of_int(value)),
        (Value::Float(value), None) => time::of_float(value),
        (Value::Text(text), None) => time::of_text(text).or_else(|| {
            let digits = Digits::read(text);
            let all = digits.is_number() && digits.len() == text.len();
            if digits.is_integer() { digits.int().map(time::of_int) } else { digits.float().and_then(time::of_float) }
                .filter(|_| all)
        }),
        _ => None,
    }
}

fn read_path(path: &str) -> Result<Vec<Box<[u8]>>, DecodeError> {
    let names = path.strip_prefix('$').map_or(path, |rest| rest.strip_prefix('.').unwrap_or(rest));
    if names.is_empty() && path.starts_with('$') {
        return Ok(Vec::new());
    }
    if names.split('.').any(|name| name.is_empty() || name.contains(['[', ']', '*'])) {
        return wrong(format!("{path:?} is not a path: write names with points between them, such as `$.a.b`"));
    }
    Ok(names.split('.').map(|name| name.as_bytes().into()).collect())
}

fn read_format(name: &str, format: &str) -> Result<time::Format, DecodeError> {
    match time::Format::new(format) {
        Some(format) => Ok(format),
        None => wrong(format!(
            "{format:?}, of the field {name:?}, is not a time format: use the words of strftime, such as \
             `%Y-%m-%d %H:%M:%S`"
        )),
    }
}
