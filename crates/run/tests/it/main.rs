//! What an ensemble's life promises, on real models and real files.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod compact;
mod determinism;
mod elsewhere;
mod extend;
mod extremes;
mod failures;
mod golden;
mod power_loss;
mod support;
mod verification;
mod versions;
