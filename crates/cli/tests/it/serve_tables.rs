//! Tables, logs, settings and the last hour, as the page shows them.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::served::{Reply, Served};
use crate::support::{program, run};

fn get(server: &Served, path: &str) -> Value {
    let reply = server.send("GET", path, &[], b"");
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    reply.json()
}

fn write(server: &Served, database: &str, lines: &str) {
    let reply = server.post(&format!("/write?db={database}"), lines.as_bytes());
    assert_eq!(reply.status, 204, "{}", reply.text());
}

/// Asks until the answer is as expected.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_mins(1), "never: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn tables_show_rows_in_segments_and_in_the_log() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &["--flush-seconds", "3600"]);
    assert_eq!(get(&server, "/api/v1/tables"), json!([]));
    write(&server, "d", "cpu,host=a load=1,n=1i 1700000000000000000\ncpu,host=b load=2 1700000001000000000");
    write(&server, "d", "mem free=1i 5000");
    let tables = get(&server, "/api/v1/tables");
    let cpu = json!({
        "table": "d.cpu", "database": "d", "name": "cpu", "rows": 2, "bytes": 0, "segments": 0,
        "newest": "2023-11-14T22:13:21.000000Z", "acknowledged": 2, "trouble": null,
    });
    assert_eq!((&tables[0], &tables[1]["table"], tables.as_array().unwrap().len()), (&cpu, &json!("d.mem"), 2));
    let logs = get(&server, "/api/v1/logs");
    assert_eq!((&logs[0]["table"], &logs[0]["rows"]), (&json!("d.cpu"), &json!(2)));
    assert!(logs[0]["bytes"].as_u64() > Some(0) && logs[0]["first"].as_u64() < logs[0]["next"].as_u64(), "{logs}");
    let described = get(&server, "/api/v1/table?table=d.cpu");
    let columns = json!([
        {"name": "time", "type": described["columns"][0]["type"], "nullable": described["columns"][0]["nullable"]},
        {"name": "host", "type": described["columns"][1]["type"], "nullable": true},
        {"name": "load", "type": "Float64", "nullable": true},
        {"name": "n", "type": "Int64", "nullable": true},
    ]);
    assert_eq!(described["columns"], columns, "{described}");
    assert_eq!(
        (&described["rows"], &described["rows_in_log"], &described["segments"]),
        (&json!(2), &json!(2), &json!(0))
    );
    let said = server.stop();
    assert!(said.contains("flushed all rows"), "{said}");

    // A new server: the same rows, in a segment.
    let server = Served::start(data.path(), &["--flush-seconds", "3600"]);
    let tables = get(&server, "/api/v1/tables");
    assert_eq!(
        (&tables[0]["rows"], &tables[0]["segments"], &tables[0]["acknowledged"]),
        (&json!(2), &json!(1), &json!(0))
    );
    assert_eq!(tables[0]["newest"], cpu["newest"]);
    assert!(tables[0]["bytes"].as_u64() > Some(0), "{tables}");
    let described = get(&server, "/api/v1/table?table=d.cpu");
    let names = |of: &Value| of["columns"].as_array().unwrap().iter().map(|c| c["name"].clone()).collect::<Vec<_>>();
    assert_eq!((names(&described), &described["rows_in_log"]), (names(&json!({"columns": columns})), &json!(0)));
    write(&server, "d", "cpu,host=c load=3,extra=\"x\" 1800000000000000000");
    let described = get(&server, "/api/v1/table?table=d.cpu");
    assert_eq!(
        (&described["rows"], &described["rows_in_log"], &described["acknowledged"]),
        (&json!(3), &json!(1), &json!(1))
    );
    assert_eq!(names(&described).last(), Some(&json!("extra")));
    assert_eq!(described["newest"], "2027-01-15T08:00:00.000000Z");
    // Another process appends: its rows count once the server sees them.
    let path = data.path().join("rows.jsonl");
    std::fs::write(&path, "{\"time\": 1, \"load\": 4}\n").unwrap();
    assert!(run(data.path(), &["append", "d.cpu", path.to_str().unwrap()]).status.success());
    until("4 rows", || get(&server, "/api/v1/tables")[0]["rows"] == 4);
    // A dropped table is forgotten.
    assert_eq!(get(&server, "/api/v1/tables").as_array().unwrap().len(), 2);
    std::fs::remove_dir_all(data.path().join("d/mem")).unwrap();
    until("one table", || get(&server, "/api/v1/tables").as_array().unwrap().len() == 1);
    for (path, status, said) in [
        ("/api/v1/table?table=d.cpi", 404, "no table \"d.cpi\"; did you mean d.cpu?"),
        ("/api/v1/table?table=d.none", 404, "no table \"d.none\"; there are: d.cpu"),
        ("/api/v1/table?table=d.a.b", 404, "no table"),
        ("/api/v1/table", 400, "send ?table=NAME"),
        ("/api/v1/table?table=", 400, ""),
    ] {
        let reply = server.send("GET", path, &[], b"");
        assert_eq!(reply.status, status, "{path}: {}", reply.text());
        assert!(reply.json()["error"].as_str().unwrap().contains(said), "{path}: {}", reply.text());
    }
}

