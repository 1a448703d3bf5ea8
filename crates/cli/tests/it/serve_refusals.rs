//! Every error status of a running server, in the one format that clients read.

use serde_json::{Value, json};

use crate::served::{Reply, Served};
use crate::support::program;

/// The body of a refusal: JSON with an `error` text.
#[track_caller]
fn refused(reply: &Reply, status: u16, words: &str) -> Value {
    assert_eq!(reply.status, status, "{}", reply.text());
    assert!(reply.head.contains("content-type: application/json"), "{}", reply.head);
    let body = reply.json();
    let said = body["error"].as_str().unwrap_or_else(|| panic!("{body}"));
    assert!(said.contains(words), "{said}");
    body
}

/// `count` lines of a table, numbered from `first`.
fn lines(first: usize, count: usize) -> Vec<u8> {
    let lines: Vec<String> = (first..first + count).map(|n| format!("cpu,host=h{} load={n}i {n}\n", n % 10)).collect();
    lines.concat().into_bytes()
}

#[test]
fn bad_bodies_and_large_ones_are_refused() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[]);
    let body = refused(&server.post("/write?db=d", b"cpu load=1\nno line"), 400, "rejected 1 item, stored 1 row");
    assert_eq!((&body["stored"], &body["refused"][0]["position"]), (&json!(1), &json!(2)));
    refused(&server.post("/api/v1/write/msgpack", b"\xc1"), 400, "MessagePack");
    refused(&server.post_json("/api/v1/query", &json!({"sql": "SELECT * FROM nothing"})), 400, "no table");
    refused(&server.post("/write?db=d", &vec![b'\n'; 33 << 20]), 413, "send smaller requests");
    refused(
        &server.post("/api/v1/write/json?table=cpu", &zstd::encode_all(&vec![b' '; 200 << 20][..], 1).unwrap()),
        413,
        "too large",
    );
    refused(&server.post("/nowhere", b""), 404, "nothing at this path");
    refused(&server.post("/write?db=d&db=d", b"cpu load=1"), 400, "cannot read the query string: duplicate field `db`");
}

#[test]
fn strangers_are_refused() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("tokens.toml");
    let words = ["create", "one", "--write", "--database", "mine", "--token-file", file.to_str().unwrap()];
    let made = program(&["token"]).args(words).output().unwrap();
    let token = String::from_utf8(made.stdout).unwrap().trim().to_owned();
    let server = Served::start(data.path(), &["--token-file", file.to_str().unwrap()]);
    let key = [("x-api-key", &*token), ("content-type", "application/json")];
    refused(&server.post("/write?db=mine", b"cpu load=1"), 401, "send a token");
    refused(&server.send("POST", "/write?db=theirs", &key, b"cpu load=1"), 403, "not for database \"theirs\"");
    refused(&server.send("POST", "/api/v1/sql", &key, br#"{"sql": "SELECT 1"}"#), 403, "may not read");
    refused(&server.send("GET", "/query?q=SHOW%20DATABASES", &key, b""), 403, "may not read");
    refused(&server.send("POST", "/query?q=CREATE%20DATABASE%20theirs", &key, b""), 403, "not for database");
    std::fs::write(&file, "no tokens").unwrap();
    let reply = server.send("POST", "/write?db=mine", &key, b"cpu load=1");
    refused(&reply, 503, "cannot check tokens");
    assert!(reply.head.contains("retry-after: "), "{}", reply.head);
}

#[test]
fn what_memory_has_no_room_for_is_refused_whole() {
    const ROWS: usize = 2_000;
    let data = tempfile::tempdir().unwrap();
    // No flush happens before the end.
    let server = Served::start(data.path(), &["--memory", "1", "--flush-rows", "100000000", "--flush-seconds", "3600"]);
    let mut stored = 0;
    let reply = loop {
        let reply = server.post("/write?db=d", &lines(stored, ROWS));
        if reply.status != 204 {
            break reply;
        }
        stored += ROWS;
        assert!(stored < 1_000_000, "a megabyte has no room for so many");
    };
    refused(&reply, 429, "");
    assert!(reply.head.contains("retry-after: "), "{}", reply.head);
    assert_eq!(server.sql("SELECT count(*) AS n FROM d.cpu")[0]["n"], stored);
}

#[test]
fn a_disk_that_refuses_is_told_of() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[]);
    // A file in place of the database's folder.
    std::fs::write(data.path().join("broken"), "").unwrap();
    let reply = server.post("/write?db=broken", b"cpu load=1");
    refused(&reply, 503, "broken");
    assert!(reply.head.contains("retry-after: "), "{}", reply.head);
    assert_eq!(server.post("/write?db=whole", b"cpu load=1").status, 204, "other databases are served");
}

