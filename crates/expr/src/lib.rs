//! What one expression may cost before it is parsed: its length, its nesting, its parts.
//!
//! Both expression languages, that of `ask --where` and that of legs and `--given`, count with a [`Budget`]. Whatever
//! it lets through can be parsed, bound, evaluated, printed and dropped on a stack of 2 MiB in a debug build.

use std::borrow::Cow;

/// Bytes of one expression.
pub const BYTES_MAX: usize = 1 << 20;
/// Parentheses, negations and function calls inside one another.
pub const DEPTH_MAX: usize = 200;
/// Operators, functions, names and numbers of one expression.
pub const NODES_MAX: usize = 20_000;

/// An expression exceeds a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TooLarge {
    /// It is too long.
    #[error("the expression has {bytes} bytes and may have {BYTES_MAX}: split it")]
    Bytes {
        /// Its length.
        bytes: usize,
    },
    /// It is nested too deeply.
    #[error("the expression is nested over {DEPTH_MAX} levels deep here: leave out parentheses that change nothing")]
    Depth,
    /// It has too many parts.
    #[error("the expression has over {NODES_MAX} operators, names and numbers: split it")]
    Nodes,
}

/// Counts an expression while it is parsed.
#[derive(Debug)]
pub struct Budget {
    depth: usize,
    nodes: usize,
}

impl Budget {
    /// A budget for `text`.
    ///
    /// # Errors
    /// Where the text is too long.
    pub fn new(text: &str) -> Result<Self, TooLarge> {
        if text.len() > BYTES_MAX {
            return Err(TooLarge::Bytes { bytes: text.len() });
        }
        Ok(Self { depth: 0, nodes: 0 })
    }

    /// Goes one level deeper. Call [`Self::leave`] on the way out; after an error nobody parses on.
    ///
    /// # Errors
    /// Where that is too deep.
    pub fn enter(&mut self) -> Result<(), TooLarge> {
        self.depth += 1;
        if self.depth > DEPTH_MAX { Err(TooLarge::Depth) } else { Ok(()) }
    }

    /// Comes back from a deeper level.
    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Adds one part.
    ///
    /// # Errors
    /// Where there are too many.
    pub fn node(&mut self) -> Result<(), TooLarge> {
        self.nodes += 1;
        if self.nodes > NODES_MAX { Err(TooLarge::Nodes) } else { Ok(()) }
    }
}

/// The part of a long text around byte `at`, for an error, and where `at` lies in it. Short texts stay whole.
pub fn excerpt(text: &str, at: usize) -> (Cow<'_, str>, usize) {
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
    fn depth_is_released_on_the_way_out() {
        let mut budget = Budget::new("x").unwrap();
        for _ in 0..10 * DEPTH_MAX {
            budget.enter().unwrap();
            budget.leave();
        }
        assert!((0..DEPTH_MAX).all(|_| budget.enter().is_ok()));
        assert_eq!(budget.enter(), Err(TooLarge::Depth));
    }

    #[test]
    fn nodes_and_bytes_are_limited() {
        let mut budget = Budget::new(&"x".repeat(BYTES_MAX)).unwrap();
        assert!((0..NODES_MAX).all(|_| budget.node().is_ok()));
        assert_eq!(budget.node(), Err(TooLarge::Nodes));
        let bytes = BYTES_MAX + 1;
        assert_eq!(Budget::new(&"x".repeat(bytes)).unwrap_err(), TooLarge::Bytes { bytes });
    }

    #[test]
    fn excerpts_keep_the_place() {
        assert_eq!(excerpt("short", 3), (Cow::Borrowed("short"), 3));
        let text = format!("{}@{}", "ä".repeat(500), "ß".repeat(500));
        for at in [0, 999, 1000, 1001, text.len()] {
            let (part, place) = excerpt(&text, at);
            assert!(part.len() < 140, "{part}");
            assert!(place <= part.len());
            if at == 1000 {
                assert_eq!(&part[place..=place], "@");
            }
        }
    }
}
