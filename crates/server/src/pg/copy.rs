//! `COPY (query) TO STDOUT`: rows as text, as CSV or in binary form.

use arrow::datatypes::Schema;
use bytes::{BufMut as _, BytesMut};
use pgwire::messages::copy::CopyOutResponse;

use super::error::PgError;
use super::values::Lines;
use super::words::{Word, Words, syntax};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Csv,
    Binary,
}

/// A statement that copies rows to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Copy {
    /// The query whose rows are copied.
    pub(super) sql: String,
    form: Form,
    header: bool,
    delimiter: u8,
    null: String,
    quote: u8,
    escape: u8,
    /// Whether all values of a CSV are quoted.
    quotes_all: bool,
}

/// Maximum bytes of the text that every NULL is written as.
const NULL_BYTES_MAX: usize = 1_000;
/// The start and the end of rows in binary form.
const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
const END: &[u8] = &(-1_i16).to_be_bytes();

impl Copy {
    /// Parses a statement; `None` for any other, and for a `COPY` to a file of the server.
    pub(super) fn of(sql: &str) -> Result<Option<Self>, PgError> {
        let mut words = Words::of(sql);
        if !words.take("copy").unwrap_or(false) {
            return Ok(None);
        }
        let sql = source(&mut words)?;
        if words.take("from")? {
            return Err(PgError::new("25006", "cannot run COPY FROM: only queries are allowed"));
        }
        // PostgreSQL takes both words for the client.
        if !(words.take("to")? && (words.take("stdout")? || words.take("stdin")?)) {
            return Ok(None);
        }
        Options::default().read(&mut words)?.copy(sql).map(Some)
    }

    /// The message before the rows.
    pub(super) fn response(&self, columns: usize) -> CopyOutResponse {
        let format = i8::from(self.form == Form::Binary);
        CopyOutResponse::new(format, columns as i16, vec![format.into(); columns])
    }

    /// What comes before the rows; nothing in most formats. In binary form it is part of the first row's message.
    pub(super) fn opening(&self, columns: &Schema) -> BytesMut {
        let mut out = BytesMut::new();
        if self.form == Form::Binary {
            out.put_slice(SIGNATURE);
        } else if self.header {
            for (place, field) in columns.fields().iter().enumerate() {
                self.value(place, Some(field.name().as_bytes()), columns.fields().len() == 1, &mut out);
            }
            out.put_u8(b'\n');
        }
        out
    }

    pub(super) fn is_binary(&self) -> bool {
        self.form == Form::Binary
    }

    pub(super) fn row(&self, lines: &Lines, row: usize, out: &mut BytesMut) {
        if self.form == Form::Binary {
            out.put_u16(lines.columns() as u16);
            return lines.write(row, &super::values::Formats(vec![1]), out);
        }
        let mut text = BytesMut::new();
        for place in 0..lines.columns() {
            text.clear();
            let some = lines.write_text(row, place, &mut text);
            self.value(place, some.then_some(&*text), lines.columns() == 1, out);
        }
        out.put_u8(b'\n');
    }

    /// Writes what comes after the rows.
    pub(super) fn end(&self, out: &mut BytesMut) {
        if self.form == Form::Binary {
            out.put_slice(END);
        }
    }

    fn value(&self, place: usize, value: Option<&[u8]>, alone: bool, out: &mut BytesMut) {
        if place > 0 {
            out.put_u8(self.delimiter);
        }
        match value {
            None => out.put_slice(self.null.as_bytes()),
            Some(value) if self.form == Form::Csv => self.csv(value, alone, out),
            Some(value) => self.text(value, out),
        }
    }

    fn text(&self, value: &[u8], out: &mut BytesMut) {
        for byte in value {
            let escaped = match byte {
                b'\\' => Some(b'\\'),
                b'\n' => Some(b'n'),
                b'\r' => Some(b'r'),
                b'\t' => Some(b't'),
                8 => Some(b'b'),
                11 => Some(b'v'),
                12 => Some(b'f'),
                other if *other == self.delimiter => Some(*other),
                _ => None,
            };
            if escaped.is_some() {
                out.put_u8(b'\\');
            }
            out.put_u8(escaped.unwrap_or(*byte));
        }
    }

    fn csv(&self, value: &[u8], alone: bool, out: &mut BytesMut) {
        let special = |byte: &u8| *byte == self.delimiter || *byte == self.quote || matches!(byte, b'\n' | b'\r');
        // A line with only `\.` ends the rows for some readers.
        let ends = alone && value == b"\\.";
        if !(self.quotes_all || ends || value == self.null.as_bytes() || value.iter().any(special)) {
            return out.put_slice(value);
        }
        out.put_u8(self.quote);
        for byte in value {
            if *byte == self.quote || *byte == self.escape {
                out.put_u8(self.escape);
            }
            out.put_u8(*byte);
        }
        out.put_u8(self.quote);
    }
}