#[test]
fn clients_of_line_protocol_find_what_there_is() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[]);
    let names = |path: &str, form: &str| {
        let reply =
            if form.is_empty() { server.send("GET", path, &[], b"") } else { server.post(path, form.as_bytes()) };
        assert_eq!(reply.status, 200, "{path} {form}: {}", reply.text());
        reply.json()["results"][0]["series"][0]["values"].clone()
    };
    assert_eq!(server.post("/query", b"q=CREATE+DATABASE+%22d%22").json(), json!({"results": [{"statement_id": 0}]}));
    assert_eq!(names("/query?q=SHOW+DATABASES", ""), json!([["sim"]]), "it is made when a row comes");
    assert_eq!(server.post("/write?db=d", b"cpu load=1\nmem used=2").status, 204);
    assert_eq!(names("/query", "q=SHOW+DATABASES"), json!([["d"], ["sim"]]));
    assert_eq!(names("/query?db=d&q=show%20measurements", ""), json!([["cpu"], ["mem"]]));
    assert_eq!(names("/query?q=SHOW%20MEASUREMENTS%20ON%20d", ""), json!([["cpu"], ["mem"]]));
    refused(&server.send("GET", "/query", &[], b""), 400, "?q=");
    refused(&server.post("/query?q=CREATE%20DATABASE%20%22..%22", b""), 400, "cannot name a database");
    refused(&server.send("GET", "/query?q=SELECT%201", &[], b""), 400, "/api/v1/sql");
}

#[test]
fn tables_and_columns_are_limited_over_all_requests() {
    let data = tempfile::tempdir().unwrap();
    let words = ["--max-tables", "2", "--max-columns", "3"];
    let server = Served::start(data.path(), &words);
    assert_eq!(server.post("/write?db=d", b"one a=1,b=2 1000\ntwo a=1 1000\n").status, 204);
    let body =
        refused(&server.post("/write?db=d", b"two a=2 2000\nthree a=1 1000\n"), 400, "cannot create table d.three");
    assert_eq!((&body["stored"], &body["refused"][0]["table"]), (&json!(1), &json!("three")), "{body}");
    let body = refused(&server.post("/write?db=d", b"one a=3 2000\none a=4,c=5 3000\n"), 400, "columns, the maximum");
    assert_eq!((&body["stored"], &body["refused"][0]["field"]), (&json!(1), &json!("c")));
    assert_eq!(server.sql("SELECT sum(a) AS a FROM d.one"), json!([{"a": 4.0}]));
    assert_eq!(server.sql("SELECT sum(a) AS a FROM d.two"), json!([{"a": 3.0}]));
    server.stop();
    // Existing tables and columns stay, even above the limits for new ones.
    let server = Served::start(data.path(), &["--max-tables", "1", "--max-columns", "1"]);
    assert_eq!(server.sql("SELECT count(*) AS n, count(b) AS b FROM d.one"), json!([{"n": 2, "b": 1}]));
    assert_eq!(server.post("/write?db=d", b"two a=2 2000\n").status, 204);
}

#[test]
fn requests_may_have_as_many_columns_as_tables() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[]);
    let fields = |count: usize| (0..count).map(|n| format!("f{n}={n}i")).collect::<Vec<_>>().join(",");
    assert_eq!(server.post("/write?db=d", format!("wide {} 1000", fields(1_500)).as_bytes()).status, 204);
    refused(&server.post("/write?db=d", format!("wider {} 1000", fields(2_001)).as_bytes()), 400, "2000 columns");
    assert_eq!(server.sql("SELECT f0 + f1499 AS sum FROM d.wide"), json!([{"sum": 1_499}]));
}

#[test]
fn names_in_queries_must_be_text() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[]);
    for path in ["/api/v1/write/json?table=m.%ff", "/write?db=%C3", "/api/v2/write?bucket=a&x=%80", "/query?q=%ff"] {
        let reply = server.post(path, b"{\"x\": 1}");
        assert_eq!(reply.status, 400, "{path}");
        assert!(reply.text().contains("not UTF-8"), "{path}: {}", reply.text());
    }
    assert_eq!(server.post("/api/v1/write/json?table=m.%C3%A9", b"{\"x\": 1}").status, 204);
}
