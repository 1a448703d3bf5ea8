//! Reads a definition that a user wrote in TOML or JSON. Mistakes have places, and words for users.

use serde::de::DeserializeOwned;
use serde_json::error::Category;

use crate::definition::{DefinitionError, Fault};
use crate::names::UnknownName;

/// Reads TOML, or JSON if the text starts with `{`. `what` names the whole in messages: `the league`.
///
/// # Errors
/// If the text is neither, lacks a field, or has an unknown field or a value of another type: with line and column.
pub fn read_document<T: DeserializeOwned>(text: &str, what: &str) -> Result<T, DefinitionError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let read = if text.trim().is_empty() {
        Err((what.to_owned(), "the text is empty".to_owned()))
    } else if text.trim_start().starts_with('{') {
        of_json(text, what)
    } else {
        of_toml(text, what)
    };
    read.map_err(|(place, reason)| DefinitionError(vec![Fault { place, reason }]))
}

/// A place, and what is wrong there.
type Mistake = (String, String);

fn of_json<T: DeserializeOwned>(text: &str, what: &str) -> Result<T, Mistake> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let (path, error) = match serde_path_to_error::deserialize(&mut reader) {
        Ok(read) => match reader.end() {
            Ok(()) => return Ok(read),
            Err(error) => (String::new(), error),
        },
        Err(error) => (error.path().to_string(), error.into_inner()),
    };
    let said = error.to_string();
    let said = said.rsplit_once(" at line ").map_or(&*said, |(said, _)| said);
    let reason = match error.classify() {
        Category::Data => in_words(&path, what, said, "an object"),
        Category::Io | Category::Syntax | Category::Eof => format!("not valid JSON: {said}"),
    };
    Err((format!("line {}, column {}", error.line(), error.column()), reason))
}

fn of_toml<T: DeserializeOwned>(text: &str, what: &str) -> Result<T, Mistake> {
    let place = |error: &toml::de::Error| {
        let Some(before) = error.span().and_then(|span| text.get(..span.start)) else { return what.to_owned() };
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("line {line}, column {column}")
    };
    let reader = toml::Deserializer::parse(text)
        .map_err(|error| (place(&error), format!("not valid TOML: {}", error.message().replace('\n', " "))))?;
    serde_path_to_error::deserialize(reader).map_err(|error| {
        let reason = in_words(&error.path().to_string(), what, error.inner().message(), "a table");
        (place(error.inner()), reason)
    })
}

/// A message of serde about the value at `path`, in words of the text instead of Rust's.
fn in_words(path: &str, what: &str, said: &str, table: &str) -> String {
    let whole = |path: &str| if matches!(path, "" | ".") { what.to_owned() } else { path.to_owned() };
    // The path of an unknown name includes the name.
    let above = |name: &str| {
        let above = path.strip_suffix(name).map_or(path, |above| above.strip_suffix('.').unwrap_or(above));
        whole(above)
    };
    let wrong = said.strip_prefix("invalid type: ").or_else(|| said.strip_prefix("invalid value: "));
    if let Some((found, expected)) = wrong.and_then(|rest| rest.rsplit_once(", expected ")) {
        return format!("{} must be {}, not {}", whole(path), kind_of(expected, found, table), value_of(found, table));
    }
    let unknown = |start: &str| {
        let (name, names) = said.strip_prefix(start)?.split_once('`')?;
        let names: Vec<&str> = names.split('`').skip(1).step_by(2).collect();
        Some((name, names))
    };
    if let Some((name, names)) = unknown("unknown field `") {
        return UnknownName::new(format!("{} has no field", above(name)), name, names).to_string();
    }
    if let Some((name, names)) = unknown("unknown variant `") {
        return UnknownName::new(format!("{} cannot be", above(name)), name, names).to_string();
    }
    if let Some(name) = said.strip_prefix("missing field ") {
        return format!("{} lacks the field {}", whole(path), name.trim_matches('`'));
    }
    if let Some(name) = said.strip_prefix("duplicate field ") {
        let name = name.trim_matches('`');
        return format!("{} has the field {name} twice", above(name));
    }
    format!("{}: {}", whole(path), said.replace('\n', " "))
}

/// What serde expected, such as `f32`, where it found something else.
fn kind_of(expected: &str, found: &str, table: &str) -> String {
    let integer = found.strip_prefix("integer `").and_then(|rest| rest.split('`').next()?.parse::<i128>().ok());
    let kind = match (expected, integer) {
        ("f32" | "f64", _) => "a number",
        ("u8" | "u16" | "u32" | "u64" | "usize", Some(..0)) => "a whole number of at least 0",
        ("i8" | "i16" | "i32" | "i64", Some(..0)) => "a larger whole number",
        ("u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64", Some(_)) => "a smaller whole number",
        ("u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64", None) => "a whole number",
        ("a string", _) => "a text",
        ("a boolean", _) => "true or false",
        ("a sequence", _) => "a list",
        ("a map", _) => table,
        _ if expected.starts_with("struct ") => table,
        _ => expected,
    };
    kind.to_owned()
}

