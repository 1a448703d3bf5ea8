//! What is known of groups while rows are taken in, and what of it goes into the answer.

mod encode;
mod histogram;
mod keys;
mod ordered;
mod real;
mod take;
mod tally;

pub(crate) use encode::{Bytes, Input};
pub(crate) use histogram::{INFINITE, LEAST, NOT_A_NUMBER, POWERS, scaled, shifted, span};
pub(crate) use ordered::{Bag, Cells};
pub(crate) use real::Real;
pub(crate) use take::Groups;
pub(crate) use tally::{Sums, Tally, Weights};
