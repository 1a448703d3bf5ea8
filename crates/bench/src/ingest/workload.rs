//! The settings of the benchmark.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::{Serialize, Serializer};

#[derive(Debug, Clone, PartialEq, Serialize, clap::Args)]
pub struct IngestWorkload {
    /// Choose what to compare
    #[arg(long = "sweep", value_name = "WHAT,..", value_delimiter = ',', default_value = "all", value_parser = compared())]
    #[serde(serialize_with = "one_list")]
    pub sweeps: Vec<Compared>,
    /// Load each server for this many seconds
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    pub seconds: f64,
    /// Overload a server for this many seconds
    ///
    /// It has too little memory. Default: the value of --seconds.
    #[arg(long, value_name = "S")]
    pub overload_seconds: Option<f64>,
    /// Open this many connections
    ///
    /// Except in the comparison of connections.
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub connections: usize,
    /// Send this many records per second
    ///
    /// In comparisons at a fixed rate.
    #[arg(long, value_name = "N", default_value_t = 500_000.0)]
    pub rate: f64,
    /// Seed of the generated values
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
}

/// The sweeps of one word: one or all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared(pub Vec<IngestSweep>);

fn compared() -> impl TypedValueParser<Value = Compared> {
    let all = PossibleValue::new("all").help("All of these");
    let sweeps = IngestSweep::value_variants();
    let one = sweeps.iter().filter_map(|sweep| Some(sweep.to_possible_value()?.help(sweep.texts()[0])));
    PossibleValuesParser::new([all].into_iter().chain(one)).map(move |name| {
        Compared(IngestSweep::from_str(&name, false).map_or_else(|_| sweeps.to_vec(), |sweep| vec![sweep]))
    })
}

fn one_list<S: Serializer>(sweeps: &[Compared], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(sweeps.iter().flat_map(|compared| &compared.0))
}

/// A sweep: cases that differ in one setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum IngestSweep {
    Formats,
    Bodies,
    Durability,
    Compression,
    Buffers,
    Flushes,
    Tables,
    Connections,
    Rate,
    Overload,
}

impl IngestSweep {
    /// Its title and its description in reports.
    pub(super) fn texts(self) -> [&'static str; 2] {
        match self {
            Self::Formats => {
                ["Wire formats", "Acknowledged once on disk; the tables of the columnar case are compacted afterwards."]
            }
            Self::Bodies => [
                "Compressed bodies",
                "Columnar bodies; compressing them is the load's work, expanding them the server's.",
            ],
            Self::Durability => ["Durability", "sync acknowledges once a request is on disk; the others before."],
            Self::Compression => ["Compressed segments", "What the server compresses the pages of segments with."],
            Self::Buffers => ["Rows of a segment", "Rows of a table that wait until they become a segment."],
            Self::Flushes => {
                ["Segments encoded at once", "Segments, of all tables together, that are encoded beside each other."]
            }
            Self::Tables => ["Tables", "Each table has a log, a buffer and commits of its own."],
            Self::Connections => ["Connections", "Requests of several connections share a sync of the log."],
            Self::Rate => {
                ["At a rate", "Latency counts from when a request was due, so that a server that falls behind shows."]
            }
            Self::Overload => {
                ["More than memory holds", "Little memory for rows that wait; what has no room is answered with 429."]
            }
        }
    }
}
