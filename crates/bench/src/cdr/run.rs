//! Runs the benchmark: makes the records, inserts and asks in two passes, and checks the gates.

use std::collections::BTreeMap;
use std::path::Path;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::Int32Type;
use run::Usage;
use serde::Serialize;
use table::{ADVICE_ROWS, Advice, advise};
use telecom::Traffic;
use world::Seed;

use super::dataset::Dataset;
use super::expected::Expected;
use super::gates::{Gate, gates};
use super::input;
use super::insert::{BASELINE, Variant, VariantFigures};
use super::pass::{Clustering, ColumnBytes, Pass, Passed, Stored};
use super::phases::{Phase, Phases};
use super::questions::{Queried, questions};
use super::workload::CdrWorkload;
use crate::error::BenchError;
use crate::harness::bench::Bench;
use crate::harness::disk_space::remove_folder;
use crate::harness::machine::Machine;

/// Everything that was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cdr {
    pub machine: Machine,
    pub workload: CdrWorkload,
    pub rows: u64,
    /// Bytes of the unencoded values.
    pub raw_bytes: u64,
    /// Advice on columns, from the first million rows.
    #[serde(serialize_with = "advice_as_words")]
    pub advice: Vec<Advice>,
    pub variants: BTreeMap<&'static str, VariantFigures>,
    /// Bytes of each column of each variant, in the order of the columns; the clustered variant after clustering.
    #[serde(serialize_with = "columns_by_name")]
    pub columns: BTreeMap<&'static str, Vec<(String, ColumnBytes)>>,
    pub clustering: Clustering,
    pub gates: Vec<Gate>,
    pub queries: Vec<Queried>,
    pub second_pass: SecondPass,
    /// The hash of all rows, independent of their order.
    pub content_hash: String,
    pub phases: Vec<Phase>,
    pub peak_rss_bytes: u64,
}

/// Cost and benefit of secondary indexes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SecondPass {
    /// The indexed columns. The baseline has no indexes; its second run is a control.
    pub lookup: Vec<String>,
    pub variants: BTreeMap<&'static str, VariantFigures>,
    /// Slowdown of each variant against the first pass.
    pub slowdown: BTreeMap<&'static str, Slowdown>,
    /// Bytes of each variant's indexes at the end; the clustered variant after clustering.
    pub lookup_bytes: BTreeMap<&'static str, u64>,
    pub clustering: Clustering,
    /// The questions about variants with indexes.
    pub queries: Vec<Queried>,
}

/// Time of inserts in the second pass divided by that in the first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Slowdown {
    pub wall: f64,
    pub cpu: f64,
    pub worst_batch: f64,
}

/// Runs the benchmark. `pass-2` keeps the tables of the second pass. Must be called inside a tokio runtime.
///
/// # Errors
/// If a phase fails or an answer is wrong; a failing gate is a result.
pub async fn cdr(bench: &Bench<'_, CdrWorkload>) -> Result<Cdr, BenchError> {
    let machine = Machine::here();
    let workload = bench.workload;
    let mut phases = Phases { done: Vec::new(), pass: None, note: bench.note };
    let folder = bench.data.join("records");
    let dataset = phases.time((None, "make the records"), || dataset(bench, &folder))?;
    let (expected, sample) = phases.time((Some(2), "sample and count distinct values"), || {
        Ok((Expected::of(&dataset)?, dataset.first(ADVICE_ROWS)?))
    })?;
    let advice = phases.time((Some(3), "advise"), || {
        advise(&sample).map_err(|source| BenchError::Rows { path: folder.clone(), source })
    })?;
    drop(sample);
    let towers = telecom::towers(Seed(workload.seed));
    let count = || expected.answers(&dataset, |tower| region(&towers, tower));
    let answers = phases.time((None, "answer from the records"), count)?;
    let questions = questions(&expected);
    let asking = (&questions[..], &answers);

    let variants = Variant::all(&workload.bloom, &workload.cluster);
    let with_lookups = variants.iter().map(|v| v.clone().with_lookups(&workload.lookup)).collect();
    let first = Pass {
        number: 1,
        data: bench.data.join("pass-1"),
        variants,
        phases: [(Some(4), "create tables"), (Some(6), "insert")],
        asked: &[BASELINE, "column", "pruned", "clustered"],
    };
    let passed = first.run(bench, &mut phases, &dataset, asking).await?;
    // The disk has space only for the records and one pass.
    remove_folder(&first.data)?;
    let second = Pass {
        number: 2,
        data: bench.data.join("pass-2"),
        variants: with_lookups,
        phases: [(Some(5), "create tables with indexes"), (Some(7), "insert with indexes")],
        asked: &["column", "pruned", "clustered"],
    };
    let again = second.run(bench, &mut phases, &dataset, asking).await?;

    let generated = Stored { rows: dataset.rows(), bytes: 0, lookup_bytes: 0, hash: dataset.hash };
    let check = || Ok(gates(&generated, &passed.stored, &again.stored, &passed.inserted, &expected.distinct));
    let gates = phases.time((Some(11), "gates"), check)?;
    remove_folder(&folder)?;
    Ok(Cdr {
        machine,
        workload: workload.clone(),
        rows: dataset.rows(),
        raw_bytes: dataset.raw_bytes,
        advice,
        gates,
        second_pass: second_pass(workload, &passed.inserted, again),
        variants: passed.inserted,
        columns: passed.columns,
        clustering: passed.clustering,
        queries: passed.queries,
        content_hash: dataset.hash.to_string(),
        phases: phases.done,
        peak_rss_bytes: Usage::now().peak_rss_bytes,
    })
}

