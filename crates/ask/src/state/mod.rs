//! State of a running question: groups, their keys and their accumulators.

mod accumulator;
mod encode;
mod gathered;
mod grouped;
mod groups;
mod histogram;
mod keys;
mod ordered;
mod real;
mod slots;
mod split;

pub(crate) use accumulator::{Accumulator, Sums, Weights};
pub(crate) use encode::{Bytes, Input};
pub(crate) use gathered::{Gathered, Joining};
pub(crate) use groups::Groups;
pub(crate) use histogram::{Histogram, INFINITE, LEAST, NOT_A_NUMBER, POWERS, scaled, shifted, span};
pub(crate) use ordered::CountedValues;
