//! Ratios, and what other programs print.

use serde_json::json;

use super::built::without_tables;
use super::compared::{Case, Outcome, Sample, Spread, Unit, differing_count};
use super::installed::version;
use super::peer::Peer;
use super::servers::stored_samples;
use super::sybil::rows;
use super::work::Work;
use crate::error::BenchError;

const CASE: (Work, &str, Unit) = (Work::Ask, "a question", Unit::CpuMs);

fn sample(cpu_s: f64, amount: f64) -> Sample {
    Sample { cpu_s, start_cpu_s: 0.0, amount, peak_rss_bytes: 100, disk_bytes: None }
}

#[test]
fn ratios_are_costs_of_the_same_amount() {
    // The peer does twice the amount in a measurement. The order changes from round to round.
    let mut asked = Vec::new();
    let case = Case::in_turns(CASE, 3, &[Peer::Duckdb], |who| {
        asked.push(who);
        let place = asked.len() - 1;
        let time = [1.0, 4.0, 2.0, 2.0, 1.0, 9.0][place];
        let (ours, theirs) = (sample(time, 1.0), Sample { peak_rss_bytes: 250, start_cpu_s: 1.0, ..sample(time, 2.0) });
        Ok(if who.is_none() { ours } else { theirs }.into())
    })
    .unwrap();
    assert_eq!(asked, [None, Some(Peer::Duckdb), Some(Peer::Duckdb), None, None, Some(Peer::Duckdb)]);
    let rows: Vec<_> = case.rows().collect();
    assert_eq!(rows.len(), 1);
    // Theirs each: 4/2, 2/2, 9/2. Ours: 1, 2, 1.
    assert_eq!(rows[0].ratio, Spread { median: 2.0, least: 0.5, most: 4.5 });
    assert_eq!(rows[0].ratio_with_start, 2.5);
    assert_eq!((rows[0].memory_ratio, rows[0].disk_ratio, rows[0].rounds), (2.5, None, 3));
    assert_eq!((rows[0].theirs.figure, rows[0].ours.figure), (2_000.0, 1_000.0));
    assert_eq!((rows[0].theirs.start_ms, rows[0].ours.start_ms), (500.0, 0.0));
}

#[test]
fn failing_peers_are_left_out_and_named() {
    let mut calls = 0;
    let case = Case::in_turns(CASE, 2, &[Peer::Chdb, Peer::Polars], |who| {
        calls += 1;
        match who {
            Some(Peer::Chdb) if calls > 3 => Err(BenchError::Missing("table".to_owned())),
            Some(Peer::Polars) => Ok(Outcome { sample: sample(1.0, 1.0), differs: differing_count("rows", 9, 10) }),
            _ => Ok(sample(1.0, 1.0).into()),
        }
    })
    .unwrap();
    let rows: Vec<_> = case.rows().collect();
    assert_eq!(rows.iter().map(|row| row.peer).collect::<Vec<_>>(), [Peer::Polars]);
    assert_eq!(rows[0].differs.as_deref(), Some("9 rows of 10"));
    assert_eq!(case.failures.len(), 1);
    assert_eq!((case.failures[0].peer, &*case.failures[0].reason), (Peer::Chdb, "the stored season has no table"));
}

#[test]
fn our_own_wrong_answers_are_errors() {
    let wrong = |_| Ok(Outcome { sample: sample(1.0, 1.0), differs: Some("9 rows of 10".to_owned()) });
    let error = Case::in_turns(CASE, 1, &[Peer::Chdb], wrong).err().map(|error| error.to_string());
    assert_eq!(error.as_deref(), Some("wrong answer: a question: 9 rows of 10"));
    let stop = |_| Err(BenchError::Stopped);
    assert!(matches!(Case::in_turns(CASE, 1, &[Peer::Chdb], stop), Err(BenchError::Stopped)));
}

#[test]
fn versions_are_found_in_what_programs_print() {
    let of = |text: &str| version(text).unwrap_or_default();
    assert_eq!(of("victoria-metrics-20240115-1.79.5+ds1-2"), "1.79.5+ds1");
    assert_eq!(of("InfluxDB v1.6.7~rc0 (git: unknown unknown)"), "1.6.7~rc0");
    assert_eq!(of("v1.5.6 (Variegata) 069cc9f9b5"), "1.5.6");
    assert_eq!(version("none at all. 12 or v"), None);
}

#[test]
fn stored_samples_leave_out_indexes_and_waiting_ones() {
    let metrics = "vm_pending_rows{type=\"storage\"} 7\nvm_rows{type=\"indexdb\"} 44\nvm_rows{type=\"storage/big\"} 10\n\
                   vm_rows{type=\"storage/small\"} 4e3\n";
    assert_eq!(stored_samples(metrics), 4_010);
}

#[test]
fn settings_lose_some_tables() {
    let settings = "[server]\nport = 1\n[tiers]\na = 1\n# b\n[tiers.cold]\nb = 2\n[wal]\non = false\n";
    assert_eq!(without_tables(settings, "tiers"), "[server]\nport = 1\n[wal]\non = false\n");
}

#[test]
fn answers_of_sybil_get_our_names() {
    let percentiles: Vec<u32> = (0..100).collect();
    let answer = json!([{"Count": 3, "Samples": 3, "host": "a", "ping": {"percentiles": percentiles}}]);
    let row = &rows("percentiles", answer)[0];
    assert_eq!([&row["p50(ping)"], &row["p99(ping)"], &row["count"]], [50, 99, 3]);
    assert_eq!(rows("top", json!([{"Count": 1, "index_int": "12"}]))[0]["index_int"], 12);
    let hours = json!({"7200": [{"Count": 2}], "10800": [{"Count": 3}], "900": [{"Count": 1}]});
    assert_eq!(rows("hourly", hours), [json!({"count": 1}), json!({"count": 2}), json!({"count": 3})]);
    assert_eq!(rows("host", serde_json::Value::Null), Vec::<serde_json::Value>::new());
}