/// The query of `(query)`, or the one that reads a table.
fn source(words: &mut Words<'_>) -> Result<String, PgError> {
    if words.take("(")? {
        let text = words.rest();
        let end = sql::closing(text).ok_or_else(|| syntax("COPY misses a closing bracket"))?;
        let query = text[..end].trim().to_owned();
        *words = Words::of(&text[end + 1..]);
        return Ok(query);
    }
    let mut table = vec![words.name()?];
    while words.take(".")? {
        table.push(words.name()?);
    }
    let mut columns = Vec::new();
    if words.take("(")? {
        loop {
            columns.push(sql::quoted(&words.name()?));
            if !words.take(",")? {
                break;
            }
        }
        words.expect(")")?;
    }
    let table: Vec<_> = table.iter().map(|name| sql::quoted(name)).collect();
    let columns = if columns.is_empty() { "*".to_owned() } else { columns.join(", ") };
    Ok(format!("SELECT {columns} FROM {}", table.join(".")))
}

#[derive(Debug, Default)]
struct Options {
    form: Option<String>,
    header: bool,
    delimiter: Option<String>,
    null: Option<String>,
    quote: Option<String>,
    escape: Option<String>,
    quotes_all: bool,
}

impl Options {
    /// Reads `WITH (FORMAT csv, HEADER)`, and the form of earlier releases, `WITH CSV HEADER`.
    fn read(mut self, words: &mut Words<'_>) -> Result<Self, PgError> {
        words.take("with")?;
        let in_brackets = words.take("(")?;
        loop {
            match words.next()? {
                None if !in_brackets => return Ok(self),
                Some(Word::Plain(name)) => self.option(&name, words)?,
                _ => return Err(syntax(format!("expected an option of COPY before {:?}", words.short()))),
            }
            if in_brackets && words.take(")")? {
                words.end()?;
                return Ok(self);
            }
            if in_brackets {
                words.expect(",")?;
            }
        }
    }

    fn option(&mut self, name: &str, words: &mut Words<'_>) -> Result<(), PgError> {
        match name {
            "format" => self.form = Some(value(words)?),
            "csv" | "binary" | "text" => self.form = Some(name.to_owned()),
            "header" => self.header = switch(words)?,
            "delimiter" | "delimiters" => self.delimiter = Some(value(words)?),
            "null" => self.null = Some(value(words)?),
            "quote" => self.quote = Some(value(words)?),
            "escape" => self.escape = Some(value(words)?),
            "force_quote" => self.quotes_all = all(words)?,
            "force" => {
                words.expect("quote")?;
                self.quotes_all = all(words)?;
            }
            "encoding" => {
                let encoding = value(words)?;
                if !super::commands::is_utf8(&encoding) {
                    return Err(PgError::new("22023", format!("unsupported encoding {encoding:?}: use UTF8")));
                }
            }
            other => return Err(PgError::unsupported(format!("COPY does not support the option {other:?}"))),
        }
        Ok(())
    }

    fn copy(self, sql: String) -> Result<Copy, PgError> {
        let form = match self.form.as_deref() {
            None | Some("text") => Form::Text,
            Some("csv") => Form::Csv,
            Some("binary") => Form::Binary,
            Some(other) => return Err(PgError::new("22023", format!("COPY does not know the format {other:?}"))),
        };
        let byte = |name: &str, value: Option<String>, default: u8| match value.as_deref().map(str::as_bytes) {
            None => Ok(default),
            Some([byte]) if !matches!(byte, b'\n' | b'\r') => Ok(*byte),
            Some(_) => Err(PgError::new("22023", format!("COPY {name} must be one character of one byte"))),
        };
        let delimiter = byte("DELIMITER", self.delimiter, if form == Form::Csv { b',' } else { b'\t' })?;
        let quote = byte("QUOTE", self.quote, b'"')?;
        let escape = byte("ESCAPE", self.escape, quote)?;
        let null = self.null.unwrap_or_else(|| if form == Form::Csv { "" } else { "\\N" }.to_owned());
        if null.len() > NULL_BYTES_MAX {
            return Err(PgError::new("22023", format!("COPY NULL is longer than {NULL_BYTES_MAX} bytes")));
        }
        if null.contains(['\n', '\r']) || null.as_bytes().contains(&delimiter) {
            return Err(PgError::new("22023", "COPY NULL cannot contain line ends or the delimiter"));
        }
        if form == Form::Csv && delimiter == quote {
            return Err(PgError::new("22023", "COPY DELIMITER and QUOTE must differ"));
        }
        Ok(Copy { sql, form, header: self.header, delimiter, null, quote, escape, quotes_all: self.quotes_all })
    }
}

