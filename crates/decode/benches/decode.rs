//! Records decoded a second by each format: 1,000 records a body, three measurements, a time, a host of 1,000, three
//! floats of two decimals.

use decode::{Decoded, Format, Limits, Precision, decode, expand};
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
    decode(format, &body, NOW, limits).expect("the body is good")
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
