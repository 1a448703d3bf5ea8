//! The cases; each has one server and one load.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use clap::ValueEnum as _;
use ingest::Durability;
use table::Codec;

use super::format::{BodyCodec, WireFormat};
use super::load::{LoadPlan, Pace};
use super::row::ServerSettings;
use super::workload::{IngestSweep, IngestWorkload};
use crate::harness::child::command;

impl ServerSettings {
    /// The command that starts this server over the folder `data`.
    pub(super) fn command(&self, program: &[OsString], data: &Path) -> Command {
        let mut command = command(program, ["serve", "--listen", "127.0.0.1:0"]);
        for (flag, value) in [
            ("--durability", self.durability.to_string()),
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
    let is_wanted = |sweep: &&IngestSweep| workload.sweeps.iter().any(|compared| compared.0.contains(sweep));
    IngestSweep::value_variants().iter().filter(is_wanted).flat_map(|sweep| of_sweep(*sweep, workload)).collect()
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
            format: WireFormat::Columnar,
            compression: BodyCodec::None,
            pace: Pace::Max,
            connections: workload.connections,
            seconds: workload.seconds,
            requests: None,
            batch: 1_000,
            tables: 3,
            keys: false,
            seed: workload.seed,
        },
        compact: false,
    };
    let with = |setting: String, change: &dyn Fn(&mut Case)| {
        let mut case = Case { setting, ..plain() };
        change(&mut case);
        case
    };
    match sweep {
        IngestSweep::Formats => each(WireFormat::value_variants(), |format| {
            with(format.to_string(), &|case| {
                case.load.format = format;
                case.compact = format == WireFormat::Columnar;
            })
        }),
        IngestSweep::Bodies => each(BodyCodec::value_variants(), |codec| {
            with(format!("{codec} bodies"), &|case| case.load.compression = codec)
        }),
        IngestSweep::Durability => each(&[Durability::Sync, Durability::Interval, Durability::None], |durability| {
            with(format!("durability {durability}"), &|case| case.server.durability = durability)
        }),
        IngestSweep::Compression => {
            each(&[Codec::None, Codec::Snappy, Codec::Lz4, Codec::Gzip, Codec::Zstd(1)], |codec| {
                with(format!("{codec} segments"), &|case| case.server.codec = codec)
            })
        }
        IngestSweep::Buffers => each(&[50_000, 100_000, 200_000, 500_000], |rows| {
            with(format!("{}K rows a segment", rows / 1_000), &|case| case.server.flush_rows = rows)
        }),
        IngestSweep::Flushes => {
            each(&[1, 2, 4], |n| with(format!("{n} encoded at once"), &|case| case.server.flushes = n))
        }
        IngestSweep::Tables => each(&[1, 3, 12], |n| with(format!("{n} tables"), &|case| case.load.tables = n)),
        IngestSweep::Connections => {
            each(&[1, 2, 8, 32], |n| with(format!("{n} connections"), &|case| case.load.connections = n))
        }
        IngestSweep::Rate => each(&[workload.rate], |rate| {
            with(format!("{} K records/s", rate / 1e3), &|case| case.load.pace = Pace::Rate(rate))
        }),
        IngestSweep::Overload => vec![with("overload, 32 MB".to_owned(), &|case| {
            case.server.memory_mb = 32;
            case.load.connections = workload.connections.max(16);
            case.load.seconds = workload.overload_seconds.unwrap_or(workload.seconds);
        })],
    }
}

fn each<T: Copy>(values: &[T], case: impl Fn(T) -> Case) -> Vec<Case> {
    values.iter().map(|value| case(*value)).collect()
}
