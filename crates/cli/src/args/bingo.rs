//! What `bingo` takes.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

/// Something to do with events of the bingo model.
#[derive(Debug, Subcommand)]
pub(crate) enum BingoTask {
    /// Check an event: everything that is wrong in it with its place, and what is odd
    Check {
        /// The event, in TOML or JSON
        file: PathBuf,
    },
    /// Write an event to begin with
    Example {
        /// Which
        #[arg(value_enum, default_value_t = Example::Small)]
        which: Example,
    },
}

/// An event that comes with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Example {
    /// A day: 20 rows, six activities, two teams of four
    Small,
    /// Nine days: 21 rows, 72 activities, three teams of twenty, each with another strategy
    Big,
}
