//! Compressed bodies: detected by their first bytes, expanded within limits.

use std::borrow::Cow;
use std::io::{ErrorKind, Read};

use flate2::read::MultiGzDecoder;

use super::error::DecodeError;
use super::limits::Limits;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
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
    if body.starts_with(GZIP) {
        return unpack(MultiGzDecoder::new(body), "gzip", body.len(), limits).map(Cow::Owned);
    }
    if body.starts_with(ZSTD) {
        let mut decoder = zstd::Decoder::with_buffer(body).map_err(|error| broken("zstd", &error))?;
        decoder.window_log_max(WINDOW_LOG_MAX).map_err(|error| broken("zstd", &error))?;
        return unpack(decoder, "zstd", body.len(), limits).map(Cow::Owned);
    }
    Ok(Cow::Borrowed(body))
}

fn unpack(
    mut packed: impl Read,
    format: &'static str,
    packed_bytes: usize,
    limits: &Limits,
) -> Result<Vec<u8>, DecodeError> {
    let by_ratio = packed_bytes.saturating_mul(limits.ratio_max).max(RATIO_FREE);
    let bytes_max = limits.expanded_bytes_max.min(by_ratio);
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
fn read_some(packed: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
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

fn broken(format: &'static str, error: &std::io::Error) -> DecodeError {
    DecodeError::Malformed { format, reason: error.to_string(), at: 0 }
}
