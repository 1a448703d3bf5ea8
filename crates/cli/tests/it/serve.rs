//! The server from a client's view.

use std::io::Write as _;

use serde_json::json;

use crate::served::Served;
use crate::support::{failure, json};

#[test]
fn rows_of_every_text_format_are_stored_and_asked_for() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[]);
    let lines = "cpu,host=a load=0.5,up=3i 1700000000000000000\ncpu,host=b load=0.25 1700000001000000000\n";
    for path in ["/write?db=metrics", "/api/v2/write?bucket=metrics&org=o", "/api/v1/write/line-protocol?db=metrics"] {
        let reply = server.post(path, lines.as_bytes());
        assert_eq!((reply.status, reply.body.len()), (204, 0), "{path}: {}", reply.text());
    }
    let rows = "{\"time\": 1700000002, \"host\": \"c\", \"load\": 1}\n{\"host\": \"d\", \"load\": 2.5}\n";
    assert_eq!(server.post("/api/v1/write/json?table=metrics.cpu", rows.as_bytes()).status, 204);
    let rows = "time,host,load\n1700000003,e,4\n";
    let database = [("x-arc-database", "metrics")];
    assert_eq!(server.send("POST", "/api/v1/write/csv?table=cpu", &database, rows.as_bytes()).status, 204);
    let answer =
        server.sql("SELECT host, count(*) AS n, sum(load) AS load FROM metrics.cpu GROUP BY host ORDER BY host");
    assert_eq!(
        answer,
        json!([
            {"host": "a", "n": 3, "load": 1.5},
            {"host": "b", "n": 3, "load": 0.75},
            {"host": "c", "n": 1, "load": 1.0},
            {"host": "d", "n": 1, "load": 2.5},
            {"host": "e", "n": 1, "load": 4.0},
        ])
    );
    // The request format of Arc's clients.
    let asked = json!({"sql": "SELECT host, up, time FROM cpu WHERE host = 'a' LIMIT 1"}).to_string();
    let reply =
        server.send("POST", "/api/v1/query", &[database[0], ("content-type", "application/json")], asked.as_bytes());
    let reply = reply.json();
    assert_eq!(reply["columns"], json!(["host", "up", "time"]));
    assert_eq!((&reply["data"], &reply["row_count"]), (&json!([["a", 3, "2023-11-14T22:13:20Z"]]), &json!(1)));
    assert_eq!(reply["success"], json!(true));
    // At its end, the server writes unflushed rows to segments, for the command line.
    assert!(server.stop().contains("flushed all rows"));
    let stored = json(data.path(), &["sql", "SELECT count(*) AS n FROM metrics.cpu"]);
    assert_eq!(stored[0]["n"], 9);
    let again = Served::start(data.path(), &[]);
    assert_eq!(again.sql("SELECT count(*) AS n FROM metrics.cpu")[0]["n"], 9);
}

#[test]
fn what_is_refused_is_named_and_the_rest_is_stored() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[]);
    let refusing = |body: &[u8]| server.send("POST", "/write?db=d", &[("x-manyworlds-on-conflict", "refuse")], body);
    let reply = refusing(b"cpu load=1 1\nthis is no line\ncpu load=2 2\ncpu load=\"text\" 3\n");
    let said = reply.json();
    assert_eq!((reply.status, &said["stored"]), (400, &json!(2)), "{said}");
    let positions: Vec<_> = said["refused"].as_array().unwrap().iter().map(|r| r["position"].clone()).collect();
    assert_eq!(positions, [2, 4], "{said}");
    let reply = refusing(b"cpu load=3 4\ncpu load=t 5\n");
    assert_eq!((reply.status, reply.json()["stored"].clone()), (400, json!(1)), "{}", reply.text());
    // A value with another type than the column.
    let reply = refusing(b"cpu load=\"much\" 6\n");
    let said = reply.json();
    assert_eq!((reply.status, &said["refused"][0]["field"]), (400, &json!("load")), "{said}");
    assert!(said["error"].as_str().unwrap().contains("holds real numbers, and text came"), "{said}");
    assert_eq!(server.sql("SELECT count(*) AS n, sum(load) AS s FROM d.cpu"), json!([{"n": 3, "s": 6.0}]));
    // A row that fits two columns not is one.
    assert_eq!(refusing(b"two a=1,b=1 5\n").status, 204);
    let said = refusing(b"two a=\"x\",b=\"y\" 6\ntwo a=\"z\" 6\n").json();
    assert_eq!((&said["refused"][0]["row"], said["refused"].as_array().unwrap().len()), (&json!(1), 2), "{said}");
    assert!(said["error"].as_str().unwrap().starts_with("rejected 2 items, stored 0 rows; "), "{said}");
    // Without the header, the server keeps the value.
    let reply = server.post("/write?db=d", b"cpu load=\"much\" 6\n");
    let told = "table cpu: 1 values that do not fit column `load` are stored as text in `load_text`";
    assert!(reply.status == 204 && reply.head.contains(told), "{}: {}", reply.head, reply.text());
    let kept = server.sql("SELECT load, load_text FROM d.cpu WHERE load_text IS NOT NULL");
    assert_eq!(kept, json!([{"load": null, "load_text": "much"}]));
    for (path, body, status, words) in [
        (
            "/write?db=d&precision=week",
            &b"cpu load=1"[..],
            400,
            "unknown precision \"week\": choose ns, us, ms, s, m or h",
        ),
        ("/write?db=sim", b"cpu load=1", 400, "reserved for ensembles"),
        ("/write?db=..", b"cpu load=1", 400, "invalid table name"),
        ("/api/v1/write/json", b"{}", 400, "?table=NAME"),
        ("/api/v1/write/json?table=t", b"{\"a\":", 400, "position 1"),
        ("/api/v1/write/msgpack", b"\xc1", 400, "MessagePack"),
        ("/api/v1/write/arrow?table=t", b"no", 400, "Arrow"),
        ("/nowhere", b"", 404, "nothing at this path"),
        ("/api/v1/sql", b"{}", 400, "send {\"sql\": \"...\"}"),
        ("/api/v1/sql?format=xml", b"{\"sql\": \"SELECT 1\"}", 400, "choose json, csv, arrow or parquet"),
    ] {
        let reply = server.send("POST", path, &[("content-type", "application/json")], body);
        assert_eq!(reply.status, status, "{path}: {}", reply.text());
        let said = reply.json()["error"].as_str().unwrap().to_owned();
        assert!(said.contains(words), "{path}: {said}");
    }
    for (sql, words) in [
        ("SELECT * FROM nothing", "no table \"nothing\""),
        ("DROP TABLE d.cpu", "SELECT"),
        ("SELECT lod FROM d.cpu", "load"),
    ] {
        let reply = server.post_json("/api/v1/sql", &json!({"sql": sql}));
        assert_eq!(reply.status, 400, "{sql}: {}", reply.text());
        let said = reply.json()["error"].as_str().unwrap().to_owned();
        assert!(said.contains(words), "{sql}: {said}");
    }
}

