//! Requests to every route of a running server.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Dice, rounds, sql};
use crate::served::Served;
use crate::support::json as answer;

/// A data folder with rows and an ensemble.
pub(super) fn fill(data: &Path) {
    answer(data, &["run", "football", "--worlds", "3", "--name", "season"]);
}

/// Time limit for a reply to any request.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn start(data: &Path) -> Served {
    let words = ["--pg", "127.0.0.1:0", "--flight", "127.0.0.1:0", "--question-seconds", "5", "--request-seconds", "2"];
    let words = [&words[..], &["--question-memory", "64"]].concat();
    let server = Served::start(data, &words);
    let lines: Vec<_> = (0..50).map(|n| format!("cpu,host=h{} load={n},n={n}i {n}\n", n % 7)).collect();
    let lines = lines.concat();
    assert_eq!(server.post("/write?db=d", lines.as_bytes()).status, 204);
    server
}

/// Checks that the server still runs and answers correctly.
pub(super) fn probe(server: &mut Served) {
    assert_eq!(server.child.try_wait().unwrap(), None, "the server ended");
    assert_eq!(server.sql("SELECT count(*) AS n FROM d.cpu")[0]["n"], 50);
}

#[test]
fn hostile_requests_leave_the_server_alive() {
    let data = tempfile::tempdir().unwrap();
    fill(data.path());
    let mut server = start(data.path());
    let document = server.send("GET", "/api/v1/openapi.json", &[], b"").json();
    let mut routes = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        routes.extend(operations.as_object().unwrap().keys().map(|method| (method.to_uppercase(), path.clone())));
    }
    // Its answer has no end.
    routes.retain(|(_, path)| path != "/api/v1/status/stream");
    assert!(routes.len() > 15, "{routes:?}");
    rounds(1, |dice| {
        let (method, path) = &routes[dice.below(routes.len())];
        let request = request(dice, method, path);
        let status = send(&server, &request);
        assert!(status.is_none_or(|status| (100..600).contains(&status)), "{status:?}");
        probe(&mut server);
    });
    let said = server.stop();
    assert!(!said.contains("panicked"), "{said}");
}

/// Sends bytes. Returns the status of the reply, if one comes before the server or the time limit ends the connection.
fn send(server: &Served, request: &[u8]) -> Option<u16> {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // The server may close the connection before reading all bytes.
    let _ = stream.write_all(request).and_then(|()| stream.shutdown(std::net::Shutdown::Write));
    let mut reply = Vec::new();
    match stream.read_to_end(&mut reply) {
        Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
            panic!("no answer within {PATIENCE:?} to {}", String::from_utf8_lossy(request))
        }
        _ => String::from_utf8_lossy(&reply).split(' ').nth(1)?.parse().ok(),
    }
}

