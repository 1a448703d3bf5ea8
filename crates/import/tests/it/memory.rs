//! Memory is bounded: sorted input goes through a file, other input is refused.

use arrow::array::{ArrayRef, RecordBatchIterator};
use import::{Input, Mode, Options};

use crate::support::{batches, import, import_fresh, integers, reals, texts};

const WORLDS: usize = 40_000;
const ENTITIES: [&str; 2] = ["a", "b"];

fn value(world: usize, entity: usize, outcome: usize) -> f64 {
    ((world * 7919 + entity * 104_729 + outcome * 1_299_709) % 100_003) as f64 / 8.0
}

fn rows(order: impl Fn(usize) -> (usize, usize), size: usize) -> Input {
    let all: Vec<(usize, usize)> = (0..WORLDS * 2).map(order).collect();
    let of = |outcome: usize| reals(all.iter().map(|(w, e)| value(*w, *e, outcome)));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("world", integers(all.iter().map(|(w, _)| *w as i64))),
        ("entity", texts(all.iter().map(|(_, e)| ENTITIES[*e]))),
        ("x", of(0)),
        ("y", of(1)),
    ];
    batches("rows", columns, size)
}

#[tokio::test(flavor = "multi_thread")]
async fn sorted_input_exceeds_memory() {
    // 1.28 MB of values.
    let by_world = |row: usize| (row / 2, row % 2);
    let (expected, ..) = import_fresh(vec![rows(by_world, 5000)], &Options::default()).await;
    for (memory_bytes, size) in [(100_000, 1000), (300_000, 999), (1_000_000, 7777)] {
        let little = Options { memory_bytes, ..Options::default() };
        let (report, ..) = import_fresh(vec![rows(by_world, size)], &little).await;
        assert_eq!((report.hash, report.outcomes), (expected.hash.clone(), expected.outcomes.clone()));
    }
    // Worlds may come in a slightly different order.
    let nearly = |row: usize| ((row / 2) ^ 3, row % 2);
    let little = Options { memory_bytes: 200_000, ..Options::default() };
    assert_eq!(import_fresh(vec![rows(nearly, 1000)], &little).await.0.hash, expected.hash);
}

#[tokio::test(flavor = "multi_thread")]
async fn unsorted_input_beyond_memory_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let little = Options { memory_bytes: 1 << 20, ..Options::default() };
    let by_entity = |row: usize| (row % WORLDS, row / WORLDS);
    let backwards = |row: usize| (WORLDS - 1 - row / 2, row % 2);
    for (input, row) in [(rows(by_entity, 1000), 40_001), (rows(backwards, 1000), 1)] {
        let said = import(folder.path(), vec![input], &Options { memory_bytes: 300_000, ..little.clone() }).await;
        let expected = format!(
            "the values do not fit in 0 MB of memory, and the rows are not sorted by world (rows, row {row}, column \
             \"world\"): sort the input by world, or allow more memory"
        );
        assert_eq!(said.unwrap_err().to_string(), expected);
    }
    // Everything fits.
    let (expected, ..) = import_fresh(vec![rows(|row| (row / 2, row % 2), 5000)], &Options::default()).await;
    for input in [rows(by_entity, 1000), rows(backwards, 1000)] {
        let replacing = Options { mode: Mode::Replace, ..Options::default() };
        assert_eq!(import(folder.path(), vec![input], &replacing).await.unwrap().hash, expected.hash);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_worlds_out_of_memory_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let worlds = || (0..WORLDS as i64).chain([0]);
    let little = Options { memory_bytes: 100_000, ..Options::default() };
    // The last row comes alone in its batch, or with worlds that are new.
    for size in [1000, 999] {
        let columns = vec![("world", integers(worlds())), ("x", reals(worlds().map(|world| world as f64)))];
        let said = import(folder.path(), vec![batches("rows", columns, size)], &little).await.unwrap_err();
        let expected = "rows, row 40001, column \"world\": world 0 of entity \"all\" is repeated";
        assert_eq!(said.to_string(), expected);
    }
}

/// A wrong world number does not take all memory.
#[tokio::test(flavor = "multi_thread")]
async fn far_worlds_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let rows = batches("rows", vec![("world", integers([0, 4_000_000_000])), ("x", integers([1, 2]))], 10);
    let said = import(folder.path(), vec![rows], &Options::default()).await.unwrap_err().to_string();
    assert!(said.contains("(rows, row 2, column \"world\")"), "{said}");
}

/// A stream is read once.
#[tokio::test(flavor = "multi_thread")]
async fn rows_without_worlds_stream() {
    let expected = (0..200_000).map(|i| f64::from(i % 1000)).collect::<Vec<_>>();
    let whole = batches("rows", vec![("x", reals(expected.clone()))], 10_000);
    let whole = import_fresh(vec![whole], &Options::default()).await.0;
    let schema = batches("rows", vec![("x", reals([0.0]))], 1).batches.schema();
    let stream = (0..200).map(move |piece| {
        let values = expected[piece * 1000..(piece + 1) * 1000].iter().copied();
        batches("rows", vec![("x", reals(values))], 1000).batches.next().unwrap()
    });
    let stream = Input {
        name: "stream".to_owned(),
        rows: Some(usize::MAX),
        batches: Box::new(RecordBatchIterator::new(stream, schema)),
    };
    let little = Options { memory_bytes: 640_000, ..Options::default() };
    assert_eq!(import_fresh(vec![stream], &little).await.0.hash, whole.hash);
}
