//! Bodies of requests, made as they are needed: no request is sent twice.
//!
//! A record has a time in microseconds, one of 1,000 hosts, and three values of two decimals from 0 to 99.99: 6.2 bytes
//! of surprise beside the time. Every value is uniform, so nothing but its width can be saved.

use std::fmt;
use std::io::{self, Write as _};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use world::{Seed, Stream, World};

use super::encode;

/// Hosts that records come from.
pub(crate) const HOSTS: u32 = 1_000;
/// Values that a field may have, in hundredths.
pub(crate) const HUNDREDTHS: u32 = 10_000;

/// A table that is loaded, and its three fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Measurement {
    pub(crate) name: String,
    pub(crate) fields: [&'static str; 3],
}

/// The first `count` measurements: cpu, mem, disk, cpu2, mem2 and so on.
pub(crate) fn measurements(count: usize) -> Vec<Measurement> {
    const KINDS: [(&str, [&str; 3]); 3] = [
        ("cpu", ["usage_user", "usage_system", "usage_idle"]),
        ("mem", ["used", "cached", "available"]),
        ("disk", ["used", "read_busy", "write_busy"]),
    ];
    let of = |place: usize| {
        let (kind, fields) = KINDS[place % KINDS.len()];
        let round = place / KINDS.len() + 1;
        Measurement { name: if round == 1 { kind.to_owned() } else { format!("{kind}{round}") }, fields }
    };
    (0..count).map(of).collect()
}

/// What bodies are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WireFormat {
    /// `MessagePack`, an array a column.
    Columnar,
    /// `MessagePack`, a map a record.
    Rows,
    /// Line protocol.
    Lp,
    /// One JSON object a line.
    Json,
    /// An Arrow IPC stream.
    Arrow,
}

impl WireFormat {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Columnar, Self::Rows, Self::Lp, Self::Json, Self::Arrow];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Columnar => "columnar",
            Self::Rows => "rows",
            Self::Lp => "lp",
            Self::Json => "json",
            Self::Arrow => "arrow",
        }
    }

    /// Where bodies for a table of `database` go.
    pub(crate) fn path(self, database: &str, table: &str) -> String {
        match self {
            Self::Columnar | Self::Rows => "/api/v1/write/msgpack".to_owned(),
            Self::Lp => format!("/write?db={database}&precision=us"),
            Self::Json => format!("/api/v1/write/json?table={database}.{table}"),
            Self::Arrow => format!("/api/v1/write/arrow?table={database}.{table}"),
        }
    }
}

/// What compresses bodies, at its fastest level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BodyCodec {
    /// Nothing.
    None,
    /// gzip.
    Gzip,
    /// zstd.
    Zstd,
}

impl BodyCodec {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::None, Self::Gzip, Self::Zstd];

    /// Its name on the command line and in the header `content-encoding`.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// A word that is none of those there are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is none of {choices}")]
pub struct UnknownWord {
    given: String,
    choices: String,
}

fn choose<T: Copy>(given: &str, all: &[T], name: fn(T) -> &'static str) -> Result<T, UnknownWord> {
    let found = all.iter().copied().find(|one| name(*one) == given);
    found.ok_or_else(|| {
        let choices: Vec<&str> = all.iter().map(|one| name(*one)).collect();
        UnknownWord { given: given.to_owned(), choices: choices.join(", ") }
    })
}

impl FromStr for WireFormat {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        choose(text, &Self::ALL, Self::name)
    }
}

impl FromStr for BodyCodec {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        choose(text, &Self::ALL, Self::name)
    }
}

impl fmt::Display for WireFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for BodyCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Records of one request, column by column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Records {
    /// Microseconds since 1970, rising.
    pub(crate) times: Vec<i64>,
    /// Which host, below [`HOSTS`].
    pub(crate) hosts: Vec<u16>,
    /// The fields, in hundredths.
    pub(crate) values: [Vec<u16>; 3],
}

/// Makes the bodies of one connection, in memory that is used again.
pub(crate) struct Payloads {
    format: WireFormat,
    codec: BodyCodec,
    measurements: Arc<[Measurement]>,
    batch: usize,
    random: Stream,
    next_table: usize,
    last_time: i64,
    records: Records,
    plain: Vec<u8>,
    packed: Vec<u8>,
    zstd: zstd::bulk::Compressor<'static>,
}

impl Payloads {
    /// Those of connection number `connection`; other numbers and seeds have other values.
    pub(crate) fn new(
        format: WireFormat,
        codec: BodyCodec,
        measurements: Arc<[Measurement]>,
        batch: usize,
        seed: u64,
        connection: usize,
    ) -> io::Result<Self> {
        Ok(Self {
            format,
            codec,
            batch,
            random: Stream::new(Seed(seed), World(connection as u32), 0, 0),
            // Connections begin with different tables, so that all are written to from the start.
            next_table: connection % measurements.len(),
            measurements,
            last_time: 0,
            records: Records::default(),
            plain: Vec::new(),
            packed: Vec::new(),
            zstd: zstd::bulk::Compressor::new(1)?,
        })
    }

    /// The next body, and the place of its table.
    pub(crate) fn next_body(&mut self) -> io::Result<(usize, &[u8])> {
        let table = self.next_table;
        self.next_table = (table + 1) % self.measurements.len();
        self.draw();
        self.plain.clear();
        encode::encode(self.format, &self.measurements[table], &self.records, &mut self.plain)?;
        Ok((table, self.pack()?))
    }

    fn draw(&mut self) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as i64);
        let first = now.max(self.last_time + 1);
        self.last_time = first + self.batch as i64 - 1;
        let Self { records, random, batch, .. } = self;
        let mut below = |n: u32| ((u64::from(random.next_u32()) * u64::from(n)) >> 32) as u16;
        records.times.clear();
        records.times.extend((0..*batch as i64).map(|place| first + place));
        records.hosts.clear();
        records.hosts.extend((0..*batch).map(|_| below(HOSTS)));
        for values in &mut records.values {
            values.clear();
            values.extend((0..*batch).map(|_| below(HUNDREDTHS)));
        }
    }

    fn pack(&mut self) -> io::Result<&[u8]> {
        self.packed.clear();
        match self.codec {
            BodyCodec::None => return Ok(&self.plain),
            BodyCodec::Gzip => {
                let level = flate2::Compression::fast();
                let mut writer = flate2::write::GzEncoder::new(&mut self.packed, level);
                writer.write_all(&self.plain)?;
                writer.finish()?;
            }
            BodyCodec::Zstd => {
                self.packed.reserve(zstd::zstd_safe::compress_bound(self.plain.len()));
                self.zstd.compress_to_buffer(&self.plain, &mut self.packed)?;
            }
        }
        Ok(&self.packed)
    }

    /// The records of the last body.
    #[cfg(test)]
    pub(crate) fn records(&self) -> &Records {
        &self.records
    }
}
