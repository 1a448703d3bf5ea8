//! A tiny day, end to end except for clustering.

use std::path::Path;

use arrow::array::{Array, AsArray, RecordBatch};
use telecom::Traffic;
use world::Seed;

use super::avro::AvroTable;
use super::dataset::Dataset;
use super::expected::Expected;
use super::insert::{BASELINE, Variant, create, insert_all, table_folder};
use super::pass::stored_in;
use super::questions::{Sql, ask, questions};

fn names(columns: &[&str]) -> Vec<String> {
    columns.iter().map(|c| (*c).to_owned()).collect()
}

fn day(folder: &Path) -> Dataset {
    let traffic = Traffic::new(24, 0.002, Seed(5)).unwrap();
    Dataset::generate(&folder.join("records"), &traffic, Seed(5), &|| false).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_variant_stores_the_same_rows_and_a_lost_segment_shows() {
    let data = tempfile::tempdir().unwrap();
    let dataset = day(data.path());
    let variants = Variant::all(&names(&["call_id"]), &names(&["call_hour", "cell_tower_id"]));
    let clocks = create(data.path(), &variants).await.unwrap();
    let figures = insert_all(clocks, &dataset, 1, &|| false).await.unwrap();
    assert_eq!(figures.len(), 4);
    for (name, figures) in &figures {
        assert_eq!((figures.rows, figures.checkpoints.len()), (dataset.rows(), 5), "{name}");
        assert!(figures.checkpoints.is_sorted_by_key(|c| c.bytes), "{name}");
        let stored = stored_in(&table_folder(data.path(), name)).await.unwrap();
        assert_eq!((stored.rows, stored.hash), (dataset.rows(), dataset.hash), "{name}");
    }
    let row = table_folder(data.path(), BASELINE);
    let lost = std::fs::read_dir(&row).unwrap().flatten().find(|e| e.path().extension().is_some_and(|e| e == "avro"));
    std::fs::remove_file(lost.unwrap().path()).unwrap();
    let stored = stored_in(&row).await.unwrap();
    assert!(stored.rows < dataset.rows() && stored.hash != dataset.hash);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_variant_answers_and_the_baseline_reads_all_bytes() {
    let data = tempfile::tempdir().unwrap();
    let dataset = day(data.path());
    let variants = Variant::all(&names(&["call_id"]), &names(&["call_hour", "cell_tower_id"]));
    let clocks = create(data.path(), &variants).await.unwrap();
    insert_all(clocks, &dataset, 0, &|| false).await.unwrap();
    let expected = Expected::of(&dataset).unwrap();
    let answers = expected.answers(&dataset, |_| None).unwrap();
    let files = AvroTable::open(&table_folder(data.path(), BASELINE)).unwrap().unwrap().files().unwrap();
    let all: u64 = files.iter().map(|(_, bytes)| bytes).sum();
    let sql = Sql::open(data.path()).await.unwrap();
    for question in questions(&expected).iter().filter(|q| ["Q1", "Q2", "Q4"].contains(&q.name)) {
        for variant in &variants {
            let asked = ask(&sql, question, variant.name, &answers[question.name]).await.unwrap();
            if variant.name == BASELINE {
                // Q1 also scans the table for the last time.
                let scans = if question.name == "Q1" { 2 } else { 1 };
                assert_eq!((asked.bytes_read, asked.groups_total), (scans * all, 0), "{}", question.name);
            } else {
                assert!(asked.groups_total > 0, "{} of {}", question.name, variant.name);
            }
        }
    }
}

#[test]
fn expected_answers_are_those_of_the_records() {
    let data = tempfile::tempdir().unwrap();
    let dataset = day(data.path());
    let expected = Expected::of(&dataset).unwrap();
    let mut callers: Vec<String> = Vec::new();
    for batch in &dataset.batches {
        for records in batch.read().unwrap() {
            callers.extend(text(&records, "caller_number"));
        }
    }
    assert!(callers.contains(&expected.cold) && !callers.contains(&expected.absent));
    let called = expected.listed.iter().filter(|number| callers.contains(number)).count();
    assert_eq!(called, 3);
    let answers =
        expected.answers(&dataset, |tower| Some(if tower < 5000 { "north" } else { "south" }.to_owned())).unwrap();
    let of_cold = callers.iter().filter(|c| **c == expected.cold).count() as u64;
    assert_eq!((answers["cold"].rows, answers["absent"].rows), (of_cold, 0));
    assert_eq!(answers["Q4"].groups.len(), 10);
    assert_eq!(answers["join"].rows, answers["hours"].rows);
    assert_eq!(expected.distinct["call_id"], dataset.rows());
    callers.sort_unstable();
    callers.dedup();
    assert_eq!(expected.distinct["caller_number"], callers.len() as u64);
}

#[test]
fn given_records_are_cut_into_batches() {
    let data = tempfile::tempdir().unwrap();
    let dataset = day(data.path());
    let records: Vec<RecordBatch> = dataset.batches.iter().flat_map(|b| b.read().unwrap()).collect();
    let each = dataset.rows().div_ceil(7) as usize;
    let copied = Dataset::copy(&data.path().join("copy"), records.into_iter().map(Ok), each, &|| false).unwrap();
    assert_eq!((copied.batches.len(), copied.rows(), copied.hash), (7, dataset.rows(), dataset.hash));
    assert!(copied.batches[..6].iter().all(|b| b.rows == each as u64));
}

fn text(records: &RecordBatch, column: &str) -> Vec<String> {
    let column = records.column_by_name(column).unwrap();
    assert_eq!(column.null_count(), 0);
    column.as_string::<i32>().iter().flatten().map(str::to_owned).collect()
}
