//! A minimal client for `PostgreSQL`'s protocol.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(90);
/// Maximum bytes to keep of an answer.
const ANSWER_MAX: usize = 16 << 20;

/// Rows of texts, or the server's error.
pub(super) type Answer = Result<Vec<Vec<Option<String>>>, String>;

/// A connection without a password.
pub(super) struct PgConnection(BufReader<TcpStream>);

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut message = vec![kind];
    message.extend((body.len() as u32 + 4).to_be_bytes());
    message.extend(body);
    message
}

impl PgConnection {
    pub(super) fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut connection = Self(BufReader::new(stream));
        let body = b"\0\x03\0\0user\0siege\0\0";
        let startup = [&(body.len() as u32 + 4).to_be_bytes()[..], body].concat();
        connection.0.get_mut().write_all(&startup)?;
        connection.until_ready()?.map_err(io::Error::other)?;
        Ok(connection)
    }

    /// Sends one statement, and returns its answer.
    pub(super) fn ask(&mut self, sql: &str) -> io::Result<Answer> {
        let query = message(b'Q', format!("{sql}\0").as_bytes());
        self.0.get_mut().write_all(&query)?;
        self.until_ready()
    }

    /// Sends bytes, and reads until the server stops or `wait` has passed.
    pub(super) fn send_raw(mut self, bytes: &[u8], wait: Duration) -> io::Result<()> {
        self.0.get_mut().set_read_timeout(Some(wait))?;
        self.0.get_mut().write_all(bytes)?;
        while !self.0.fill_buf()?.is_empty() {
            let read = self.0.buffer().len();
            self.0.consume(read);
        }
        Ok(())
    }

    fn until_ready(&mut self) -> io::Result<Answer> {
        let (mut rows, mut bytes, mut error) = (Vec::new(), 0, None);
        loop {
            let mut head = [0; 5];
            self.0.read_exact(&mut head)?;
            let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
            let mut body = vec![0; length.saturating_sub(4)];
            self.0.read_exact(&mut body)?;
            match head[0] {
                b'Z' => return Ok(error.map_or(Ok(rows), Err)),
                b'E' => error = Some(text(&body)),
                b'D' => {
                    bytes += body.len();
                    if bytes < ANSWER_MAX {
                        rows.push(row(&body).ok_or_else(|| io::Error::other("a row that is none"))?);
                    }
                }
                _ => {}
            }
        }
    }
}

/// The texts of an error.
fn text(body: &[u8]) -> String {
    body.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect::<Vec<_>>().join(" ")
}

/// The fields of a row.
fn row(body: &[u8]) -> Option<Vec<Option<String>>> {
    let (count, mut rest) = body.split_first_chunk::<2>()?;
    let mut fields = Vec::new();
    for _ in 0..u16::from_be_bytes(*count) {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let length = i32::from_be_bytes(*length);
        let (field, after) = after.split_at_checked(usize::try_from(length).unwrap_or(0))?;
        fields.push((length >= 0).then(|| String::from_utf8_lossy(field).into_owned()));
        rest = after;
    }
    Some(fields)
}
