//! Compressed bodies and streams, detected by their first bytes. Bodies expand within limits.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};

use flate2::bufread::MultiGzDecoder;
use zstd::zstd_safe;

use super::error::DecodeError;
use super::limits::Limits;

/// Up to this size a body may grow by any ratio.
const RATIO_FREE: usize = 1 << 20;
/// Initial bytes to expand between checks of the limits.
const STEP: usize = 64 << 10;
/// The largest window of zstd frames, as a power of two (that of level 19). Each body in progress needs this memory.
const WINDOW_LOG_MAX: u32 = 23;

/// Decompresses a body (gzip, zstd, or none).
pub fn expand<'a>(body: &'a [u8], limits: &Limits) -> Result<Cow<'a, [u8]>, DecodeError> {
    if body.len() > limits.body_bytes_max {
        let reason = format!("{} bytes, where {} are allowed", body.len(), limits.body_bytes_max);
        return Err(DecodeError::TooLarge { reason });
    }
    let Some(packing) = Packing::of(body) else { return Ok(Cow::Borrowed(body)) };
    let by_ratio = body.len().saturating_mul(limits.ratio_max).max(RATIO_FREE);
    let bytes_max = limits.expanded_bytes_max.min(by_ratio);
    if matches!(packing, Packing::Zstd)
        && let Some(bytes) = expand_frame(body, bytes_max)
    {
        return Ok(Cow::Owned(bytes));
    }
    let packed = packing.reader(body, Some(WINDOW_LOG_MAX)).map_err(|error| broken(packing.name(), &error))?;
    unpack(packed, packing.name(), body.len(), bytes_max).map(Cow::Owned)
}

/// Decompresses a stream (gzip, zstd, or none), and names the compression. Waits for the first four bytes.
///
/// # Errors
/// If the stream fails. Reading fails, with a reason for users, if the compressed data is damaged or cut off.
pub fn expand_stream<'a>(
    mut stream: impl Read + Send + 'a,
) -> io::Result<(Option<&'static str>, Box<dyn Read + Send + 'a>)> {
    let mut start = Vec::new();
    stream.by_ref().take(START_BYTES).read_to_end(&mut start)?;
    let packing = Packing::of(&start);
    let stream = Cursor::new(start).chain(stream);
    Ok(match packing {
        None => (None, Box::new(stream)),
        Some(packing) => {
            let packed = BufReader::with_capacity(STEP, stream);
            (Some(packing.name()), Box::new(Unpacked { packing, reader: packing.reader(packed, None)? }))
        }
    })
}

/// Bytes that decide about a stream's compression.
const START_BYTES: u64 = 4;

#[derive(Debug, Clone, Copy)]
enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    fn of(start: &[u8]) -> Option<Self> {
        match start {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// Decompresses all members or frames; zstd's windows are limited to a power of two.
    fn reader<'a>(
        self,
        packed: impl BufRead + Send + 'a,
        window_log_max: Option<u32>,
    ) -> io::Result<Box<dyn Read + Send + 'a>> {
        match self {
            Self::Gzip => Ok(Box::new(MultiGzDecoder::new(packed))),
            Self::Zstd => {
                let mut decoder = zstd::Decoder::with_buffer(packed)?;
                window_log_max.map_or(Ok(()), |log| decoder.window_log_max(log))?;
                Ok(Box::new(decoder))
            }
        }
    }
}

/// A decompressed stream whose errors name the compression.
struct Unpacked<'a> {
    packing: Packing,
    reader: Box<dyn Read + Send + 'a>,
}

impl Read for Unpacked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer).map_err(|error| {
            let name = self.packing.name();
            match error.kind() {
                ErrorKind::Interrupted => error,
                ErrorKind::UnexpectedEof => io::Error::other(format!("the {name} data ends early: it is cut off")),
                _ => io::Error::other(format!("the {name} data is damaged: {error}")),
            }
        })
    }
}

thread_local! {
    /// Reused: creating a decompressor costs more than most bodies.
    static ZSTD: RefCell<Option<zstd::bulk::Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Decompresses in one step a body that is one zstd frame and says how many bytes it holds, at most `bytes_max`. `None`
/// for others, and for damaged ones.
fn expand_frame(body: &[u8], bytes_max: usize) -> Option<Vec<u8>> {
    let size = usize::try_from(zstd_safe::get_frame_content_size(body).ok()??).ok()?;
    if size > bytes_max || zstd_safe::find_frame_compressed_size(body).ok()? != body.len() {
        return None;
    }
    ZSTD.with_borrow_mut(|kept| {
        let zstd = match kept {
            Some(zstd) => zstd,
            none => none.insert(zstd::bulk::Decompressor::new().ok()?),
        };
        zstd.decompress(body, size).ok()
    })
}

fn unpack(
    mut packed: impl Read,
    format: &'static str,
    packed_bytes: usize,
    bytes_max: usize,
) -> Result<Vec<u8>, DecodeError> {
    let mut bytes = Vec::new();
    loop {
        let filled = bytes.len();
        let step = filled.max(STEP).min(bytes_max - filled);
        // Exact, because a doubling allocation would exceed the limit.
        bytes.reserve_exact(step);
        bytes.resize(filled + step, 0);
        let read = read_some(&mut packed, &mut bytes[filled..]).map_err(|error| broken(format, &error))?;
        bytes.truncate(filled + read);
        if read < step {
            return Ok(bytes);
        }
        if bytes.len() == bytes_max {
            let over = read_some(&mut packed, &mut [0]).map_err(|error| broken(format, &error))?;
            if over == 0 {
                return Ok(bytes);
            }
            let reason = format!("{packed_bytes} bytes of {format} hold more than the {bytes_max} that are allowed");
            return Err(DecodeError::TooLarge { reason });
        }
    }
}

/// Fills the buffer as far as data lasts.
fn read_some(packed: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match packed.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

fn broken(format: &'static str, error: &io::Error) -> DecodeError {
    DecodeError::Malformed { format, reason: error.to_string(), at: 0 }
}
