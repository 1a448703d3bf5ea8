//! Actors that send rows: over HTTP in every format, and with processes that append or insert.

use std::fs;
use std::io::{self, Write as _};
use std::time::Duration;

use clap::ValueEnum as _;
use world::Stream;

use super::counts::ActionCounts;
use super::findings::Kind;
use super::front::{Front, pick};
use super::ledger::Fate;
use super::rows::{self, DATABASE};
use super::shell::{Ended, Shell, tail};
use crate::error::BenchError;
use crate::harness::http::{Connection, Reply};
use crate::ingest::encode::encode;
use crate::ingest::{BodyCodec, WireFormat};

/// Sends requests in random formats until the life is over.
pub(super) fn send(front: &Front<'_>, mut dice: Stream) -> Result<(), BenchError> {
    let mut connection = None;
    while !front.is_over() {
        let kept = front.campaign.ledger.take_kept();
        if kept.is_some() {
            ActionCounts::count(&front.campaign.actions.repeated_writes);
        }
        let number = kept.unwrap_or_else(|| front.campaign.ledger.begin());
        let has_key = kept.is_some() || dice.chance(0.5);
        let request = request(front, number, has_key, &mut dice).map_err(io_error)?;
        let reply = exchange(front, &mut connection, &request);
        judge(front, number, has_key, &reply);
        front.rest(20 + dice.below(60));
    }
    Ok(())
}

/// Sends a request on a persistent connection; connects if needed.
pub(super) fn exchange(front: &Front<'_>, connection: &mut Option<Connection>, request: &[u8]) -> io::Result<Reply> {
    let mut open = match connection.take() {
        Some(open) => open,
        None => Connection::open(front.address)?,
    };
    let reply = open.send(request)?;
    *connection = Some(open);
    Ok(reply)
}

/// Sets the fate of a request from its reply.
fn judge(front: &Front<'_>, number: u64, has_key: bool, reply: &io::Result<Reply>) {
    let (ledger, actions) = (&front.campaign.ledger, &front.campaign.actions);
    match status(reply) {
        Some(204) => {
            ledger.set(number, Fate::Acknowledged);
            ActionCounts::count(&actions.writes);
        }
        Some(429) => {
            // The server refused this attempt, but may have stored an earlier one.
            if !has_key {
                ledger.set(number, Fate::Refused);
            }
            ActionCounts::count(&actions.refused_writes);
        }
        None | Some(408 | 500 | 503) => {
            ActionCounts::count(&actions.refused_writes);
            if !matches!(status(reply), Some(408 | 503)) {
                front.find(Kind::Wrong, format!("request {number}: {}", words(reply)));
            }
        }
        Some(_) => front.find(Kind::Wrong, format!("request {number} was refused: {}", words(reply))),
    }
    if has_key && status(reply) != Some(204) {
        ledger.keep(number);
    }
}

/// The status of a reply, if any.
pub(super) fn status(reply: &io::Result<Reply>) -> Option<u16> {
    reply.as_ref().ok().map(|reply| reply.status)
}

/// A reply as text.
pub(super) fn words(reply: &io::Result<Reply>) -> String {
    match reply {
        Ok(reply) => format!("{} {}", reply.status, tail(&String::from_utf8_lossy(&reply.body))),
        Err(error) => format!("no reply: {error}"),
    }
}

/// A request: head and body.
fn request(front: &Front<'_>, number: u64, has_key: bool, dice: &mut Stream) -> io::Result<Vec<u8>> {
    let measurement = &front.campaign.tables[rows::table_of(number)];
    let format = *pick(dice, WireFormat::value_variants());
    let mut plain = Vec::new();
    encode(format, measurement, &rows::records(&[number]), &mut plain)?;
    let body = match pick(dice, BodyCodec::value_variants()) {
        BodyCodec::None => plain,
        BodyCodec::Zstd => zstd::bulk::compress(&plain, 1)?,
        BodyCodec::Gzip => {
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            writer.write_all(&plain)?;
            writer.finish()?
        }
    };
    let key = if has_key { format!("idempotency-key: siege-{number}\r\n") } else { String::new() };
    let head = format!("x-arc-database: {DATABASE}\r\n{key}");
    Ok(post(&format.path(DATABASE, &measurement.name), &head, &body))
}

pub(super) fn post(path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("POST {path} HTTP/1.1\r\nhost: localhost\r\n{headers}content-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// Appends and inserts with processes; a third of them are killed.
pub(super) fn append(front: &Front<'_>, mut dice: Stream) -> Result<(), BenchError> {
    let campaign = front.campaign;
    let shell = Shell { campaign, life: front.life, actor: "append" };
    while !front.is_over() {
        let table = dice.below(rows::TABLES as u32) as usize;
        let measurement = &campaign.tables[table];
        let name = format!("{DATABASE}.{}", measurement.name);
        let way = *pick(&mut dice, &["json", "csv", "insert"]);
        // Wait for a segment: an insertion into a table without segments would choose the column types.
        if way == "insert" && !matches!(shell.run(&["table", "inspect", &name], None, None)?, Ended::Well(_)) {
            front.rest(100);
            continue;
        }
        let requests = campaign.ledger.begin_for(table, 1 + dice.below(20) as usize);
        let records = rows::records(&requests);
        let mut input = Vec::new();
        match way {
            "csv" => csv(&measurement.fields, &records, &mut input),
            _ => encode(WireFormat::Json, measurement, &records, &mut input),
        }
        .map_err(io_error)?;
        let kill = dice.chance(0.3).then(|| Duration::from_millis(u64::from(dice.below(400))));
        let (ended, count) = if way == "insert" {
            let file = campaign.scratch.join("insert.jsonl");
            fs::write(&file, &input).map_err(io_error)?;
            let insert = ["table", "insert", &name, &file.to_string_lossy()];
            (shell.run(&insert, None, kill)?, &campaign.actions.inserts)
        } else {
            (shell.run(&["append", &name, "--in", way], Some(&input), kill)?, &campaign.actions.appends)
        };
        let fate = match ended {
            Ended::Well(_) => {
                ActionCounts::count(count);
                Fate::Acknowledged
            }
            Ended::Killed => Fate::Torn,
            Ended::Refused(said) => {
                ActionCounts::count(&campaign.actions.refused_writes);
                if !front.is_disk_full() {
                    campaign.findings.add(Kind::Wrong, front.life, 1, format!("{way}: rows were refused: {said}"));
                }
                Fate::Torn
            }
        };
        requests.iter().for_each(|request| campaign.ledger.set(*request, fate));
        front.rest(100 + dice.below(600));
    }
    Ok(())
}

/// Appends records as comma-separated values.
fn csv(fields: &[&str; 3], records: &crate::ingest::records::Records, out: &mut Vec<u8>) -> io::Result<()> {
    writeln!(out, "time,host,{}", fields.join(","))?;
    for row in 0..records.times.len() {
        write!(out, "{},{}", records.times[row], crate::ingest::encode::name(records.hosts[row]))?;
        for values in &records.values {
            write!(out, ",{:.2}", f64::from(values[row]) / 100.0)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Converts an encoding error in memory, which cannot happen.
fn io_error(source: io::Error) -> BenchError {
    BenchError::Io { doing: "write", path: "a body".into(), source }
}
