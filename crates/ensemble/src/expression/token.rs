//! The words of an expression.

use super::parse::ExpressionError;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Number(f64),
    /// A name, or `entity:name`.
    Name(String),
    /// An operator, bracket or comma.
    Symbol(&'static str),
}

const SYMBOLS: [&str; 18] =
    ["<=", ">=", "==", "!=", "<>", "&&", "||", "<", ">", "=", "+", "-", "*", "/", "(", ")", ",", "!"];

/// Tokens with the byte at which each begins.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, ExpressionError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
        } else if first.is_ascii_digit() || first == '.' {
            let length = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let number = rest[..length].parse().map_err(|_| ExpressionError::Unexpected {
                found: rest[..length].to_owned(),
                at: at + 1,
                wanted: "a number",
            })?;
            tokens.push((at, Token::Number(number)));
            at += length;
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = name_length(rest);
            tokens.push((at, Token::Name(rest[..length].to_owned())));
            at += length;
        } else if let Some(symbol) = SYMBOLS.iter().find(|s| rest.starts_with(**s)) {
            tokens.push((at, Token::Symbol(symbol)));
            at += symbol.len();
        } else {
            return Err(ExpressionError::Unexpected {
                found: first.to_string(),
                at: at + 1,
                wanted: "a name or number",
            });
        }
    }
    Ok(tokens)
}

/// Length of a name. An entity's name before a colon may hold hyphens: `game-017:home_margin`.
fn name_length(text: &str) -> usize {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let plain = text.find(|c| !word(c)).unwrap_or(text.len());
    let entity = text.find(|c| !word(c) && c != '-').unwrap_or(text.len());
    let after = text[entity..].strip_prefix(':').map_or(0, |rest| rest.find(|c| !word(c)).unwrap_or(rest.len()));
    if after > 0 { entity + 1 + after } else { plain }
}
