//! The server's decoders read every body as the records that it was made from.

use std::sync::Arc;

use clap::ValueEnum as _;
use decode::{Format, Limits, Precision, Request, decode, expand};

use super::cases::cases;
use super::encode::record_batch;
use super::format::{BodyCodec, WireFormat};
use super::payload::Payloads;
use super::records::{Measurement, measurements};
use super::workload::{Compared, IngestSweep, IngestWorkload};

fn payloads(format: WireFormat, codec: BodyCodec, batch: usize, connection: usize) -> (Payloads, Arc<[Measurement]>) {
    let tables: Arc<[Measurement]> = measurements(4).into();
    (Payloads::new(format, codec, tables.clone(), batch, 7, connection).unwrap(), tables)
}

#[test]
fn bodies_decode_to_the_records_they_were_made_of() {
    let wires = WireFormat::value_variants().iter();
    let both = wires.flat_map(|wire| BodyCodec::value_variants().iter().map(move |codec| (*wire, *codec)));
    for (wire, codec) in both {
        for batch in [1, 1_000] {
            let (mut made, tables) = payloads(wire, codec, batch, 2);
            for turn in 0..5 {
                let (table, body) = made.next_body().unwrap();
                assert_eq!(table, (2 + turn) % 4, "connection 2 begins with the third table");
                let body = body.to_vec();
                let name = &tables[table].name;
                let format = match wire {
                    WireFormat::Columnar | WireFormat::Rows => Format::MessagePack,
                    WireFormat::Lp => Format::LineProtocol { precision: Precision::Microseconds },
                    WireFormat::Json => Format::Json { table: name },
                    WireFormat::Arrow => Format::ArrowStream { table: name },
                };
                let plain = expand(&body, &Limits::default()).unwrap();
                let decoded = decode(format, &plain, &Request::default(), &Limits::default()).unwrap();
                assert!(decoded.refused.is_empty(), "{wire} {codec}: {:?}", decoded.refused);
                let expected = record_batch(&tables[table], &made.records).unwrap();
                let [(found, rows)] = &decoded.tables[..] else { panic!("{wire}: {} tables", decoded.tables.len()) };
                assert_eq!((found, rows.num_rows()), (name, batch));
                for field in expected.schema().fields() {
                    let column = |of: &arrow::array::RecordBatch| of.column_by_name(field.name()).cloned();
                    assert_eq!(column(rows), column(&expected), "{wire} {codec}: {}", field.name());
                }
                assert_eq!(rows.num_columns(), 5);
            }
        }
    }
}

#[test]
fn no_body_is_like_another_and_time_only_rises() {
    let (mut one, _) = payloads(WireFormat::Columnar, BodyCodec::None, 100, 0);
    let (mut other, _) = payloads(WireFormat::Columnar, BodyCodec::None, 100, 1);
    let mut last = 0;
    let mut seen = Vec::new();
    for _ in 0..20 {
        for payloads in [&mut one, &mut other] {
            payloads.next_body().unwrap();
            seen.push((payloads.records.hosts.clone(), payloads.records.values.clone()));
        }
        for time in &one.records.times {
            assert!(*time > last);
            last = *time;
        }
    }
    for (place, records) in seen.iter().enumerate() {
        assert!(!seen[..place].contains(records), "body {place} came before");
    }
}

#[test]
fn values_are_spread_over_all_hosts_and_hundredths() {
    let (mut made, _) = payloads(WireFormat::Columnar, BodyCodec::None, 100_000, 0);
    made.next_body().unwrap();
    let records = &made.records;
    let hosts: std::collections::BTreeSet<u16> = records.hosts.iter().copied().collect();
    assert_eq!((hosts.len(), hosts.first(), hosts.last()), (1_000, Some(&0), Some(&999)));
    for values in &records.values {
        let mean = values.iter().map(|v| f64::from(*v)).sum::<f64>() / values.len() as f64;
        // A uniform value below 10,000 has a standard deviation of 2,887, and a mean of 100,000 of them 9.1. Allow five
        // times that.
        assert!((mean - 4_999.5).abs() < 46.0, "{mean}");
        assert!(values.iter().all(|v| *v < 10_000));
    }
}

#[test]
fn columnar_bodies_are_as_long_as_those_of_the_reference() {
    let (mut made, _) = payloads(WireFormat::Columnar, BodyCodec::None, 1_000, 0);
    let bytes = made.next_body().unwrap().1.len();
    assert!((46_000..46_200).contains(&bytes), "{bytes}");
}

#[test]
fn the_cases_of_a_sweep_differ_in_what_it_compares_and_in_nothing_else() {
    for sweep in IngestSweep::value_variants().iter().copied() {
        let workload = IngestWorkload {
            sweeps: vec![Compared(vec![sweep])],
            seconds: 2.0,
            overload_seconds: Some(60.0),
            connections: 8,
            rate: 500_000.0,
            seed: 1,
        };
        let cases = cases(&workload);
        let all: Vec<String> = cases.iter().map(|case| format!("{:?}{:?}", case.server, case.load)).collect();
        assert!(!all.is_empty(), "{sweep:?}");
        for (place, case) in all.iter().enumerate() {
            assert!(!all[..place].contains(case), "{sweep:?} measures {case} twice");
        }
        let long = cases.iter().filter(|case| case.load.seconds == 60.0).count();
        assert_eq!(long, usize::from(sweep == IngestSweep::Overload), "{sweep:?}");
    }
}
