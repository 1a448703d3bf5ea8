//! The cases; each has one server and one load.

use std::path::Path;
use std::process::Command;

use ingest::Durability;
use table::Codec;

use super::format::{BodyCodec, WireFormat};
use super::load::{LoadPlan, Pace};
use super::workload::{IngestSweep, IngestWorkload};
use crate::harness::launch;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ServerSettings {
    pub(super) durability: Durability,
    pub(super) codec: Codec,
    pub(super) flush_rows: u64,
    pub(super) flushes: u64,
    /// Megabytes of unflushed rows, at most.
    pub(super) memory_mb: u64,
}

impl ServerSettings {
    /// The command that starts this server over the folder `data`.
    pub(super) fn command(&self, program: &Path, data: &Path) -> Command {
        let mut command = launch::command(program);
        command.args(["serve", "--listen", "127.0.0.1:0", "--durability", &self.durability.to_string()]);
        for (flag, value) in [
            ("--codec", self.codec.to_string()),
            ("--flush-rows", self.flush_rows.to_string()),
            ("--flushes", self.flushes.to_string()),
            ("--memory", self.memory_mb.to_string()),
        ] {
            command.arg(flag).arg(value);
        }
        command.arg("--data").arg(data);
        command
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Case {
    pub(super) sweep: IngestSweep,
    /// The setting that differs from other cases.
    pub(super) setting: String,
    pub(super) server: ServerSettings,
    pub(super) load: LoadPlan,
    /// Whether to compact its tables afterwards.
    pub(super) compact: bool,
}

pub(super) fn cases(workload: &IngestWorkload) -> Vec<Case> {
    IngestSweep::ALL
        .into_iter()
        .filter(|sweep| workload.sweeps.contains(sweep))
        .flat_map(|sweep| of_sweep(sweep, workload))
        .collect()
}

fn of_sweep(sweep: IngestSweep, workload: &IngestWorkload) -> Vec<Case> {
    let plain = || Case {
        sweep,
        setting: String::new(),
        server: ServerSettings {
            durability: Durability::Sync,
            codec: Codec::default(),
            flush_rows: 200_000,
            flushes: 2,
            memory_mb: 256,
        },
        load: LoadPlan {
            seconds: workload.seconds,
            connections: workload.connections,
            seed: workload.seed,
            ..LoadPlan::default()
        },
        compact: false,
    };
    let with = |setting: String, change: &dyn Fn(&mut Case)| {
        let mut case = Case { setting, ..plain() };
        change(&mut case);
        case
    };
    match sweep {
        IngestSweep::Formats => {
            let of = |format: WireFormat| {
                with(format.to_string(), &|case| {
                    case.load.format = format;
                    case.compact = format == WireFormat::Columnar;
                })
            };
            WireFormat::ALL.map(of).into()
        }
        IngestSweep::Bodies => {
            let of = |codec: BodyCodec| with(format!("{codec} bodies"), &|case| case.load.compression = codec);
            BodyCodec::ALL.map(of).into()
        }
        IngestSweep::Durability => {
            let of = |durability: Durability| {
                with(format!("durability {durability}"), &|case| case.server.durability = durability)
            };
            [Durability::Sync, Durability::Interval, Durability::None].map(of).into()
        }
        IngestSweep::Compression => {
            let of = |codec: Codec| with(format!("{codec} segments"), &|case| case.server.codec = codec);
            [Codec::None, Codec::Snappy, Codec::Lz4, Codec::Gzip, Codec::Zstd(1)].map(of).into()
        }
        IngestSweep::Buffers => {
            let of =
                |rows: u64| with(format!("{}K rows a segment", rows / 1_000), &|case| case.server.flush_rows = rows);
            [50_000, 100_000, 200_000, 500_000].map(of).into()
        }
        IngestSweep::Flushes => {
            let of = |n: u64| with(format!("{n} encoded at once"), &|case| case.server.flushes = n);
            [1, 2, 4].map(of).into()
        }
        IngestSweep::Tables => {
            let of = |n: usize| with(format!("{n} tables"), &|case| case.load.tables = n);
            [1, 3, 12].map(of).into()
        }
        IngestSweep::Connections => {
            let of = |n: usize| with(format!("{n} connections"), &|case| case.load.connections = n);
            [1, 2, 8, 32].map(of).into()
        }
        IngestSweep::Rate => {
            let rate = workload.rate;
            vec![with(format!("{} K records/s", rate / 1e3), &|case| case.load.pace = Pace::Rate(rate))]
        }
        IngestSweep::Overload => vec![with("overload, 32 MB".to_owned(), &|case| {
            case.server.memory_mb = 32;
            case.load.connections = workload.connections.max(16);
            case.load.seconds = workload.overload_seconds;
        })],
    }
}
