//! Values: scalars, arrays and numbers of any size.

use super::{Parser, Quoted, to_text};
use crate::limits::Limits;
use crate::number::Digits;
use crate::refusal::Taken;
use crate::table::Table;
use crate::value::Value;

impl Parser<'_> {
    /// Reads the value of a column.
    #[inline]
    pub(super) fn value(&mut self, name: Quoted<'_>, column: usize, table: &mut Table, limits: &Limits) -> Taken<bool> {
        let start = self.at;
        match self.peek() {
            Some(b'"') => {
                let quoted = self.quoted("a text")?;
                let text = to_text(quoted, &mut self.scratch)?;
                if !table.add_text(column, text, limits) {
                    table.add_value(column, Value::Text(text), limits)?;
                }
            }
            Some(b'-' | b'0'..=b'9') => {
                let digits = self.number(name)?;
                if !add_usual(&digits, column, table) {
                    let raw = &self.body[start..self.at];
                    table.add_written(column, Value::of_number(&digits), || raw.to_vec(), limits)?;
                }
            }
            Some(b'[') => {
                let is_set = self.array()?;
                let raw = &self.body[start..self.at];
                let value = if is_set { Value::Set(&self.members) } else { Value::Text(raw) };
                table.add_written(column, value, || raw.to_vec(), limits)?;
            }
            _ => {
                let value = self.named_value(name)?;
                let raw = &self.body[start..self.at];
                table.add_written(column, value, || raw.to_vec(), limits)?;
            }
        }
        Ok(false)
    }

    /// Skips an array. If it holds only scalars, keeps them as a set of texts and returns true.
    fn array(&mut self) -> Taken<bool> {
        let start = self.at;
        self.members.clear();
        self.at += 1;
        self.skip_spaces();
        if self.peek() == Some(b']') {
            self.at += 1;
            self.members.sort();
            return Ok(true);
        }
        loop {
            self.skip_spaces();
            match self.peek() {
                Some(b'"') => {
                    let quoted = self.quoted("a text")?;
                    self.members.push(to_text(quoted, &mut self.scratch)?);
                }
                Some(b'[' | b'{') => {
                    self.at = start;
                    self.pass_value()?;
                    return Ok(false);
                }
                _ => {
                    let member = self.at;
                    self.pass_value()?;
                    self.members.push(&self.body[member..self.at]);
                }
            }
            self.skip_spaces();
            if self.peek() == Some(b',') {
                self.at += 1;
                continue;
            }
            self.expect(b']')?;
            self.members.sort();
            return Ok(true);
        }
    }

    /// Skips a value with its contents.
    pub(super) fn pass_value(&mut self) -> Taken<()> {
        let mut closers = Vec::new();
        loop {
            self.skip_spaces();
            let closer = match self.peek() {
                Some(b'{') => Some(b'}'),
                Some(b'[') => Some(b']'),
                _ => None,
            };
            if let Some(closer) = closer {
                self.at += 1;
                self.skip_spaces();
                if self.peek() != Some(closer) {
                    closers.push(closer);
                    if closer == b'}' {
                        self.pass_name()?;
                    }
                    continue;
                }
                self.at += 1;
            } else {
                self.pass_scalar()?;
            }
            // A comma brings the next value; the closer ends one of the enclosing containers.
            loop {
                let Some(&closer) = closers.last() else { return Ok(()) };
                self.skip_spaces();
                if self.peek() == Some(b',') {
                    self.at += 1;
                    if closer == b'}' {
                        self.pass_name()?;
                    }
                    break;
                }
                self.expect(closer)?;
                closers.pop();
            }
        }
    }

    fn pass_scalar(&mut self) -> Taken<()> {
        let no_name = Quoted { raw: b"", escaped: false };
        match self.peek() {
            Some(b'"') => {
                let quoted = self.quoted("a text")?;
                to_text(quoted, &mut self.scratch).map(drop)
            }
            Some(b'-' | b'0'..=b'9') => self.number(no_name).map(drop),
            _ => self.named_value(no_name).map(drop),
        }
    }

    fn pass_name(&mut self) -> Taken<()> {
        self.skip_spaces();
        let name = self.quoted("a name")?;
        to_text(name, &mut self.scratch)?;
        self.expect(b':')
    }
}

/// Adds a number of its column's type, as [`Table::add_float`] and [`Table::add_int`] do.
#[inline]
fn add_usual(digits: &Digits<'_>, column: usize, table: &mut Table) -> bool {
    if digits.is_integer() {
        digits.int().is_some_and(|value| table.add_int(column, value))
    } else {
        digits.float().is_some_and(|value| table.add_float(column, value))
    }
}
