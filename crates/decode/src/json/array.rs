//! Values: scalars, arrays and numbers of any size.

use super::{Parser, Quoted, Scalar, to_text};
use crate::column::Value;
use crate::limits::Limits;
use crate::refusal::Taken;
use crate::table::Table;

impl Parser<'_> {
    /// Reads the value of a column.
    #[inline]
    pub(super) fn value(&mut self, name: Quoted<'_>, column: usize, table: &mut Table, limits: &Limits) -> Taken<bool> {
        let start = self.at;
        if self.peek() == Some(b'[') {
            let is_set = self.array()?;
            let raw = &self.body[start..self.at];
            let value = if is_set { Value::Set(&self.members) } else { Value::Text(raw) };
            table.add_written(column, value, || raw.to_vec(), limits)?;
            return Ok(false);
        }
        match self.scalar(name)? {
            Scalar::Text(quoted) => {
                let text = to_text(quoted, &mut self.scratch)?;
                table.add_value(column, Value::Text(text), limits)?;
            }
            Scalar::Value(value) => {
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
            } else if let Scalar::Text(quoted) = self.scalar(Quoted { raw: b"", escaped: false })? {
                to_text(quoted, &mut self.scratch)?;
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

    fn pass_name(&mut self) -> Taken<()> {
        self.skip_spaces();
        let name = self.quoted("a name")?;
        to_text(name, &mut self.scratch)?;
        self.expect(b':')
    }
}
