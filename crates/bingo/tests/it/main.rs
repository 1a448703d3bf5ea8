//! The model as a whole, by its public face: against a second simulator, and over many worlds.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod independence;
mod naive;
mod ranges;
mod statistics;
mod support;