fn request(dice: &mut Dice, method: &str, path: &str) -> Vec<u8> {
    let mut body = body(dice, path);
    if dice.one_in(4) {
        dice.damage(&mut body);
    }
    let method = if dice.one_in(8) { dice.pick(&["PUT", "DELETE", "OPTIONS", "HEAD", "PATCH", "X"]) } else { method };
    let query = match dice.below(4) {
        0 => "?db=d&precision=ns".to_owned(),
        1 => {
            format!(
                "?table={}&name=x&ensemble=season&format={}&q=SHOW%20DATABASES",
                dice.pick(&["d.t", "..", "%2e%2e%2fx", "a.b.c", "x"]),
                dice.pick(&["arrow", "parquet", "csv", "x"])
            )
        }
        2 => format!("?db={}&{}", "%00".repeat(dice.below(9)), "a=b&".repeat(dice.below(200))),
        _ => String::new(),
    };
    let mut head = vec![format!("{method} {path}{query} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n")];
    for _ in 0..dice.below(4) {
        head.push(match dice.below(10) {
            0 => format!("content-encoding: {}\r\n", dice.pick(&["gzip", "zstd", "br", "identity", "x"])),
            1 => {
                format!("content-type: {}\r\n", dice.pick(&["application/json", "text/csv", "", "application/msgpack"]))
            }
            2 => format!(
                "accept: {}\r\n",
                dice.pick(&[
                    "*/*",
                    "text/csv",
                    "application/vnd.apache.arrow.stream",
                    "application/vnd.apache.parquet",
                    ",;q=9"
                ])
            ),
            3 => {
                format!("x-arc-database: {}\r\n", dice.pick(&["d", "sim", "../..", "", "\u{e9}", "information_schema"]))
            }
            4 => format!("authorization: {}\r\n", dice.pick(&["Basic ====", "Bearer", "Token \u{1}", "Basic Og=="])),
            5 => format!("idempotency-key: {}\r\n", "k".repeat(dice.below(5000))),
            6 => format!("{}: x\r\n", "h".repeat(1 + dice.below(9000))),
            7 => format!("origin: {}\r\n", dice.pick(&["null", "http://localhost", "x"])),
            9 if dice.one_in(2) => {
                format!("cookie: {}\r\n", dice.pick(&["manyworlds_=x", "=;=", "manyworlds_80", ";"]))
            }
            8 => "expect: 100-continue\r\n".to_owned(),
            _ => format!("range: bytes={}\r\n", dice.pick(&["0-", "-1", "9-1"])),
        });
    }
    let length = match dice.below(12) {
        0 => body.len() + 1 + dice.below(10),
        1 => dice.below(body.len() + 1),
        _ => body.len(),
    };
    head.push(match dice.below(12) {
        0 => "transfer-encoding: chunked\r\n".to_owned(),
        1 => format!("content-length: {length}\r\ncontent-length: {}\r\n", length + 1),
        2 => "content-length: 99999999999999999999\r\n".to_owned(),
        _ => format!("content-length: {length}\r\n"),
    });
    let mut bytes = format!("{}\r\n", head.concat()).into_bytes();
    bytes.extend(body);
    if dice.one_in(10) {
        dice.damage(&mut bytes);
    }
    bytes
}

fn body(dice: &mut Dice, path: &str) -> Vec<u8> {
    let deep = |dice: &mut Dice, open: &str, close: &str| {
        let depth = *dice.pick(&[&3, &127, &5_000, &100_000]);
        open.repeat(depth) + &close.repeat(depth)
    };
    let body: Value = match path.rsplit('/').next().unwrap_or_default() {
        "price" => {
            let legs: Vec<String> = (0..=dice.below(3)).map(|_| leg(dice)).collect();
            let given: Vec<String> = (0..dice.below(2)).map(|_| leg(dice)).collect();
            json!({"ensemble": name(dice), "entity": "game-001", "legs": legs, "given": given, "min_worlds": number(dice)})
        }
        "outcome" => {
            let outcomes = vec![dice.pick(&["home_points", "nothing", ""]).to_owned(); dice.below(500)];
            json!({
                "ensemble": name(dice), "entities": ["game-001", "game-002"], "outcomes": outcomes,
                "cdf": dice.one_in(2), "bins": dice.pick(&[&0, &1, &20, &1000, &1_000_000]),
                "quantiles": vec![dice.pick(&[&0.0, &0.5, &1.0, &-1.0, &1e300]); dice.below(1100)],
            })
        }
        "leverage" => {
            let outcomes = vec![dice.pick(&["home_won", "home_points", "nothing", ""]).to_owned(); dice.below(50)];
            let (entities, given) = (vec!["game-001"; dice.below(3)], vec![leg(dice); dice.below(2)]);
            let question = json!({"condition": leg(dice), "entity": "game-001", "outcomes": outcomes, "given": given});
            let mut question = question;
            (question["ensemble"], question["entities"]) = (json!(name(dice)), json!(entities));
            (question["limit"], question["min_worlds"]) = (number(dice), number(dice));
            question
        }
        "events" | "summary" => {
            let mut question = json!({"ensemble": name(dice), "entity": "game-001", "world": number(dice)});
            if path.ends_with("events") {
                (question["where"], question["limit"]) = (json!(leg(dice)), number(dice));
            }
            question
        }
        "worlds" => {
            json!({"ensemble": name(dice), "entities": ["game-001"], "outcomes": [leg(dice)], "first": number(dice)})
        }
        "login" => json!({"token": "x;".repeat(dice.below(3000))}),
        "tokens" => json!({"name": name(dice), "read": true, "databases": vec![name(dice); dice.below(9)]}),
        "sql" | "query" | "arrow" if !path.contains("write") => json!({"sql": sql::statement(dice)}),
        "json" => {
            return [deep(dice, "{\"a\":", "}"), "{\"a\":1}\n".to_owned(), rows(dice)][dice.below(3)]
                .clone()
                .into_bytes();
        }
        "csv" => return format!("{}\n{}", "a,".repeat(dice.below(3000)), "1,".repeat(dice.below(3000))).into_bytes(),
        "msgpack" => {
            let mut bytes = vec![*dice.pick(&[&0x81_u8, &0x91, &0xdc, &0xdd, &0xdf, &0xdb]); 1 + dice.below(2000)];
            dice.damage(&mut bytes);
            return bytes;
        }
        _ => return lines(dice).into_bytes(),
    };
    if dice.one_in(8) { deep(dice, "[", "]").into_bytes() } else { body.to_string().into_bytes() }
}

