//! Decoders against plain ones of other people's making.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::from_iter_instead_of_collect, reason = "an array's type reads better before its values")]

mod agree;
mod limits;
mod load;
mod plain;
mod rules;
mod streams;
mod streams_agree;
