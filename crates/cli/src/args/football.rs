//! Arguments of `football`.

use std::path::PathBuf;

use clap::Subcommand;

// A task on leagues of the football model.
#[derive(Debug, Subcommand)]
pub(crate) enum FootballTask {
    /// Check a league file
    ///
    /// Prints each mistake with its line, or the teams of a good league.
    #[command(after_long_help = "Example:\n  manyworlds football check league.toml")]
    Check {
        /// League file in TOML or JSON
        file: PathBuf,
    },
    /// Write the built-in league to stdout
    ///
    /// A run of the file gives the same games as a run without a file.
    #[command(after_long_help = "Example:\n  manyworlds football example > league.toml")]
    Example {
        /// Number of the generated league
        #[arg(long, value_name = "N", default_value_t = 1)]
        number: u32,
    },
}
