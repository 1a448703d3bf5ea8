//! The expression language of conditions and numbers: `margin > 3.5 and not (wins = 0)`, `host ~ '^a' OR ms > 250`.
//!
//! Enters: text. Leaves: a tree ([`Expr`]). This crate knows the grammar and its limits. Binders in other crates
//! resolve the names: outcomes of worlds, columns of events, columns of rows.
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
//! A condition in parentheses is a number where one is needed, 1 if it holds and else 0: `10 * (margin > 3)`. Binders of
//! names that may be missing refuse that.
//!
//! `&&`, `||` and `!` mean AND, OR and NOT. Keywords are case-insensitive. Put a name in double quotes if it equals a
//! keyword or has characters other than letters, digits, `_` and `.`. Entities may contain hyphens.
//!
//! NaN is greater than all other numbers and equal to itself, as in PostgreSQL and DuckDB ([`order`]).
//!
//! Guarantees: parsing never panics. It needs at most 1 MiB of stack in optimised builds, and memory in proportion to
//! the text, which has at most [`BYTES_MAX`] bytes. Never does I/O.

mod error;
mod lex;
mod limits;
mod parse;
mod pattern;
mod tree;

pub use error::Error;
pub use limits::{BYTES_MAX, DEPTH_MAX, NODES_MAX};
pub use parse::{parse, written};
pub use pattern::regex;
pub use tree::{Comparison, Expr, Name, Node, Operator, order};

#[cfg(test)]
mod tests;
