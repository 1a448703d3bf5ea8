//! Heavy, large and abandoned questions.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::served::{Served, running};
use crate::support::{failure, program, run};

/// Longer than any test should take.
const NEVER: Duration = Duration::from_mins(2);
/// A short query with 10^12 rows.
const ENDLESS: &str =
    "SELECT sum(a.value * b.value % 7) FROM generate_series(1, 1000000) a CROSS JOIN generate_series(1, 1000000) b";

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < NEVER, "never: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Processor time of the server, in clock ticks.
#[cfg(target_os = "linux")]
fn processor_time(server: &Served) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.child.id())).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

/// Waits until the server is idle for a second.
fn wait_until_idle(server: &Served) {
    wait_until("no question runs", || running(server) == 0);
    #[cfg(target_os = "linux")]
    wait_until("no work is left", || {
        let before = processor_time(server);
        std::thread::sleep(Duration::from_secs(1));
        processor_time(server) - before < 10
    });
}

fn refused(server: &Served, path: &str, question: &Value) -> (u16, String) {
    let reply = server.post_json(path, question);
    (reply.status, reply.json()["error"].as_str().unwrap().to_owned())
}

#[test]
fn a_question_that_took_too_long_leaves_no_work_behind() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &["--question-seconds", "1"]);
    for sql in [ENDLESS, "SELECT sum(value % 7) FROM generate_series(1, 1000000000000)"] {
        let (status, said) = refused(&server, "/api/v1/sql", &json!({"sql": sql}));
        assert!(status == 408 && said.contains("longer than 1 s: reduce its work"), "{status} {said}");
        wait_until_idle(&server);
    }
    assert_eq!(server.sql("SELECT 1 AS one"), json!([{"one": 1}]));
}

#[test]
fn a_client_that_hangs_up_ends_its_question() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &["--question-seconds", "3600"]);
    let body = json!({"sql": ENDLESS}).to_string();
    let mut client = TcpStream::connect(server.address).unwrap();
    let head = format!("POST /api/v1/sql HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n", body.len());
    client.write_all(format!("{head}{body}").as_bytes()).unwrap();
    wait_until("the question runs", || running(&server) == 1);
    drop(client);
    wait_until_idle(&server);
}

#[test]
fn a_price_that_takes_too_long_is_given_up() {
    let data = tempfile::tempdir().unwrap();
    let words = ["run", "football", "--name", "season", "--worlds", "100", "--events", "replay"];
    assert!(run(data.path(), &words).status.success());
    let server = Served::start(data.path(), &["--question-seconds", "1"]);
    // Each moment is replayed.
    let moments = vec!["at q3 8:00"; 999];
    let question = json!({"ensemble": "season", "entity": "game-001", "legs": ["home_won"], "given": moments});
    let (status, said) = refused(&server, "/api/v1/price", &question);
    assert!(status == 408 && said.contains("longer than 1 s: reduce its work"), "{status} {said}");
    wait_until_idle(&server);
}

#[test]
fn a_question_that_needs_too_much_memory_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &["--question-memory", "2"]);
    let rows: Vec<String> = (0..100_000).map(|n| format!("cpu,host=host-{n} load={n}i {n}000\n")).collect();
    assert_eq!(server.post("/write?db=d", rows.concat().as_bytes()).status, 204);
    for (sql, words) in [
        ("SELECT sum(a.load) AS s FROM d.cpu a JOIN d.cpu b ON a.host = b.host", "exceeds its memory limit"),
        ("SELECT * FROM d.cpu", "the answer exceeds 2097152 bytes: select fewer columns or rows"),
    ] {
        let (status, said) = refused(&server, "/api/v1/sql", &json!({"sql": sql}));
        assert!(status == 413 && said.contains(words), "{sql}: {status} {said}");
    }
    assert_eq!(server.sql("SELECT count(*) AS n FROM d.cpu"), json!([{"n": 100_000}]));
}

#[test]
fn a_question_that_is_too_long_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[]);
    let long = "x".repeat(3 << 20);
    for path in [
        "/api/v1/sql",
        "/api/v1/query",
        "/api/v1/query/arrow",
        "/api/v1/price",
        "/api/v1/outcome",
        "/api/v1/book",
        "/api/v1/ask",
    ] {
        let (status, said) = refused(&server, path, &json!({"sql": long}));
        assert!(status == 413 && said.contains("exceeds 2097152 bytes"), "{path}: {status} {said}");
    }
}

