//! Live ingest: rows as [`decode`] makes them are on disk once they are acknowledged.
//!
//! Enters: rows ([`Store::write`]). Leaves: segments of tables, and the rows that are in none yet ([`Store::fresh`]).
//!
//! Promises
//! - acknowledged means on disk: rows are in a log that was synced before [`Store::write`] returns;
//! - every acknowledged row is in its table exactly once, wherever the process or the power ends: the commit that takes
//!   rows in names the last place of the log that it took;
//! - of rows that are told to be one, the one acknowledged last stays, in the commit that brings it;
//! - acknowledged means visible: readers find rows in the buffer or in a segment, never in both;
//! - memory is bounded: what has no room is refused at once, and can be sent again.
//!
//! Knows no model, no SQL, no wire format and no HTTP.

mod buffer;
mod columns;
mod error;
mod flush;
mod live;
mod log;
mod options;
mod parts;
mod shared;
mod store;
mod upkeep;

pub use columns::Misfit;
pub use error::IngestError;
pub use log::{Durability, Key};
pub use options::StoreOptions;
pub use parts::Partition;
pub use store::{Fresh, Store, StoreFigures, Written};
