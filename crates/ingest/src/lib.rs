//! Live ingest: rows as [`decode`] makes them are on disk once they are acknowledged.
//!
//! Enters: rows, in a server ([`Store::write`]) and in processes that come and go ([`append()`], [`Bulk`], [`Load`]). Leaves: segments of
//! tables ([`digest()`]; a store makes them by itself), and the rows that are in none yet ([`waiting()`]).
//!
//! Promises
//! - acknowledged means on disk: rows are in a log that was synced before [`Store::write`] returns;
//! - every acknowledged row is in its table exactly once, wherever the process or the power ends: the commit that takes
//!   rows in names the last place of the log that it took;
//! - of rows that are told to be one, the one acknowledged last stays, in the commit that brings it;
//! - acknowledged means visible: readers find rows in the buffer or in a segment, never in both;
//! - any number of processes append to one log at once, beside a server or without one;
//! - no row is dropped for its types, unless the sender asks for it: what does not fit is kept as text in an overflow
//!   column, and reported;
//! - memory is bounded: what has no room is refused at once, and can be sent again.
//!
//! Knows no model, no SQL, no wire format and no HTTP.

mod advice;
mod append;
mod buffer;
mod bulk;
mod columns;
mod digest;
mod error;
mod flush;
mod live;
mod load;
mod locks;
mod log;
mod options;
mod parts;
mod segments;
mod shared;
mod store;
mod trouble;
mod upkeep;
mod waiting;

pub use advice::columns;
pub use append::{Appended, append};
pub use bulk::{Bulk, Loaded};
pub use columns::{Conflict, Overflow, Renamed};
pub use digest::{DigestOptions, Digested, digest};
pub use error::IngestError;
pub use load::{Load, LoadedBatch};
pub use log::{Durability, Key};
pub use options::StoreOptions;
pub use parts::Partition;
pub use store::{Failing, Store, StoreFigures, Written};
pub use trouble::failing;
pub use waiting::{Unflushed, Waiting, tables, waiting};
