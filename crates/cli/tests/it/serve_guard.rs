//! Refused requests of browsers, hidden data, and permissions of written files.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::served::Served;
use crate::support::{json as answer, program};

const LINE: &[u8] = b"cpu load=1 1";

#[test]
fn foreign_names_and_pages_are_refused() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &["--host", "tables.example"]);
    let get = |path: &str, host: &str| server.send("GET", path, &[("host", host)], b"").status;
    for path in ["/", "/ui/ensembles/season", "/assets/main.js", "/nowhere"] {
        assert_eq!(get(path, "evil.example"), 403, "{path}");
        assert_ne!(get(path, &server.address.to_string()), 403, "{path}");
    }
    // A name of another site that points at this server reads nothing, whatever the route.
    let document = server.send("GET", "/api/v1/openapi.json", &[], b"").json();
    let mut routes = 0;
    for (path, operations) in document["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys() {
            let reply = server.send(&method.to_uppercase(), path, &[("host", "evil.example")], b"");
            assert_eq!(reply.status, 403, "{method} {path}");
            routes += 1;
            if path.ends_with("/stream") {
                // It has no end.
                continue;
            }
            let reply = server.send(&method.to_uppercase(), path, &[], b"");
            assert_ne!(reply.status, 403, "{method} {path}");
            assert!(reply.head.contains("x-content-type-options: nosniff"), "{method} {path}: {}", reply.head);
            assert!(reply.head.contains("cross-origin-resource-policy: same-origin"), "{method} {path}");
            assert!(!reply.head.contains("access-control-"), "{method} {path}: {}", reply.head);
        }
    }
    assert!(routes > 40, "{routes}");
    assert_eq!((get("/ping", "tables.example"), get("/ping", "localhost:1")), (204, 204));
    let refused = server.send("POST", "/write?db=d", &[("host", "evil.example:8080")], LINE);
    assert_eq!(refused.status, 403);
    assert!(refused.text().contains("can add it to its host names"), "{}", refused.text());
    let own = format!("http://{}", server.address);
    let (host, body) = (server.address.to_string(), json!({"sql": "SELECT 1 AS one"}).to_string());
    for (path, body) in [("/write?db=d", LINE), ("/api/v1/sql", body.as_bytes()), ("/api/v1/price", b"{}")] {
        let post = |headers: &[(&str, &str)]| {
            server.send("POST", path, &[&[("host", host.as_str())], headers].concat(), body).status
        };
        assert_eq!(post(&[("origin", "http://evil.example")]), 403, "{path}");
        assert_eq!(post(&[("origin", "null")]), 403, "{path}");
        assert_eq!(post(&[("sec-fetch-site", "cross-site")]), 403, "{path}");
        assert_ne!(post(&[("origin", &own), ("sec-fetch-site", "same-origin")]), 403, "{path}");
        assert_ne!(post(&[]), 403, "{path}");
    }
    let stored = server.sql("SELECT count(*) AS n FROM d.cpu");
    assert_eq!(stored, json!([{"n": 2}]), "from its own page and from a program");
}

