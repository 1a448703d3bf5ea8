//! Slow, silent and many clients.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::served::Served;

/// Longer than any test should take.
const NEVER: Duration = Duration::from_mins(1);

/// Sends bytes, waits until the server closes the connection, and returns its reply.
fn said_before_the_end(server: &Served, sent: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(NEVER)).unwrap();
    stream.write_all(sent).unwrap();
    let mut said = Vec::new();
    stream.read_to_end(&mut said).unwrap_or_else(|e| panic!("{sent:?}: still open: {e}"));
    String::from_utf8_lossy(&said).into_owned()
}

#[test]
fn half_a_request_is_cut_off_in_time() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &["--request-seconds", "1"]);
    let heads: [&[u8]; 5] = [
        b"",
        b"P",
        b"PRI * HT",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"POST /write?db=d HTTP/1.1\r\nhost: localhost\r\nx: ",
    ];
    for sent in heads {
        assert!(!said_before_the_end(&server, sent).contains("HTTP/1.1 2"), "{sent:?}");
    }
    let body =
        b"POST /write?db=d HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 20\r\n\r\ncpu load";
    let said = said_before_the_end(&server, body);
    assert!(said.starts_with("HTTP/1.1 408") && said.contains("did not arrive within 1 s"), "{said}");
    assert_eq!(server.post("/write?db=d", b"cpu load=1 1").status, 204);
    assert_eq!(server.sql("SELECT count(*) AS n FROM d.cpu")[0]["n"], 1, "nothing of the halves was stored");
}

#[test]
fn a_connection_without_requests_is_closed_in_time() {
    /// A client of version 2 of HTTP that asks for `/health` once.
    const HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\
        \0\0\x16\x01\x05\0\0\0\x01\x82\x86\x04\x07/health\x01\x09localhost";
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &["--request-seconds", "1"]);
    for asked in [HTTP2, b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n"] {
        let began = std::time::Instant::now();
        let said = said_before_the_end(&server, asked);
        assert!(said.contains("\"pass\""), "{said:?}");
        // Without an answer to its ping, version 2 would be closed after 21 seconds.
        assert!(began.elapsed() < Duration::from_secs(15));
    }
    // A reply that is not read, of more bytes than buffers between.
    let question = r#"{"sql": "SELECT repeat('a', 1000000) FROM generate_series(1, 60)"}"#;
    let head = format!("POST /api/v1/sql HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n", question.len());
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(format!("{head}{question}").as_bytes()).unwrap();
    assert!(first_byte(&mut stream, NEVER).is_some());
    std::thread::sleep(Duration::from_secs(6));
    let (mut read, mut buffer) = (0, vec![0; 1 << 20]);
    loop {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(bytes) => read += bytes,
        }
    }
    assert!(read < 50_000_000, "{read} bytes were kept");
}

#[test]
fn five_hundred_connections_are_answered_at_once() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[]);
    let mut streams: Vec<_> = (0..500).map(|_| TcpStream::connect(server.address).unwrap()).collect();
    for round in 0..3 {
        for (n, stream) in streams.iter_mut().enumerate() {
            let line = format!("cpu,host=h{n} load={n} {}", round + 1);
            let head =
                format!("POST /write?db=d HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n", line.len());
            stream.write_all(format!("{head}{line}").as_bytes()).unwrap();
        }
        for stream in &mut streams {
            stream.set_read_timeout(Some(NEVER)).unwrap();
            let mut reply = Vec::new();
            while !reply.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                reply.push(byte[0]);
            }
            assert!(reply.starts_with(b"HTTP/1.1 204"), "{}", String::from_utf8_lossy(&reply));
        }
    }
    assert_eq!(server.sql("SELECT count(*) AS n, count(DISTINCT host) AS h FROM d.cpu")[0]["n"], 1500);
}

/// The first byte of a reply; `None` if none comes in time.
fn first_byte(stream: &mut TcpStream, patience: Duration) -> Option<u8> {
    stream.set_read_timeout(Some(patience)).unwrap();
    let mut byte = [0];
    stream.read_exact(&mut byte).ok().map(|()| byte[0])
}

#[test]
fn connections_past_the_limit_wait_for_others_to_end() {
    /// The first message of a client of `PostgreSQL` that requests TLS.
    const WANTS_TLS: &[u8] = b"\x00\x00\x00\x08\x04\xd2\x16\x2f";
    /// The first message of a client of version 2 of HTTP.
    const HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    const SILENCE: Duration = Duration::from_millis(500);
    let data = tempfile::tempdir().unwrap();
    let words = ["--pg", "127.0.0.1:0", "--flight", "127.0.0.1:0", "--connections", "2"];
    let server = Served::start(data.path(), &words);
    let health = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let faces: [(SocketAddr, &[u8]); 3] =
        [(server.address, health), (server.postgres.unwrap(), WANTS_TLS), (server.flight.unwrap(), HTTP2)];
    for (address, greeting) in faces {
        let connect = || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(greeting).unwrap();
            stream
        };
        let mut served = [connect(), connect()];
        assert!(served.iter_mut().all(|stream| first_byte(stream, NEVER).is_some()));
        let mut waiting = connect();
        assert_eq!(first_byte(&mut waiting, SILENCE), None, "{address}");
        let [first, _second] = served;
        drop(first);
        assert!(first_byte(&mut waiting, NEVER).is_some(), "{address}");
    }
}
