//! NDJSON: one object per line.
//!
//! A nested object is flattened: `{"a": {"b": 1}}` is the field `a_b`. An array of scalars is a set, any other array a
//! text. A number with a point or an exponent is a float, any other an integer. `time` is a number, an RFC 3339 text,
//! or null. A line that repeats a name is refused. Blank lines are skipped.

mod array;
mod path;
pub(super) mod rows;

use super::limits::Limits;
use super::lines::{check_utf8, utf8_len};
use super::number::Digits;
use super::path::Path;
use super::refusal::{Taken, excerpt, refuse, refuse_field};
use super::set::Members;
use super::table::Table;
use super::value::Value;

struct Parser<'a> {
    body: &'a [u8],
    at: usize,
    /// Bytes of the body known to be UTF-8.
    checked: usize,
    /// The enclosing objects.
    path: Path,
    /// A text without its escapes.
    scratch: Vec<u8>,
    members: Members,
    /// Whether the row has named any field.
    named: bool,
}

/// A text as found between two quotes.
#[derive(Clone, Copy)]
struct Quoted<'a> {
    raw: &'a [u8],
    escaped: bool,
}

impl<'a> Parser<'a> {
    fn new(body: &'a [u8]) -> Self {
        Self {
            body,
            at: 0,
            checked: utf8_len(body),
            path: Path::default(),
            scratch: Vec::new(),
            members: Members::default(),
            named: false,
        }
    }

