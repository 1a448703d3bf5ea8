//! Messages of `PostgreSQL`'s protocol, in and out of order.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use super::http::{fill, probe, start};
use super::{Dice, rounds, sql};

const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn hostile_messages_leave_the_server_alive() {
    let data = tempfile::tempdir().unwrap();
    fill(data.path());
    let mut server = start(data.path());
    rounds(1, |dice| {
        let mut bytes = startup(dice);
        for _ in 0..dice.below(20) {
            bytes.extend(message(dice));
        }
        if dice.one_in(3) {
            dice.damage(&mut bytes);
        }
        converse(server.postgres.unwrap(), &bytes);
        probe(&mut server);
    });
    let said = server.stop();
    assert!(!said.contains("panicked"), "{said}");
}

/// Sends bytes, and reads until the server ends the connection. The server does so after the last byte.
fn converse(address: std::net::SocketAddr, bytes: &[u8]) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut reading = stream.try_clone().unwrap();
    let reader = std::thread::spawn(move || {
        let mut back = Vec::new();
        reading.read_to_end(&mut back).map_err(|error| error.kind())
    });
    // The server may close the connection before reading all bytes.
    let _ = stream.write_all(bytes).and_then(|()| stream.shutdown(Shutdown::Write));
    let read = reader.join().unwrap();
    assert!(!matches!(read, Err(ErrorKind::WouldBlock | ErrorKind::TimedOut)), "no end within {PATIENCE:?}");
}

fn framed(kind: Option<u8>, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32 + 4).to_be_bytes();
    [kind.as_slice(), &length, body].concat()
}

fn startup(dice: &mut Dice) -> Vec<u8> {
    let plain = b"\0\x03\0\0user\0me\0database\0d\0\0".to_vec();
    match dice.below(10) {
        0 => framed(None, &80_877_103_u32.to_be_bytes()),
        1 => framed(None, &80_877_104_u32.to_be_bytes()),
        2 => framed(None, &[80_877_102_u32.to_be_bytes(), [1; 4], [2; 4]].concat()),
        3 => framed(None, b"\0\x03\0\x09user\0me\0_pq_.x\0y\0options\0-c statement_timeout=x\0\0"),
        4 => framed(None, &[b"\0\x03\0\0".as_slice(), &b"a\0".repeat(dice.below(5000)), b"\0"].concat()),
        _ => framed(None, &plain),
    }
}

fn message(dice: &mut Dice) -> Vec<u8> {
    let name = dice.pick(&["", "", "s", "p", "\u{1F980}"]);
    let named = |rest: &[u8]| [name.as_bytes(), b"\0", rest].concat();
    match dice.below(16) {
        0..=2 => framed(Some(b'Q'), &[within(dice).replace('\0', " ").as_bytes(), b"\0"].concat()),
        3..=5 => {
            let count = *dice.pick(&[&0_u16, &1, &3, &u16::MAX]);
            let types: Vec<u8> = (0..count.min(9)).flat_map(|_| (dice.roll() as u32 % 3_000).to_be_bytes()).collect();
            let sql =
                if dice.one_in(2) { "SELECT $1, $2 + 1".to_owned() } else { sql::statement(dice).replace('\0', " ") };
            let count = if count < 9 || dice.one_in(9) { count } else { 0 };
            framed(Some(b'P'), &named(&[sql.as_bytes(), b"\0", &count.to_be_bytes(), &types].concat()))
        }
        6..=8 => framed(Some(b'B'), &named(&bound(dice))),
        9..=10 => {
            let rows = *dice.pick(&[&0_i32, &1, &i32::MAX, &-1]);
            framed(Some(b'E'), &named(&rows.to_be_bytes()))
        }
        11 => {
            framed(Some(b'D'), &[&[*dice.pick(&[b"S", b"P", b"X"]).first().unwrap()], named(b"").as_slice()].concat())
        }
        12 => {
            framed(Some(b'C'), &[&[*dice.pick(&[b"S", b"P", b"X"]).first().unwrap()], named(b"").as_slice()].concat())
        }
        13 => framed(Some(*dice.pick(&[&b'S', &b'H', &b'X', &b'c', &b'f', &b'd', &b'F', &b'p', &0, &255])), b""),
        14 => {
            let length = *dice.pick(&[&0_u32, &3, &4, &(1 << 30), &u32::MAX]);
            [&[dice.roll() as u8], length.to_be_bytes().as_slice()].concat()
        }
        _ => framed(Some(b'S'), b""),
    }
}

/// A statement, sometimes within one that only clients of `PostgreSQL` send.
fn within(dice: &mut Dice) -> String {
    let sql = sql::statement(dice);
    match dice.below(8) {
        0 => format!("COPY ({sql}) TO STDOUT (FORMAT csv, HEADER, DELIMITER ';')"),
        1 => format!("COPY {sql} TO STDOUT WITH BINARY"),
        2 => format!("BEGIN; DECLARE s CURSOR FOR {sql}; FETCH 18446744073709551615 FROM s; FETCH ALL s"),
        3 => format!("DECLARE \"{sql}\" BINARY CURSOR WITH HOLD FOR {sql}"),
        4 => format!("FETCH {sql}; CLOSE {sql}"),
        _ => sql,
    }
}

/// The rest of a Bind message, after the name of its portal.
fn bound(dice: &mut Dice) -> Vec<u8> {
    let mut body = [dice.pick(&["", "s"]).as_bytes(), b"\0"].concat();
    let formats = dice.below(4) as u16;
    body.extend(formats.to_be_bytes());
    (0..formats).for_each(|_| body.extend((dice.below(3) as u16).to_be_bytes()));
    let values = *dice.pick(&[&0_u16, &1, &2, &2, &u16::MAX]);
    body.extend(values.to_be_bytes());
    for _ in 0..values.min(3) {
        let length = *dice.pick(&[&-1_i32, &0, &1, &4, &8, &100, &i32::MAX, &-7]);
        body.extend(length.to_be_bytes());
        (0..length.clamp(0, 100)).for_each(|_| body.push(dice.roll() as u8));
    }
    body.extend((dice.below(2) as u16).to_be_bytes());
    body.extend((dice.below(3) as u16).to_be_bytes());
    body
}
