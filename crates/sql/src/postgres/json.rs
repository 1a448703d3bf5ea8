//! Functions that write and read JSON. A JSON value is a text whose field says so.

use std::collections::BTreeMap;

use arrow::array::Array;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::error::Result;
use datafusion::prelude::SessionContext;
use datafusion::scalar::ScalarValue;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::functions::{Adder, PART_OF_JSON, invalid, text, text_at};
use super::types::{is_json, json_field, oid_of_field, written};

/// Parse a text, which becomes JSON, as casts do.
pub(super) const CASTS: [&str; 2] = ["json", "jsonb"];
/// A row, as names and values in turn.
pub(super) const ROW: &str = "json_of_row";
/// The part of a JSON value at a path of keys, as text.
pub(super) const TEXT_OF_PART: &str = "json_extract_path_text";

pub(super) fn register(context: &SessionContext) {
    let add = Adder(context);
    let json = |name: &'static str, output: fn(&[ScalarValue], &[FieldRef]) -> Result<ScalarValue>| {
        add.typed(name, json_field(name), output);
    };
    add.typed("pg_typeof", Field::new("pg_typeof", DataType::Utf8, true), |_, fields| {
        Ok(ScalarValue::Utf8(fields.first().map(|field| written(oid_of_field(field).into()))))
    });
    for name in ["to_json", "to_jsonb", "row_to_json"] {
        json(name, |row, fields| match (row, fields) {
            ([value, ..], [field, ..]) if !value.is_null() => Ok(text(value_of(value, field)?)),
            _ => Ok(ScalarValue::Utf8(None)),
        });
    }
    json(ROW, |row, fields| Ok(text(object(row, fields, [":", ","])?)));
    json("json_build_object", |row, fields| Ok(text(object(row, fields, [" : ", ", "])?)));
    json("jsonb_build_object", |row, fields| Ok(text(object(row, fields, [": ", ", "])?)));
    for name in ["json_build_array", "jsonb_build_array"] {
        json(name, |row, fields| {
            let items = row.iter().zip(fields).map(|(value, field)| value_of(value, field));
            Ok(text(format!("[{}]", items.collect::<Result<Vec<_>>>()?.join(", "))))
        });
    }
    for name in CASTS {
        json(name, |row, _| {
            let json = text_at(row, 0);
            if let Some(json) = &json {
                serde_json::from_str::<IgnoredAny>(json).map_err(|error| wrong(&error))?;
            }
            Ok(ScalarValue::Utf8(json))
        });
    }
    for name in [PART_OF_JSON, "jsonb_extract_path"] {
        json(name, |row, fields| Ok(ScalarValue::Utf8(part(row, fields)?.map(|part| part.get().to_owned()))));
    }
    for name in [TEXT_OF_PART, "jsonb_extract_path_text"] {
        add.typed(name, Field::new(name, DataType::Utf8, true), |row, fields| {
            let part = part(row, fields)?.filter(|part| part.get() != "null");
            let text = part.map(|part| serde_json::from_str(part.get()).unwrap_or_else(|_| part.get().to_owned()));
            Ok(ScalarValue::Utf8(text))
        });
    }
}

fn wrong(error: &serde_json::Error) -> datafusion::error::DataFusionError {
    invalid(format!("cannot parse JSON: {error}"))
}

/// A JSON object of names and values in turn.
fn object(row: &[ScalarValue], fields: &[FieldRef], [colon, comma]: [&str; 2]) -> Result<String> {
    let mut members = Vec::new();
    for (pair, fields) in row.chunks(2).zip(fields.chunks(2)) {
        let ([name, value], [_, field]) = (pair, fields) else {
            return Err(invalid("a JSON object needs a value for each name".to_owned()));
        };
        let name = text_at(std::slice::from_ref(name), 0)
            .ok_or_else(|| invalid("the name of a JSON object's value cannot be NULL".to_owned()))?;
        members.push(format!("{}{colon}{}", quoted(&name), value_of(value, field)?));
    }
    Ok(format!("{{{}}}", members.join(comma)))
}

/// A value as JSON.
fn value_of(value: &ScalarValue, field: &Field) -> Result<String> {
    let is_plain = match value {
        value if value.is_null() => return Ok("null".to_owned()),
        ScalarValue::Struct(row) => {
            let members = row.fields().iter().zip(row.columns()).map(|(field, column)| {
                Ok(format!("{}:{}", quoted(field.name()), value_of(&ScalarValue::try_from_array(column, 0)?, field)?))
            });
            return Ok(format!("{{{}}}", members.collect::<Result<Vec<_>>>()?.join(",")));
        }
        ScalarValue::List(list) => {
            let (item, items) = (Field::new("", list.value_type(), true), list.value(0));
            let items = (0..items.len()).map(|place| value_of(&ScalarValue::try_from_array(&items, place)?, &item));
            return Ok(format!("[{}]", items.collect::<Result<Vec<_>>>()?.join(",")));
        }
        ScalarValue::Boolean(_) => true,
        _ => is_json(field),
    };
    let text = text_at(std::slice::from_ref(value), 0);
    let text = text.ok_or_else(|| invalid(format!("cannot write a value of type {} as JSON", value.data_type())))?;
    // Values such as NaN are no numbers in JSON.
    let is_number = value.data_type().is_numeric() && text.ends_with(|c: char| c.is_ascii_digit());
    Ok(if is_plain || is_number { text } else { quoted(&text) })
}

