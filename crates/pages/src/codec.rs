//! Compression of pages.

use std::cell::RefCell;
use std::fmt;
use std::io::{Read as _, Write as _};
use std::str::FromStr;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use lz4_flex::block::{CompressTable, compress_into_with_table, get_maximum_output_size};
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::errors::{ParquetError, Result};

/// A compression codec. As text: `none`, `snappy`, `lz4`, `gzip`, `zstd:3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    None,
    Snappy,
    /// LZ4 without frames, which Parquet calls `LZ4_RAW`.
    Lz4,
    /// gzip at its default level, 6.
    Gzip,
    /// zstd at a level from 1 (fast) to 22.
    Zstd(i32),
}

impl Default for Codec {
    fn default() -> Self {
        Self::Zstd(1)
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.pad("none"),
            Self::Snappy => f.pad("snappy"),
            Self::Lz4 => f.pad("lz4"),
            Self::Gzip => f.pad("gzip"),
            Self::Zstd(level) => f.pad(&format!("zstd:{level}")),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown codec: choose none, snappy, lz4, gzip, or zstd:LEVEL with a level from 1 to 22")]
pub struct UnknownCodec;

impl FromStr for Codec {
    type Err = UnknownCodec;

    fn from_str(text: &str) -> std::result::Result<Self, UnknownCodec> {
        let level = |level: &str| level.parse().ok().filter(|level| (1..=22).contains(level));
        let codec = match text {
            "none" => Some(Self::None),
            "snappy" => Some(Self::Snappy),
            "lz4" => Some(Self::Lz4),
            "gzip" => Some(Self::Gzip),
            "zstd" => Some(Self::Zstd(1)),
            _ => text.strip_prefix("zstd:").and_then(level).map(Self::Zstd),
        };
        codec.ok_or(UnknownCodec)
    }
}

impl serde::Serialize for Codec {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Codec {
    pub fn in_footer(self) -> Result<Compression> {
        Ok(match self {
            Self::None => Compression::UNCOMPRESSED,
            Self::Snappy => Compression::SNAPPY,
            Self::Lz4 => Compression::LZ4_RAW,
            Self::Gzip => Compression::GZIP(GzipLevel::default()),
            Self::Zstd(level) => Compression::ZSTD(ZstdLevel::try_new(level)?),
        })
    }
}

/// The name of a codec that this crate cannot read; `None` for supported codecs.
pub fn unsupported_codec(in_footer: Compression) -> Option<String> {
    match in_footer {
        Compression::UNCOMPRESSED
        | Compression::SNAPPY
        | Compression::LZ4_RAW
        | Compression::GZIP(_)
        | Compression::ZSTD(_) => None,
        // Writers never agreed on the frame of the deprecated LZ4 codec.
        Compression::LZ4 => Some("LZ4 with Hadoop framing".to_owned()),
        // The library appends a level that footers do not hold.
        other => Some(format!("{other:?}").split('(').next().unwrap_or_default().to_owned()),
    }
}

/// Compresses pages, and reuses its tables and buffers between them.
pub struct Compressor {
    in_footer: Compression,
    engine: Engine,
    /// Output buffer of the codecs that need one, as large as the worst case.
    room: Vec<u8>,
}

enum Engine {
    None,
    Snappy(Box<snap::raw::Encoder>),
    Lz4(CompressTable),
    Gzip,
    Zstd { short: zstd::bulk::Compressor<'static>, long: zstd::bulk::Compressor<'static>, is_fast: bool },
}

/// Pages of fewer bytes are short. Tables of codes take most of their time, and save 1 to 4% of the bytes of an ensemble.
const SHORT_BELOW: usize = 256;

/// The level that is chosen for speed. Others are a user's choice of fewer bytes.
const FAST: i32 = 1;

/// The level of short pages where that of the others is [`FAST`]. Levels below 0 make no tables of codes.
const SHORT_LEVEL: i32 = -1;

/// Shorter pages are stored uncompressed in a zstd frame: compressing them takes a microsecond and saves only a few bytes.
const STORED_BELOW: usize = 32;

/// A page is also stored if [`FAST`] would save less than one part in so many of its bytes: decoding it would take longer than
/// counting its values.
const SAVED_PART_MIN: usize = 20;

/// A zstd frame of at most 4 GB, uncompressed (RFC 8878, sections 3.1.1.1 and 3.1.1.2).
fn stored_frame(page: &[u8]) -> Bytes {
    const MAGIC: [u8; 4] = 0xFD2F_B528_u32.to_le_bytes();
    const BLOCK_MAX: usize = 128 << 10;
    // One segment, and its size in one, two or four bytes.
    let size = page.len() as u32;
    let (descriptor, size, bytes) = match page.len() {
        0..256 => (1 << 5, size, 1),
        256..65_792 => (1 << 6 | 1 << 5, size - 256, 2),
        _ => (2 << 6 | 1 << 5, size, 4),
    };
    let mut frame = Vec::with_capacity(page.len() + 16 + 3 * (page.len() / BLOCK_MAX));
    frame.extend_from_slice(&MAGIC);
    frame.push(descriptor);
    frame.extend_from_slice(&size.to_le_bytes()[..bytes]);
    let mut rest = page;
    loop {
        let (block, after) = rest.split_at(rest.len().min(BLOCK_MAX));
        // Whether it is the last one, and the type of blocks that are not compressed: 0.
        let header = (block.len() as u32) << 3 | u32::from(after.is_empty());
        frame.extend_from_slice(&header.to_le_bytes()[..3]);
        frame.extend_from_slice(block);
        if after.is_empty() {
            return frame.into();
        }
        rest = after;
    }
}

impl Compressor {
    pub fn new(codec: Codec) -> Result<Self> {
        let engine = match codec {
            Codec::None => Engine::None,
            Codec::Snappy => Engine::Snappy(Box::new(snap::raw::Encoder::new())),
            Codec::Lz4 => Engine::Lz4(CompressTable::large()),
            Codec::Gzip => Engine::Gzip,
            Codec::Zstd(level) => {
                let of_level = |level| zstd::bulk::Compressor::new(level).map_err(external);
                let is_fast = level == FAST;
                let short = if is_fast { SHORT_LEVEL } else { level };
                Engine::Zstd { short: of_level(short)?, long: of_level(level)?, is_fast }
            }
        };
        Ok(Self { in_footer: codec.in_footer()?, engine, room: Vec::new() })
    }

    pub(crate) fn in_footer(&self) -> Compression {
        self.in_footer
    }

    pub fn compress(&mut self, page: &[u8]) -> Result<Bytes> {
        let room = |room: &mut Vec<u8>, most: usize| room.resize(room.len().max(most), 0);
        let length = match &mut self.engine {
            Engine::None => return Ok(Bytes::copy_from_slice(page)),
            Engine::Gzip => {
                let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::default());
                gzip.write_all(page).map_err(external)?;
                return Ok(Bytes::from(gzip.finish().map_err(external)?));
            }
            Engine::Zstd { .. } if page.len() < STORED_BELOW => return Ok(stored_frame(page)),
            Engine::Zstd { short, long, is_fast } => {
                let zstd = if page.len() < SHORT_BELOW { short } else { long };
                room(&mut self.room, zstd::zstd_safe::compress_bound(page.len()));
                let length = zstd.compress_to_buffer(page, &mut self.room[..]).map_err(external)?;
                if *is_fast && length > page.len() - page.len() / SAVED_PART_MIN {
                    return Ok(stored_frame(page));
                }
                length
            }
            Engine::Snappy(snappy) => {
                room(&mut self.room, snap::raw::max_compress_len(page.len()));
                snappy.compress(page, &mut self.room).map_err(external)?
            }
            Engine::Lz4(table) => {
                room(&mut self.room, get_maximum_output_size(page.len()));
                compress_into_with_table(page, &mut self.room, table).map_err(external)?
            }
        };
        Ok(Bytes::copy_from_slice(&self.room[..length]))
    }
}

thread_local! {
    /// Reused: creating a decompressor costs more than most pages.
    static ZSTD: RefCell<Option<zstd::bulk::Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Appends the page's `size` bytes to `out`, which is empty.
pub(crate) fn decompress(codec: Compression, packed: &[u8], size: usize, out: &mut Vec<u8>) -> crate::Result<()> {
    const DAMAGED: crate::Error = crate::Error::damaged("a page cannot be decompressed");
    out.try_reserve(size).map_err(|_| crate::Error::damaged("a page is larger than memory"))?;
    match codec {
        Compression::ZSTD(_) => ZSTD.with_borrow_mut(|kept| {
            let zstd = match kept {
                Some(zstd) => zstd,
                none => none.insert(zstd::bulk::Decompressor::new()?),
            };
            zstd.decompress_to_buffer(packed, out).map_err(|_| DAMAGED)
        })?,
        Compression::SNAPPY => {
            if snap::raw::decompress_len(packed).ok() != Some(size) {
                return Err(DAMAGED);
            }
            out.resize(size, 0);
            snap::raw::Decoder::new().decompress(packed, out).map_err(|_| DAMAGED)?
        }
        Compression::LZ4_RAW => {
            out.resize(size, 0);
            lz4_flex::block::decompress_into(packed, out).map_err(|_| DAMAGED)?
        }
        Compression::GZIP(_) => MultiGzDecoder::new(packed).take(size as u64).read_to_end(out).map_err(|_| DAMAGED)?,
        _ => return Err(crate::Error::Unsupported),
    };
    if out.len() == size { Ok(()) } else { Err(DAMAGED) }
}

fn external(error: impl std::error::Error + Send + Sync + 'static) -> ParquetError {
    ParquetError::External(Box::new(error))
}

#[cfg(test)]
mod tests {
    use parquet::basic::BrotliLevel;

    use super::*;

    #[test]
    fn codec_text_round_trips() {
        for (text, codec) in [
            ("none", Codec::None),
            ("snappy", Codec::Snappy),
            ("lz4", Codec::Lz4),
            ("gzip", Codec::Gzip),
            ("zstd:1", Codec::default()),
            ("zstd:22", Codec::Zstd(22)),
        ] {
            assert_eq!((text.parse(), codec.to_string().as_str()), (Ok(codec), text));
        }
        assert_eq!("zstd".parse(), Ok(Codec::Zstd(1)));
    }

    /// Checks that this crate and others read the page from the frame, which says how long it is.
    fn check_frame(frame: &[u8], page: &[u8]) {
        let size = page.len();
        assert_eq!(zstd::stream::decode_all(frame).unwrap(), page, "{size}");
        let mut read = Vec::new();
        decompress(Compression::ZSTD(ZstdLevel::default()), frame, size, &mut read).unwrap();
        assert_eq!(read, page, "{size}");
        assert_eq!(zstd::zstd_safe::get_frame_content_size(frame).unwrap(), Some(size as u64));
    }

    #[test]
    fn short_pages_are_frames_for_any_reader() {
        let mut compressor = Compressor::new(Codec::Zstd(1)).unwrap();
        for size in 0..=SHORT_BELOW {
            let page: Vec<u8> = (0..size).map(|byte| byte as u8 % 100).collect();
            check_frame(&compressor.compress(&page).unwrap(), &page);
        }
    }

    #[test]
    fn short_pages_have_tables_of_codes_only_at_a_chosen_level() {
        // Four bits of each byte, in no order: nothing repeats, so only a table of codes makes them fewer.
        let mixed = |i: u32| (i.wrapping_mul(0x9E37_79B9) ^ 0x1234_5678).wrapping_pow(3) >> 28;
        let page: Vec<u8> = (0..SHORT_BELOW as u32).map(|i| mixed(i) as u8).collect();
        let length =
            |level, bytes| Compressor::new(Codec::Zstd(level)).unwrap().compress(&page[..bytes]).unwrap().len();
        let (short, long) = (SHORT_BELOW - 1, SHORT_BELOW);
        assert!(length(1, short) > short);
        assert!(length(1, long) < long * 3 / 4);
        assert!(length(3, short) < short * 3 / 4);
    }

    /// Bytes in no order; of 256, `zeros` are replaced by 0.
    fn mixed_bytes(zeros: u32, count: usize) -> Vec<u8> {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 24
        };
        let byte = |_| {
            let byte = next();
            if next() < zeros { 0 } else { byte as u8 }
        };
        (0..count).map(byte).collect()
    }

    #[test]
    fn pages_that_hardly_shrink_are_stored_in_frames_for_any_reader() {
        let mut compressor = Compressor::new(Codec::default()).unwrap();
        for size in [SHORT_BELOW, 65_791, 65_792, 128 << 10, (128 << 10) + 1, 300_000] {
            let page = mixed_bytes(24, size);
            let frame = compressor.compress(&page).unwrap();
            assert!(frame.len() > size, "{size} bytes are {} compressed", frame.len());
            check_frame(&frame, &page);
        }
    }

    #[test]
    fn pages_are_compressed_from_a_twentieth_on_or_at_a_chosen_level() {
        let share = |level, zeros| {
            let page = mixed_bytes(zeros, 100_000);
            Compressor::new(Codec::Zstd(level)).unwrap().compress(&page).unwrap().len() as f64 / page.len() as f64
        };
        assert!(share(1, 24) > 1.0);
        assert!(share(3, 24) < 0.97);
        assert!(share(1, 64) < 0.9);
    }

    #[test]
    fn unsupported_codecs_have_names() {
        let names =
            [Compression::BROTLI(BrotliLevel::default()), Compression::LZO, Compression::LZ4].map(unsupported_codec);
        assert_eq!(names, ["BROTLI", "LZO", "LZ4 with Hadoop framing"].map(|name| Some(name.to_owned())));
    }

    #[test]
    fn unknown_codecs_are_rejected() {
        for text in ["", "gzip:3", "LZ4", "zstd:0", "zstd:23", "zstd:", "zstd3", "snappy:1"] {
            assert_eq!(text.parse::<Codec>(), Err(UnknownCodec), "{text:?}");
        }
    }
}
