//! The settings of the benchmark.

use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IngestWorkload {
    pub sweeps: Vec<IngestSweep>,
    /// Duration of each case in seconds.
    pub seconds: f64,
    /// Duration of the overload case in seconds.
    pub overload_seconds: f64,
    /// Connections, except in the sweep that varies them.
    pub connections: usize,
    /// Records per second in the case with a fixed rate.
    pub rate: f64,
    pub seed: u64,
}

/// A sweep: cases that differ in one setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum IngestSweep {
    /// Every wire format.
    Formats,
    /// Compression of bodies.
    Bodies,
    /// Acknowledge rows after, shortly before or long before they are on disk.
    Durability,
    /// Compression of segments.
    Compression,
    /// Rows per segment.
    Buffers,
    /// Segments encoded at once.
    Flushes,
    Tables,
    Connections,
    /// Requests at a fixed rate.
    Rate,
    /// More rows than memory can hold.
    Overload,
}

impl IngestSweep {
    /// All sweeps, in the order of measurement.
    pub const ALL: [Self; 10] = [
        Self::Formats,
        Self::Bodies,
        Self::Durability,
        Self::Compression,
        Self::Buffers,
        Self::Flushes,
        Self::Tables,
        Self::Connections,
        Self::Rate,
        Self::Overload,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Formats => "formats",
            Self::Bodies => "bodies",
            Self::Durability => "durability",
            Self::Compression => "compression",
            Self::Buffers => "buffers",
            Self::Flushes => "flushes",
            Self::Tables => "tables",
            Self::Connections => "connections",
            Self::Rate => "rate",
            Self::Overload => "overload",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Formats => "Wire formats",
            Self::Bodies => "Compressed bodies",
            Self::Durability => "Durability",
            Self::Compression => "Compressed segments",
            Self::Buffers => "Rows of a segment",
            Self::Flushes => "Segments encoded at once",
            Self::Tables => "Tables",
            Self::Connections => "Connections",
            Self::Rate => "At a rate",
            Self::Overload => "More than memory holds",
        }
    }

    /// Its description in reports.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Formats => "Acknowledged once on disk; the tables of the columnar case are compacted afterwards.",
            Self::Bodies => "Columnar bodies; compressing them is the load's work, expanding them the server's.",
            Self::Durability => "sync acknowledges once a request is on disk; the others before.",
            Self::Compression => "What the server compresses the pages of segments with.",
            Self::Buffers => "Rows of a table that wait until they become a segment.",
            Self::Flushes => "Segments, of all tables together, that are encoded beside each other.",
            Self::Tables => "Each table has a log, a buffer and commits of its own.",
            Self::Connections => "Requests of several connections share a sync of the log.",
            Self::Rate => "Latency counts from when a request was due, so that a server that falls behind shows.",
            Self::Overload => "Little memory for rows that wait; what has no room is answered with 429.",
        }
    }
}
