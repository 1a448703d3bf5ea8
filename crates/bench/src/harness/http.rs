//! A minimal HTTP/1.1 client that sends one request after another on a persistent connection.
//!
//! It blocks its thread, because that takes less processor time per request than an asynchronous runtime. The load
//! shares the processor with the server.

use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Time limit for a connection or a reply, longer than the server's time limit for questions.
const PATIENCE: Duration = Duration::from_secs(90);
/// Idle time after which the server may have closed a connection.
const IDLE_MAX: Duration = Duration::from_secs(10);
/// Maximum length of a reply's head or body.
const REPLY_MAX: usize = 16 << 20;

pub(crate) struct Connection {
    address: SocketAddr,
    /// None if the next request needs a new one.
    stream: Option<TcpStream>,
    used: Instant,
    buffer: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: Vec<u8>,
}

impl Connection {
    /// Connects to a running server.
    pub(crate) fn open(address: SocketAddr) -> io::Result<Self> {
        let mut connection = Self { address, stream: None, used: Instant::now(), buffer: Vec::new() };
        connection.reopen()?;
        Ok(connection)
    }

    pub(crate) fn reopen(&mut self) -> io::Result<()> {
        self.stream = None;
        let stream = TcpStream::connect_timeout(&self.address, PATIENCE)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        self.stream = Some(stream);
        self.used = Instant::now();
        Ok(())
    }

    /// Sends a request, head and body, and waits for its reply. After an error, the server may have received the
    /// request.
    pub(crate) fn send(&mut self, request: &[u8]) -> io::Result<Reply> {
        if self.stream.is_none() || self.used.elapsed() > IDLE_MAX {
            self.reopen()?;
        }
        let Some(stream) = &mut self.stream else { return Err(io::ErrorKind::NotConnected.into()) };
        // A server that refuses may answer before it has read everything. Its answer explains more than a write error.
        let sent = stream.write_all(request);
        let reply = read_reply(stream, &mut self.buffer);
        self.used = Instant::now();
        match (sent, reply) {
            (Ok(()), Ok((reply, true))) => Ok(reply),
            (_, Ok((reply, _))) => {
                self.stream = None;
                Ok(reply)
            }
            (Err(error), Err(_)) | (Ok(()), Err(error)) => {
                self.stream = None;
                Err(error)
            }
        }
    }
}

/// Reads the next reply, and returns whether the connection stays open.
fn read_reply(stream: &mut impl io::Read, buffer: &mut Vec<u8>) -> io::Result<(Reply, bool)> {
    buffer.clear();
    let head_end = loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        read_some(stream, buffer)?;
    };
    let head = std::str::from_utf8(&buffer[..head_end]).map_err(|_| broken("is not text"))?;
    let mut lines = head.split("\r\n");
    let first = lines.next().unwrap_or_default();
    let status = first.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    let status = status.ok_or_else(|| broken("has no status of HTTP/1.1"))?;
    let (mut length, mut chunked, mut stays, mut retry_after) = (0_usize, false, true, None);
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().map_err(|_| broken("has an invalid length"))?,
            "transfer-encoding" if value.eq_ignore_ascii_case("chunked") => chunked = true,
            "transfer-encoding" => return Err(broken("has an encoding that this client does not read")),
            "connection" => stays = !value.eq_ignore_ascii_case("close"),
            "retry-after" => retry_after = value.parse().ok().map(Duration::from_secs),
            _ => {}
        }
    }
    if length > REPLY_MAX {
        return Err(broken("is too long"));
    }
    if chunked {
        let body = read_chunks(stream, buffer, head_end)?;
        return Ok((Reply { status, retry_after, body }, stays));
    }
    while buffer.len() < head_end + length {
        read_some(stream, buffer)?;
    }
    let body = buffer[head_end..head_end + length].to_vec();
    Ok((Reply { status, retry_after, body }, stays))
}

/// Reads the chunks of a body that begin at `at` in the buffer. This program's own server sends none; others do.
fn read_chunks(stream: &mut impl io::Read, buffer: &mut Vec<u8>, mut at: usize) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = loop {
            if let Some(end) = buffer[at..].windows(2).position(|window| window == b"\r\n") {
                break at + end;
            }
            read_some(stream, buffer)?;
        };
        let size = std::str::from_utf8(&buffer[at..end]).ok().and_then(|line| line.split(';').next());
        let size = size.and_then(|digits| usize::from_str_radix(digits.trim(), 16).ok());
        let size = size.filter(|size| *size <= REPLY_MAX).ok_or_else(|| broken("has an invalid chunk"))?;
        let from = end + 2;
        while buffer.len() < from + size + 2 {
            read_some(stream, buffer)?;
        }
        body.extend(&buffer[from..from + size]);
        at = from + size + 2;
        if size == 0 {
            return Ok(body);
        }
    }
}

fn read_some(stream: &mut impl io::Read, buffer: &mut Vec<u8>) -> io::Result<()> {
    let mut piece = [0; 8192];
    let count = stream.read(&mut piece)?;
    if count == 0 {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the connection was closed before the reply"));
    }
    buffer.extend(&piece[..count]);
    if buffer.len() > 2 * REPLY_MAX {
        return Err(broken("is too long"));
    }
    Ok(())
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the reply {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read_whole_however_they_arrive() {
        let text = b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 2\r\ncontent-length: 5\r\n\r\nlater";
        for piece in [1, 7, 1000] {
            let pieces = text.chunks(piece);
            let mut stream = Pieces(pieces.map(<[u8]>::to_vec).collect());
            let (reply, stays) = read_reply(&mut stream, &mut Vec::new()).unwrap();
            assert!(stays);
            assert_eq!((reply.status, reply.retry_after), (429, Some(Duration::from_secs(2))));
            assert_eq!(reply.body, b"later");
        }
    }

    #[test]
    fn what_is_no_reply_is_told() {
        let of = |text: &str| read_reply(&mut text.as_bytes(), &mut Vec::new()).unwrap_err().to_string();
        assert_eq!(of("HTTP/1.1 204"), "the connection was closed before the reply");
        assert_eq!(of("SSH-2.0\r\n\r\n"), "the reply has no status of HTTP/1.1");
        assert_eq!(of("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx"), "the connection was closed before the reply");
        assert_eq!(
            of("HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n"),
            "the reply has an encoding that this client does not read"
        );
        let chunks = |text: &str| of(&format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{text}"));
        assert_eq!(chunks("5\r\nlat"), "the connection was closed before the reply");
        assert_eq!(chunks("x\r\nlater"), "the reply has an invalid chunk");
        assert_eq!(chunks("fffffffff\r\n"), "the reply has an invalid chunk");
    }

    #[test]
    fn chunks_are_one_body() {
        let text = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nlat\r\n2;x=y\r\ner\r\n0\r\n\r\n";
        for piece in [1, 7, 1000] {
            let mut stream = Pieces(text.chunks(piece).map(<[u8]>::to_vec).collect());
            let (reply, stays) = read_reply(&mut stream, &mut Vec::new()).unwrap();
            assert_eq!((reply.status, &reply.body[..], stays), (200, &b"later"[..], true));
        }
    }

    struct Pieces(std::collections::VecDeque<Vec<u8>>);

    impl io::Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(piece) = self.0.pop_front() else { return Ok(0) };
            buffer[..piece.len()].copy_from_slice(&piece);
            Ok(piece.len())
        }
    }
}
