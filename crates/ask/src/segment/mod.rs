//! Reads only the parts of segments that a question needs.
//!
//! Secondary indexes, statistics and Bloom filters skip row groups; page statistics skip pages. Columns outside the
//! question are not read. Columns without a condition are read only for pages with matching rows.

mod bucketed;
mod general;
mod open;
mod page_index;
mod set;
mod skip;
mod unit;

pub(crate) use open::Opened;
pub(crate) use skip::{of_segment, units_of};
pub(crate) use unit::{Matching, Unit, match_batch, read, rows_of};
