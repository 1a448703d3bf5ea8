//! The expected answers, counted from the records.

use std::collections::{BTreeMap, HashMap};

use arrow::array::AsArray;
use arrow::datatypes::{Date32Type, Decimal128Type, Int32Type, TimestampMicrosecondType};

use super::dataset::Dataset;
use super::hash::of_text;
use crate::error::BenchError;

#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The key; empty if the question has no groups.
    pub key: String,
    /// Number of calls.
    pub count: u64,
    /// Mean duration in seconds; 0 for no calls.
    pub mean: f64,
    /// Total cost in ten-thousandths.
    pub sum: i128,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Matching rows of all groups in the answer.
    pub rows: u64,
    pub groups: Vec<Group>,
}

impl Answer {
    /// Whether two answers agree. The last digits of means may differ, because they depend on the order of summing.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(1.0);
        self.groups.len() == other.groups.len()
            && self
                .groups
                .iter()
                .zip(&other.groups)
                .all(|(a, b)| a.key == b.key && a.count == b.count && a.sum == b.sum && near(a.mean, b.mean))
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    count: u64,
    seconds: u64,
    billing: i128,
}

impl Sum {
    fn add(&mut self, row: &Row<'_>) {
        self.count += 1;
        self.seconds += row.duration as u64;
        self.billing += row.billing;
    }

    fn group(self, key: String) -> Group {
        let mean = if self.count == 0 { 0.0 } else { self.seconds as f64 / self.count as f64 };
        Group { key, count: self.count, mean, sum: self.billing }
    }
}

/// The columns that questions use.
struct Row<'a> {
    time: i64,
    date: i32,
    hour: i32,
    caller: &'a str,
    callee: &'a str,
    duration: i32,
    tower: i32,
    billing: i128,
}

/// Values for questions, and statistics of columns.
#[derive(Debug, Clone)]
pub(crate) struct Expected {
    /// Time of the last call, in microseconds since 1970.
    pub(crate) last: i64,
    /// The first callee.
    pub(crate) callee: String,
    /// One of the most frequent callers.
    pub(crate) hot: String,
    /// One of the least frequent callers.
    pub(crate) cold: String,
    /// A number without calls, between numbers with calls.
    pub(crate) absent: String,
    /// Callers of one question; two have no calls.
    pub(crate) listed: [String; 5],
    /// Distinct values of columns that may have Bloom filters.
    pub(crate) distinct: BTreeMap<&'static str, u64>,
}

/// The frequent number in the public benchmark.
const HOT: &str = "+1-0000123456";
const DAY: i32 = 20_362;
pub(crate) const HOUR_MICROS: i64 = 3_600_000_000;
/// Hashes per pass when counting distinct values.
const HASHES_MAX: u64 = 10_000_000;

impl Expected {
    /// Reads all records.
    pub(crate) fn of(dataset: &Dataset) -> Result<Self, BenchError> {
        let mut calls: HashMap<u64, u32> = HashMap::new();
        let mut last = i64::MIN;
        let mut callee = None;
        each_row(dataset, |row| {
            *calls.entry(of_text(row.caller)).or_default() += 1;
            last = last.max(row.time);
            callee.get_or_insert_with(|| row.callee.to_owned());
            true
        })?;
        let (most, least) = (calls.values().max().copied(), calls.values().min().copied());
        // The first three callers with the most calls, and the first three with the fewest.
        let (mut frequent, mut seldom): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        each_row(dataset, |row| {
            let count = calls.get(&of_text(row.caller)).copied();
            for (found, wanted) in [(&mut frequent, most), (&mut seldom, least)] {
                if found.len() < 3 && count == wanted && !found.iter().any(|f| f == row.caller) {
                    found.push(row.caller.to_owned());
                }
            }
            frequent.len() < 3 || seldom.len() < 3
        })?;
        let callee = callee.unwrap_or_default();
        let called = |number: &str| calls.contains_key(&of_text(number));
        let nobody = || BenchError::Wrong("the records have no callers".to_owned());
        let (often, cold) = (frequent.first().ok_or_else(nobody)?.clone(), seldom.last().ok_or_else(nobody)?.clone());
        let absent = [number_nobody_has(&cold, &called)?, number_nobody_has(&often, &called)?];
        let hot = if called(HOT) { HOT.to_owned() } else { often.clone() };
        let listed = [often, seldom[0].clone(), cold.clone(), absent[0].clone(), absent[1].clone()];
        let distinct = BTreeMap::from([
            ("call_id", distinct(dataset, "call_id")?),
            ("caller_number", calls.len() as u64),
            ("callee_number", distinct(dataset, "callee_number")?),
        ]);
        let [absent, _] = absent;
        Ok(Self { last, callee, hot, cold, absent, listed, distinct })
    }

