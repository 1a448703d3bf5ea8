//! Questions, bodies and bytes that try to crash a server.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;
use world::Stream;

use super::counts::ActionCounts;
use super::findings::Kind;
use super::front::{Front, pick};
use super::postgres::PgConnection;
use super::writers::{exchange, post, status, words};

/// Time to wait for an answer to garbage.
const GARBAGE_WAIT: Duration = Duration::from_secs(2);

/// Attacks until the life is over.
pub(super) fn attack(front: &Front<'_>, mut dice: Stream) {
    while !front.is_over() {
        ActionCounts::count(&front.campaign.actions.hostile);
        match dice.below(8) {
            0..=2 => over_http(front, "/api/v1/sql", &json!({"sql": statement(&mut dice)}).to_string()),
            3 | 4 => over_postgres(front, &statement(&mut dice)),
            5 => {
                let leg = format!("{}home_won", "(".repeat(1 + dice.below(200_000) as usize));
                let body = json!({"ensemble": "season", "entity": "game-001", "legs": [leg]});
                over_http(front, "/api/v1/price", &body.to_string());
            }
            6 => garbage(front, &mut dice),
            _ => half_a_request(front, &mut dice),
        }
        front.rest(100 + dice.below(400));
    }
}

/// A question of a kind that has crashed servers or filled their memory.
fn statement(dice: &mut Stream) -> String {
    let many = 1 + dice.below(40_000) as usize;
    let table = *pick(dice, &["siege.cpu", "siege.mem", "messy.\"Things\""]);
    let joined = |with: &str| vec!["1"; many].join(with);
    match dice.below(20) {
        0 => format!("SELECT {}", joined("+")),
        1 => format!("SELECT {}", joined(" OR ")),
        2 => format!("SELECT 1{}", "::int".repeat(many)),
        3 => format!("SELECT {}1{}", "(".repeat(many), ")".repeat(many)),
        4 => vec!["SELECT 1"; 1 + many / 8].join(" UNION ALL "),
        5 => format!("SELECT count(*) FROM {table}{}", format!(", {table}").repeat(1 + many / 60)),
        6 => format!("SELECT * FROM {}{table}{}", "(SELECT * FROM ".repeat(many / 8), ") AS a".repeat(many / 8)),
        7 => "SELECT repeat('a', 2000000000)".to_owned(),
        8 => "SELECT range(0, 2000000000)".to_owned(),
        9 => "SELECT array_agg(value) FROM generate_series(1, 1000000000)".to_owned(),
        10 => "SELECT string_agg(repeat('x', 1000), ',') FROM generate_series(1, 100000000)".to_owned(),
        11 => "SELECT levenshtein(repeat('a', 2000000), repeat('b', 2000000))".to_owned(),
        12 => format!("SELECT count(*) FROM {table} a CROSS JOIN {table} b CROSS JOIN {table} c"),
        13 => format!("SELECT * FROM {table} ORDER BY random(), host, time"),
        14 => format!("SELECT host, array_agg(time) OVER (ORDER BY time) FROM {table}"),
        15 => "SELECT sum(a.value * b.value % 7) FROM generate_series(1, 1000000) a CROSS JOIN generate_series(1, 1000000) b"
            .to_owned(),
        16 => {
            "WITH RECURSIVE r AS (SELECT repeat('a', 1000) AS n UNION ALL SELECT n || n FROM r) SELECT max(n) FROM r".to_owned()
        }
        17 => format!("SELECT host ~ '{}' FROM {table}", "(a*)*".repeat(1 + many / 400)),
        18 => format!("SELECT regexp_replace(host, '(.*)(.*)(.*)', '{}', 'g') FROM {table}", "\\\\1".repeat(1 + many / 10)),
        _ => format!("SELECT {} FROM {table}", vec!["*"; 1 + many / 20].join(", ")),
    }
}

fn over_http(front: &Front<'_>, path: &str, body: &str) {
    let request = post(path, "content-type: application/json\r\n", body.as_bytes());
    let reply = exchange(front, &mut None, &request);
    // An answer that is too long for this client counts as an answer.
    let is_long = reply.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::InvalidData);
    if !matches!(status(&reply), Some(200 | 400 | 408 | 413 | 503)) && !is_long && !front.is_disk_full() {
        let began: String = body.chars().take(100).collect();
        front.find(Kind::Wrong, format!("a hostile question got {}: {began}", words(&reply)));
    }
}

fn over_postgres(front: &Front<'_>, sql: &str) {
    let asked = PgConnection::open(front.postgres).and_then(|mut connection| connection.ask(sql));
    if let Err(error) = asked {
        let began: String = sql.chars().take(100).collect();
        front.find(Kind::Wrong, format!("a hostile question over PostgreSQL got no answer: {error}: {began}"));
    }
}

/// Sends invalid bytes to either port.
fn garbage(front: &Front<'_>, dice: &mut Stream) {
    let bytes: Vec<u8> = (0..=dice.below(5_000)).map(|_| dice.next_u32() as u8).collect();
    // The server may close the connection, as long as it survives.
    if dice.chance(0.5) {
        let connected = PgConnection::open(front.postgres);
        drop(connected.and_then(|connection| connection.send_raw(&bytes, GARBAGE_WAIT)));
        return;
    }
    let path =
        *pick(dice, &["/api/v1/write/msgpack", "/api/v1/write/arrow?table=messy.x", "/write?db=messy", "/api/v1/sql"]);
    let request = if dice.chance(0.5) { bytes } else { post(path, "x-arc-database: messy\r\n", &bytes) };
    if let Ok(mut stream) = TcpStream::connect(front.address) {
        drop(stream.set_read_timeout(Some(GARBAGE_WAIT)));
        drop(stream.write_all(&request).and_then(|()| stream.read(&mut [0; 1 << 10])));
    }
}

/// Sends a request, and disconnects before the answer or in the middle of the body.
fn half_a_request(front: &Front<'_>, dice: &mut Stream) {
    let body = json!({"sql": statement(dice)}).to_string();
    let request = post("/api/v1/sql", "content-type: application/json\r\n", body.as_bytes());
    let sent = if dice.chance(0.5) { request.len() } else { dice.below(request.len() as u32) as usize };
    if let Ok(mut stream) = TcpStream::connect(front.address) {
        // The server may be gone already.
        drop(stream.write_all(&request[..sent]));
        front.rest(dice.below(300));
    }
}