/// The value of an option.
fn value(words: &mut Words<'_>) -> Result<String, PgError> {
    words.take("as")?;
    match words.next()? {
        Some(Word::Plain(value) | Word::Quoted(value) | Word::Text(value)) => Ok(value),
        _ => Err(syntax(format!("an option of COPY misses its value before {:?}", words.short()))),
    }
}

/// A switch that may be left out: `HEADER`, `HEADER true`.
fn switch(words: &mut Words<'_>) -> Result<bool, PgError> {
    for (word, on) in [("true", true), ("on", true), ("1", true), ("false", false), ("off", false), ("0", false)] {
        if words.take(word)? {
            return Ok(on);
        }
    }
    let mut ahead = words.clone();
    if let Some(Word::Text(value)) = ahead.next()? {
        *words = ahead;
        return Ok(matches!(value.to_lowercase().as_str(), "true" | "on" | "1"));
    }
    Ok(true)
}

fn all(words: &mut Words<'_>) -> Result<bool, PgError> {
    if words.take("*")? {
        Ok(true)
    } else {
        Err(PgError::unsupported("COPY can quote all columns only: FORCE_QUOTE *"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(sql: &str) -> Copy {
        Copy::of(sql).unwrap().unwrap()
    }

    #[test]
    fn statements_of_all_forms_are_parsed() {
        let text = copy("COPY (SELECT ')') TO STDOUT");
        assert_eq!(
            (text.sql.as_str(), text.form, text.delimiter, text.null.as_str()),
            ("SELECT ')'", Form::Text, b'\t', "\\N")
        );
        let csv = copy(
            "copy \"default\".cpu (host, \"User\") to stdout with (format 'csv', header true, null 'x', delimiter E'\\t')",
        );
        assert_eq!(csv.sql, "SELECT \"host\", \"User\" FROM \"default\".\"cpu\"");
        assert_eq!((csv.form, csv.header, csv.delimiter, csv.null.as_str()), (Form::Csv, true, b'\t', "x"));
        assert_eq!(copy("COPY cpu TO STDIN"), copy("COPY cpu TO STDOUT"));
        let old = copy("COPY cpu TO STDOUT WITH CSV HEADER DELIMITER AS ';' FORCE QUOTE *");
        assert_eq!((old.form, old.header, old.delimiter, old.quotes_all), (Form::Csv, true, b';', true));
        assert_eq!(copy("COPY (SELECT 1) TO STDOUT (FORMAT binary)").form, Form::Binary);
        for other in ["SELECT 1", "COPY cpu TO '/tmp/x'", "COPY cpu TO PROGRAM 'x'", "COPYING", "'open"] {
            assert_eq!(Copy::of(other).unwrap(), None, "{other}");
        }
        let deep = format!("COPY {} TO STDOUT", "(".repeat(100_000));
        for (wrong, code) in [
            ("COPY (SELECT 1 TO STDOUT", "42601"),
            ("COPY cpu FROM STDIN", "25006"),
            (&deep, "42601"),
            ("COPY cpu TO STDOUT (FORMAT xml)", "22023"),
            ("COPY cpu TO STDOUT (DELIMITER 'ab')", "22023"),
            ("COPY cpu TO STDOUT (FREEZE)", "0A000"),
            ("COPY cpu TO STDOUT (FORMAT csv", "42601"),
            ("COPY cpu TO STDOUT (FORMAT csv) x", "42601"),
        ] {
            assert_eq!(Copy::of(wrong).unwrap_err().code, code, "{}", &wrong[..wrong.len().min(50)]);
        }
    }

    #[test]
    fn values_are_escaped_as_postgresql_does() {
        let written = |copy: &Copy, value: Option<&str>| {
            let mut out = BytesMut::new();
            copy.value(0, value.map(str::as_bytes), true, &mut out);
            String::from_utf8(out.to_vec()).unwrap()
        };
        let (text, csv) = (copy("COPY t TO STDOUT"), copy("COPY t TO STDOUT CSV"));
        for (value, as_text, as_csv) in [
            (None, "\\N", ""),
            (Some(""), "", "\"\""),
            (Some("a\tb\\c\nd"), "a\\tb\\\\c\\nd", "\"a\tb\\c\nd\""),
            (Some("say \"x\", y"), "say \"x\", y", "\"say \"\"x\"\", y\""),
            (Some("\\."), "\\\\.", "\"\\.\""),
        ] {
            assert_eq!((written(&text, value), written(&csv, value)), (as_text.to_owned(), as_csv.to_owned()));
        }
    }
}
