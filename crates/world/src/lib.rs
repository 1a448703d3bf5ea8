//! World numbers, seeds, random streams and content hashes.
//!
//! Enters: an ensemble's [`Seed`], a [`World`] number, an entity and a purpose. Leaves: a [`Stream`] of random draws,
//! a pure function of these four.
//!
//! Guarantees: the same key gives the same draws on every machine, in any order, on any thread. Different keys never
//! share a block of draws. Never does I/O, reads a clock or holds global state.
//!
//! ```
//! use world::{Seed, Stream, World};
//! let mut a = Stream::new(Seed(7), World(12), 3, 0);
//! let mut b = Stream::new(Seed(7), World(12), 3, 0);
//! assert_eq!(a.next_u32(), b.next_u32());
//! ```

mod hash;
mod philox;
mod range;
mod stream;
mod streams;

pub use hash::{ContentHash, add_word, mix64};
pub use philox::philox4x32_10;
pub use range::{RangeError, WorldRange};
pub use stream::{Stream, normal_quantile};
pub use streams::{PerWorld, Streams};

/// The seed of an ensemble. With the model and its parameters it determines every world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seed(pub u64);

/// The number of a world inside its ensemble, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct World(pub u32);

impl std::fmt::Display for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
