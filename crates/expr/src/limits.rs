//! Limits on the length, the nesting and the parts of one expression.

/// Length of an expression in bytes.
pub const BYTES_MAX: usize = 1 << 20;
/// Levels of parentheses, negations and function calls.
pub const DEPTH_MAX: usize = 200;
/// Tests, operators, negations and parentheses in one expression.
pub const NODES_MAX: usize = 20_000;

/// Counts the depth and the parts of an expression during parsing.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    depth: usize,
    nodes: usize,
}

impl Budget {
    /// Enters a deeper level. Call [`Self::leave`] on the way out.
    pub(crate) fn enter(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("the expression is nested more than {DEPTH_MAX} levels deep: remove parentheses"));
        }
        Ok(())
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    pub(crate) fn node(&mut self) -> Result<(), String> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            return Err(format!("the expression has more than {NODES_MAX} tests and operators: split it"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaving_releases_depth() {
        let mut budget = Budget::default();
        for _ in 0..10 * DEPTH_MAX {
            budget.enter().unwrap();
            budget.leave();
        }
        assert!((0..DEPTH_MAX).all(|_| budget.enter().is_ok()));
        assert!(budget.enter().is_err());
    }
}
