//! Questions as their askers meet them: tables on disk, answers, errors.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agree;
mod errors;
mod reference;
mod tables;
