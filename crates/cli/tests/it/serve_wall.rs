//! Questions that would crash a process: the server continues, and reports the cause.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::served::Served;

const NEVER: Duration = Duration::from_mins(2);

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < NEVER, "never: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The running child processes of a server.
fn children(server: &Served) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{}/task", server.child.id())).unwrap();
    let of = |task: PathBuf| fs::read_to_string(task.join("children")).unwrap_or_default();
    let all: Vec<String> = tasks.map(|task| of(task.unwrap().path())).collect();
    all.iter().flat_map(|ids| ids.split_whitespace()).map(|id| id.parse().unwrap()).collect()
}

/// Anonymous resident megabytes of a process; 0 once it has ended.
fn megabytes(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) >> 10
}

fn memory(server: &Served) -> u64 {
    megabytes(server.child.id()) + children(server).into_iter().map(megabytes).sum::<u64>()
}

fn started() -> (tempfile::TempDir, Served) {
    let data = tempfile::tempdir().unwrap();
    let server =
        Served::start(data.path(), &["--pg", "127.0.0.1:0", "--question-seconds", "5", "--question-memory", "64"]);
    assert_eq!(server.post("/write?db=d", b"cpu,host=a load=1").status, 204);
    (data, server)
}

fn ask(server: &Served, sql: &str) -> (u16, String) {
    let reply = server.post_json("/api/v1/sql", &json!({"sql": sql}));
    (reply.status, reply.text())
}

