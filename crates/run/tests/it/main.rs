//! What an ensemble's life promises, on real models and real files.

mod determinism;
mod power_loss;
mod support;
mod versions;