/// What serde found, such as ``integer `5` ``.
fn value_of(found: &str, table: &str) -> String {
    if let Some(text) = found.strip_prefix("string ") {
        return format!("the text {text}");
    }
    match (found, found.split('`').nth(1)) {
        ("map", _) => table.to_owned(),
        ("sequence", _) => "a list".to_owned(),
        ("unit value", _) => "null".to_owned(),
        (_, Some(value)) if found.ends_with("128") => format!("{value}, which has too many digits"),
        (_, Some(value)) => value.to_owned(),
        (_, None) => found.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Shop {
        items: Vec<Item>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Item {
        name: String,
        price: f32,
        #[serde(default)]
        stock: u32,
        #[serde(default)]
        change: i32,
        #[serde(default)]
        kind: Kind,
        #[serde(default)]
        sold: bool,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        #[default]
        Plain,
        Fancy,
    }

    fn said(text: &str) -> String {
        read_document::<Shop>(text, "the shop").unwrap_err().to_string()
    }

    #[test]
    fn toml_and_json_read_the_same() {
        let toml = read_document::<Shop>("items = [{ name = \"a\", price = 2, kind = \"fancy\" }]\n", "the shop");
        let json =
            read_document::<Shop>(" {\"items\": [{\"name\": \"a\", \"price\": 2, \"kind\": \"fancy\"}]}", "the shop");
        let marked = read_document::<Shop>("\u{feff}{\"items\": []}", "the shop").unwrap();
        assert_eq!((toml.unwrap(), marked.items.len()), (json.unwrap(), 0));
    }

    #[test]
    fn mistakes_have_places_and_plain_words() {
        for (item, at, reason) in [
            ("price = \"much\"", "\"much", "items[0].price must be a number, not the text \"much\""),
            ("price = true", "true", "items[0].price must be a number, not true"),
            (
                "price = 99999999999999999999",
                "9999",
                "items[0].price must be a number, not 99999999999999999999, which has too many digits",
            ),
            ("price = []", "[]", "items[0].price must be a number, not a list"),
            ("price = {}", "{}", "items[0].price must be a number, not a table"),
            ("price = 1, stock = -1", "-1", "items[0].stock must be a whole number of at least 0, not -1"),
            ("price = 1, stock = 1.5", "1.5", "items[0].stock must be a whole number, not 1.5"),
            (
                "price = 1, change = 3000000000",
                "3000",
                "items[0].change must be a smaller whole number, not 3000000000",
            ),
            ("price = 1, sold = 1", "1 }", "items[0].sold must be true or false, not 1"),
            ("price = 1, kind = \"fanci\"", "\"fanci", "items[0].kind cannot be \"fanci\"; did you mean fancy?"),
            ("prize = 1", "prize", "items[0] has no field \"prize\"; did you mean price?"),
            ("stock = 1", "{ name", "items[0] lacks the field price"),
            ("price = 1, price = 2", "price = 2", "not valid TOML: duplicate key"),
        ] {
            let text = format!("items = [{{ name = \"a\", {item} }}]\n");
            let column = text.find(at).unwrap() + 1;
            assert_eq!(said(&text), format!("line 1, column {column}: {reason}"), "{item}");
        }
        for (text, expected) in [
            ("", "the shop: the text is empty"),
            (" \n", "the shop: the text is empty"),
            ("# items\n", "line 1, column 1: the shop lacks the field items"),
            ("item = []", "line 1, column 1: the shop has no field \"item\"; did you mean items?"),
            ("items = 5", "line 1, column 9: items must be a list, not 5"),
            ("items = [5]", "line 1, column 10: items[0] must be a table, not 5"),
            ("hello world", "line 1, column 7: not valid TOML: key with no value, expected `=`"),
            ("{", "line 1, column 1: not valid JSON: EOF while parsing an object"),
            ("{}", "line 1, column 2: the shop lacks the field items"),
            ("{\"items\": []} x", "line 1, column 15: not valid JSON: trailing characters"),
            ("{\"items\": [5]}", "line 1, column 12: items[0] must be an object, not 5"),
            ("{\"items\": {}}", "line 1, column 10: items must be a list, not an object"),
            ("{\"items\": null}", "line 1, column 14: items must be a list, not null"),
            ("{\"items\": [], \"items\": []}", "line 1, column 21: the shop has the field items twice"),
            (
                "{\"items\": [{\"name\": \"at line 3\", \"price\": \"at line 9\"}]}",
                "line 1, column 53: items[0].price must be a number, not the text \"at line 9\"",
            ),
        ] {
            assert_eq!(said(text), expected, "{text}");
        }
    }
}
