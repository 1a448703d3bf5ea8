//! What is wrong with an expression, and where.

use std::borrow::Cow;

/// An expression that breaks the grammar or uses a name in a way that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}\n{}", pointed(text, *at))]
pub struct Error {
    text: String,
    /// The position of the error in the text, in bytes.
    at: usize,
    reason: String,
}

impl Error {
    /// Points at byte `at` of `text`, rounded down to a character boundary.
    pub fn new(text: &str, at: usize, reason: impl Into<String>) -> Self {
        Self { text: text.to_owned(), at: text.floor_char_boundary(at), reason: reason.into() }
    }

    /// What is wrong, and what the parser expected.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The whole expression.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The position of the error in the text, in bytes.
    pub fn position(&self) -> usize {
        self.at
    }
}

/// The text with a pointer below byte `at`.
fn pointed(text: &str, at: usize) -> String {
    let (excerpt, at) = excerpt(text, at);
    format!("  {excerpt}\n  {}^", " ".repeat(excerpt[..at].chars().count()))
}

/// The part of a long text around byte `at`, and the position of `at` in it. Short texts stay whole.
fn excerpt(text: &str, at: usize) -> (Cow<'_, str>, usize) {
    const AROUND: usize = 60;
    if text.len() <= 4 * AROUND {
        return (Cow::Borrowed(text), at);
    }
    let from = text.floor_char_boundary(at.saturating_sub(AROUND));
    let to = text.ceil_char_boundary((at + AROUND).min(text.len()));
    let (before, after) = (if from > 0 { "..." } else { "" }, if to < text.len() { "..." } else { "" });
    (Cow::Owned(format!("{before}{}{after}", &text[from..to])), at - from + before.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_point_at_their_position() {
        let error = Error::new("ä # 3", 3, "no");
        assert_eq!(error.to_string(), "no\n  ä # 3\n    ^");
        assert_eq!((error.text(), error.position()), ("ä # 3", 3));
        // In the middle of a letter, and past the end.
        assert_eq!(Error::new("ä", 1, "no").to_string(), "no\n  ä\n  ^");
        assert_eq!(Error::new("ä", 9, "no").to_string(), "no\n  ä\n   ^");
    }

    #[test]
    fn excerpts_keep_their_position() {
        assert_eq!(excerpt("short", 3), (Cow::Borrowed("short"), 3));
        let text = format!("{}@{}", "ä".repeat(500), "ß".repeat(500));
        for at in [0, 999, 1000, 1001, text.len()] {
            let (part, place) = excerpt(&text, text.floor_char_boundary(at));
            assert!(part.len() < 140, "{part}");
            assert!(place <= part.len());
            if at == 1000 {
                assert_eq!(&part[place..=place], "@");
            }
        }
    }
}