fn second_pass(workload: &CdrWorkload, first: &BTreeMap<&'static str, VariantFigures>, again: Passed) -> SecondPass {
    let slowdown = |(name, now): (&&'static str, &VariantFigures)| {
        let before = first.get(name)?;
        let by = |a: f64, b: f64| a / b.max(f64::MIN_POSITIVE);
        let slowdown = Slowdown {
            wall: by(before.rows_per_s, now.rows_per_s),
            cpu: by(before.rows_per_cpu_s, now.rows_per_cpu_s),
            worst_batch: by(now.worst_batch_ms, before.worst_batch_ms),
        };
        Some((*name, slowdown))
    };
    SecondPass {
        lookup: workload.lookup.clone(),
        slowdown: again.inserted.iter().filter_map(slowdown).collect(),
        variants: again.inserted,
        lookup_bytes: again.stored.iter().map(|(name, stored)| (*name, stored.lookup_bytes)).collect(),
        clustering: again.clustering,
        queries: again.queries,
    }
}

/// The day's records, generated or read from the input.
fn dataset(bench: &Bench<'_, CdrWorkload>, folder: &Path) -> Result<Dataset, BenchError> {
    let workload = bench.workload;
    if let Some(input) = &workload.input {
        let (records, count) = input::open(input)?;
        let rows = count.div_ceil(workload.batches.max(1) as u64) as usize;
        return Dataset::copy(folder, records, rows, bench.stop);
    }
    let refuse = |e: telecom::TrafficError| BenchError::Workload { setting: "batches", reason: e.to_string() };
    let traffic = Traffic::new(workload.batches, workload.scale, Seed(workload.seed)).map_err(refuse)?;
    Dataset::generate(folder, &traffic, Seed(workload.seed), bench.stop)
}

fn region(towers: &RecordBatch, tower: i32) -> Option<String> {
    let ids = towers.column_by_name("tower_id")?.as_primitive::<Int32Type>();
    let place = ids.values().binary_search(&tower).ok()?;
    Some(towers.column_by_name("region")?.as_string::<i32>().value(place).to_owned())
}

/// `{column: {distinct, span, bloom, statistics, cluster}}`, each verdict as "yes: why" or "no: why".
fn advice_as_words<S: serde::Serializer>(advice: &[Advice], to: S) -> Result<S::Ok, S::Error> {
    let words = |a: &Advice| {
        serde_json::json!({
            "distinct": a.distinct,
            "span": a.span,
            "bloom": a.bloom.to_string(),
            "statistics": a.statistics.to_string(),
            "cluster": a.cluster.to_string(),
        })
    };
    to.collect_map(advice.iter().map(|a| (&a.column, words(a))))
}

/// `{variant: {column: {bytes, bloom_bytes}}}`.
fn columns_by_name<S: serde::Serializer>(
    columns: &BTreeMap<&'static str, Vec<(String, ColumnBytes)>>,
    to: S,
) -> Result<S::Ok, S::Error> {
    let by_name = |of: &Vec<(String, ColumnBytes)>| of.iter().cloned().collect::<BTreeMap<_, _>>();
    to.collect_map(columns.iter().map(|(variant, of)| (variant, by_name(of))))
}