    /// Skips blank lines and indentation.
    #[inline]
    fn pass_blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.body.get(self.at).copied()
    }

    #[inline]
    fn skip_spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    /// Skips an expected byte.
    #[inline]
    fn expect(&mut self, byte: u8) -> Taken<()> {
        self.skip_spaces();
        if self.peek() != Some(byte) {
            return self.unexpected(&format!("`{}`", char::from(byte)));
        }
        self.at += 1;
        Ok(())
    }

    #[cold]
    fn unexpected<T>(&self, due: &str) -> Taken<T> {
        match self.peek() {
            None | Some(b'\n') => refuse(format!("the line ends where {due} is expected")),
            Some(_) => refuse(format!("expected {due}, found {:?}", excerpt(&self.body[self.at..], 16, b"\n"))),
        }
    }

    /// Reads the object that begins here.
    fn row(&mut self, table: &mut Table, limits: &Limits) -> Taken<()> {
        self.path.clear();
        self.named = false;
        if self.peek() == Some(b'[') {
            return refuse("it is an array: send one object a line");
        }
        self.expect(b'{')?;
        self.object(table, limits)
    }

    /// Skips the end of the line that began at `start`.
    fn end_line(&mut self, start: usize) -> Taken<()> {
        self.skip_spaces();
        match self.peek() {
            None => {}
            Some(b'\n') => self.at += 1,
            Some(_) => return self.unexpected("the end of the line"),
        }
        check_utf8(self.body, start..self.at, self.checked)
    }

    /// Reads the members of an object after its `{`, and of nested objects.
    fn object(&mut self, table: &mut Table, limits: &Limits) -> Taken<()> {
        let mut opened = true;
        loop {
            self.skip_spaces();
            let mut empty = opened && self.peek() == Some(b'}');
            if !empty {
                opened = self.member(table, limits)?;
                if opened {
                    continue;
                }
            }
            opened = false;
            // A comma brings the next member; a brace ends the object, which is a member of the enclosing one.
            loop {
                self.skip_spaces();
                if self.peek() == Some(b',') && !empty {
                    self.at += 1;
                    break;
                }
                empty = false;
                self.expect(b'}')?;
                if !self.path.leave() {
                    return Ok(());
                }
            }
        }
    }

    /// Reads a name and its value. Returns true after the `{` of an object.
    #[inline]
    fn member(&mut self, table: &mut Table, limits: &Limits) -> Taken<bool> {
        let start = self.at;
        let guessed = self.pass_guess(table);
        let name = if guessed {
            Quoted { raw: &self.body[start + 1..self.at - 1], escaped: false }
        } else {
            self.quoted("a name")?
        };
        self.expect(b':')?;
        self.skip_spaces();
        self.named = true;
        if self.peek() == Some(b'{') {
            return self.enter(name, table, limits);
        }
        let column = if guessed { table.take_guess() } else { self.column(name, table, limits)? };
        self.value(name, column, table, limits)
    }

    /// Skips the likely next name, if it matches.
    #[inline]
    fn pass_guess(&mut self, table: &Table) -> bool {
        let Some(guess) = table.plain_guess().filter(|_| self.path.is_empty()) else { return false };
        let rest = &self.body[self.at..];
        let len = guess.len();
        let right = rest.len() > len + 1 && rest[0] == b'"' && rest[len + 1] == b'"' && rest[1..].starts_with(guess);
        if right {
            self.at += len + 2;
        }
        right
    }

    /// The column of a name, prefixed by the enclosing objects.
    fn column(&mut self, name: Quoted<'_>, table: &mut Table, limits: &Limits) -> Taken<usize> {
        let name = to_text(name, &mut self.scratch)?;
        if self.path.is_empty() { table.column(name, limits) } else { table.nested(&mut self.path, name, limits) }
    }

    /// Enters an object and returns true, unless it is excluded.
    fn enter(&mut self, name: Quoted<'_>, table: &Table, limits: &Limits) -> Taken<bool> {
        let field = self.path.field(to_text(name, &mut self.scratch)?);
        if table.excludes(field) {
            self.pass_value()?;
            return Ok(false);
        }
        if field.len() >= limits.name_bytes_max {
            return refuse_field(
                name.raw,
                format!("names of nested objects have over {} bytes", limits.name_bytes_max),
            );
        }
        self.at += 1;
        self.path.enter();
        // The line's own object is a level, too.
        if self.path.depth() >= limits.depth_max {
            return refuse_field(name.raw, format!("objects are nested over {} levels deep", limits.depth_max));
        }
        Ok(true)
    }

    /// Reads a text from its opening quote to after its closing one.
    #[inline]
    fn quoted(&mut self, due: &str) -> Taken<Quoted<'a>> {
        if self.peek() != Some(b'"') {
            return self.unexpected(due);
        }
        let start = self.at + 1;
        let mut escaped = false;
        self.at = start;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.at += 1;
                    return Ok(Quoted { raw: &self.body[start..self.at - 1], escaped });
                }
                b'\\' => {
                    escaped = true;
                    self.at += 2;
                }
                0..0x20 => break,
                _ => self.at += 1,
            }
        }
        self.at = self.at.min(self.body.len());
        self.unexpected("a closing quote")
    }

    /// Reads true, false or null.
    fn named_value(&mut self, name: Quoted<'_>) -> Taken<Value<'a>> {
        match self.peek() {
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            _ => self.no_value(name, "a value"),
        }
    }

    fn word(&mut self, word: &str, value: Value<'a>) -> Taken<Value<'a>> {
        if !self.body[self.at..].starts_with(word.as_bytes()) {
            return self.unexpected("a value");
        }
        self.at += word.len();
        Ok(value)
    }

    /// Refuses text that is not a JSON value.
    #[cold]
    fn no_value<T>(&self, name: Quoted<'_>, due: &str) -> Taken<T> {
        let rest = &self.body[self.at..];
        match ["NaN", "Infinity", "-Infinity"].into_iter().find(|word| rest.starts_with(word.as_bytes())) {
            Some(word) => refuse_field(name.raw, format!("JSON has no {word}: leave the field out, or write null")),
            None => self.unexpected(due),
        }
    }

    #[inline]
    fn number(&mut self, name: Quoted<'_>) -> Taken<Digits<'a>> {
        let digits = Digits::read(&self.body[self.at..]);
        if !digits.is_json() {
            return self.no_value(name, "a number");
        }
        self.at += digits.len();
        Ok(digits)
    }
}

/// A text without its escapes.
#[inline]
fn to_text<'s>(quoted: Quoted<'s>, scratch: &'s mut Vec<u8>) -> Taken<&'s [u8]> {
    if quoted.escaped { unescape(quoted.raw, scratch) } else { Ok(quoted.raw) }
}

#[inline(never)]
fn unescape<'s>(raw: &[u8], scratch: &'s mut Vec<u8>) -> Taken<&'s [u8]> {
    scratch.clear();
    let mut rest = raw;
    while let Some(place) = memchr::memchr(b'\\', rest) {
        scratch.extend_from_slice(&rest[..place]);
        rest = &rest[place + 1..];
        let Some((&escape, behind)) = rest.split_first() else { break };
        rest = behind;
        scratch.push(match escape {
            b'"' | b'\\' | b'/' => escape,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let Some((letter, behind)) = unicode(rest) else {
                    return refuse("a text has an invalid `\\u` escape");
                };
                rest = behind;
                scratch.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            _ => return refuse("a text has a `\\` that JSON does not know"),
        });
    }
    scratch.extend_from_slice(rest);
    Ok(scratch)
}

/// The character of the digits after a `\u`, or of a surrogate pair, and the rest.
fn unicode(rest: &[u8]) -> Option<(char, &[u8])> {
    let (first, rest) = unit(rest)?;
    if !(0xd800..0xdc00).contains(&first) {
        return Some((char::from_u32(first)?, rest));
    }
    let (second, rest) = unit(rest.strip_prefix(b"\\u")?)?;
    let low = second.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
    Some((char::from_u32(0x10000 + ((first - 0xd800) << 10) + low)?, rest))
}

fn unit(rest: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = rest.split_first_chunk::<4>()?;
    let mut unit = 0;
    for digit in digits {
        unit = unit * 16 + char::from(*digit).to_digit(16)?;
    }
    Some((unit, rest))
}
