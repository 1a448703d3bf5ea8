//! Fleets as they are: a real ledger, a real broker, workers on threads of this process.
//!
//! The services come from `make services`, whose addresses are in the environment; `scripts/test.sh` starts its own.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod failures;
mod life;
mod plays;
mod support;
