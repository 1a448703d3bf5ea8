//! Arguments for playing an ensemble.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use ensemble::{EventMode, Goal};
use table::{Codec, EncodingSet, PageFormat};

use super::{FormatArgs, PlaceArgs, parse_pair};

/// The handling of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Events {
    /// Store every event as a row
    Store,
    /// Store differences from expected values in fewer bytes
    ///
    /// Only manyworlds turns them back into values; see docs/ensembles.md.
    Compact,
    /// Store no events and replay them from the seed on demand
    Replay,
}

impl From<Events> for EventMode {
    fn from(events: Events) -> Self {
        match events {
            Events::Store => Self::Store,
            Events::Compact => Self::Compact,
            Events::Replay => Self::Replay,
        }
    }
}

// A model with its parameters.
#[derive(Debug, clap::Args)]
pub(crate) struct ModelArgs {
    /// Model to play
    ///
    /// `manyworlds models` lists them.
    #[arg(required_unless_present = "program")]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    /// Set a parameter of the model (repeatable)
    ///
    /// `manyworlds models MODEL` lists them. Write a list as a,b,c, or as a JSON array if a text in it has a comma.
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parse_pair)]
    pub(crate) parameters: Vec<(String, String)>,
    /// Event file that bingo plays
    ///
    /// In TOML or JSON. `manyworlds bingo example` writes one.
    #[arg(long, value_name = "FILE")]
    pub(crate) event: Option<PathBuf>,
    /// League file that football plays
    ///
    /// In TOML or JSON. `manyworlds football example` writes the built-in league.
    #[arg(long, value_name = "FILE")]
    pub(crate) league: Option<PathBuf>,
}

impl ModelArgs {
    /// The files that define what a model plays, by the name of what they define.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let files = [("event", &self.event), ("league", &self.league)];
        files.into_iter().filter_map(|(name, file)| Some((name, file.as_deref()?)))
    }
}

// A model that is a program.
#[derive(Debug, clap::Args)]
pub(crate) struct ProgramArgs {
    /// Play a program in any language
    ///
    /// COMMAND is a program with its arguments, as in './sim --fast'. It describes itself, and plays ranges of worlds
    /// over stdin and stdout (docs/program.md). No shell reads COMMAND.
    #[arg(long, value_name = "COMMAND", conflicts_with = "model")]
    pub(crate) program: Option<String>,
    #[command(flatten)]
    pub(crate) limit: ProgramLimitArgs,
}

// What played an ensemble, for questions that play worlds again.
#[derive(Debug, clap::Args)]
pub(crate) struct PlayedByArgs {
    /// Replay with this model, which played the ensemble
    ///
    /// Only models of a file, as FILE.py:CLASS, must be named. Another model than the one that played the ensemble is
    /// refused.
    #[arg(long, value_name = "MODEL", conflicts_with = "program")]
    pub(crate) model: Option<String>,
    /// Replay with this program, which played the ensemble
    ///
    /// COMMAND is a program with its arguments, as for `run`. Another program than the one that played the ensemble is
    /// refused.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) program: Option<String>,
    #[command(flatten)]
    pub(crate) limit: ProgramLimitArgs,
}

impl PlayedByArgs {
    /// Whether they name a model or a program.
    pub(crate) fn is_named(&self) -> bool {
        self.model.is_some() || self.program.is_some()
    }
}