#[test]
fn a_damaged_table_hides_no_other() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &["--flush-seconds", "1"]);
    write(&server, "d", "good x=1i 1\nbad x=1i 1");
    until("two segments", || {
        let tables = get(&server, "/api/v1/tables");
        (0..2).all(|place| tables[place]["segments"] == 1)
    });
    let log = data.path().join("d/bad/_delta_log");
    let next = log.join(format!("{:020}.json", std::fs::read_dir(&log).unwrap().count()));
    std::fs::write(next, "this is no entry").unwrap();
    until("trouble", || get(&server, "/api/v1/tables")[0]["trouble"].is_string());
    let tables = get(&server, "/api/v1/tables");
    assert_eq!(
        (&tables[1]["table"], &tables[1]["rows"], &tables[1]["trouble"]),
        (&json!("d.good"), &json!(1), &Value::Null)
    );
    assert_eq!(server.send("GET", "/api/v1/table?table=d.bad", &[], b"").status, 500);
}

#[test]
fn names_with_every_character_come_back_as_they_are() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[]);
    for name in ["<script>alert(1)</script>", "a'\"`b", "../x", "ä \u{1f980}", "%2e%2e", "a&b=c", "$(x)"] {
        let escaped = name.bytes().map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat();
        let path = format!("/api/v1/write/json?table=odd.{escaped}");
        let reply = server.post(&path, b"{\"time\": 1, \"x\": 1}\n");
        assert_eq!(reply.status, 204, "{name}: {}", reply.text());
        let described = get(&server, &format!("/api/v1/table?table=odd.{escaped}"));
        assert_eq!((&described["name"], &described["rows"]), (&json!(name), &json!(1)));
        let tables = get(&server, "/api/v1/tables");
        assert!(tables.as_array().unwrap().iter().any(|table| table["name"] == name), "{tables}");
    }
}

struct Tokens {
    server: Served,
    _data: tempfile::TempDir,
}