    /// The answers by question name. `region` maps a tower to its region.
    pub(crate) fn answers(
        &self,
        dataset: &Dataset,
        region: impl Fn(i32) -> Option<String>,
    ) -> Result<BTreeMap<&'static str, Answer>, BenchError> {
        let mut single: BTreeMap<&'static str, Sum> = BTreeMap::new();
        let mut by_tower: BTreeMap<i32, Sum> = BTreeMap::new();
        let mut by_tower_and_hours: BTreeMap<i32, Sum> = BTreeMap::new();
        each_row(dataset, |row| {
            let hours = (8..=10).contains(&row.hour);
            let towers = (1000..=1100).contains(&row.tower);
            let conditions = [
                ("Q1", row.time >= self.last - HOUR_MICROS),
                ("hour", row.time >= self.last - HOUR_MICROS),
                ("Q2", row.caller == self.hot),
                ("Q3", row.date == DAY && hours && towers),
                ("hours", hours),
                ("towers", towers),
                ("cold", row.caller == self.cold),
                ("absent", row.caller == self.absent),
                ("callee", row.callee == self.callee),
                ("list", self.listed.iter().any(|l| l == row.caller)),
            ];
            for (name, holds) in conditions {
                let sum = single.entry(name).or_default();
                if holds {
                    sum.add(row);
                }
            }
            by_tower.entry(row.tower).or_default().add(row);
            if hours {
                by_tower_and_hours.entry(row.tower).or_default().add(row);
            }
            true
        })?;
        let whole = |groups: Vec<Group>| Answer { rows: groups.iter().map(|g| g.count).sum(), groups };
        let mut answers: BTreeMap<_, _> =
            single.into_iter().map(|(name, sum)| (name, whole(vec![sum.group(String::new())]))).collect();
        answers.insert("Q4", whole(busiest(by_tower)));
        answers.insert("join", whole(regions(by_tower_and_hours, region)));
        Ok(answers)
    }
}

fn busiest(by_tower: BTreeMap<i32, Sum>) -> Vec<Group> {
    let mut towers: Vec<_> = by_tower.into_iter().collect();
    towers.sort_by_key(|(tower, sum)| (std::cmp::Reverse(sum.count), *tower));
    towers.into_iter().take(10).map(|(tower, sum)| sum.group(tower.to_string())).collect()
}

fn regions(by_tower: BTreeMap<i32, Sum>, region: impl Fn(i32) -> Option<String>) -> Vec<Group> {
    let mut regions: BTreeMap<String, Sum> = BTreeMap::new();
    for (tower, sum) in by_tower {
        if let Some(region) = region(tower) {
            let whole = regions.entry(region).or_default();
            whole.count += sum.count;
            whole.seconds += sum.seconds;
            whole.billing += sum.billing;
        }
    }
    regions.into_iter().map(|(region, sum)| sum.group(region)).collect()
}

/// A number near `number` that has no calls.
fn number_nobody_has(number: &str, called: &impl Fn(&str) -> bool) -> Result<String, BenchError> {
    let head = number.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &number[head.len()..];
    let value: u64 = digits.get(digits.len().saturating_sub(18)..).and_then(|d| d.parse().ok()).unwrap_or(0);
    let kept = &digits[..digits.len().saturating_sub(18)];
    let width = digits.len() - kept.len();
    let near = (1..1_000_000).map(|step| format!("{head}{kept}{:0width$}", value + step));
    let found = near.into_iter().find(|n| n.len() == number.len().max(head.len() + 1) && !called(n));
    found.ok_or_else(|| BenchError::Wrong(format!("every number after {number} called")))
}

/// Passes rows in order to `take` until it returns false.
fn each_row(dataset: &Dataset, mut take: impl FnMut(&Row<'_>) -> bool) -> Result<(), BenchError> {
    // In the order of the schema, as they are read.
    const COLUMNS: &str = "call_timestamp call_date call_hour caller_number callee_number duration_seconds cell_tower_id \
                           billing_amount";
    let names: Vec<&str> = COLUMNS.split(' ').collect();
    for batch in &dataset.batches {
        for records in batch.read_columns(&names)? {
            let [times, dates, hours, callers, callees, durations, towers, billings] = records.columns() else {
                return Err(BenchError::Missing("columns of the records".to_owned()));
            };
            let (times, dates) = (times.as_primitive::<TimestampMicrosecondType>(), dates.as_primitive::<Date32Type>());
            let (callers, callees) = (callers.as_string::<i32>(), callees.as_string::<i32>());
            let [hours, durations, towers] = [hours, durations, towers].map(AsArray::as_primitive::<Int32Type>);
            let billings = billings.as_primitive::<Decimal128Type>();
            for i in 0..records.num_rows() {
                let row = Row {
                    time: times.value(i),
                    date: dates.value(i),
                    hour: hours.value(i),
                    caller: callers.value(i),
                    callee: callees.value(i),
                    duration: durations.value(i),
                    tower: towers.value(i),
                    billing: billings.value(i),
                };
                if !take(&row) {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

/// Counts distinct texts of a column by 64-bit hashes: one too few in one of 20,000 full days. Each pass counts the
/// hashes that fit in memory.
fn distinct(dataset: &Dataset, column: &str) -> Result<u64, BenchError> {
    let passes = dataset.rows().div_ceil(HASHES_MAX).max(1);
    let mut count = 0;
    for pass in 0..passes {
        let mut hashes = Vec::with_capacity((dataset.rows() / passes) as usize);
        for batch in &dataset.batches {
            for records in batch.read_columns(&[column])? {
                let texts = records.column(0).as_string::<i32>();
                let of_pass = texts.iter().flatten().map(of_text).filter(|h| h % passes == pass);
                hashes.extend(of_pass);
            }
        }
        hashes.sort_unstable();
        hashes.dedup();
        count += hashes.len() as u64;
    }
    Ok(count)
}
