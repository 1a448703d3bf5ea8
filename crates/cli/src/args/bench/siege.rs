//! Arguments of `bench siege`.

use std::path::PathBuf;

use crate::args::FormatArgs;

/// Arguments of `bench siege`.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchSiegeArgs {
    /// Run for this many minutes
    ///
    /// A finding ends the siege early.
    #[arg(long, value_name = "N", default_value_t = 5.0)]
    pub(crate) minutes: f64,
    /// Seed of all actions and faults
    ///
    /// Determines what each actor sends and queries, and when the disk is full, the clock steps or the server is killed.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Size of the disk to fill, in MB
    ///
    /// The data folder lies on a disk in memory. 0 takes the disk of --data and never fills it.
    #[arg(long, value_name = "MB", default_value_t = 2_048)]
    pub(crate) disk: u64,
    /// Keep the data in this empty folder
    ///
    /// Default: a temporary folder, which stays if the siege finds something.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    /// Run in an own mount namespace already
    #[arg(long, hide = true)]
    pub(crate) inside: bool,
}