fn name(dice: &mut Dice) -> &'static str {
    dice.pick(&["season", "season", "season", "nothing", "", "../season", "\0"])
}

fn number(dice: &mut Dice) -> Value {
    [json!(0), json!(1), json!(u64::MAX), json!(-1), json!(1.5), json!(null)][dice.below(6)].clone()
}

/// A condition for a probability, or a moment of a game.
fn leg(dice: &mut Dice) -> String {
    let depth = *dice.pick(&[&1, &2, &199, &201, &200_000]);
    match dice.below(9) {
        0 => "(".repeat(depth),
        1 => "not ".repeat(depth) + "home_won",
        2 => "-".repeat(depth) + "1 > 0",
        3 => format!("home_points{} > 3", " + 1".repeat(depth.min(150_000))),
        4 => format!("home_won{}", " or home_won".repeat(depth.min(80_000))),
        5 => format!(
            "at q{} {}:{} ±{}, score {}-{}",
            dice.below(7),
            dice.below(20),
            dice.below(70),
            dice.roll(),
            dice.roll(),
            dice.below(9)
        ),
        6 => format!("{} > {}", "x".repeat(depth), "9".repeat(dice.below(500))),
        _ => sql::expression(dice, 3),
    }
}

fn rows(dice: &mut Dice) -> String {
    let value = |dice: &mut Dice| -> &str {
        dice.pick(&[
            "1",
            "1.5",
            "\"a\"",
            "null",
            "[1,\"a\"]",
            "{\"c\":1}",
            "true",
            "1e999",
            "18446744073709551615",
            "\"\\ud800\"",
        ])
    };
    // Fuzzed columns must not use the names of the probe's columns.
    let count = dice.below(20);
    let row = |n| format!("{{\"c{}\": {}, \"time\": {}}}\n", n % 3, value(dice), value(dice));
    (0..count).map(row).collect::<Vec<_>>().concat()
}

fn lines(dice: &mut Dice) -> String {
    let tags = ["", ",host=a", ",=", ",a=\\", ",a=b,a=c"];
    let values = ["1", "1i", "1u", "\"x\"", "t", "NaN", "1e999", "\"", "", "18446744073709551616u"];
    let line = |dice: &mut Dice| {
        let times = ["1", "", "-1", "9223372036854775807", "9223372036854775808"];
        let name = ["x", "y", "", "a\\,b", "..", "\u{1F980}"];
        format!("{}{} f={} {}\n", dice.pick(&name), dice.pick(&tags), dice.pick(&values), dice.pick(&times))
    };
    (0..=dice.below(20)).map(|_| line(dice)).collect()
}
