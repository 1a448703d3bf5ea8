//! Questions that are heavy, large, or given up.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::served::Served;
use crate::support::run;

/// Longer than anything here should take; what comes later comes never.
const NEVER: Duration = Duration::from_mins(2);
/// Makes 10^12 rows out of little.
const ENDLESS: &str =
    "SELECT sum(a.value * b.value % 7) FROM generate_series(1, 1000000) a CROSS JOIN generate_series(1, 1000000) b";

/// Questions whose work has not ended.
fn running(server: &Served) -> usize {
    let said = server.send("GET", "/metrics", &[], b"").text();
    let line = said.lines().find_map(|l| l.strip_prefix("manyworlds_questions_running "));
    line.unwrap_or_else(|| panic!("{said}")).parse().unwrap()
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < NEVER, "never: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Processor time of the server, in the steps of the system's clock.
#[cfg(target_os = "linux")]
fn processor_time(server: &Served) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.child.id())).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

/// Waits until the server does nothing for a second.
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
        assert!(status == 408 && said.contains("longer than 1 s: ask for less"), "{status} {said}");
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
    let head = format!("POST /api/v1/sql HTTP/1.1\r\nhost: test\r\ncontent-length: {}\r\n\r\n", body.len());
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
    // Each is played again.
    let moments = vec!["at q3 8:00"; 100_000];
    let question = json!({"ensemble": "season", "entity": "game-001", "legs": ["home_won"], "given": moments});
    let (status, said) = refused(&server, "/api/v1/price", &question);
    assert!(status == 408 && said.contains("longer than 1 s: ask for less"), "{status} {said}");
    wait_until_idle(&server);
}

#[test]
fn a_question_that_needs_too_much_memory_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &["--question-memory", "2"]);
    let rows: Vec<String> = (0..100_000).map(|n| format!("cpu,host=host-{n} load={n}i {n}000\n")).collect();
    assert_eq!(server.post("/write?db=d", rows.concat().as_bytes()).status, 204);
    for (sql, words) in [
        ("SELECT sum(a.load) AS s FROM d.cpu a JOIN d.cpu b ON a.host = b.host", "more memory than it may take"),
        ("SELECT * FROM d.cpu", "the answer is larger than 2097152 bytes: ask for less"),
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
    for path in ["/api/v1/sql", "/api/v1/query", "/api/v1/query/arrow", "/api/v1/price", "/api/v1/outcome"] {
        let (status, said) = refused(&server, path, &json!({"sql": long}));
        assert!(status == 413 && said.contains("longer than the 2097152 bytes"), "{path}: {status} {said}");
    }
}
