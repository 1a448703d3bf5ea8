//! Tokens, from the command line to the reply.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use crate::served::{Reply, Served};
use crate::support::{failure, program};

/// Runs `manyworlds token`, which must succeed; returns its output.
fn token(file: &Path, words: &[&str]) -> String {
    let output = program(&["token"]).args(words).arg("--token-file").arg(file).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn refused(file: &Path, words: &[&str]) -> String {
    let output = program(&["token"]).args(words).arg("--token-file").arg(file).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{words:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn start(data: &Path, file: &Path) -> Served {
    Served::start(data, &["--token-file", file.to_str().unwrap()])
}

fn write(server: &Served, path: &str, token: &str) -> u16 {
    server.send("POST", path, &[("authorization", &format!("Bearer {token}"))], b"cpu load=1 1").status
}

fn ask(server: &Served, sql: &str, token: &str) -> Reply {
    let headers = [("authorization", &*format!("Bearer {token}")), ("content-type", "application/json")];
    server.send("POST", "/api/v1/sql", &headers, json!({"sql": sql}).to_string().as_bytes())
}

#[test]
fn a_server_with_a_token_file_answers_tokens_only() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("tokens.toml");
    let good = token(&file, &["create", "all", "--read", "--write"]);
    let server = start(data.path(), &file);
    let wrong = format!("mw_{}", "0".repeat(64));
    for (name, value) in [("", ""), ("authorization", &*format!("Bearer {wrong}")), ("x-api-key", &*wrong)] {
        let headers: &[(&str, &str)] = if name.is_empty() { &[] } else { &[(name, value)] };
        for (method, path) in
            [("POST", "/write?db=d"), ("POST", "/api/v1/sql"), ("POST", "/api/v1/write/msgpack"), ("GET", "/metrics")]
        {
            let reply = server.send(method, path, headers, b"cpu load=1 1");
            assert_eq!(reply.status, 401, "{name} {path}: {}", reply.text());
            assert!(reply.head.contains("www-authenticate") && reply.text().contains("token"), "{}", reply.text());
        }
    }
    for path in ["/health", "/ready", "/ping"] {
        assert!(server.send("GET", path, &[], b"").status < 300, "{path}");
    }
    // Clients may send the token in any of these places.
    for (name, value) in [
        ("authorization", format!("Bearer {good}")),
        ("authorization", format!("Token {good}")),
        ("x-api-key", good.clone()),
    ] {
        assert_eq!(server.send("POST", "/write?db=d", &[(name, &value)], b"cpu load=1 1").status, 204, "{name}");
    }
    assert_eq!(server.post(&format!("/write?db=d&u=me&p={good}"), b"cpu load=1 1").status, 204);
    assert_eq!(ask(&server, "SELECT count(*) AS n FROM d.cpu", &good).json(), json!([{"n": 4}]));
}

#[test]
fn a_token_reaches_its_databases_and_no_further() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("tokens.toml");
    let all = token(&file, &["create", "all", "--read", "--write"]);
    let reader = token(&file, &["create", "reader", "--read", "--database", "mine"]);
    let writer = token(&file, &["create", "writer", "--write", "--database", "mine", "--database", "ours"]);
    let server = start(data.path(), &file);
    for database in ["mine", "ours", "theirs"] {
        assert_eq!(write(&server, &format!("/write?db={database}"), &all), 204);
    }
    assert_eq!(write(&server, "/write?db=mine", &writer), 204);
    assert_eq!(write(&server, "/write?db=ours", &writer), 204);
    for (path, token) in [
        ("/write?db=theirs", &writer),
        ("/write", &writer),
        ("/api/v1/write/json?table=theirs.cpu", &writer),
        ("/api/v1/write/msgpack", &writer),
        ("/write?db=mine", &reader),
    ] {
        assert_eq!(write(&server, path, token), 403, "{path}");
    }
    assert_eq!(ask(&server, "SELECT count(*) AS n FROM mine.cpu", &reader).json(), json!([{"n": 2}]));
    for (sql, token, status) in [
        ("SELECT * FROM theirs.cpu", &reader, 403),
        ("SELECT * FROM mine.cpu JOIN theirs.cpu ON true", &reader, 403),
        ("SELECT * FROM (SELECT * FROM theirs.cpu)", &reader, 403),
        ("SELECT * FROM cpu", &reader, 400),
        ("SELECT 1", &writer, 403),
        ("SELECT count(*) FROM theirs.cpu", &all, 200),
    ] {
        let reply = ask(&server, sql, token);
        assert_eq!(reply.status, status, "{sql}: {}", reply.text());
    }
    // Databases without access are not listed.
    let listed = ask(&server, "SELECT DISTINCT table_schema AS s FROM information_schema.tables", &reader).text();
    assert!(listed.contains("mine") && !listed.contains("theirs") && !listed.contains("ours"), "{listed}");
    let headers = [("x-api-key", &*reader), ("x-arc-database", "theirs"), ("content-type", "application/json")];
    assert_eq!(server.send("POST", "/api/v1/query", &headers, b"{\"sql\": \"SELECT 1\"}").status, 403);
}

#[test]
fn tokens_come_and_go_while_a_server_runs() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("tokens.toml");
    let first = token(&file, &["create", "first", "--write"]);
    let server = start(data.path(), &file);
    assert_eq!(write(&server, "/write?db=d", &first), 204);
    let second = token(&file, &["create", "second", "--write"]);
    assert_eq!(write(&server, "/write?db=d", &second), 204);
    token(&file, &["revoke", "first"]);
    assert_eq!(write(&server, "/write?db=d", &first), 401);
    assert_eq!(write(&server, "/write?db=d", &second), 204);
    // An empty token file grants no access.
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, "no tokens").unwrap();
    assert_eq!(write(&server, "/write?db=d", &second), 503);
    std::fs::write(&file, text).unwrap();
    assert_eq!(write(&server, "/write?db=d", &second), 204);
}

