//! The expression language of conditions and numbers: `margin > 3.5 and not (wins = 0)`, `host ~ '^a' OR ms > 250`.
//!
//! Text goes in, a tree comes out. This crate knows the grammar and its limits. Binders elsewhere give names a meaning:
//! outcomes of worlds, columns of events, columns of rows.
//!
//! ```text
//! condition  = all ("OR" all)*                 all  = factor ("AND" factor)*        factor = "NOT" factor | test
//! test       = sum comparison sum | sum
//!            | NAME ["NOT"] "IN" "(" value, .. ")" | NAME "IS" ["NOT"] "NULL"
//!            | NAME "~" 'regex' | NAME "!~" 'regex' | NAME ["NOT"] "HAS" 'member'
//! comparison = "=" | "==" | "!=" | "<>" | "<" | "<=" | ">" | ">="
//! sum        = product (("+" | "-") product)*                                product = atom (("*" | "/") atom)*
//! atom       = NAME | number | 'text' | TRUE | FALSE | NULL | "-" atom | "(" condition ")"
//!            | "abs(" sum ")" | "min(" sum "," sum ")" | "max(" sum "," sum ")"
//! NAME       = name | entity ":" name | "any \"\" text"
//! ```
//! `&&`, `||` and `!` mean AND, OR and NOT. Words are case-insensitive; a name that is one of them, or that has other
//! characters than letters, digits, `_` and `.`, goes in double quotes. Entities may have hyphens.
//!
//! NaN is greater than all other numbers and equal to itself, as in PostgreSQL and DuckDB ([`order`]).
//!
//! Parsing needs a stack of 1 MiB at most, unless it is compiled without optimisation, and memory in proportion to the text,
//! of which there may be [`BYTES_MAX`]. It never panics.

mod error;
mod lex;
mod limits;
mod parse;
mod pattern;
mod tree;

pub use error::Error;
pub use limits::{BYTES_MAX, DEPTH_MAX, NODES_MAX};
pub use parse::parse;
pub use pattern::regex;
pub use tree::{Comparison, Expr, Name, Node, Operator, order};

#[cfg(test)]
mod tests;
