//! Questions from outside the crate: tables on disk, answers, errors.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agree;
mod cache;
mod damaged;
mod errors;
mod foreign;
mod many;
mod reading;
mod reference;
mod tables;
