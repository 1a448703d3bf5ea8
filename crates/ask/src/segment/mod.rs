//! Reads of segments what a question needs, and no more.
//!
//! What is left out: row groups by look-ups, statistics and Bloom filters; pages by their statistics; columns that the
//! question does not name; and of the others the pages without a row that meets the conditions.

mod general;
mod open;
mod set;
mod skip;
mod unit;

pub(crate) use open::Opened;
pub(crate) use skip::{left_over, of_segment};
pub(crate) use unit::{Unit, read, rows_of, take_batch};
