//! `COPY ... TO STDOUT`, and cursors that clients name in SQL.

use std::time::{Duration, Instant};

use crate::postgres::{Client, Message, code, columns, kinds, rows, tags, words};
use crate::served::Served;

const LINES: &[u8] =
    b"cpu,host=a load=0.5,cores=8i 1760000000000000000\ncpu,host=b\\,\"c cores=9i 1760000001000001000\n";
/// More rows than anybody reads.
const LONG: &str = "SELECT value FROM generate_series(1, 1000000000)";

struct Asked {
    server: Served,
    _data: tempfile::TempDir,
}

fn serve() -> Asked {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &["--pg", "127.0.0.1:0"]);
    assert_eq!(server.post("/write?db=default", LINES).status, 204);
    Asked { server, _data: data }
}

impl Asked {
    fn client(&self) -> Client {
        Client::open(&self.server, &[], "").unwrap()
    }

    fn wait_until_idle(&self) {
        let begun = Instant::now();
        while !self.server.send("GET", "/metrics", &[], b"").text().contains("manyworlds_questions_running 0") {
            assert!(begun.elapsed() < Duration::from_mins(1), "the query never ended");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// The data of a COPY.
fn copied(reply: &[Message]) -> Vec<u8> {
    let data = reply.iter().filter(|(kind, _)| *kind == b'd');
    data.flat_map(|(_, body)| body.clone()).collect()
}

fn texts(reply: &[Message]) -> Vec<String> {
    rows(reply).into_iter().map(|row| String::from_utf8(row[0].clone().unwrap()).unwrap()).collect()
}

#[test]
fn copy_writes_rows_in_each_format() {
    let asked = serve();
    let mut client = asked.client();
    let query = "(SELECT time, host, load, cores FROM cpu ORDER BY time)";
    let text = "2025-10-09 08:53:20+00\ta\t0.5\t8\n2025-10-09 08:53:21.000001+00\tb,\"c\t\\N\t9\n";
    let csv = "time,host,load,cores\n2025-10-09 08:53:20+00,a,0.5,8\n2025-10-09 08:53:21.000001+00,\"b,\"\"c\",,9\n";
    for (options, expected) in [("", text), ("WITH (FORMAT csv, HEADER)", csv), ("CSV HEADER", csv)] {
        let reply = client.ask(&format!("COPY {query} TO STDOUT {options}"));
        assert_eq!(String::from_utf8(copied(&reply)).unwrap(), expected, "{options}");
        assert_eq!(tags(&reply), ["COPY 2"], "{options}");
    }
    let reply = client.ask("COPY \"default\".cpu (cores, load) TO STDOUT");
    assert_eq!(copied(&reply).len(), "8\t0.5\n9\t\\N\n".len());
    let reply = client.ask("COPY (SELECT 7::BIGINT, NULL::TEXT) TO STDOUT (FORMAT binary)");
    assert_eq!(kinds(&reply), "HddcC");
    let header = [b"PGCOPY\n\xff\r\n\0".as_slice(), &[0; 8]].concat();
    let row = [&2_u16.to_be_bytes()[..], &8_u32.to_be_bytes(), &7_u64.to_be_bytes(), &(-1_i32).to_be_bytes()].concat();
    assert_eq!(copied(&reply), [header, row, vec![0xff, 0xff]].concat());
    // In the extended protocol it has no columns to describe.
    assert_eq!(kinds(&client.ask_in("COPY (SELECT 1) TO STDOUT", 0)), "12nHdcC");
}

#[test]
fn copy_obeys_the_limits_of_questions() {
    let asked = serve();
    let mut client = asked.client();
    for (sql, expected) in [
        ("COPY (INSERT INTO cpu VALUES (1)) TO STDOUT", "25006"),
        ("COPY (BEGIN) TO STDOUT", "25006"),
        ("COPY (SELECT nope) TO STDOUT", "42703"),
        ("COPY nope TO STDOUT", "42P01"),
        ("COPY cpu FROM STDIN", "25006"),
        ("COPY (SELECT 1 / 0) TO STDOUT", "22012"),
        (&format!("COPY ({}1{}) TO STDOUT", "SELECT (".repeat(60), ")".repeat(60)), "54001"),
        (&format!("COPY {} TO STDOUT", "(".repeat(500_000)), "42601"),
    ] {
        let reply = client.ask(sql);
        assert!(code(&reply).is_some(), "{}", &sql[..sql.len().min(60)]);
        if sql.len() < 100 {
            assert_eq!(code(&reply).as_deref(), Some(expected), "{sql}: {}", words(&reply));
        }
        assert_eq!(client.column("SELECT 1"), ["1"]);
    }
    client.ask("SET statement_timeout = '500ms'");
    let endless = "SELECT sum(a.value * b.value % 7) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b";
    assert_eq!(code(&client.ask(&format!("COPY ({endless}) TO STDOUT"))).as_deref(), Some("57014"));
    // A client that leaves in the middle of its rows.
    let mut leaving = asked.client();
    leaving.send(b'Q', format!("COPY ({LONG}) TO STDOUT\0").as_bytes());
    assert_eq!(leaving.read().0, b'H');
    drop(leaving);
    asked.wait_until_idle();
}

#[test]
fn cursors_send_rows_in_parts() {
    let asked = serve();
    let mut client = asked.client();
    let refused = client.ask(&format!("DECLARE c CURSOR FOR {LONG}"));
    assert_eq!(code(&refused).as_deref(), Some("25P01"), "outside a transaction");
    client.ask("BEGIN");
    assert_eq!(tags(&client.ask(&format!("DECLARE \"C d\" NO SCROLL CURSOR FOR {LONG}"))), ["DECLARE CURSOR"]);
    let reply = client.ask("FETCH 2 FROM \"C d\"");
    assert_eq!((texts(&reply), tags(&reply)), (vec!["1".to_owned(), "2".to_owned()], vec!["FETCH 2".to_owned()]));
    let reply = client.ask("FETCH \"C d\"");
    assert_eq!((kinds(&reply).as_str(), texts(&reply)), ("TDC", vec!["3".to_owned()]));
    let reply = client.ask("FETCH 0 FROM \"C d\"");
    assert_eq!((kinds(&reply).as_str(), columns(&reply)[0].1, tags(&reply)), ("TC", 20, vec!["FETCH 0".to_owned()]));
    // In the extended protocol, in binary format.
    let reply = client.ask_in("FETCH FORWARD 1 FROM \"C d\"", 1);
    assert_eq!((kinds(&reply).as_str(), &rows(&reply)[0][0]), ("12TDC", &Some(4_u64.to_be_bytes().to_vec())));
    assert_eq!(tags(&client.ask("CLOSE \"C d\"")), ["CLOSE CURSOR"]);
    asked.wait_until_idle();
    assert_eq!(code(&client.ask("FETCH 1 FROM \"C d\"")).as_deref(), Some("34000"));
    client.ask("ROLLBACK");
    // All rows, and none after the last.
    client.ask("BEGIN");
    client.ask("DECLARE c CURSOR FOR SELECT host FROM cpu ORDER BY host");
    assert_eq!(tags(&client.ask("FETCH 18446744073709551615 FROM c")), ["FETCH 2"]);
    assert_eq!(tags(&client.ask("FETCH ALL FROM c")), ["FETCH 0"]);
    client.ask("DECLARE d CURSOR FOR SELECT host FROM cpu");
    assert_eq!(tags(&client.ask("FETCH ALL FROM d")), ["FETCH 2"]);
    client.ask("COMMIT");
    assert_eq!(code(&client.ask("FETCH c")).as_deref(), Some("34000"), "it ends with its transaction");
    // Parameters belong to the query.
    client.ask("BEGIN");
    client.parse("", "DECLARE c CURSOR WITH HOLD FOR SELECT host FROM cpu WHERE cores > $1", &[20]);
    client.bind(["", ""], &[Some(b"8")], [&[], &[]]);
    client.execute("", 0);
    assert_eq!(kinds(&client.sync()), "12C");
    client.ask("COMMIT");
    assert_eq!(texts(&client.ask("FETCH ALL FROM c")), ["b,\"c"], "it is held beyond its transaction");
    client.ask("CLOSE ALL");
    asked.wait_until_idle();
}

#[test]
fn cursors_have_limits() {
    let asked = serve();
    let mut client = asked.client();
    client.ask("BEGIN; DECLARE c CURSOR FOR SELECT 1");
    assert_eq!(code(&client.ask("DECLARE c CURSOR FOR SELECT 1")).as_deref(), Some("42P03"));
    client.ask("ROLLBACK");
    for (sql, expected) in [
        ("DECLARE c CURSOR WITH HOLD FOR DROP TABLE cpu", "25006"),
        ("DECLARE c CURSOR WITH HOLD FOR COPY cpu TO STDOUT", "42601"),
        ("DECLARE c CURSOR WITH HOLD FOR FETCH c", "42601"),
        ("DECLARE c CURSOR WITH HOLD FOR", "42601"),
        ("DECLARE c CURSOR WITH HOLD FOR SELECT nope", "42703"),
        ("FETCH BACKWARD 1 FROM c", "0A000"),
        ("FETCH 99999999999999999999 FROM c", "22003"),
        ("CLOSE nope", "34000"),
    ] {
        assert_eq!(code(&client.ask(sql)).as_deref(), Some(expected), "{sql}");
    }
    // Long statements of cursors fill the connection's room; nothing else does.
    let long = format!("SELECT '{}'", "x".repeat(1_900_000));
    let opened = (0..20).map(|n| code(&client.ask(&format!("DECLARE c{n} CURSOR WITH HOLD FOR {long}"))));
    let refused: Vec<_> = opened.flatten().collect();
    assert!(!refused.is_empty() && refused.iter().all(|code| code == "53200" || code == "53000"), "{refused:?}");
    client.ask("DISCARD ALL");
    // A client that leaves its cursors open frees their places.
    client.ask(&format!("DECLARE held CURSOR WITH HOLD FOR {LONG}"));
    drop(client);
    asked.wait_until_idle();
}
