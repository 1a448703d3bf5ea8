//! Splits an expression into tokens.

/// A token and its first byte.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    pub(crate) at: usize,
    pub(crate) what: What,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum What {
    /// A name or a keyword.
    Word(String),
    /// A name in double quotes.
    Quoted(String),
    Int(i64),
    Real(f64),
    Text(String),
    Sign(&'static str),
    End,
}

/// Longest first, so that `<=` is not read as `<`.
const SIGNS: [&str; 20] =
    ["!=", "<>", "<=", ">=", "==", "!~", "&&", "||", "=", "<", ">", "~", "!", "(", ")", ",", "+", "-", "*", "/"];

/// Returns the tokens and a final [`What::End`], or the position and the reason of the first error.
pub(crate) fn lex(text: &str) -> Result<Vec<Token>, (usize, String)> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let (what, length) = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if first == '\'' {
            let (text, length) = quoted(rest, '\'').ok_or((at, "unterminated text: close it with '".to_owned()))?;
            (What::Text(text), length)
        } else if first == '"' {
            let (name, length) = quoted(rest, '"').ok_or((at, "unterminated name: close it with \"".to_owned()))?;
            (What::Quoted(name), length)
        } else if first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
            number(rest).map_err(|reason| (at, reason))?
        } else if first.is_alphabetic() || first == '_' {
            let length = name_length(rest);
            (What::Word(rest[..length].to_owned()), length)
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (What::Sign(sign), sign.len())
        } else {
            return Err((at, format!("unexpected {first:?}: put names with special characters in double quotes")));
        };
        tokens.push(Token { at, what });
        at += length;
    }
    tokens.push(Token { at, what: What::End });
    Ok(tokens)
}

/// Length of a name. An entity's name before a colon may hold hyphens: `game-017:margin`.
fn name_length(text: &str) -> usize {
    let in_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let end_of = |text: &str| text.find(|c| !in_name(c)).unwrap_or(text.len());
    let entity = text.find(|c| !in_name(c) && c != '-').unwrap_or(text.len());
    match text[entity..].strip_prefix(':').map_or(0, end_of) {
        0 => end_of(text),
        outcome => entity + 1 + outcome,
    }
}

/// The text between two quotes, and its length with them. A doubled quote stands for one.
fn quoted(rest: &str, quote: char) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c != quote {
            text.push(c);
        } else if chars.next_if(|(_, next)| *next == quote).is_some() {
            text.push(quote);
        } else {
            return Some((text, at + 1));
        }
    }
    None
}

fn number(rest: &str) -> Result<(What, usize), String> {
    let bytes = rest.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut end = digits(0);
    let whole = end;
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
            end = digits(end + 1 + sign);
        }
    }
    if rest[end..].starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        return Err("letters after a number: put names that start with a digit in double quotes".to_owned());
    }
    let text = &rest[..end];
    if end == whole
        && let Ok(value) = text.parse()
    {
        return Ok((What::Int(value), end));
    }
    text.parse().map(|value| (What::Real(value), end)).map_err(|_| format!("{text} is not a number"))
}