#[test]
fn answers_come_in_the_format_that_a_client_takes() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[]);
    let ask = |path: &str, accept: &str| {
        let body = json!({"sql": "SELECT 1 AS one, NULL AS none"}).to_string();
        server.send("POST", path, &[("accept", accept), ("content-type", "application/json")], body.as_bytes())
    };
    for (path, accept, kind, begins) in [
        ("/api/v1/sql", "*/*", "application/json", &b"[{\"one\":1,\"none\":null}]"[..]),
        ("/api/v1/sql", "text/csv", "text/csv", b"one,none\n1,\n"),
        (
            "/api/v1/sql",
            "application/vnd.apache.arrow.stream",
            "application/vnd.apache.arrow.stream",
            b"\xff\xff\xff\xff",
        ),
        ("/api/v1/sql?format=csv", "application/json", "text/csv", b"one,none\n1,\n"),
        ("/api/v1/sql?format=arrow", "*/*", "application/vnd.apache.arrow.stream", b"\xff\xff\xff\xff"),
    ] {
        let reply = ask(path, accept);
        assert_eq!(reply.status, 200, "{path} {accept}");
        assert!(
            reply.head.to_lowercase().contains(&format!("content-type: {kind}")),
            "{path} {accept}: {}",
            reply.head
        );
        assert!(reply.body.starts_with(begins), "{path} {accept}: {}", reply.text());
    }
    assert_eq!(ask("/api/v1/sql?format=xml", "text/csv").status, 400);
}

#[test]
fn clients_of_postgresql_are_not_served_in_the_open() {
    let data = tempfile::tempdir().unwrap();
    let said = failure(data.path(), &["serve", "--listen", "127.0.0.1:0", "--pg", "0.0.0.0:0"], 2);
    assert!(said.contains("requires no token; require tokens with --token-file"), "{said}");
    let file = data.path().join("tokens.toml");
    let file = file.to_str().unwrap();
    assert!(program(&["token", "create", "a", "--read", "--token-file", file]).output().unwrap().status.success());
    let words = ["serve", "--listen", "127.0.0.1:0", "--pg", "0.0.0.0:0", "--token-file", file];
    let said = failure(data.path(), &words, 2);
    assert!(said.contains("unencrypted; encrypt with --tls-cert"), "{said}");
}

/// The complete reply to a message of `PostgreSQL`'s protocol, possibly empty.
fn postgres(server: &Served, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(server.postgres.unwrap()).unwrap();
    stream.set_read_timeout(Some(NEVER)).unwrap();
    // The server may close the connection before reading all bytes.
    drop(stream.write_all(bytes));
    let mut reply = Vec::new();
    drop(stream.read_to_end(&mut reply));
    reply
}

#[test]
fn messages_that_make_no_sense_end_their_connection_only() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &["--pg", "127.0.0.1:0", "--request-seconds", "2"]);
    let startup = b"\0\0\0\x11\0\x03\0\0user\0me\0\0";
    let after = |message: &[u8]| {
        let reply = postgres(&server, &[&startup[..], message].concat());
        let text = String::from_utf8_lossy(&reply).into_owned();
        assert!(text.starts_with('R'), "{text:?}");
        text
    };
    // Too long, too short, truncated, an unknown kind, and a value for a missing parameter.
    for message in [
        &b"Q\x7f\xff\xff\xffSELECT"[..],
        b"Q\0\0\0\0",
        b"P\0\0\0\x08s\0S\0",
        b"B\0\0\0\x0c\0\0\0\0\xff\xff\0\0",
        b"z\0\0\0\x04",
    ] {
        let said = after(message);
        assert!(said.contains("C08P01"), "{message:?}: {said:?}");
    }
    for first in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"\0\0\0\x08\0\x02\0\0", b"\x16\x03\x01\0\xff", b""] {
        let reply = postgres(&server, first);
        assert!(reply.is_empty() || reply.starts_with(b"E"), "{reply:?}");
    }
    assert_eq!(server.sql("SELECT 1 AS one"), json!([{"one": 1}]));
    let said = after(b"Q\0\0\0\x0eSELECT 7;\0X\0\0\0\x04");
    assert!(said.contains("SELECT 1"), "{said:?}");
}
