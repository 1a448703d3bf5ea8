//! Arguments of `bingo`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

// A task on events of the bingo model.
#[derive(Debug, Subcommand)]
pub(crate) enum BingoTask {
    /// Check an event file
    ///
    /// Prints each mistake with its place, and warns of what is unusual.
    #[command(after_long_help = "Example:\n  manyworlds bingo check event.toml")]
    Check {
        /// Event file in TOML or JSON
        file: PathBuf,
    },
    /// Write an example event to stdout
    #[command(after_long_help = "Example:\n  manyworlds bingo example big > event.toml")]
    Example {
        /// Example to write
        #[arg(value_enum, default_value_t = Example::Small)]
        which: Example,
    },
}

/// An event that comes with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Example {
    /// One day, 20 rows, six activities, two teams of four
    Small,
    /// Nine days, 21 rows, 72 activities, three teams of twenty with different strategies
    Big,
}