#[test]
fn a_token_file_holds_no_token_and_is_private() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens.toml");
    let made = token(&file, &["create", "one", "--read", "--database", "d"]);
    assert_eq!(made.len(), 3 + 64, "256 bits: {made}");
    assert_ne!(made, token(&file, &["create", "two", "--read", "--write"]));
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains(&made) && !text.contains(&made[3..]), "{text}");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    let listed: serde_json::Value = serde_json::from_str(&token(&file, &["list", "--format", "json"])).unwrap();
    assert_eq!(
        listed,
        json!([
            {"name": "one", "databases": ["d"], "read": true, "write": false, "admin": false},
            {"name": "two", "databases": [], "read": true, "write": true, "admin": false},
        ])
    );
    assert!(refused(&file, &["create", "one", "--read"]).contains("revoke it first"));
    assert!(refused(&file, &["create", "three"]).contains("--read"), "it must be good for something");
    assert!(refused(&file, &["revoke", "twoo"]).contains("did you mean two?"));
    // Concurrent commands lose no token.
    std::thread::scope(|scope| {
        for n in 0..8 {
            let file = &file;
            scope.spawn(move || token(file, &["create", &format!("of {n}"), "--read"]));
        }
    });
    assert_eq!(token(&file, &["list", "--format", "csv"]).lines().count(), 1 + 10);
    let said = failure(folder.path(), &["serve", "--token-file", "/nowhere/tokens.toml"], 2);
    assert!(said.contains("/nowhere/tokens.toml") && said.contains("token create"), "{said}");
    // With tokens, the server may listen on public addresses.
    let words = ["--listen", "0.0.0.0:0", "--token-file", file.to_str().unwrap()];
    let server = Served::start_on(folder.path(), &words);
    assert!(server.address.ip().is_unspecified());
}

#[test]
fn one_token_cannot_take_all_places() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("tokens.toml");
    let greedy = token(&file, &["create", "greedy", "--read"]);
    let other = token(&file, &["create", "other", "--read"]);
    let words = ["--token-file", file.to_str().unwrap(), "--question-seconds", "20"];
    let server = Served::start(data.path(), &words);
    let running = || {
        let said = server.send("GET", "/metrics", &[("x-api-key", &other)], b"").text();
        let line = said.lines().find_map(|l| l.strip_prefix("manyworlds_questions_running ")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{said}"))
    };
    let endless = "SELECT count(*) FROM generate_series(1, 1000000000000)";
    std::thread::scope(|scope| {
        let asked: Vec<_> = (0..6).map(|_| scope.spawn(|| ask(&server, endless, &greedy).status)).collect();
        while running() != "3" {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        // Questions of one token queue behind each other, but do not delay those of other tokens.
        for _ in 0..3 {
            assert_eq!(ask(&server, "SELECT 1 AS one", &other).json(), json!([{"one": 1}]));
            assert_eq!(running(), "3");
        }
        for status in asked {
            assert!(matches!(status.join().unwrap(), 408 | 503));
        }
    });
}