// The limits of programs.
#[derive(Debug, clap::Args)]
pub(crate) struct ProgramLimitArgs {
    /// Give a program this long per range
    ///
    /// In seconds. A program that takes longer is ended, and the range fails.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    pub(crate) program_seconds: u64,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Compare this many worlds
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub(crate) worlds: u32,
    /// Seed of the random numbers
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

// The plan of an ensemble.
#[derive(Debug, clap::Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Play this many worlds
    ///
    /// Default: 1000.
    #[arg(long, value_name = "N")]
    pub(crate) worlds: Option<u32>,
    /// Seed of the random numbers
    ///
    /// The seed and the parameters determine every world. Default: 1.
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// Name of the ensemble
    ///
    /// Default: the name of the model.
    #[arg(long, value_name = "ID")]
    pub(crate) name: Option<String>,
    /// Store events, or replay them on demand
    ///
    /// Default: store.
    #[arg(long, value_enum)]
    pub(crate) events: Option<Events>,
    /// Put this many worlds in a range
    ///
    /// A range is the unit of work and of commit. Default: at most 5000, one range per thread, and what fits in memory.
    #[arg(long, value_name = "R")]
    pub(crate) range_worlds: Option<u32>,
}

// The plan of an ensemble and its place, for one process or a fleet.
#[derive(Debug, clap::Args)]
pub(crate) struct PlayArgs {
    #[command(flatten)]
    pub(crate) plan: PlanArgs,
    #[command(flatten)]
    pub(crate) until: UntilArgs,
    #[command(flatten)]
    pub(crate) data: PlaceArgs,
    /// Compress tables with this codec
    ///
    /// none, snappy, lz4, gzip, or zstd:LEVEL with a level from 1 (fast) to 22.
    #[arg(long, value_name = "CODEC", default_value_t = Codec::default())]
    pub(crate) codec: Codec,
    /// Choose the Parquet encodings
    ///
    /// dense, or portable for readers without `BYTE_STREAM_SPLIT`.
    #[arg(long, value_name = "SET", default_value_t = EncodingSet::Dense)]
    pub(crate) encodings: EncodingSet,
    /// Replace a stored ensemble
    ///
    /// The old version stays readable until the new one is complete.
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

impl PlayArgs {
    /// The format of pages.
    pub(crate) fn page_format(&self) -> PageFormat {
        PageFormat { codec: self.codec, encodings: self.encodings }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) play: PlayArgs,
    /// Play on this many threads
    ///
    /// Default: one per core.
    #[arg(long, value_name = "T")]
    pub(crate) threads: Option<usize>,
    /// Serve Prometheus metrics on ADDR
    #[arg(long, value_name = "ADDR")]
    pub(crate) metrics: Option<std::net::SocketAddr>,
    /// Resume an interrupted ensemble
    ///
    /// Worlds, seed and parameters are those of the ensemble, and need not be given again.
    #[arg(long, conflicts_with = "replace")]
    pub(crate) resume: bool,
    /// Extend a complete ensemble to this many worlds
    ///
    /// Keeps the stored worlds and plays the others. The result equals a run of all N worlds. Seed and parameters are
    /// those of the ensemble, and need not be given again.
    #[arg(long, value_name = "N", conflicts_with_all = ["replace", "resume", "worlds"])]
    pub(crate) extend: Option<u32>,
}

// A goal that may end a run before all planned worlds.
#[derive(Debug, clap::Args)]
pub(crate) struct UntilArgs {
    /// Stop once a mean is this precise
    ///
    /// WIDTH limits the half width of the 95% confidence interval of the mean of --outcome. Write it in percent of the
    /// mean (of 1 for shares and flags), such as 0.5%, or in the outcome's unit.
    #[arg(long, value_name = "WIDTH", requires = "outcome", conflicts_with = "replace")]
    pub(crate) until_ci: Option<Goal>,
    /// Outcome for --until-ci
    #[arg(long, value_name = "ENTITY:OUTCOME", requires = "until_ci")]
    pub(crate) outcome: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CalibrateArgs {
    /// Model to compare
    pub(crate) model: String,
    /// Play this many games
    ///
    /// Rounded up to whole seasons, at least two.
    #[arg(long, value_name = "N", default_value_t = 57_600)]
    pub(crate) games: usize,
    /// Seed of the random numbers
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Set a parameter of the model (repeatable)
    ///
    /// `manyworlds models MODEL` lists them. Write a list as a,b,c, or as a JSON array if a text in it has a comma.
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parse_pair)]
    pub(crate) parameters: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}