/// Checks that the server did not restart, accepts rows and answers.
fn lives(server: &Served, after: &str) {
    assert_eq!(server.post("/write?db=d", b"probe n=1i").status, 204, "{after}");
    let (status, said) = ask(server, "SELECT count(*) > 0 AS found FROM d.probe");
    assert_eq!((status, said.as_str()), (200, r#"[{"found":true}]"#), "{after}");
}

/// Each question has crashed a server, or is of the kind of one that has.
fn hostile() -> Vec<(&'static str, String)> {
    let joined = |with: &str, times: usize| vec!["1"; times].join(with);
    vec![
        ("additions", format!("SELECT {}", joined("+", 20_000))),
        ("texts", format!("SELECT {}", joined("||", 20_000))),
        ("conditions", format!("SELECT {}", joined(" OR ", 20_000))),
        ("casts", format!("SELECT 1{}", "::int".repeat(20_000))),
        ("negations", format!("SELECT {}true", "NOT ".repeat(20_000))),
        ("brackets", format!("SELECT {}1{}", "(".repeat(100_000), ")".repeat(100_000))),
        ("arrays", format!("SELECT {}1{}", "[".repeat(4_000), "]".repeat(4_000))),
        ("calls", format!("SELECT {}1{}", "abs(".repeat(50_000), ")".repeat(50_000))),
        ("unions", vec!["SELECT 1"; 5_000].join(" UNION ALL ")),
        ("tables", format!("SELECT count(*) FROM d.cpu{}", ", d.cpu".repeat(600))),
        ("subqueries", format!("SELECT * FROM {}d.cpu{}", "(SELECT * FROM ".repeat(5_000), ") AS a".repeat(5_000))),
        ("types", format!("SELECT arrow_cast(1, '{}Int64{}')", "List(".repeat(50_000), ")".repeat(50_000))),
        ("comments", format!("{}SELECT", "--\n".repeat(600_000))),
        ("one long text", "SELECT repeat('a', 2000000000)".to_owned()),
        ("a padded text", "SELECT length(lpad('a', 2000000000, 'b'))".to_owned()),
        ("a long list", "SELECT range(0, 2000000000)".to_owned()),
        ("long texts", "SELECT value, repeat('abc', 1000000) FROM generate_series(1, 1000000)".to_owned()),
        ("texts made of texts", "SELECT replace(repeat('a', 100000), 'a', repeat('b', 100000))".to_owned()),
        ("a list of all", "SELECT array_agg(value) FROM generate_series(1, 1000000000)".to_owned()),
        ("a text of all", "SELECT string_agg(repeat('x', 1000), ',') FROM generate_series(1, 100000000)".to_owned()),
        (
            "texts that double",
            "WITH RECURSIVE r AS (SELECT repeat('a', 1000) AS n UNION ALL SELECT n || n FROM r) SELECT max(n) FROM r"
                .to_owned(),
        ),
        ("a large answer", "SELECT value, repeat('a', 1000) FROM generate_series(1, 100000000)".to_owned()),
    ]
}

#[test]
fn questions_without_an_answer_are_refused_at_once() {
    let (_data, server) = started();
    for (sql, reason) in [
        (format!("SELECT {}1{}", "CAST(".repeat(60), " AS INT)".repeat(60)), "it is nested too deeply"),
        (format!("SELECT {}1{}", "CAST(".repeat(40), ")".repeat(40)), "it is nested too deeply"),
        (format!("SELECT 1 FROM (VALUES (1)){}", ", (VALUES (1))".repeat(600)), "more than 200 tables"),
        ("SELECT arrow_cast(2147483647, 'Date32') AS x".to_owned(), r#"column \"x\" holds a value that has no text"#),
    ] {
        let (status, said) = ask(&server, &sql);
        assert!(status == 400 && said.contains(reason), "{status} {said}");
    }
}

#[test]
fn no_hostile_question_ends_the_server() {
    /// Megabytes that a question may use beyond `--question-memory`, and that an idle process uses.
    const PAST: u64 = 300;
    let (_data, server) = started();
    let before = memory(&server);
    for (name, sql) in hostile() {
        let peak = std::thread::scope(|scope| {
            let asked = scope.spawn(|| ask(&server, &sql));
            let mut peak = 0;
            while !asked.is_finished() {
                peak = peak.max(memory(&server));
                std::thread::sleep(Duration::from_millis(5));
            }
            let (status, said) = asked.join().unwrap();
            assert!(matches!(status, 400 | 408 | 413), "{name}: {status} {said}");
            let error = serde_json::from_str::<Value>(&said).unwrap()["error"].as_str().unwrap().to_owned();
            assert!(error.len() > 20, "{name}: {error}");
            peak
        });
        assert!(peak < before + 64 + PAST, "{name}: {peak} MB, {before} MB before all");
        lives(&server, name);
    }
}

#[test]
fn a_question_out_of_time_leaves_nothing() {
    let (data, server) = started();
    // A single function call that takes hours; its thread cannot be stopped.
    let endless = "SELECT levenshtein(repeat('a', 2000000), repeat('b', 2000000))";
    let loops = "SELECT sum(a.value * b.value % 7) FROM generate_series(1, 1000000) a \
                 CROSS JOIN generate_series(1, 1000000) b";
    for sql in [endless, loops] {
        let (status, said) = ask(&server, sql);
        assert_eq!(status, 408, "{said}");
        wait_until("its process is gone", || {
            children(&server).into_iter().all(|child| {
                let stat = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
                !stat.contains(") R ")
            })
        });
        lives(&server, sql);
    }
    // An idle process has a folder with an empty folder inside. Both disappear with the process, even during this
    // check.
    let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    wait_until("its temporary files are gone", || {
        let processes: Vec<PathBuf> = entries(data.path().join(".manyworlds.spill")).collect();
        let mut files = processes.iter().cloned().flat_map(entries).flat_map(entries);
        files.next().is_none() && processes.len() <= children(&server).len()
    });
}

#[test]
fn a_killed_question_process_is_replaced() {
    let (_data, server) = started();
    lives(&server, "start");
    for _ in 0..3 {
        let killed = children(&server);
        assert!(!killed.is_empty(), "no process waits");
        for child in &killed {
            assert!(std::process::Command::new("kill").args(["-KILL", &child.to_string()]).status().unwrap().success());
        }
        wait_until("they are dead", || {
            killed.iter().all(|child| {
                let stat = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
                // A process has ended once its last thread has.
                let threads = fs::read_dir(format!("/proc/{child}/task")).map_or(0, Iterator::count);
                stat.is_empty() || (stat.contains(") Z ") && threads <= 1)
            })
        });
        lives(&server, "a kill");
    }
}

#[test]
fn question_processes_end_with_their_server() {
    let (_data, mut server) = started();
    // Also while a question runs.
    let mut client = TcpStream::connect(server.address).unwrap();
    let body = json!({"sql": "SELECT count(*) FROM generate_series(1, 1000000000000)"}).to_string();
    let head = format!("POST /api/v1/sql HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n", body.len());
    client.write_all(format!("{head}{body}").as_bytes()).unwrap();
    wait_until("the question runs", || {
        server.send("GET", "/metrics", &[], b"").text().contains("manyworlds_questions_running 1")
    });
    let children = children(&server);
    assert!(!children.is_empty());
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    wait_until("they have ended", || children.iter().all(|child| !fs::exists(format!("/proc/{child}")).unwrap()));
}

/// A message of the protocol of `PostgreSQL`.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut message = vec![kind];
    message.extend((body.len() as u32 + 4).to_be_bytes());
    message.extend(body);
    message
}

#[test]
fn hostile_statements_over_postgres_end_nothing() {
    let (_data, server) = started();
    let startup = b"\0\0\0\x11\0\x03\0\0user\0me\0\0";
    for (name, sql) in hostile() {
        let mut stream = TcpStream::connect(server.postgres.unwrap()).unwrap();
        stream.set_read_timeout(Some(NEVER)).unwrap();
        let query = message(b'Q', format!("{sql}\0").as_bytes());
        stream.write_all(&[&startup[..], &query, &message(b'X', b"")].concat()).unwrap();
        let mut reply = BufReader::new(stream);
        // Rows of an endless answer arrive until its time limit.
        let mut length = 0;
        let mut last = Vec::new();
        loop {
            let bytes = reply.fill_buf().unwrap();
            if bytes.is_empty() {
                break;
            }
            last.extend_from_slice(bytes);
            let read = bytes.len();
            length += read;
            reply.consume(read);
            last.drain(..last.len().saturating_sub(1000));
        }
        let said = String::from_utf8_lossy(&last).into_owned();
        assert!(length > 0 && (said.contains("ERROR") || name == "comments"), "{name}: {said}");
        lives(&server, name);
    }
}
