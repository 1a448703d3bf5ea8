//! Reads and writes messages on a stream.

use std::io;

use bytes::{Buf as _, BufMut as _, BytesMut};
use pgwire::error::PgWireError;
use pgwire::messages::Message;
use pgwire::messages::copy::MESSAGE_TYPE_BYTE_COPY_DATA;
use pgwire::messages::data::MESSAGE_TYPE_BYTE_DATA_ROW;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// Maximum bytes of a message; a query over HTTP has the same limit.
const MESSAGE_BYTES_MAX: usize = 2 << 20;
/// Maximum bytes of a message before authentication.
const FIRST_BYTES_MAX: usize = 10_000;
/// Bytes to buffer before sending.
const SENT_TOGETHER: usize = 64 << 10;

/// A stream of messages.
pub(super) struct Wire<S> {
    stream: S,
    read: BytesMut,
    write: BytesMut,
}

fn invalid(reason: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason.into())
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, read: BytesMut::new(), write: BytesMut::new() }
    }

    /// The stream; an error if unprocessed bytes are buffered.
    pub(super) fn into_inner(self) -> io::Result<S> {
        // A man in the middle could have injected them before the encryption.
        if self.read.is_empty() { Ok(self.stream) } else { Err(invalid("the client sent data before TLS was set up")) }
    }

    /// Reads until `bytes` bytes are buffered; `false` if the stream ends first.
    async fn fill(&mut self, bytes: usize) -> io::Result<bool> {
        while self.read.len() < bytes {
            if self.stream.read_buf(&mut self.read).await? == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads the next message with its length, after `before` bytes; `None` at the end of the stream.
    async fn frame(&mut self, before: usize, limit: usize) -> io::Result<Option<BytesMut>> {
        if !self.fill(before + 4).await? {
            return Ok(None);
        }
        let length = (&self.read[before..]).get_u32() as usize;
        if !(4..=limit).contains(&length) {
            return Err(invalid(format!("a message of {length} bytes exceeds the limit of {limit}")));
        }
        Ok(self.fill(before + length).await?.then(|| self.read.split_to(before + length)))
    }

    /// The first message with its length. It has no type byte.
    pub(super) async fn first(&mut self) -> io::Result<Option<BytesMut>> {
        self.frame(0, FIRST_BYTES_MAX).await
    }

    /// The next message: type and body.
    pub(super) async fn next(&mut self) -> io::Result<Option<(u8, BytesMut)>> {
        self.message(MESSAGE_BYTES_MAX).await
    }

    /// The next message of a client that may be anyone.
    pub(super) async fn next_unauthorized(&mut self) -> io::Result<Option<(u8, BytesMut)>> {
        self.message(FIRST_BYTES_MAX).await
    }

    async fn message(&mut self, limit: usize) -> io::Result<Option<(u8, BytesMut)>> {
        let Some(mut frame) = self.frame(1, limit).await? else { return Ok(None) };
        let kind = frame.get_u8();
        frame.advance(4);
        if is_whole(kind, &frame) {
            Ok(Some((kind, frame)))
        } else {
            Err(invalid(format!("a message of kind {:?} ends too early", char::from(kind))))
        }
    }

    /// Buffers a message.
    pub(super) fn put(&mut self, message: &impl Message) -> io::Result<()> {
        message.encode(&mut self.write).map_err(|error| match error {
            PgWireError::IoError(error) => error,
            other => io::Error::other(other),
        })
    }

    /// Buffers a row; `values` writes each value with its length.
    pub(super) fn put_row(&mut self, columns: usize, values: impl FnOnce(&mut BytesMut)) {
        self.write.put_u8(MESSAGE_TYPE_BYTE_DATA_ROW);
        let begin = self.write.len();
        self.write.put_u32(0);
        self.write.put_u16(columns as u16);
        values(&mut self.write);
        let length = (self.write.len() - begin) as u32;
        self.write[begin..begin + 4].copy_from_slice(&length.to_be_bytes());
    }

    /// Buffers data of a `COPY`, unless `write` writes none.
    pub(super) fn put_data(&mut self, write: impl FnOnce(&mut BytesMut)) {
        let begin = self.write.len();
        self.write.put_u8(MESSAGE_TYPE_BYTE_COPY_DATA);
        self.write.put_u32(0);
        write(&mut self.write);
        let length = self.write.len() - begin - 1;
        if length == 4 {
            return self.write.truncate(begin);
        }
        self.write[begin + 1..begin + 5].copy_from_slice(&(length as u32).to_be_bytes());
    }

    /// Whether the buffer should be sent.
    pub(super) fn is_full(&self) -> bool {
        self.write.len() >= SENT_TOGETHER
    }

    /// Sends the buffer.
    pub(super) async fn send(&mut self) -> io::Result<()> {
        self.stream.write_all(&self.write).await?;
        self.write.clear();
        self.stream.flush().await
    }

    /// Sends a single byte outside any message.
    pub(super) async fn send_byte(&mut self, byte: u8) -> io::Result<()> {
        self.write.put_u8(byte);
        self.send().await
    }

    pub(super) async fn close(&mut self) {
        // The client may be gone already.
        drop(self.stream.shutdown().await);
    }
}

/// Whether a message is as long as its counts claim; `pgwire` does not check this.
fn is_whole(kind: u8, body: &[u8]) -> bool {
    fn text(body: &mut &[u8]) -> Option<()> {
        let end = body.iter().position(|byte| *byte == 0)?;
        body.advance(end + 1);
        Some(())
    }
    fn skip(body: &mut &[u8], bytes: usize) -> Option<()> {
        (body.len() >= bytes).then(|| body.advance(bytes))
    }
    fn count(body: &mut &[u8], each: usize) -> Option<()> {
        let count = if body.len() >= 2 { body.get_u16() } else { return None };
        skip(body, usize::from(count) * each)
    }
    fn values(body: &mut &[u8]) -> Option<()> {
        let count = if body.len() >= 2 { body.get_u16() } else { return None };
        for _ in 0..count {
            let length = if body.len() >= 4 { body.get_i32() } else { return None };
            skip(body, usize::try_from(length).unwrap_or(0))?;
        }
        Some(())
    }
    let mut body = body;
    let body = &mut body;
    let whole = match kind {
        b'Q' | b'p' => text(body),
        b'P' => text(body).and_then(|()| text(body)).and_then(|()| count(body, 4)),
        b'B' => text(body)
            .and_then(|()| text(body))
            .and_then(|()| count(body, 2))
            .and_then(|()| values(body))
            .and_then(|()| count(body, 2)),
        b'C' | b'D' => skip(body, 1).and_then(|()| text(body)),
        b'E' => text(body).and_then(|()| skip(body, 4)),
        _ => Some(()),
    };
    whole.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_end_too_early_are_known() {
        let whole: [(u8, &[u8]); 7] = [
            (b'Q', b"SELECT 1\0"),
            (b'P', b"s\0SELECT $1\0\0\x01\0\0\0\x17"),
            (b'B', b"\0s\0\0\x01\0\x01\0\x02\0\0\0\x02ab\xff\xff\xff\xff\0\x01\0\x01"),
            (b'D', b"Sname\0"),
            (b'C', b"P\0"),
            (b'E', b"\0\0\0\0\0"),
            (b'S', b""),
        ];
        for (kind, body) in whole {
            assert!(is_whole(kind, body), "{body:?}");
            for end in 0..body.len() {
                assert!(!is_whole(kind, &body[..end]), "{:?}", &body[..end]);
            }
        }
        assert!(!is_whole(b'B', b"\0s\0\0\0\0\x01\x7f\xff\xff\xffab\0\0"));
    }
}
