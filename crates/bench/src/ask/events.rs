//! The events: service checks of twenty hosts over four weeks, a pure function of their number and a seed.

use std::fmt::Write as _;

use world::{Seed, Stream, World};

/// Hosts by index.
pub(crate) const HOSTS: usize = 20;
/// The codes of a check; the first is by far the most frequent.
pub(crate) const STATUSES: [&str; 5] = ["200", "301", "404", "500", "503"];
const REGIONS: [&str; 4] = ["eu-north", "eu-west", "us-east", "us-west"];
const WEIGHTS: [u32; 3] = [1, 10, 100];
/// 2026-01-01 in seconds since 1970, and the seconds that the events span.
pub(crate) const START_S: i64 = 1_767_225_600;
pub(crate) const SPAN_S: i64 = 28 * DAY_S;
pub(crate) const DAY_S: i64 = 86_400;
pub(crate) const HOUR_S: i64 = 3_600;
/// Events come at most this many seconds late.
const JITTER_S: u32 = 60;
/// Events that share random streams.
const BLOCK: usize = 65_536;

/// Purposes of random words. A changed number changes the events of every seed.
#[derive(Clone, Copy)]
enum Purpose {
    Time = 0,
    Values = 1,
}

/// All events of a workload, ordered by time.
#[derive(Debug)]
pub(crate) struct Events {
    seed: Seed,
    /// Seconds since [`START_S`].
    times: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its number by time, from 0: `index_int`.
    pub(crate) number: u64,
    /// Seconds since 1970.
    pub(crate) time: i64,
    weight: u32,
    random_int: u32,
    pub(crate) ping: u32,
    pub(crate) host: usize,
    pub(crate) status: usize,
    region: usize,
}

impl Events {
    pub(crate) fn new(count: usize, seed: Seed) -> Self {
        let mut times = Vec::with_capacity(count);
        for block in 0..count.div_ceil(BLOCK) {
            let mut random = stream(seed, block, Purpose::Time);
            for number in block * BLOCK..count.min((block + 1) * BLOCK) {
                let turn = (number as u64 * (SPAN_S as u64 - u64::from(JITTER_S)) / count as u64) as u32;
                times.push(turn + random.below(JITTER_S));
            }
        }
        times.sort_unstable();
        Self { seed, times }
    }

    pub(crate) fn len(&self) -> usize {
        self.times.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Event> {
        self.from(0)
    }

    /// The events from number `first` on.
    pub(crate) fn from(&self, first: usize) -> impl Iterator<Item = Event> {
        (first / BLOCK..self.times.len().div_ceil(BLOCK)).flat_map(|block| self.block(block)).skip(first % BLOCK)
    }

    /// `count` events as JSON lines, from number `first` on.
    pub(crate) fn lines(&self, first: usize, count: usize) -> String {
        let mut lines = String::new();
        self.from(first).take(count).for_each(|event| event.write_json(&mut lines));
        lines
    }

    fn block(&self, block: usize) -> impl Iterator<Item = Event> {
        let mut random = stream(self.seed, block, Purpose::Values);
        let first = block * BLOCK;
        let times = self.times[first..].iter().take(BLOCK).enumerate();
        times.map(move |(place, time)| {
            let host = random.below(HOSTS as u32);
            let ping = (f64::from(60 + host) + 20.0 * f64::from(random.normal())).abs() as u32;
            Event {
                number: (first + place) as u64,
                time: START_S + i64::from(*time),
                weight: WEIGHTS[random.below(3) as usize],
                random_int: random.below(1_000),
                ping,
                host: host as usize,
                // Out of a hundred: 90, 4, 3, 2 and 1.
                status: [90, 94, 97, 99].partition_point({
                    let draw = random.below(100);
                    move |bound| *bound <= draw
                }),
                region: random.below(4) as usize,
            }
        })
    }
}

fn stream(seed: Seed, block: usize, purpose: Purpose) -> Stream {
    Stream::new(seed, World(0), block as u32, purpose as u32)
}

pub(crate) fn host(index: usize) -> String {
    format!("host-{index:02}.example")
}

impl Event {
    /// Writes the event as a line of JSON.
    pub(crate) fn write_json(&self, line: &mut String) {
        let Self { number, time, weight, random_int, ping, host, .. } = self;
        let (status, region) = (STATUSES[self.status], REGIONS[self.region]);
        // Writing to a String cannot fail.
        let _ = write!(
            line,
            "{{\"time\":{time},\"weight\":{weight},\"random_int\":{random_int},\"ping\":{ping},\
             \"host\":\"host-{host:02}.example\",\"status\":\"{status}\",\"groups\":["
        );
        let mut divided = [2, 3, 5].into_iter().filter(|n| number % n == 0).peekable();
        if divided.peek().is_none() {
            line.push_str("\"none\"");
        }
        while let Some(n) = divided.next() {
            let _ = write!(line, "\"mod{n}\"{}", if divided.peek().is_some() { "," } else { "" });
        }
        let _ = writeln!(line, "],\"host_index\":{host},\"index_int\":{number},\"region\":\"{region}\"}}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_the_order_of_their_times_and_have_the_shares_they_should() {
        let events = Events::new(200_000, Seed(1));
        let all: Vec<Event> = events.iter().collect();
        assert!(all.is_sorted_by_key(|e| e.time) && all.iter().enumerate().all(|(i, e)| e.number == i as u64));
        let (first, last) = (all[0].time - START_S, all[all.len() - 1].time - START_S);
        assert!(first < 120 && (SPAN_S - 120..SPAN_S).contains(&last), "{first} to {last}");
        let share = |pick: &dyn Fn(&Event) -> bool| all.iter().filter(|e| pick(e)).count() as f64 / all.len() as f64;
        assert!((share(&|e| e.status == 0) - 0.9).abs() < 0.01);
        assert!((share(&|e| e.status == 4) - 0.01).abs() < 0.002);
        assert!((share(&|e| e.host == 19) - 0.05).abs() < 0.005);
        assert!((share(&|e| e.weight == 100) - 1.0 / 3.0).abs() < 0.01);
        let pings: Vec<f64> = all.iter().filter(|e| e.host == 10).map(|e| f64::from(e.ping)).collect();
        let mean = pings.iter().sum::<f64>() / pings.len() as f64;
        assert!((mean - 69.5).abs() < 1.0, "{mean}");
    }

    #[test]
    fn an_event_is_a_function_of_its_number_and_the_seed() {
        let line = |event: Event| {
            let mut line = String::new();
            event.write_json(&mut line);
            line
        };
        let lines = |seed| -> Vec<String> { Events::new(70_000, Seed(seed)).iter().map(line).collect() };
        assert_eq!(lines(1), lines(1));
        assert_ne!(lines(1)[3], lines(2)[3]);
        let all = lines(1);
        let sets = |n: usize| serde_json::from_str::<serde_json::Value>(&all[n]).unwrap()["groups"].to_string();
        assert_eq!([sets(1), sets(4), sets(30)], [r#"["none"]"#, r#"["mod2"]"#, r#"["mod2","mod3","mod5"]"#]);
        let value: serde_json::Value = serde_json::from_str(&all[65_536]).unwrap();
        assert_eq!(value["index_int"], 65_536);
        assert_eq!(value.as_object().unwrap().len(), 10);
    }
}
