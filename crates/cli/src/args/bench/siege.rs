//! What `bench siege` takes.

use std::path::PathBuf;

use crate::args::FormatArgs;

/// What `bench siege` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchSiegeArgs {
    /// For how long; it ends early where something is found
    #[arg(long, value_name = "N", default_value_t = 5.0)]
    pub(crate) minutes: f64,
    /// Fixes what is done: what each actor sends and asks, when the disk is full, the clock steps, the server is killed
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Megabytes of the disk in memory that the data folder lies on, so that it can be filled; 0 takes the disk of --data,
    /// which is never filled
    #[arg(long, value_name = "MB", default_value_t = 2_048)]
    pub(crate) disk: u64,
    /// Keep what the siege leaves in this folder, which must be empty [default: a temporary folder, kept where something is
    /// found]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    /// In a mount namespace of its own already, where it may mount that disk
    #[arg(long, hide = true)]
    pub(crate) inside: bool,
}
