//! What playing an ensemble takes.

use std::path::PathBuf;

use ensemble::Goal;
use table::{Codec, EncodingSet, PageFormat};

use super::{Events, FormatArgs, PlaceArgs, parse_pair};

/// What is to be played.
#[derive(Debug, clap::Args)]
pub(crate) struct PlanArgs {
    /// The model to play (`manyworlds models` lists them)
    pub(crate) model: String,
    /// Worlds to play
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) worlds: u32,
    /// Seed: with the parameters it fixes every world
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Name of the ensemble [default: the model's name]
    #[arg(long, value_name = "ID")]
    pub(crate) name: Option<String>,
    /// Keep every event, or play events again whenever they are asked for
    #[arg(long, value_enum, default_value_t = Events::Store)]
    pub(crate) events: Events,
    /// Worlds of a range, the unit of work and of commit [default: at most 5000, a range a thread, and what fits in memory]
    #[arg(long, value_name = "R")]
    pub(crate) range_worlds: Option<u32>,
    /// Set a parameter of the model (`manyworlds models MODEL` lists them)
    #[arg(long = "param", value_name = "K=V", value_parser = parse_pair)]
    pub(crate) parameters: Vec<(String, String)>,
    /// The event that bingo plays, in TOML or JSON (`manyworlds bingo example` writes one)
    #[arg(long, value_name = "FILE")]
    pub(crate) event: Option<PathBuf>,
}

/// What is to be played, and where it is kept: by one process as by a fleet.
#[derive(Debug, clap::Args)]
pub(crate) struct PlayArgs {
    #[command(flatten)]
    pub(crate) plan: PlanArgs,
    #[command(flatten)]
    pub(crate) until: UntilArgs,
    #[command(flatten)]
    pub(crate) data: PlaceArgs,
    /// What compresses the tables: none, snappy, lz4, gzip, or zstd:LEVEL with a level from 1 (fast) to 22
    #[arg(long, value_name = "CODEC", default_value_t = Codec::default())]
    pub(crate) codec: Codec,
    /// Parquet encodings of the tables: dense, or portable for readers that do not know `BYTE_STREAM_SPLIT`
    #[arg(long, value_name = "SET", default_value_t = EncodingSet::Dense)]
    pub(crate) encodings: EncodingSet,
    /// Play the ensemble anew; the old version stays readable until the new one is complete
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

impl PlayArgs {
    /// How pages are to be written.
    pub(crate) fn page_format(&self) -> PageFormat {
        PageFormat { codec: self.codec, encodings: self.encodings }
    }
}

/// What `run` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) play: PlayArgs,
    /// Worker threads [default: one a core]
    #[arg(long, value_name = "T")]
    pub(crate) threads: Option<usize>,
    /// Tell Prometheus, over HTTP at this address, what it does
    #[arg(long, value_name = "ADDR")]
    pub(crate) metrics: Option<std::net::SocketAddr>,
    /// Go on with an ensemble that was interrupted
    #[arg(long, conflicts_with = "replace")]
    pub(crate) resume: bool,
}

/// When fewer worlds than planned are enough.
#[derive(Debug, clap::Args)]
pub(crate) struct UntilArgs {
    /// Play no more once the 95% confidence interval of the mean of --outcome reaches no farther than this to either side:
    /// in percent of the mean (of 1 for shares and flags), as 0.5%, or in the outcome's unit
    #[arg(long, value_name = "WIDTH", requires = "outcome", conflicts_with = "replace")]
    pub(crate) until_ci: Option<Goal>,
    /// The outcome that is to be known, as ENTITY:OUTCOME
    #[arg(long, value_name = "NAME", requires = "until_ci")]
    pub(crate) outcome: Option<String>,
}
