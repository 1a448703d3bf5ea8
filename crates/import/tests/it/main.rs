//! Imports into real folders, read back as questions read them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod append;
mod files;
mod forms;
mod memory;
mod power_loss;
mod refusals;
mod support;
mod wide;