fn token(file: &Path, words: &[&str]) -> String {
    let made = program(&["token", "create"]).args(words).arg("--token-file").arg(file).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

/// Logs in to a server as a client of `PostgreSQL`; returns the reply.
fn log_in(address: SocketAddr, password: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap();
    let message = |kind: Option<u8>, body: &[u8]| {
        let length = (body.len() as u32 + 4).to_be_bytes();
        [kind.as_slice(), &length, body].concat()
    };
    stream.write_all(&message(None, b"\0\x03\0\0user\0me\0\0")).unwrap();
    stream.write_all(&message(Some(b'p'), &[password.as_bytes(), b"\0"].concat())).unwrap();
    stream.write_all(&message(Some(b'X'), b"")).unwrap();
    let mut back = Vec::new();
    stream.read_to_end(&mut back).unwrap();
    back
}

#[test]
fn logs_hold_no_tokens() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("tokens.toml");
    let good = token(&file, &["all", "--read", "--write"]);
    let log = data.path().join("log");
    let mut child = program(&["serve", "--listen", "127.0.0.1:0", "--pg", "127.0.0.1:0"])
        .arg("--token-file")
        .arg(&file)
        .arg("--data")
        .arg(data.path())
        .env("MANYWORLDS_LOG", "trace")
        .stderr(Stdio::from(fs::File::create(&log).unwrap()))
        .spawn()
        .unwrap();
    let said = || String::from_utf8_lossy(&fs::read(&log).unwrap()).into_owned();
    let after = |words: &str| -> SocketAddr {
        let began = Instant::now();
        loop {
            let said = said();
            if let Some(address) = said.split_once(words).and_then(|(_, rest)| rest.split([';', '\n']).next()) {
                break address.parse().unwrap();
            }
            assert!(began.elapsed() < Duration::from_mins(1), "{said}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let (address, postgres) = (after("listening on http://"), after("PostgreSQL clients on "));
    let wrong = "mw_wrong-and-secret";
    let curl = |words: &[&str], path: &str| {
        let url = format!("http://{address}{path}");
        let shown = ["-sS", "-o", "/dev/null", "-w", "%{http_code}"];
        let made = Command::new("curl").args(shown).args(words).arg(url).output().unwrap();
        String::from_utf8(made.stdout).unwrap()
    };
    let mut statuses = Vec::new();
    for secret in [good.as_str(), wrong] {
        let bearer = format!("authorization: Bearer {secret}");
        statuses.push(curl(&["-H", &bearer], "/metrics"));
        statuses.push(curl(&["--http2-prior-knowledge", "-H", &bearer], "/metrics"));
        statuses.push(curl(&["-H", &format!("x-api-key: {secret}")], "/metrics"));
        statuses.push(curl(&["-u", &format!("me:{secret}")], "/metrics"));
        statuses.push(curl(&["-d", "cpu load=1 1"], &format!("/write?db=d&u=me&p={secret}")));
    }
    assert_eq!(statuses, ["200", "200", "200", "200", "204", "401", "401", "401", "401", "401"]);
    assert!(log_in(postgres, &good).windows(6).any(|w| w == b"server"), "it is let in");
    assert!(String::from_utf8_lossy(&log_in(postgres, wrong)).contains("28P01"));
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    assert!(child.wait().unwrap().success());
    let said = said();
    assert!(said.contains("failed login"), "{said}");
    let basic = base64(&format!("me:{good}"));
    for secret in [&good, &good[3..], wrong, "wrong-and-secret", &basic] {
        let line = said.lines().find(|line| line.contains(secret));
        assert!(line.is_none(), "{line:?}");
    }
}

fn base64(text: &str) -> String {
    let mut encode =
        Command::new("base64").args(["-w", "0"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    encode.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    String::from_utf8(encode.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn failed_logins_wait_and_valid_ones_do_not() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("tokens.toml");
    let good = token(&file, &["all", "--read", "--write"]);
    let server = Served::start(data.path(), &["--token-file", file.to_str().unwrap()]);
    let ask = |token: &str| server.send("GET", "/metrics", &[("x-api-key", token)], b"").status;
    for _ in 0..8 {
        assert_eq!(ask("mw_wrong"), 401);
    }
    let began = Instant::now();
    assert_eq!(ask("mw_wrong"), 401);
    assert!(began.elapsed() > Duration::from_millis(500), "the ninth failure waits a second");
    std::thread::scope(|scope| {
        let failing: Vec<_> = (0..100).map(|_| scope.spawn(|| ask("mw_wrong"))).collect();
        let began = Instant::now();
        while failing.iter().any(|thread| !thread.is_finished()) && began.elapsed() < Duration::from_mins(1) {
            assert_eq!(ask(&good), 200, "others' failures do not shut the door");
        }
        let statuses: Vec<u16> = failing.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(statuses.iter().all(|status| matches!(status, 401 | 429)), "{statuses:?}");
        assert!(statuses.contains(&401), "{statuses:?}");
    });
}

/// Every file and folder below `path`, after `path` itself.
fn tree(path: &Path) -> Vec<PathBuf> {
    let mut all = vec![path.to_owned()];
    if path.is_dir() {
        all.extend(fs::read_dir(path).unwrap().flat_map(|entry| tree(&entry.unwrap().path())));
    }
    all
}

#[test]
fn stored_files_are_for_their_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("new/data");
    // A process with an open umask: anyone could read and write its files.
    let program = |words: &[&str]| {
        let mut shell = Command::new("sh");
        shell.args(["-c", "umask 000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_manyworlds")]).args(words);
        shell.arg("--data").arg(&data);
        shell
    };
    let open = |words: &[&str], input: &str| {
        let mut child = program(words).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let code = child.wait().unwrap().code();
        assert_eq!(code, Some(i32::from(input.contains("no row"))), "{words:?}");
    };
    open(&["run", "football", "--worlds", "3", "--name", "season"], "");
    let rows: Vec<_> = (0..3).map(|n| format!("{{\"time\": {n}, \"load\": {n}}}\n")).collect();
    let rows = rows.concat();
    open(&["append", "cpu", "--in", "json"], &rows);
    open(&["flush", "cpu"], "");
    open(&["append", "cpu", "--in", "json"], "{\"load\": 4}\nno row\n");
    open(&["ask", "cpu", "--sum", "load"], "");
    let limits = ["--question-memory", "64", "--question-seconds", "600"];
    let server = Served::of(program(&["serve", "--listen", "127.0.0.1:0"]).args(limits));
    assert_eq!(server.post("/write?db=default", LINE).status, 204);
    // A table in trouble has a note beside its log.
    let log = data.join("default/cpu/_delta_log");
    let damaged = log.join(format!("{:020}.json", fs::read_dir(&log).unwrap().count()));
    fs::write(&damaged, "this is no entry").unwrap();
    fs::set_permissions(&damaged, fs::Permissions::from_mode(0o600)).unwrap();
    let found = |folder: &Path, words: &[&str]| {
        let found = Command::new("find").arg(folder).args(words).output().unwrap();
        String::from_utf8(found.stdout).unwrap()
    };
    let spill = data.join(".manyworlds.spill");
    std::thread::scope(|scope| {
        let sql = "SELECT max(n) AS n FROM (SELECT row_number() OVER (ORDER BY value % 1000003, value) AS n FROM \
                   generate_series(1, 4000000))";
        let asked = scope.spawn(|| server.sql(sql));
        let mut spilled = false;
        while !asked.is_finished() {
            spilled |= !found(&spill, &["-type", "f"]).is_empty();
            assert_eq!(found(&data, &["-perm", "/077"]), "");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(spilled);
        assert_eq!(asked.join().unwrap()[0]["n"], 4_000_000);
    });
    drop(server.end());
    assert!(data.join("default/cpu/_ingest/failing").exists());
    assert!(!spill.exists());
    let all = tree(folder.path().join("new").as_path());
    assert!(all.len() > 20, "{all:?}");
    for path in all {
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
    }
}

#[test]
fn folders_shared_with_a_group_stay_so() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o2770)).unwrap();
    answer(&data, &["run", "football", "--worlds", "2", "--name", "season"]);
    for path in tree(&data) {
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o040, 0o040, "{}: {mode:o}", path.display());
    }
}
