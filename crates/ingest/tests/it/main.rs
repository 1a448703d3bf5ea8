//! Stores that processes, power, disk and memory are taken from.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod alone;
mod append;
mod clock;
mod crowd;
mod kill;
mod messy;
mod others;
mod parts;
mod power_loss;
mod sets;
mod store;
mod support;
mod unique;
