//! Conditions: what is written, what it means for a table's columns, and which rows meet it.
//!
//! ```text
//! condition := term (OR term)*            term := factor (AND factor)*        factor := NOT factor | test
//! test      := sum comparison sum | COLUMN [NOT] IN ( value, .. ) | COLUMN IS [NOT] NULL | COLUMN ~ 'regex' | COLUMN !~ 'regex'
//!            | COLUMN [NOT] HAS 'member' | COLUMN | TRUE | FALSE | ( condition )
//! comparison:= = | != | <> | < | <= | > | >=
//! sum       := product ((+ | -) product)*  product := atom ((* | /) atom)*    atom := COLUMN | number | 'text' | NULL | - atom | ( sum )
//! ```
//! Words of the language are written in any case; a column of such a name, or with other letters, goes in double quotes.
//! NULL is treated as SQL does: a comparison with it is neither true nor false, and only rows for which the whole
//! condition is true meet it. `/` always gives a real number. NaN is greater than all other numbers and equal to itself.

mod bind;
mod lex;
mod mask;
mod parse;
mod sql;

pub(crate) use bind::{Binder, Cond, Leaf, Test, micros_of, regex};
pub(crate) use mask::Rows;
pub(crate) use parse::{Comparison, parse};
pub(crate) use sql::{column as sql_column, condition as sql_condition, quoted as sql_quoted, text as sql_text};

#[cfg(test)]
mod tests;
