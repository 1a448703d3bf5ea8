//! Tables survive killed processes and power cuts.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bucket;
mod kill;
mod power_loss;
mod sets;
mod support;
mod times;
