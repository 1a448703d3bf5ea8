//! The program as its users meet it: processes, files, exit codes, messages.

mod bench;
mod errors;
mod kill;
mod questions;
mod support;
