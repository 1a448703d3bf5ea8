//! Arrow Flight SQL: tokens, limits and cancellation.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use arrow_flight::FlightData;
use tonic::Code;

use crate::flight::{Client, query, refused};
use crate::served::{Served, running};
use crate::support::program;

/// Longer than any test should take.
const NEVER: Duration = Duration::from_mins(2);
/// A short query with 10^12 rows.
const ENDLESS: &str =
    "SELECT sum(a.value * b.value % 7) FROM generate_series(1, 1000000) a CROSS JOIN generate_series(1, 1000000) b";
/// A query with 100 GB of rows.
const LONG: &str = "SELECT value, repeat('x', 10000) AS text FROM generate_series(1, 10000000)";
const LINES: &[u8] = b"cpu,host=a load=0.5,cores=8i 1760000000000000000\ncpu,host=b cores=9i 1760000001000001000\n";

struct Asked {
    server: Served,
    _data: tempfile::TempDir,
}

/// A server with two rows in `default.cpu`.
fn serve(words: &[&str]) -> Asked {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[&["--flight", "127.0.0.1:0"], words].concat());
    assert_eq!(server.post("/write?db=default", LINES).status, 204);
    Asked { server, _data: data }
}

impl Asked {
    fn client(&self) -> Client {
        Client::open(self.server.flight.unwrap(), &[])
    }

