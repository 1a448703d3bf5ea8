//! The server is killed repeatedly under load; every acknowledged row is stored once.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread::sleep;
use std::time::Duration;

use crate::served::Served;

/// Kills per run of the tests; `MANYWORLDS_TEST_KILLS` sets another number.
const KILLS: u64 = 8;
const WRITERS: usize = 4;
/// Rows per request.
const ROWS: i64 = 50;

#[test]
fn what_was_acknowledged_is_there_once_after_kills_under_load() {
    let kills = std::env::var("MANYWORLDS_TEST_KILLS").map_or(KILLS, |n| n.parse().unwrap());
    let data = tempfile::tempdir().unwrap();
    let next = AtomicI64::new(0);
    let mut acknowledged = BTreeSet::new();
    for kill in 0..kills {
        // Small flushes, so that some kills happen during a flush.
        let mut server = Served::start(data.path(), &["--flush-rows", "700", "--flush-seconds", "1", "--compact", "4"]);
        check(&server, &acknowledged, next.load(Ordering::SeqCst), kill);
        let killed = AtomicBool::new(false);
        let address = server.address;
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..WRITERS).map(|_| scope.spawn(|| send(address, &next, &killed))).collect();
            sleep(Duration::from_millis(50 + kill * 7_919 % 900));
            server.child.kill().unwrap();
            killed.store(true, Ordering::SeqCst);
            writers.into_iter().for_each(|w| acknowledged.extend(w.join().unwrap()));
        });
    }
    let server = Served::start(data.path(), &[]);
    check(&server, &acknowledged, next.load(Ordering::SeqCst), kills);
    assert!(acknowledged.len() as u64 > 20 * kills, "only {} requests were acknowledged", acknowledged.len());
}

/// Sends requests until the server is gone. Returns the acknowledged ones.
fn send(address: SocketAddr, next: &AtomicI64, killed: &AtomicBool) -> Vec<i64> {
    let mut acknowledged = Vec::new();
    let Ok(mut stream) = TcpStream::connect(address) else { return acknowledged };
    while !killed.load(Ordering::SeqCst) {
        let number = next.fetch_add(1, Ordering::SeqCst);
        let table = ["cpu", "mem"][number as usize % 2];
        let rows = number * ROWS..(number + 1) * ROWS;
        let lines: Vec<String> = rows.map(|row| format!("{table},host=h{} row={row}i {row}\n", row % 7)).collect();
        let lines = lines.concat();
        let head = format!("POST /write?db=d HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n", lines.len());
        let mut reply = [0; 512];
        let sent = stream.write_all((head + &lines).as_bytes()).and_then(|()| stream.read(&mut reply));
        match sent {
            Ok(read) if reply[..read].starts_with(b"HTTP/1.1 204") => acknowledged.push(number),
            Ok(0) | Err(_) => break,
            Ok(read) => panic!("{}", String::from_utf8_lossy(&reply[..read])),
        }
    }
    acknowledged
}

/// Checks that every acknowledged request is stored completely and once, and no request twice or in part.
fn check(server: &Served, acknowledged: &BTreeSet<i64>, sent: i64, kill: u64) {
    if acknowledged.is_empty() {
        return;
    }
    let mut found = BTreeSet::new();
    for table in ["cpu", "mem"] {
        let sql = format!("SELECT row / {ROWS} AS request, count(*) AS n, sum(row) AS s FROM d.{table} GROUP BY 1");
        for request in server.sql(&sql).as_array().unwrap() {
            let number = request["request"].as_i64().unwrap();
            let sum = (number * ROWS..(number + 1) * ROWS).sum::<i64>();
            assert_eq!((&request["n"], &request["s"]), (&ROWS.into(), &sum.into()), "kill {kill}: request {number}");
            assert!(number < sent);
            found.insert(number);
        }
    }
    let lost: Vec<_> = acknowledged.difference(&found).collect();
    assert!(lost.is_empty(), "kill {kill}: {lost:?} are lost");
}
