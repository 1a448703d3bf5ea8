//! Questions as their askers meet them: tables on disk, answers, errors.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agree;
mod damaged;
mod errors;
mod kept;
mod reading;
mod reference;
mod tables;
