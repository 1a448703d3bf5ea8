//! Live ingest: bytes of a wire format become rows of tables.
//!
//! Enters: bodies of requests as clients send them. Leaves: record batches by table, and what was refused ([`decode`]).
//!
//! Knows no model, no SQL and no HTTP.

pub mod decode;
