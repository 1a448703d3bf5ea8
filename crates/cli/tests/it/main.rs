//! The program from a user's view: processes, files, exit codes, messages.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod append;
mod ask;
mod bench;
mod bingo;
mod bucket;
mod differential;
mod doors;
mod errors;
mod export;
mod extend;
mod failures;
mod fleet;
mod gate;
mod golden;
mod hostile;
mod kill;
mod loadgen;
mod models;
mod names;
mod permissions;
mod postgres;
mod questions;
mod serve;
mod serve_api;
mod serve_ask;
mod serve_config;
mod serve_ensembles;
mod serve_guard;
mod serve_kill;
mod serve_limits;
mod serve_postgres;
mod serve_questions;
mod serve_refusals;
mod serve_tls;
mod serve_tokens;
mod serve_wall;
mod served;
mod spellings;
mod support;
mod table;
mod upkeep;
mod worlds;
