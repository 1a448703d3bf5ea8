//! Decoders against plain ones of other people's making; stores that processes, power, disk and memory are taken from.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::from_iter_instead_of_collect, reason = "an array's type reads better before its values")]

mod agree;
mod kill;
mod limits;
mod load;
mod parts;
mod plain;
mod power_loss;
mod rules;
mod store;
mod support;
mod unique;