#[test]
fn a_request_with_a_key_is_stored_once() {
    let data = tempfile::tempdir().unwrap();
    let key = [("idempotency-key", "batch 17")];
    for round in 0..2 {
        let server = Served::start(data.path(), &[]);
        for _ in 0..3 {
            assert_eq!(server.send("POST", "/write?db=d", &key, b"cpu load=1 1\nmem used=2i 1").status, 204);
        }
        assert_eq!(server.post("/write?db=d", b"cpu load=1 2").status, 204);
        assert_eq!(server.sql("SELECT count(*) AS n FROM d.cpu")[0]["n"], 2 + round);
        assert_eq!(server.sql("SELECT count(*) AS n FROM d.mem")[0]["n"], 1);
    }
}

#[test]
fn bodies_are_limited_and_compressed_ones_told_by_their_first_bytes() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[]);
    let lines: Vec<String> = (0..5_000).map(|n| format!("cpu,host=h{} load={n}i {n}000\n", n % 10)).collect();
    let lines = lines.concat();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(lines.as_bytes()).unwrap();
    assert_eq!(server.post("/write?db=d", &gzip.finish().unwrap()).status, 204);
    assert_eq!(server.post("/write?db=d", &zstd::encode_all(lines.as_bytes(), 1).unwrap()).status, 204);
    assert_eq!(server.sql("SELECT count(*) AS n FROM d.cpu")[0]["n"], 10_000);
    let zeros = vec![0; 200 << 20];
    let bomb = zstd::encode_all(&zeros[..], 1).unwrap();
    assert_eq!(server.post("/write?db=d", &bomb).status, 413);
    assert_eq!(server.post("/write?db=d", &zeros[..40 << 20]).status, 413);
    assert_eq!(server.post("/write?db=d", b"cpu load=1i 1").status, 204, "it still serves");
}

#[test]
fn other_machines_are_refused() {
    let data = tempfile::tempdir().unwrap();
    let said = failure(data.path(), &["serve", "--listen", "0.0.0.0:0"], 2);
    assert!(said.contains("requires no token; require tokens with --token-file"), "{said}");
    let server = Served::start(data.path(), &[]);
    let said = failure(data.path(), &["serve", "--listen", "127.0.0.1:0"], 2);
    assert!(said.contains("in use by another server"), "{said}");
    let said = failure(tempfile::tempdir().unwrap().path(), &["serve", "--listen", &server.address.to_string()], 2);
    assert!(said.contains("cannot listen on"), "{said}");
    for (path, words) in [("/health", "pass"), ("/ready", "ready"), ("/metrics", "manyworlds_rows_total 0")] {
        let reply = server.send("GET", path, &[], b"");
        assert!(reply.status == 200 && reply.text().contains(words), "{path}: {}", reply.text());
    }
    assert_eq!(server.send("GET", "/ping", &[], b"").status, 204);
    assert!(server.send("GET", "/ping", &[], b"").head.contains("x-influxdb-version"));
}
