//! Makes request bodies on demand; no two requests are equal.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use world::{Seed, Stream, World};

use super::encode;
use super::format::{BodyCodec, WireFormat};
use super::records::{HOSTS, HUNDREDTHS, Measurement, Records};

/// Makes one connection's bodies in reused buffers.
pub(crate) struct Payloads {
    format: WireFormat,
    codec: BodyCodec,
    measurements: Arc<[Measurement]>,
    batch: usize,
    random: Stream,
    next_table: usize,
    last_time: i64,
    /// The records of the last body.
    pub(super) records: Records,
    plain: Vec<u8>,
    packed: Vec<u8>,
    zstd: zstd::bulk::Compressor<'static>,
}

impl Payloads {
    /// The bodies of connection number `connection`. Each number and seed has its own values.
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
            // Connections start with different tables, so that all tables are loaded from the start.
            next_table: connection % measurements.len(),
            measurements,
            last_time: 0,
            records: Records::default(),
            plain: Vec::new(),
            packed: Vec::new(),
            zstd: zstd::bulk::Compressor::new(1)?,
        })
    }

    /// The next body, and the number of its table.
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
}
