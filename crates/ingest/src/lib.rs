//! Live ingest: stores rows from [`decode`] durably before it acknowledges them.
//!
//! Enters: rows, in a server ([`Store::write`]) and in short-lived processes ([`append()`], [`Bulk`], [`Load`]).
//! Leaves: segments of tables ([`digest()`]; a store writes them by itself), and the rows in none yet ([`waiting()`]).
//!
//! Guarantees
//! - Durable: rows are in a synced log before [`Store::write`] returns.
//! - Exactly once: each acknowledged row enters its table once, across crashes and power cuts; the commit that adds
//!   rows names the last log position it contains.
//! - Unique: of rows with equal unique columns, the last acknowledged one stays, from the commit that adds it on.
//! - Visible: readers find acknowledged rows in the buffer or in a segment, never in both.
//! - Shared: any number of processes append to one log at once, with or without a server.
//! - Lossless: no row is dropped for its types unless the sender asks for it; misfits are kept as text in an overflow
//!   column, and reported.
//! - Bounded memory: requests over the limit are refused at once, and can be retried.
//!
//! Knows no model, no SQL, no wire format and no HTTP.

mod advice;
mod append;
mod buffer;
mod bulk;
mod columns;
mod digest;
mod error;
mod figures;
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

pub use advice::{columns, fitting};
pub use append::{Appended, append};
pub use bulk::{Bulk, LOG_ROWS, Loaded};
pub use columns::{Conflict, Fitted, Overflow, Renamed};
pub use digest::{FlushOptions, Flushed, digest};
pub use error::IngestError;
pub use figures::{LogFigures, TableFigures};
pub use live::Written;
pub use load::{Load, LoadedBatch};
pub use log::{Durability, Key};
pub use options::StoreOptions;
pub use parts::Partition;
pub use shared::{Budget, Share};
pub use store::{Failing, Store, StoreFigures, tables};
pub use trouble::failing;
pub use waiting::{Unflushed, Waiting, waiting};