    fn wait_until_running(&self, count: usize) {
        let begun = Instant::now();
        while running(&self.server) != count {
            assert!(begun.elapsed() < NEVER, "never {count} queries ran");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn errors_have_their_codes_and_the_connection_goes_on() {
    let asked = serve(&["--question-memory", "16"]);
    let mut client = asked.client();
    for (sql, code, words) in [
        ("SELECT * FROM nope", Code::NotFound, "no table \"nope\""),
        ("SELECT nope FROM cpu", Code::NotFound, "no column \"nope\""),
        ("SELEC 1", Code::InvalidArgument, "SELEC"),
        ("SELECT 1 / 0", Code::InvalidArgument, "ivi"),
        ("SELECT quantile(value, 0.5) FROM generate_series(1, 100000000)", Code::ResourceExhausted, "memory"),
        ("INSERT INTO cpu VALUES (1)", Code::InvalidArgument, "cannot run INSERT: only queries are allowed"),
        ("DROP TABLE cpu", Code::InvalidArgument, "cannot run DROP: only queries are allowed"),
        ("SELECT $1", Code::InvalidArgument, "missing value for parameter $1"),
    ] {
        let (found, said) = refused(client.ask(sql));
        assert!(found == code && said.contains(words), "{sql}: {found:?} {said}");
        assert_eq!(client.ask("SELECT * FROM cpu").unwrap(), 1, "{sql}");
    }
}

#[test]
fn tokens_are_needed_and_checked_for_each_request() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("tokens.toml");
    let file = file.to_str().unwrap();
    let token = |words: &[&str]| {
        let made = program(&["token"]).args(words).args(["--token-file", file]).output().unwrap();
        assert!(made.status.success());
        format!("Bearer {}", String::from_utf8(made.stdout).unwrap().trim())
    };
    let reader = token(&["create", "reader", "--read"]);
    let writer = token(&["create", "writer", "--write"]);
    let elsewhere = token(&["create", "elsewhere", "--read", "--database", "elsewhere"]);
    let server = Served::start(data.path(), &["--flight", "127.0.0.1:0", "--token-file", file]);
    assert_eq!(server.send("POST", "/write?db=d", &[("authorization", &writer)], LINES).status, 204);
    let ask = |headers: &[(&'static str, &str)], sql: &str| Client::open(server.flight.unwrap(), headers).ask(sql);
    for (headers, code) in [
        (&[][..], Code::Unauthenticated),
        (&[("authorization", "Bearer mw_wrong")], Code::Unauthenticated),
        (&[("authorization", &reader[..reader.len() - 1])], Code::Unauthenticated),
        (&[("authorization", &*writer)], Code::PermissionDenied),
        (&[("authorization", &*elsewhere)], Code::PermissionDenied),
        (&[("authorization", &*elsewhere), ("database", "d")], Code::PermissionDenied),
        (&[("authorization", &*reader)], Code::Ok),
        (&[("authorization", &*reader), ("database", "d")], Code::Ok),
        (&[("x-api-key", &reader["Bearer ".len()..])], Code::Ok),
    ] {
        let found = ask(headers, "SELECT * FROM d.cpu").map_or_else(|status| status.code(), |_| Code::Ok);
        assert_eq!(found, code, "{headers:?}");
    }
    // Neither the header nor the ticket of a client of InfluxDB leads to another database.
    assert_eq!(ask(&[("authorization", &elsewhere)], "SELECT 1").unwrap(), 1);
    let (code, said) = refused(ask(&[("authorization", &elsewhere), ("database", "d")], "SELECT 1"));
    assert!(code == Code::PermissionDenied && said.contains("is not for database \"d\""), "{code:?} {said}");
    for sql in ["SELECT * FROM cpu", "SELECT 1", "SHOW MEASUREMENTS"] {
        let ticket = format!("{{\"database\":\"d\",\"sql_query\":\"{sql}\"}}");
        let (code, said) =
            refused(Client::open(server.flight.unwrap(), &[("authorization", &elsewhere)]).get(ticket.clone()));
        assert!(code == Code::PermissionDenied && said.contains("is not for database \"d\""), "{sql}: {code:?} {said}");
        assert!(Client::open(server.flight.unwrap(), &[("authorization", &reader)]).get(ticket).is_ok(), "{sql}");
    }
    let mut client = Client::open(server.flight.unwrap(), &[("authorization", &reader), ("database", "d")]);
    assert_eq!(client.ask("SELECT * FROM cpu").unwrap(), 1);
    let ticket = client.info(query("SELECT * FROM cpu")).unwrap().endpoint[0].ticket.clone().unwrap();
    token(&["revoke", "reader"]);
    assert_eq!(refused(client.get(ticket.ticket)).0, Code::Unauthenticated);
}

#[test]
fn a_client_that_ends_its_stream_ends_its_query() {
    let asked = serve(&["--question-seconds", "3600"]);
    let mut client = asked.client();
    let rows = client.begin(ENDLESS).unwrap();
    asked.wait_until_running(1);
    drop(rows);
    asked.wait_until_running(0);
    // The same when the whole connection ends.
    let _rows = client.begin(ENDLESS).unwrap();
    asked.wait_until_running(1);
    drop(client);
    asked.wait_until_running(0);
}

#[test]
fn rows_come_before_the_query_ends_and_wait_for_the_client() {
    let asked = serve(&["--question-seconds", "5"]);
    let mut client = asked.client();
    let mut rows = client.begin(LONG).unwrap();
    let first = client.next(&mut rows).unwrap().unwrap();
    assert!((1..4 << 20).contains(&first.data_body.len()), "{} bytes", first.data_body.len());
    assert_eq!(running(&asked.server), 1);
    let before = memory(&asked.server);
    std::thread::sleep(Duration::from_secs(2));
    let grown = memory(&asked.server).saturating_sub(before);
    assert!(grown < 64 << 10, "the server holds {grown} kB more for a client that does not read");
    // The time limit holds although nobody reads.
    asked.wait_until_running(0);
    let ended = std::iter::from_fn(|| client.next(&mut rows).transpose()).find_map(Result::err).unwrap();
    assert!(ended.message().contains("longer than 5 s"), "{ended}");
}

/// Memory of the server in kB.
fn memory(server: &Served) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn queries_have_their_time_and_wait_for_their_place() {
    let asked = serve(&["--question-seconds", "2"]);
    let mut clients: Vec<Client> = (0..4).map(|_| asked.client()).collect();
    let begun: Vec<_> = clients.iter_mut().map(|client| client.begin(ENDLESS).unwrap()).collect();
    assert_eq!(running(&asked.server), 4);
    let mut waiting = asked.client();
    let waited = Instant::now();
    assert_eq!(waiting.ask("SELECT 1").unwrap(), 1, "a place becomes free when the others reach their limit");
    assert!(waited.elapsed() > Duration::from_millis(500), "{:?}", waited.elapsed());
    for (client, mut rows) in clients.iter().zip(begun) {
        let (code, said) = refused(client.next(&mut rows));
        assert!(code == Code::DeadlineExceeded && said.contains("longer than 2 s: reduce its work"), "{code:?} {said}");
    }
}

#[test]
fn large_and_unknown_requests_are_refused() {
    let asked = serve(&[]);
    let mut client = asked.client();
    let long = vec![b'x'; 3 << 20];
    let too_large = |found: (Code, String)| {
        assert!(found.0 == Code::ResourceExhausted && found.1.contains("exceeds 2097152 bytes"), "{found:?}");
    };
    too_large(refused(client.get(long.clone())));
    too_large(refused(client.info(long.clone())));
    too_large(refused(client.action("CreatePreparedStatement", long.clone())));
    too_large(refused(client.put(vec![FlightData { data_body: long.into(), ..FlightData::default() }])));
    for rubbish in [&b""[..], b"\0", b"{}", b"{\"sql_query\":1}", b"\xff\xff\xff\xff", b"SELECT 1"] {
        assert_eq!(refused(client.get(rubbish)).0, Code::InvalidArgument, "{rubbish:?}");
        assert_eq!(refused(client.info(rubbish)).0, Code::InvalidArgument, "{rubbish:?}");
        assert_eq!(refused(client.action("CreatePreparedStatement", rubbish.to_vec())).0, Code::InvalidArgument);
    }
    // A command of an unknown type, `abc`.
    assert_eq!(refused(client.get(b"\x0a\x03abc")).0, Code::Unimplemented);
    assert_eq!(refused(client.action("Reset", Vec::new())).0, Code::Unimplemented);
    assert_eq!(refused(client.put(Vec::new())).0, Code::InvalidArgument);
    let tickets = [&br#"{"sql_query":"SELECT 1"}"#[..], br#"{"sql_query":"SHOW DATABASES","query_type":"influxql"}"#];
    assert!(tickets.into_iter().all(|ticket| client.get(ticket).is_ok()));
}

#[test]
fn half_a_request_is_cut_off_in_time() {
    let asked = serve(&["--request-seconds", "1"]);
    let greeting = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    let others: [&[u8]; 3] = [b"", b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n", &[&greeting[..], &settings].concat()];
    for sent in others {
        let mut stream = TcpStream::connect(asked.server.flight.unwrap()).unwrap();
        stream.set_read_timeout(Some(NEVER)).unwrap();
        stream.write_all(sent).unwrap();
        let ended = stream.read_to_end(&mut Vec::new()).map_err(|error| error.kind());
        assert!(matches!(ended, Ok(_) | Err(ErrorKind::ConnectionReset)), "{ended:?} after {sent:?}");
    }
    assert_eq!(asked.client().ask("SELECT 1").unwrap(), 1);
}
