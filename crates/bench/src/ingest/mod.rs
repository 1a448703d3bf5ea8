//! Loading a server with rows, and measuring what it does with them.
//!
//! Enters: a [`Target`] and a [`LoadPlan`]. Leaves: [`LoadFigures`]: how much was acknowledged how fast, and whether all of
//! it is there once.

mod encode;
mod error;
mod http;
mod load;
mod payload;
mod tally;
mod target;

pub use error::LoadError;
pub use load::{LoadFigures, LoadPlan, Pace, load};
pub use payload::{BodyCodec, UnknownWord, WireFormat};
pub use target::Target;

#[cfg(test)]
mod tests;
