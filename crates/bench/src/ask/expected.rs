//! The right answers, counted while the events are made.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use serde_json::{Value, json};

use super::events::{DAY_S, Event, Events, HOSTS, HOUR_S, SPAN_S, START_S, STATUSES, host};
use crate::error::BenchError;

/// Pings are below this.
const PINGS: usize = 512;

/// The counts that the questions need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) events: u64,
    hosts_by_status: [[u64; STATUSES.len()]; HOSTS],
    pings: Vec<[u64; PINGS]>,
    hours: Vec<u64>,
    /// Counts of the day that a question names.
    hosts_in_day: [u64; HOSTS],
    /// The number of the event that a question names.
    pub(crate) needle: u64,
    needle_ping: u32,
}

/// Start of the day that a question names.
pub(crate) const DAY_ASKED: i64 = START_S + 14 * DAY_S;

impl Expected {
    /// Starts with no events; there will be `count`.
    fn new(count: u64) -> Self {
        Self {
            events: 0,
            hosts_by_status: [[0; STATUSES.len()]; HOSTS],
            pings: vec![[0; PINGS]; HOSTS],
            hours: vec![0; (SPAN_S / HOUR_S) as usize],
            hosts_in_day: [0; HOSTS],
            needle: count / 2,
            needle_ping: 0,
        }
    }

    /// Writes events to a file of JSON lines; returns the expected answers and the number of bytes.
    pub(crate) fn write(events: &Events, path: &Path) -> Result<(Self, u64), BenchError> {
        let mut expected = Self::new(events.len() as u64);
        let file = File::create(path).map_err(BenchError::io("make", path))?;
        let mut file = BufWriter::with_capacity(1 << 20, file);
        let (mut line, mut written) = (String::new(), 0);
        for event in events.iter() {
            line.clear();
            event.write_json(&mut line);
            expected.add(&event);
            written += line.len() as u64;
            file.write_all(line.as_bytes()).map_err(BenchError::io("write", path))?;
        }
        file.flush().map_err(BenchError::io("write", path))?;
        Ok((expected, written))
    }

    fn add(&mut self, event: &Event) {
        self.events += 1;
        self.hosts_by_status[event.host][event.status] += 1;
        self.pings[event.host][event.ping as usize % PINGS] += 1;
        self.hours[((event.time - START_S) / HOUR_S) as usize] += 1;
        self.hosts_in_day[event.host] += u64::from((DAY_ASKED..DAY_ASKED + DAY_S).contains(&event.time));
        if event.number == self.needle {
            self.needle_ping = event.ping;
        }
    }

    /// Counts by host, ordered by name. Few events leave out some groups of this and other answers.
    pub(crate) fn by_host(&self) -> Vec<Value> {
        let count = |(index, counts): (usize, &[u64; STATUSES.len()])| json!([host(index), counts.iter().sum::<u64>()]);
        self.hosts_by_status.iter().enumerate().map(count).collect()
    }

    pub(crate) fn by_host_and_status(&self) -> Vec<Value> {
        let of_host = |(index, counts): (usize, &[u64; STATUSES.len()])| {
            let counts = STATUSES.iter().zip(*counts).filter(|(_, n)| *n > 0);
            counts.map(|(status, n)| json!([host(index), status, n])).collect::<Vec<_>>()
        };
        self.hosts_by_status.iter().enumerate().flat_map(of_host).collect()
    }

    /// Three percentiles of ping by host: the smallest value that at least this share of the values does not exceed.
    pub(crate) fn percentiles(&self) -> Vec<Value> {
        let of_host = |(index, counts): (usize, &[u64; PINGS])| {
            let total: u64 = counts.iter().sum();
            let at = |percent: u64| {
                let rank = (total * percent).div_ceil(100).max(1);
                let mut seen = 0;
                let reaches = |n: &u64| {
                    seen += n;
                    seen >= rank
                };
                counts.iter().position(reaches)
            };
            json!([host(index), at(50), at(95), at(99)])
        };
        self.pings.iter().enumerate().map(of_host).collect()
    }

    pub(crate) fn by_hour(&self) -> Vec<Value> {
        self.hours.iter().filter(|n| **n > 0).map(|n| json!([n])).collect()
    }

    pub(crate) fn by_host_in_day(&self) -> Vec<Value> {
        let counts = self.hosts_in_day.iter().enumerate().filter(|(_, n)| **n > 0);
        counts.map(|(index, n)| json!([host(index), n])).collect()
    }

    /// The ping of one event.
    pub(crate) fn needle(&self) -> Vec<Value> {
        vec![json!([self.needle, self.needle_ping])]
    }

    /// The ten largest numbers, each with count 1.
    pub(crate) fn last_numbers(&self) -> Vec<Value> {
        (0..self.events.min(10)).map(|n| json!([self.events - 1 - n, 1])).collect()
    }
}
