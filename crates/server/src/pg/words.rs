//! Words of the statements that are not questions, such as `COPY` and `FETCH`.

use super::error::PgError;

/// A word, a text or a sign of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    /// A name, a keyword or a number without quotes, in lower case.
    Plain(String),
    /// A name in double quotes.
    Quoted(String),
    /// A text in single quotes.
    Text(String),
    Sign(char),
}

/// Reads a statement word by word, without comments.
#[derive(Debug, Clone)]
pub(super) struct Words<'a> {
    rest: &'a str,
}

pub(super) fn syntax(message: impl Into<String>) -> PgError {
    PgError::new("42601", message)
}

impl<'a> Words<'a> {
    pub(super) fn of(sql: &'a str) -> Self {
        Self { rest: sql }
    }

    /// The text that is not read yet.
    pub(super) fn rest(&self) -> &'a str {
        self.rest.trim()
    }

    pub(super) fn next(&mut self) -> Result<Option<Word>, PgError> {
        let text = sql::without_comments(self.rest);
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
        let Some(first) = text.chars().next() else {
            self.rest = "";
            return Ok(None);
        };
        let (word, rest) = match first {
            '"' => {
                let (name, rest) = quoted(&text[1..], '"')?;
                (Word::Quoted(name), rest)
            }
            '\'' => {
                let (text, rest) = quoted(&text[1..], '\'')?;
                (Word::Text(text), rest)
            }
            'e' | 'E' if text[1..].starts_with('\'') => {
                let (text, rest) = quoted(&text[2..], '\'')?;
                (Word::Text(unescaped(&text)), rest)
            }
            first if is_part(first) => {
                let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
                (Word::Plain(text[..end].to_lowercase()), &text[end..])
            }
            sign => (Word::Sign(sign), &text[sign.len_utf8()..]),
        };
        self.rest = rest;
        Ok(Some(word))
    }

    /// Reads a keyword or a sign if it is next.
    pub(super) fn take(&mut self, wanted: &str) -> Result<bool, PgError> {
        let mut ahead = self.clone();
        let found = match ahead.next()? {
            Some(Word::Plain(word)) => word == wanted,
            Some(Word::Sign(sign)) => wanted.chars().eq([sign]),
            _ => false,
        };
        if found {
            *self = ahead;
        }
        Ok(found)
    }

    pub(super) fn expect(&mut self, wanted: &str) -> Result<(), PgError> {
        if self.take(wanted)? {
            Ok(())
        } else {
            Err(syntax(format!("expected {} before {:?}", wanted.to_uppercase(), self.short())))
        }
    }

    pub(super) fn name(&mut self) -> Result<String, PgError> {
        match self.next()? {
            Some(Word::Plain(name)) => Ok(name),
            Some(Word::Quoted(name)) if !name.is_empty() => Ok(name),
            _ => Err(syntax(format!("expected a name before {:?}", self.short()))),
        }
    }

    pub(super) fn end(&mut self) -> Result<(), PgError> {
        match self.next()? {
            None => Ok(()),
            Some(_) => Err(syntax(format!("unexpected text at the end of the statement, before {:?}", self.short()))),
        }
    }

    /// The start of the unread text, for messages.
    pub(super) fn short(&self) -> &'a str {
        let rest = self.rest();
        &rest[..rest.floor_char_boundary(40)]
    }
}

/// Reads up to the closing quote. A doubled quote stands for one.
fn quoted(text: &str, quote: char) -> Result<(String, &str), PgError> {
    let (mut read, mut characters) = (String::new(), text.char_indices().peekable());
    while let Some((at, character)) = characters.next() {
        if character != quote {
            read.push(character);
        } else if characters.next_if(|(_, next)| *next == quote).is_some() {
            read.push(quote);
        } else {
            return Ok((read, &text[at + 1..]));
        }
    }
    Err(syntax(format!("a quote {quote} is not closed")))
}

/// Replaces the escapes of `E'...'` that stand for a single character.
fn unescaped(text: &str) -> String {
    let (mut read, mut characters) = (String::new(), text.chars());
    while let Some(character) = characters.next() {
        read.push(match character {
            '\\' => match characters.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('b') => '\u{8}',
                other => other.unwrap_or('\\'),
            },
            other => other,
        });
    }
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_read_word_by_word() {
        let mut words = Words::of(" FETCH /* x */ 10.\"A \"\"b\" 'it''s'E'\\t'-- end\n(ü)");
        let mut found = Vec::new();
        while let Some(word) = words.next().unwrap() {
            found.push(word);
        }
        let (plain, text) = (|word: &str| Word::Plain(word.to_owned()), |word: &str| Word::Text(word.to_owned()));
        assert_eq!(
            found,
            [
                plain("fetch"),
                plain("10"),
                Word::Sign('.'),
                Word::Quoted("A \"b".to_owned()),
                text("it's"),
                text("\t"),
                Word::Sign('('),
                plain("ü"),
                Word::Sign(')'),
            ]
        );
        for open in ["'a", "\"a", "E'a"] {
            assert_eq!(Words::of(open).next().unwrap_err().code, "42601", "{open}");
        }
    }
}