fn token(file: &Path, words: &[&str]) -> String {
    let made = program(&["token", "create"]).args(words).arg("--token-file").arg(file).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

impl Tokens {
    fn send(&self, method: &str, path: &str, token: &str, body: &Value) -> Reply {
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        self.server.send(
            method,
            path,
            if token.is_empty() { &headers[1..] } else { &headers },
            body.to_string().as_bytes(),
        )
    }
}

#[test]
fn tokens_see_their_own_databases() {
    let data = tempfile::tempdir().unwrap();
    assert!(run(data.path(), &["run", "football", "--name", "season", "--worlds", "2"]).status.success());
    let file = data.path().join("tokens.toml");
    let all = token(&file, &["all", "--read", "--write"]);
    let mine = token(&file, &["mine", "--read", "--database", "mine"]);
    let sim = token(&file, &["sim", "--read", "--database", "sim"]);
    let writer = token(&file, &["writer", "--write"]);
    let admin = token(&file, &["admin", "--admin"]);
    let server = Served::start(data.path(), &["--token-file", file.to_str().unwrap()]);
    let site = Tokens { server, _data: data };
    for database in ["mine", "theirs"] {
        let reply = site.server.send(
            "POST",
            &format!("/write?db={database}"),
            &[("authorization", &format!("Bearer {all}"))],
            b"cpu load=1 1",
        );
        assert_eq!(reply.status, 204, "{}", reply.text());
    }
    let tables = |path: &str, token: &str| {
        let reply = site.send("GET", path, token, &json!({}));
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        let names = reply.json();
        names.as_array().unwrap().iter().map(|table| table["table"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for path in ["/api/v1/tables", "/api/v1/logs"] {
        assert_eq!(tables(path, &all), ["mine.cpu", "theirs.cpu"], "{path}");
        assert_eq!(tables(path, &mine), ["mine.cpu"], "{path}");
        assert!(tables(path, &sim).is_empty(), "{path}");
    }
    let leverage =
        json!({"ensemble": "season", "condition": "game-001:home_won", "outcomes": ["home_won"], "min_worlds": 1});
    let events = json!({"ensemble": "season", "entity": "game-001", "world": 0});
    let worlds = json!({"ensemble": "season", "outcomes": ["game-001:home_won"]});
    let nothing = json!({});
    // The statuses for all, mine, sim, writer, admin and no token.
    for (method, path, body, statuses) in [
        ("GET", "/api/v1/tables", &nothing, [200, 200, 200, 403, 403, 401]),
        ("GET", "/api/v1/table?table=mine.cpu", &nothing, [200, 200, 403, 403, 403, 401]),
        ("GET", "/api/v1/table?table=theirs.cpu", &nothing, [200, 403, 403, 403, 403, 401]),
        ("GET", "/api/v1/table?table=theirs.none", &nothing, [404, 403, 403, 403, 403, 401]),
        ("GET", "/api/v1/logs", &nothing, [200, 200, 200, 403, 403, 401]),
        ("GET", "/api/v1/history", &nothing, [200, 200, 200, 403, 403, 401]),
        ("GET", "/api/v1/settings", &nothing, [200, 403, 403, 403, 403, 401]),
        ("GET", "/api/v1/session", &nothing, [200, 200, 200, 200, 200, 401]),
        ("GET", "/api/v1/tokens", &nothing, [403, 403, 403, 403, 200, 401]),
        ("POST", "/api/v1/leverage", &leverage, [200, 403, 200, 403, 403, 401]),
        ("POST", "/api/v1/events", &events, [200, 403, 200, 403, 403, 401]),
        ("POST", "/api/v1/summary", &events, [200, 403, 200, 403, 403, 401]),
        ("POST", "/api/v1/worlds?format=csv", &worlds, [200, 403, 200, 403, 403, 401]),
    ] {
        for (token, status) in [&all, &mine, &sim, &writer, &admin, &String::new()].into_iter().zip(statuses) {
            let reply = site.send(method, path, token, body);
            assert_eq!(reply.status, status, "{method} {path}: {}", reply.text());
        }
    }
}

#[test]
fn settings_are_shown_without_passwords() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("settings.toml");
    std::fs::write(&file, "flush-seconds = 7\n").unwrap();
    let server = Served::of(
        program(&["serve", "--listen", "127.0.0.1:0", "--flush-rows", "1234", "--config"])
            .arg(&file)
            .args(["--ledger", "postgres://me:very-secret@127.0.0.1:1/none", "--data"])
            .arg(data.path())
            .env("MANYWORLDS_MEMORY", "77"),
    );
    let reply = server.send("GET", "/api/v1/settings", &[], b"");
    assert!(!reply.text().contains("very-secret"), "{}", reply.text());
    let settings = reply.json();
    let of = |name: &str| settings.as_array().unwrap().iter().find(|setting| setting["name"] == name).unwrap().clone();
    let shown = |name: &str| (of(name)["value"].clone(), of(name)["source"].as_str().unwrap().to_owned());
    assert_eq!(shown("flush-rows"), (json!("1234"), "flag".to_owned()));
    assert_eq!(shown("flush-seconds"), (json!("7"), format!("file {}", file.display())));
    assert_eq!(shown("memory"), (json!("77"), "environment MANYWORLDS_MEMORY".to_owned()));
    assert_eq!(shown("connections"), (json!("1024"), "default".to_owned()));
    assert_eq!((&of("ledger")["value"], &of("ledger")["secret"]), (&Value::Null, &json!(true)));
    assert_eq!((&of("token-file")["value"], &of("token-file")["secret"]), (&Value::Null, &json!(false)));
}

#[test]
fn history_has_a_value_for_each_sample() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[]);
    write(&server, "d", "cpu load=1 1");
    let samples_of = |history: &Value| history["at"].as_array().unwrap().len();
    // None, unless the machine is slow. The next sample is the last that may count the row and its request.
    let before = samples_of(&get(&server, "/api/v1/history"));
    until("a sample", || samples_of(&get(&server, "/api/v1/history")) > before);
    let history = get(&server, "/api/v1/history");
    assert_eq!(history["step_s"], json!(10));
    let samples = samples_of(&history);
    for (name, values) in history["series"].as_object().unwrap() {
        assert_eq!(values.as_array().unwrap().len(), samples, "{name}");
        assert!(values.as_array().unwrap().iter().all(|value| value.as_f64() >= Some(0.0)), "{name}: {values}");
    }
    let values = |name: &str| history["series"][name].as_array().unwrap();
    let counted = |name: &str| values(name)[..=before].iter().any(|value| value.as_f64() > Some(0.0));
    assert!(counted("rows_per_s") && counted("write_requests_per_s"), "{history}");
    assert!(values("memory_bytes").iter().all(|bytes| bytes.as_f64() > Some(1e6)), "{history}");
    assert!(values("waiting_rows").iter().all(|rows| rows.as_f64() <= Some(1.0)), "{history}");
}