/// A text in JSON's quotes.
fn quoted(value: &str) -> String {
    serde_json::Value::from(value).to_string()
}

/// The part of the first argument at the path of the others: names of members, places in arrays, or lists of these.
fn part(row: &[ScalarValue], fields: &[FieldRef]) -> Result<Option<Box<RawValue>>> {
    let ([json, keys @ ..], [field, ..]) = (row, fields) else { return Ok(None) };
    if json.is_null() {
        return Ok(None);
    }
    let json = match json.try_as_str().flatten() {
        Some(text) => text.to_owned(),
        None => value_of(json, field)?,
    };
    let mut part: Box<RawValue> = serde_json::from_str(&json).map_err(|error| wrong(&error))?;
    let keys = keys.iter().map(|key| match key {
        ScalarValue::List(list) => {
            let keys = list.value(0);
            (0..keys.len()).map(|place| ScalarValue::try_from_array(&keys, place)).collect()
        }
        key => Ok(vec![key.clone()]),
    });
    for key in keys.collect::<Result<Vec<_>>>()?.concat() {
        let Some(key) = text_at(&[key], 0) else { return Ok(None) };
        match member(&part, &key).map_err(|error| wrong(&error))? {
            Some(found) => part = found,
            None => return Ok(None),
        }
    }
    Ok(Some(part))
}

/// The member of an object or an array; places in arrays count from 0, or from -1 at the end.
fn member(json: &RawValue, key: &str) -> serde_json::Result<Option<Box<RawValue>>> {
    let json = json.get();
    if json.starts_with('{') {
        return Ok(serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(json)?.remove(key));
    }
    let (true, Ok(place)) = (json.starts_with('['), key.parse::<isize>()) else { return Ok(None) };
    let mut items: Vec<Box<RawValue>> = serde_json::from_str(json)?;
    let place = if place < 0 { items.len().checked_add_signed(place) } else { usize::try_from(place).ok() };
    Ok(place.filter(|place| *place < items.len()).map(|place| items.swap_remove(place)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn fields(row: &[ScalarValue]) -> Vec<FieldRef> {
        row.iter().map(|value| Arc::new(Field::new("", value.data_type(), true))).collect()
    }

    #[test]
    fn objects_are_json() {
        let object = |row: &[ScalarValue], colon| object(row, &fields(row), [colon, ", "]);
        let row = [text("a\"\n"), ScalarValue::Int64(Some(1)), text("b"), ScalarValue::Float64(Some(f64::NAN))];
        assert_eq!(object(&row, ": ").unwrap(), r#"{"a\"\n": 1, "b": "NaN"}"#);
        let row =
            [text("a"), ScalarValue::Boolean(Some(true)), text("b"), ScalarValue::Utf8(None), text("c"), text("1")];
        assert_eq!(object(&row, " : ").unwrap(), r#"{"a" : true, "b" : null, "c" : "1"}"#);
        assert_eq!(object(&[], ": ").unwrap(), "{}");
        for wrong in [&row[..1], &[ScalarValue::Utf8(None), text("a")]] {
            assert!(object(wrong, ": ").is_err());
        }
    }

    #[test]
    fn json_stays_json() {
        let row = [text("a"), text("[1, 2]")];
        let mut fields = fields(&row);
        assert_eq!(object(&row, &fields, [": ", ", "]).unwrap(), r#"{"a": "[1, 2]"}"#);
        fields[1] = Arc::new(json_field(""));
        assert_eq!(object(&row, &fields, [": ", ", "]).unwrap(), r#"{"a": [1, 2]}"#);
    }

    #[test]
    fn parts_are_found_by_their_path() {
        let json = r#"{"a": {"b": [1.0, "x\"y", null, 12345678901234567890123]}, "a b": true}"#;
        for (path, expected) in [
            (&["a", "b", "0"][..], Some("1.0")),
            (&["a", "b", "1"], Some(r#""x\"y""#)),
            (&["a", "b", "-1"], Some("12345678901234567890123")),
            (&["a", "b", "2"], Some("null")),
            (&["a b"], Some("true")),
            (&["a", "b", "4"], None),
            (&["a", "b", "-5"], None),
            (&["a", "b", "c"], None),
            (&["a b", "c"], None),
            (&["c"], None),
        ] {
            let row: Vec<_> = [json].iter().chain(path).map(|key| text(*key)).collect();
            let found = part(&row, &fields(&row)).unwrap();
            assert_eq!(found.as_ref().map(|part| part.get()), expected, "{path:?}");
        }
        let row = [text("{"), text("a")];
        assert!(part(&row, &fields(&row)).unwrap_err().to_string().contains("cannot parse JSON"));
    }
}
