//! Values imported a second, on one thread: a wide Parquet file of 20 outcomes over 200,000 worlds, read, checked,
//! encoded and committed. Small integers, decimals, and real numbers in full precision.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, RecordBatch};
use disk::RealDisk;
use divan::counter::ItemsCount;
use import::{Options, files};
use parquet::arrow::ArrowWriter;

fn main() {
    divan::main();
}

const WORLDS: usize = 200_000;
const OUTCOMES: usize = 20;

/// Writes a file with outcomes that `value` makes of a random number from 0 to 1.
fn write(path: &Path, value: fn(f64) -> f64) {
    let mut state = 1u64;
    let mut random = || {
        state = world::mix64(state.wrapping_add(0x9E37_79B9_7F4A_7C15));
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let columns: Vec<(String, ArrayRef)> = (0..OUTCOMES)
        .map(|i| {
            let values = (0..WORLDS).map(|_| value(random()));
            (format!("outcome_{i}"), Arc::new(Float64Array::from_iter_values(values)) as ArrayRef)
        })
        .collect();
    let batch = RecordBatch::try_from_iter(columns).expect("the columns have one length");
    let file = std::fs::File::create(path).expect("the folder is new");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("the schema is plain");
    writer.write(&batch).expect("the disk has room");
    writer.close().expect("the disk has room");
}

fn measure(bencher: divan::Bencher<'_, '_>, value: fn(f64) -> f64) {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let path = folder.path().join("draws.parquet");
    write(&path, value);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a thread can start");
    let options = Options { threads: 1, ..Options::default() };
    bencher.counter(ItemsCount::new(WORLDS * OUTCOMES)).bench_local(|| {
        let data = tempfile::tempdir().expect("there is a folder for temporary files");
        let inputs = files::open(std::slice::from_ref(&path), &options);
        let imported = import::import(data.path(), Arc::new(RealDisk), "draws", inputs, &options);
        runtime.block_on(imported).expect("the file is good")
    });
}

#[divan::bench]
fn integers(bencher: divan::Bencher<'_, '_>) {
    measure(bencher, |random| (random * 60.0).floor() - 20.0);
}

#[divan::bench]
fn cents(bencher: divan::Bencher<'_, '_>) {
    measure(bencher, |random| (random * 100_000.0).round() / 100.0);
}

#[divan::bench]
fn reals(bencher: divan::Bencher<'_, '_>) {
    measure(bencher, |random| (random + 0.1).ln());
}
