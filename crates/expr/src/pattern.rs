//! Regular expressions and the position of their errors.

use regex::Regex;

/// Compiles a pattern. An error is a byte position in the pattern and a reason.
///
/// # Errors
/// If the pattern is not a regular expression of the `regex` crate, or exceeds its size limit.
pub fn regex(pattern: &str) -> Result<Regex, (usize, String)> {
    let (at, reason) = match regex_syntax::Parser::new().parse(pattern) {
        Err(regex_syntax::Error::Parse(e)) => (e.span().start.offset, e.kind().to_string()),
        Err(regex_syntax::Error::Translate(e)) => (e.span().start.offset, e.kind().to_string()),
        Err(other) => (0, other.to_string()),
        Ok(_) => return Regex::new(pattern).map_err(|e| (0, e.to_string())),
    };
    Err((at, format!("invalid pattern: {reason}")))
}
