//! SQL over stored ensembles and tables. One test binary, because each one that links DataFusion is large.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::from_iter_instead_of_collect, reason = "an array's type reads better before its values")]

mod agree;
mod compact;
mod damaged;
mod delete;
mod exact;
mod functions;
mod hostile;
mod memory;
mod nulls;
mod pages;
mod pruning;
mod reals;
mod sets;
mod slt;
mod support;
mod tables;
mod versions;
