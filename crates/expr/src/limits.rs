//! What one expression may cost: its length, its nesting, its parts.

/// Bytes of one expression.
pub const BYTES_MAX: usize = 1 << 20;
/// Parentheses, negations and function calls inside one another.
pub const DEPTH_MAX: usize = 200;
/// Tests, operators, negations and parentheses of one expression.
pub const NODES_MAX: usize = 20_000;

/// Counts the depth and the parts of an expression while it is parsed. Errors are reasons.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    depth: usize,
    nodes: usize,
}

impl Budget {
    /// Goes one level deeper. Call [`Self::leave`] on the way out.
    pub(crate) fn enter(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("the expression is nested over {DEPTH_MAX} levels deep here: remove parentheses"));
        }
        Ok(())
    }

    /// Comes back from a deeper level.
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Adds one part.
    pub(crate) fn node(&mut self) -> Result<(), String> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            return Err(format!("the expression has over {NODES_MAX} tests and operators: split it"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_released_on_the_way_out() {
        let mut budget = Budget::default();
        for _ in 0..10 * DEPTH_MAX {
            budget.enter().unwrap();
            budget.leave();
        }
        assert!((0..DEPTH_MAX).all(|_| budget.enter().is_ok()));
        assert!(budget.enter().is_err());
    }
}
