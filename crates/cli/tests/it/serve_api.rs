//! Compares the server with the document that describes it.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::served::Served;
use crate::support::{failure, program};

fn document(server: &Served) -> Value {
    let reply = server.send("GET", "/api/v1/openapi.json", &[], b"");
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()
}

/// Each operation with its path and method.
fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let of_path = |(path, operations): (&String, &Value)| {
        let operations = operations.as_object().unwrap().iter();
        operations.map(|(method, op)| (path.clone(), method.to_uppercase(), op.clone())).collect::<Vec<_>>()
    };
    document["paths"].as_object().unwrap().iter().flat_map(of_path).collect()
}

#[test]
fn the_document_describes_the_server() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[]);
    let document = document(&server);
    assert_eq!(document["openapi"], "3.1.0");
    assert!(document["info"]["title"].is_string() && document["info"]["version"].is_string());
    let mut ids = BTreeSet::new();
    for (path, method, operation) in operations(&document) {
        if path.ends_with("/stream") {
            // Its answer has no end.
            continue;
        }
        let reply = server.send(&method, &path, &[], b"");
        assert!(reply.status != 404 && reply.status != 405, "{method} {path}: {} {}", reply.status, reply.text());
        let told = &operation["responses"][reply.status.to_string()];
        assert!(told["description"].is_string(), "{method} {path} answers {}, which nobody is told", reply.status);
        assert!(ids.insert(operation["operationId"].as_str().unwrap().to_owned()), "{method} {path}: an id twice");
        assert!(operation["summary"].is_string() && operation.get("security").is_none(), "{method} {path}");
        for parameter in operation["parameters"].as_array().unwrap() {
            let place = parameter["in"].as_str().unwrap();
            assert!(["query", "header"].contains(&place) && parameter["schema"].is_object(), "{parameter}");
        }
        let has_body = method == "POST" && path != "/api/v1/logout";
        assert_eq!(has_body, operation["requestBody"]["content"].is_object(), "{method} {path}");
        for status in ["400", "401", "403", "404", "408", "409", "413", "429", "500", "503"] {
            let schema = &operation["responses"][status]["content"]["application/json"]["schema"]["$ref"];
            assert!(schema.is_null() || schema == "#/components/schemas/Error", "{method} {path}: {schema}");
        }
    }
    let error = &document["components"]["schemas"]["Error"];
    assert_eq!((&error["required"], &error["properties"]["error"]["type"]), (&json!(["error"]), &json!("string")));
}

#[test]
fn what_asks_for_a_token_says_so() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("tokens.toml");
    let made = program(&["token", "create", "all", "--read", "--token-file"]).arg(&file).output().unwrap();
    assert!(made.status.success());
    let server = Served::start(data.path(), &["--token-file", file.to_str().unwrap()]);
    let document = document(&server);
    let schemes = document["components"]["securitySchemes"].as_object().unwrap();
    for (path, method, operation) in operations(&document) {
        let asks = server.send(&method, &path, &[], b"").status == 401;
        // A login may have a wrong token, and needs none.
        assert_eq!(asks || path == "/api/v1/login", operation["responses"]["401"].is_object(), "{method} {path}");
        let named = operation["security"].as_array().map_or(0, |ways| {
            ways.iter().filter(|way| way.as_object().unwrap().keys().all(|key| schemes.contains_key(key))).count()
        });
        assert_eq!(named, if asks { schemes.len() } else { 0 }, "{method} {path}");
    }
}

/// Bytes that arrived on a connection but that the server has not read yet; 0 if the system does not report them.
fn unread(stream: &TcpStream) -> u64 {
    let Ok(connections) = std::fs::read_to_string("/proc/net/tcp") else { return 0 };
    let end = |address: std::net::SocketAddr| match address {
        std::net::SocketAddr::V4(v4) => format!("{:08X}:{:04X}", u32::from_ne_bytes(v4.ip().octets()), v4.port()),
        std::net::SocketAddr::V6(v6) => panic!("{v6}"),
    };
    // The server's end of the connection.
    let ends = [end(stream.peer_addr().unwrap()), end(stream.local_addr().unwrap())];
    let fields = connections.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let found = fields.into_iter().find(|fields| fields[1..3] == ends).unwrap();
    u64::from_str_radix(found[4].split_once(':').unwrap().1, 16).unwrap()
}

#[test]
fn a_server_that_closes_is_not_ready() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[]);
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(b"GET /ready HTTP/1.1\r\nhost: localhost\r\n").unwrap();
    // After the reply to another request, the first half of this one has arrived. The server closes connections without
    // any read byte like idle ones.
    assert_eq!(server.send("GET", "/ready", &[], b"").status, 200);
    while unread(&stream) > 0 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let pid = server.child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    while TcpStream::connect(server.address).is_ok() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    stream.write_all(b"\r\n").unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    assert!(said.starts_with("HTTP/1.1 503") && said.contains("the server is closing"), "{said}");
}

#[test]
fn lost_folder_of_a_table_fails_that_table_only() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &["--flush-seconds", "1"]);
    let write = |rows: &str| server.post("/write?db=m", rows.as_bytes());
    let metrics = || server.send("GET", "/metrics", &[], b"").text();
    assert_eq!(write("bad x=1i\ngood x=1i").status, 204);
    while !metrics().contains("manyworlds_segments_total 2") {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let folder = data.path().join("m/bad");
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::write(&folder, "").unwrap();
    let refused = write("bad x=2i");
    assert_eq!(refused.status, 503, "{}", refused.text());
    assert!(refused.text().contains("m/bad was removed or replaced"), "{}", refused.text());
    assert_eq!(write("good x=2i").status, 204);
    let ready = server.send("GET", "/ready", &[], b"");
    assert_eq!((ready.status, &ready.json()["status"]), (200, &"degraded".into()), "{}", ready.text());
    let tables = ready.json()["tables"].clone();
    assert_eq!((tables.as_array().unwrap().len(), &tables[0]["table"]), (1, &"m.bad".into()), "{tables}");
    assert!(metrics().contains("manyworlds_failing_tables 1"));
    let (code, said) = server.end();
    assert_eq!(code, Some(1), "{said}");
    let named = said.contains("cannot write table m.bad: the folder ") && said.contains("start the server again");
    assert!(named && said.contains("flushed all other rows"), "{said}");
    let said = failure(data.path(), &["table", "rebuild", "m.bad"], 2);
    assert!(
        said.ends_with(&format!("{} is in the way: move or remove it, or choose another folder\n", folder.display())),
        "{said}"
    );
}
