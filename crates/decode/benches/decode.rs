//! Records decoded a second by each format: 1,000 records a body, three measurements, a time, a host of 1,000, three
//! floats of two decimals. And of streams: 16 MB chunks of events of ten fields, one of them a set.

use decode::{Decoded, Format, Limits, Precision, Request, RowFormat, RowReader, RowRules, decode, expand};
use divan::counter::ItemsCount;

#[path = "../tests/it/load.rs"]
mod load;

fn main() {
    divan::main();
}

const RECORDS: usize = 1_000;
const NOW: i64 = 1_760_000_000_000_000;

/// Times the decoding of a body that holds [`RECORDS`] records.
fn measure(bencher: divan::Bencher<'_, '_>, format: Format<'_>, body: &[u8]) {
    let limits = Limits::default();
    let decoded = run(format, body, &limits);
    assert_eq!((rows(&decoded), decoded.refused.len()), (RECORDS, 0));
    bencher.counter(ItemsCount::new(RECORDS)).bench(|| run(format, divan::black_box(body), &limits));
}

fn run(format: Format<'_>, body: &[u8], limits: &Limits) -> Decoded {
    let body = expand(body, limits).expect("the body is good");
    decode(format, &body, &Request { now_micros: NOW, ..Request::default() }, limits).expect("the body is good")
}

fn rows(decoded: &Decoded) -> usize {
    decoded.tables.iter().map(|(_, rows)| rows.num_rows()).sum()
}

#[divan::bench]
fn messagepack_columnar(bencher: divan::Bencher<'_, '_>) {
    measure(bencher, Format::MessagePack, &load::columnar(&load::records(RECORDS, 1)));
}

#[divan::bench]
fn messagepack_columnar_one_table(bencher: divan::Bencher<'_, '_>) {
    let records: Vec<_> = load::records(RECORDS, 1).into_iter().map(|r| load::Record { table: "cpu", ..r }).collect();
    measure(bencher, Format::MessagePack, &load::columnar(&records));
}

#[divan::bench]
fn messagepack_columnar_zstd(bencher: divan::Bencher<'_, '_>) {
    let body = zstd::encode_all(&load::columnar(&load::records(RECORDS, 1))[..], 1).expect("memory does not fail");
    measure(bencher, Format::MessagePack, &body);
}

#[divan::bench]
fn messagepack_columnar_gzip(bencher: divan::Bencher<'_, '_>) {
    measure(bencher, Format::MessagePack, &load::gzip(&load::columnar(&load::records(RECORDS, 1))));
}

#[divan::bench]
fn messagepack_rows(bencher: divan::Bencher<'_, '_>) {
    measure(bencher, Format::MessagePack, &load::rows(&load::records(RECORDS, 1)));
}

#[divan::bench]
fn line_protocol(bencher: divan::Bencher<'_, '_>) {
    let format = Format::LineProtocol { precision: Precision::Nanoseconds };
    measure(bencher, format, &load::line_protocol(&load::records(RECORDS, 1)));
}

#[divan::bench]
fn ndjson(bencher: divan::Bencher<'_, '_>) {
    measure(bencher, Format::Json { table: "cpu" }, &load::ndjson(&load::records(RECORDS, 1)));
}

#[divan::bench]
fn csv(bencher: divan::Bencher<'_, '_>) {
    measure(bencher, Format::Csv { table: "cpu" }, &load::csv(&load::records(RECORDS, 1)));
}

#[divan::bench]
fn arrow_stream(bencher: divan::Bencher<'_, '_>) {
    let rows = run(Format::Csv { table: "cpu" }, &load::csv(&load::records(RECORDS, 1)), &Limits::default());
    measure(bencher, Format::ArrowStream { table: "cpu" }, &load::arrow_stream(&rows.tables[0].1));
}

/// Times the reading of a stream of so many events, in chunks of 16 MB.
fn measure_stream(bencher: divan::Bencher<'_, '_>, format: RowFormat, stream: &[u8], rows: usize) {
    let read = |stream: &[u8]| {
        let mut reader = RowReader::new(format, &RowRules::default(), &Limits::default()).expect("the rules are good");
        let (mut at, mut taken) = (0, 0);
        while at < stream.len() {
            let end = stream.len().min(at + (16 << 20));
            let rows = reader.read(&stream[at..end], end == stream.len(), NOW).expect("the stream is good");
            assert!(rows.refused.is_empty() && rows.overflows.is_empty());
            at += rows.taken;
            taken += rows.batch.map_or(0, |batch| batch.num_rows());
        }
        taken
    };
    assert_eq!(read(stream), rows);
    bencher.counter(ItemsCount::new(rows)).bench(|| read(divan::black_box(stream)));
}

const EVENTS: usize = 200_000;

#[divan::bench(sample_count = 10)]
fn rows_json(bencher: divan::Bencher<'_, '_>) {
    measure_stream(bencher, RowFormat::Json, &load::events(EVENTS), EVENTS);
}

#[divan::bench(sample_count = 10)]
fn rows_csv(bencher: divan::Bencher<'_, '_>) {
    let records = load::records(EVENTS, 1);
    measure_stream(bencher, RowFormat::Csv, &load::csv(&records), EVENTS);
}

#[divan::bench(sample_count = 10)]
fn rows_messagepack(bencher: divan::Bencher<'_, '_>) {
    let row = |r: &load::Record| {
        let mut fields = vec![("time".into(), r.micros.into()), ("host".into(), r.host.as_str().into())];
        fields.extend(
            load::FIELDS.into_iter().zip(r.hundredths).map(|(name, v)| (name.into(), (f64::from(v) / 100.0).into())),
        );
        load::packed(&rmpv::Value::Map(fields))
    };
    let stream: Vec<u8> = load::records(EVENTS, 1).iter().flat_map(row).collect();
    measure_stream(bencher, RowFormat::MessagePack, &stream, EVENTS);
}
