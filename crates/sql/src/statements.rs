//! Splits a text into statements.

use std::collections::HashMap;

/// Splits off the statements that end with `;`. Returns them without the `;`, and the remaining text. A `;` inside
/// quotes or comments does not end a statement.
pub fn split(text: &str) -> (Vec<&str>, &str) {
    let bytes = text.as_bytes();
    let (mut statements, mut begin, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        if bytes[at] == b';' {
            let statement = text[begin..at].trim();
            begin = at + 1;
            statements.extend((!is_empty(statement)).then_some(statement));
        }
        at = next(bytes, at);
    }
    (statements, text[begin..].trim())
}

/// The position of the `)` for a `(` that stands before the text; `None` if it is missing. Skips quotes and comments.
pub fn closing(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut open, mut at) = (1_usize, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'(' => open += 1,
            b')' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some(at);
        }
        at = next(bytes, at);
    }
    None
}

/// The position after the quoted text, the comment or the byte at `at`.
fn next(bytes: &[u8], at: usize) -> usize {
    match (bytes[at], bytes.get(at + 1)) {
        (quote @ (b'\'' | b'"'), _) => after(bytes, at + 1, &[quote]),
        (b'-', Some(b'-')) => after(bytes, at + 2, b"\n"),
        (b'/', Some(b'*')) => after(bytes, at + 2, b"*/"),
        (b'$', _) => dollars(bytes, at),
        _ => at + 1,
    }
}

/// Writes the parameters `$name` as `$1`, `$2`: the places of their names. Quotes and comments stay.
pub fn with_numbers(text: &str, names: &[&str]) -> String {
    let bytes = text.as_bytes();
    let places: HashMap<&str, usize> = names.iter().copied().zip(1..).collect();
    let (mut out, mut at, mut copied) = (String::new(), 0, 0);
    while at < bytes.len() {
        let end = next(bytes, at);
        if bytes[at] == b'$' && end == at + 1 {
            let name = text[end..].split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            if let Some(place) = places.get(name) {
                out.push_str(&text[copied..end]);
                out.push_str(&place.to_string());
                copied = end + name.len();
            }
        }
        at = end.max(copied);
    }
    out.push_str(&text[copied..]);
    out
}

/// Whether the text is only comments and space.
pub fn is_empty(text: &str) -> bool {
    without_comments(text).is_empty()
}

/// The text without leading comments and space.
pub fn without_comments(text: &str) -> &str {
    let mut text = text.trim_start();
    // A loop instead of recursion: a text may have more comments than the stack has levels.
    loop {
        let rest = match text.get(..2) {
            Some("--") => text.split_once('\n'),
            Some("/*") => text.split_once("*/"),
            _ => return text,
        };
        text = rest.map_or("", |(_, rest)| rest.trim_start());
    }
}

/// The position after the next `end`, or of the end of the text.
fn after(bytes: &[u8], from: usize, end: &[u8]) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    rest.windows(end.len()).position(|w| w == end).map_or(bytes.len(), |place| from + place + end.len())
}

/// The position after the quoted text `$tag$...$tag$` at `at`, or after the `$` if it does not start one.
fn dollars(bytes: &[u8], at: usize) -> usize {
    let tag = bytes[at + 1..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    let digit = bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
    if digit || bytes.get(at + 1 + tag) != Some(&b'$') {
        return at + 1;
    }
    let end = at + tag + 2;
    after(bytes, end, &bytes[at..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_parameters_get_numbers() {
        let sql = "SELECT $b, '$a', \"$a\" -- $a\nFROM t WHERE x = $a AND y = $aa AND z = $x$ $a $x$ AND é = $é";
        let expected = "SELECT $2, '$a', \"$a\" -- $a\nFROM t WHERE x = $1 AND y = $aa AND z = $x$ $a $x$ AND é = $3";
        assert_eq!(with_numbers(sql, &["a", "b", "é"]), expected);
    }

    #[test]
    fn statements_end_at_semicolons_of_their_own() {
        for (text, statements, rest) in [
            ("", vec![], ""),
            ("SELECT 1", vec![], "SELECT 1"),
            ("SELECT 1; SELECT 2 ;", vec!["SELECT 1", "SELECT 2"], ""),
            (" ;; SELECT 1;\nSELECT", vec!["SELECT 1"], "SELECT"),
            ("SELECT ';', 'it''s;'; x", vec!["SELECT ';', 'it''s;'"], "x"),
            ("SELECT \"a;b\"; SELECT 'open;", vec!["SELECT \"a;b\""], "SELECT 'open;"),
            ("-- a; b\nSELECT 1 /* ; */; --;", vec!["-- a; b\nSELECT 1 /* ; */"], "--;"),
            ("SELECT $1; SELECT $$;$$, $a$;$$;$a$;", vec!["SELECT $1", "SELECT $$;$$, $a$;$$;$a$"], ""),
            ("SELECT 'ü;'; é", vec!["SELECT 'ü;'"], "é"),
        ] {
            assert_eq!(split(text), (statements, rest), "{text}");
        }
        for (text, expected) in [
            ("a) b", Some(1)),
            ("(a)) b", Some(3)),
            ("')', \")\" /* ) */ $$)$$)", Some(22)),
            ("-- )\n)", Some(5)),
            ("(a)", None),
            ("')", None),
        ] {
            assert_eq!(closing(text), expected, "{text}");
        }
        assert_eq!(closing(&"(".repeat(2_000_000)), None);
        assert!(is_empty(&"--\n".repeat(1_000_000)));
        assert!(is_empty(" -- a\n /* b */ ") && !is_empty("-- a\nb") && !is_empty("-"));
    }
}
