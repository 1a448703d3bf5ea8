//! Finds the rows under a path in a document.

use super::{Parser, to_text};
use crate::path::shown;
use crate::refusal::{Taken, refuse};

impl Parser<'_> {
    /// The starts of the rows under a path in the document that begins here. Reads all of the document's line.
    pub(super) fn find_rows(&mut self, path: &[Box<[u8]>]) -> Taken<Vec<usize>> {
        let start = self.at;
        self.pass_value()?;
        self.end_line(start)?;
        let end = self.at;
        self.at = start;
        for (depth, name) in path.iter().enumerate() {
            if !self.pass_to(name)? {
                return refuse(format!("it has nothing at `{}`", shown(&path[..=depth])));
            }
        }
        let mut rows = Vec::new();
        match self.peek() {
            Some(b'{') => rows.push(self.at),
            Some(b'[') => {
                self.at += 1;
                self.skip_spaces();
                while self.peek() != Some(b']') {
                    rows.push(self.at);
                    self.pass_value()?;
                    self.skip_spaces();
                    if self.peek() == Some(b',') {
                        self.at += 1;
                        self.skip_spaces();
                    }
                }
            }
            _ => return refuse(format!("the value at `{}` is not an object", shown(path))),
        }
        self.at = end;
        Ok(rows)
    }

    /// Moves to the value of a name in the object that begins here; returns whether it exists.
    fn pass_to(&mut self, name: &[u8]) -> Taken<bool> {
        if self.peek() != Some(b'{') {
            return Ok(false);
        }
        self.at += 1;
        let mut found = None;
        loop {
            self.skip_spaces();
            match self.peek() {
                Some(b'}') => break,
                Some(b',') => self.at += 1,
                _ => {
                    let quoted = self.quoted("a name")?;
                    let right = to_text(quoted, &mut self.scratch)? == name;
                    self.expect(b':')?;
                    self.skip_spaces();
                    if right && found.replace(self.at).is_some() {
                        return refuse(format!("the name {:?} occurs twice", String::from_utf8_lossy(name)));
                    }
                    self.pass_value()?;
                }
            }
        }
        self.at = found.unwrap_or(self.at);
        Ok(found.is_some())
    }
}
