//! One pass: inserts the day into every variant, clusters, counts and asks.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use disk::RealDisk;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use run::Usage;
use serde::Serialize;
use table::cluster::ClusterOptions;
use table::upkeep::VacuumOptions;
use table::{Inserter, Layout, Table, TableOptions};
use world::{ContentHash, Seed};

use super::avro::AvroTable;
use super::dataset::Dataset;
use super::expected::Answer;
use super::hash::content_hash;
use super::insert::{Variant, VariantFigures, create, insert_all, lookup_folder_bytes, table_folder};
use super::phases::Phases;
use super::questions::{Queried, Question, Sql, ask};
use super::workload::CdrWorkload;
use crate::error::BenchError;
use crate::harness::bench::Bench;
use crate::harness::disk_space::{folder_bytes, remove_folder};
use crate::harness::statistics::median;

/// Cost and effect of clustering.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Clustering {
    /// Rows per second of processor time, from the first read to the commit.
    pub rows_per_cpu_s: f64,
    /// Rows per second of elapsed time.
    pub rows_per_s: f64,
    pub bytes_before: u64,
    pub bytes_after: u64,
    /// Row groups that a question for one key read before clustering, on average.
    pub depth_before: f64,
    pub depth_after: f64,
    /// Segments before and after.
    pub segments: (usize, usize),
    pub spilled_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ColumnBytes {
    /// Bytes of pages.
    pub bytes: u64,
    pub bloom_bytes: u64,
}

/// The stored content of a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    /// Of these, bytes of secondary indexes.
    pub(crate) lookup_bytes: u64,
    pub(crate) hash: ContentHash,
}

/// The settings of a pass.
pub(crate) struct Pass<'a> {
    /// 1 or 2.
    pub(crate) number: u8,
    /// Its folder.
    pub(crate) data: PathBuf,
    /// The variants to insert into.
    pub(crate) variants: Vec<Variant>,
    /// Names of the phases that create tables and insert.
    pub(crate) phases: [(Option<u8>, &'static str); 2],
    /// Names of the variants to ask.
    pub(crate) asked: &'a [&'static str],
}

pub(crate) struct Passed {
    pub(crate) inserted: BTreeMap<&'static str, VariantFigures>,
    pub(crate) clustering: Clustering,
    pub(crate) stored: BTreeMap<&'static str, Stored>,
    pub(crate) columns: BTreeMap<&'static str, Vec<(String, ColumnBytes)>>,
    pub(crate) queries: Vec<Queried>,
}

impl Pass<'_> {
    /// Runs the pass. Leaves the tables in its folder.
    pub(crate) async fn run(
        &self,
        bench: &Bench<'_, CdrWorkload>,
        phases: &mut Phases<'_>,
        dataset: &Dataset,
        (questions, answers): (&[Question], &BTreeMap<&'static str, Answer>),
    ) -> Result<Passed, BenchError> {
        const DIMENSIONS: (Option<u8>, &str) = (Some(1), "dimension tables");
        const CLUSTER: (Option<u8>, &str) = (Some(8), "cluster");
        const ASK: (Option<u8>, &str) = (Some(9), "ask");
        const MEASURE: (Option<u8>, &str) = (Some(10), "count, hash and measure what is stored");
        phases.pass = Some(self.number);
        let started = phases.begin(DIMENSIONS);
        insert_dimensions(bench, &self.data).await?;
        phases.end(DIMENSIONS, started);
        let inserted = self.insert_repeatedly(bench, phases, dataset).await?;
        let started = phases.begin(CLUSTER);
        let clustering = cluster_table(&self.data).await?;
        phases.end(CLUSTER, started);
        let started = phases.begin(MEASURE);
        let (mut stored, mut columns) = (BTreeMap::new(), BTreeMap::new());
        for Variant { name, .. } in &self.variants {
            let root = table_folder(&self.data, name);
            stored.insert(*name, stored_in(&root).await?);
            columns.extend(columns_of(&root).await?.map(|columns| (*name, columns)));
        }
        phases.end(MEASURE, started);
        let started = phases.begin(ASK);
        let queries = self.ask(questions, answers).await?;
        phases.end(ASK, started);
        phases.pass = None;
        Ok(Passed { inserted, clustering, stored, columns, queries })
    }

    /// Inserts into empty tables, as often as requested, and keeps the last tables.
    async fn insert_repeatedly(
        &self,
        bench: &Bench<'_, CdrWorkload>,
        phases: &mut Phases<'_>,
        dataset: &Dataset,
    ) -> Result<BTreeMap<&'static str, VariantFigures>, BenchError> {
        let mut repeats = Vec::new();
        let [making, inserting] = self.phases;
        for turn in 0..bench.workload.repeat.max(1) {
            if turn > 0 {
                self.variants.iter().try_for_each(|v| remove_folder(&table_folder(&self.data, v.name)))?;
            }
            let started = phases.begin(making);
            let clocks = create(&self.data, &self.variants).await?;
            phases.end(making, started);
            let started = phases.begin(inserting);
            let figures = insert_all(clocks, dataset, turn, bench.stop).await?;
            phases.end(inserting, started);
            figures.iter().for_each(|(name, figures)| (bench.note)(&format!("{name}: {}", figures.in_brief())));
            repeats.push(figures);
        }
        Ok(medians(repeats))
    }

    async fn ask(
        &self,
        questions: &[Question],
        answers: &BTreeMap<&'static str, Answer>,
    ) -> Result<Vec<Queried>, BenchError> {
        let (sql, mut queries) = (Sql::open(&self.data).await?, Vec::new());
        for question in questions {
            let expected = answers.get(question.name);
            let expected = expected.ok_or_else(|| BenchError::Missing(format!("answer to {}", question.name)))?;
            for variant in self.asked {
                queries.push(ask(&sql, question, variant, expected).await?);
            }
        }
        Ok(queries)
    }
}

/// The last repeat; its figures are the medians of all repeats.
fn medians(mut repeats: Vec<BTreeMap<&'static str, VariantFigures>>) -> BTreeMap<&'static str, VariantFigures> {
    let all = repeats.clone();
    let mut last = repeats.pop().unwrap_or_default();
    for (name, figures) in &mut last {
        let middle = |pick: fn(&VariantFigures) -> f64| {
            median(&all.iter().filter_map(|repeat| repeat.get(name)).map(pick).collect::<Vec<_>>())
        };
        figures.rows_per_s = middle(|f| f.rows_per_s);
        figures.rows_per_cpu_s = middle(|f| f.rows_per_cpu_s);
        figures.p50_batch_ms = middle(|f| f.p50_batch_ms);
        figures.p99_batch_ms = middle(|f| f.p99_batch_ms);
        figures.worst_batch_ms = middle(|f| f.worst_batch_ms);
        figures.worst_rows_per_s = middle(|f| f.worst_rows_per_s);
    }
    last
}

async fn insert_dimensions(bench: &Bench<'_, CdrWorkload>, data: &Path) -> Result<(), BenchError> {
    let tables = [
        ("towers", telecom::towers(Seed(bench.workload.seed))),
        ("rate_plans", telecom::rate_plans()),
        ("termination_codes", telecom::termination_codes()),
    ];
    for (name, rows) in tables {
        let root = table_folder(data, name);
        let options = TableOptions::new(Layout::Column);
        let inserter = Inserter::open_or_create(&root, Arc::new(RealDisk), &rows.schema(), &options).await?;
        inserter.insert(&[rows]).await?;
    }
    Ok(())
}

async fn cluster_table(data: &Path) -> Result<Clustering, BenchError> {
    let root = table_folder(data, "clustered");
    let (started, cpu) = (Instant::now(), Usage::now().cpu);
    let done = table::cluster::cluster(&root, Arc::new(RealDisk), ClusterOptions::default()).await?;
    let rate = |time: Duration| done.moved.rows as f64 / time.as_secs_f64().max(1e-9);
    let clustering = Clustering {
        rows_per_cpu_s: rate(Usage::now().cpu.saturating_sub(cpu)),
        rows_per_s: rate(started.elapsed()),
        bytes_before: done.moved.bytes_before,
        bytes_after: done.moved.bytes_after,
        depth_before: done.depth_before,
        depth_after: done.depth_after,
        segments: (done.moved.segments_in, done.moved.segments_out),
        spilled_bytes: done.spilled_bytes,
    };
    // Remove old segments, so that sizes count the current version only.
    let options = VacuumOptions { retain: Duration::ZERO, apply: true };
    table::upkeep::vacuum(&root, Arc::new(RealDisk), options).await?;
    Ok(clustering)
}

/// Reads every row of a table.
pub(crate) async fn stored_in(root: &Path) -> Result<Stored, BenchError> {
    let (bytes, lookup_bytes) = (folder_bytes(root)?, lookup_folder_bytes(root)?);
    let mut stored = Stored { rows: 0, bytes, lookup_bytes, hash: ContentHash::default() };
    let mut add = |batch: RecordBatch| {
        stored.rows += batch.num_rows() as u64;
        stored.hash += content_hash(&batch);
    };
    if let Some(table) = AvroTable::open(root)? {
        for (file, _) in table.files()? {
            table.read(&file)?.try_for_each(|batch| batch.map(&mut add))?;
        }
        return Ok(stored);
    }
    let table = Table::open(root, Arc::new(RealDisk)).await?;
    let table = table.ok_or_else(|| BenchError::Missing(format!("table {}", root.display())))?;
    for segment in table.segments().await? {
        let path = root.join(&segment.path);
        let parquet = |source| BenchError::Segment { path: path.clone(), source };
        let file = File::open(&path).map_err(BenchError::io("open", &path))?;
        for batch in ParquetRecordBatchReaderBuilder::try_new(file).map_err(parquet)?.build().map_err(parquet)? {
            add(batch.map_err(|source| BenchError::Rows { path: path.clone(), source })?);
        }
    }
    Ok(stored)
}

/// Bytes of each column; `None` for the baseline, which has no columns.
async fn columns_of(root: &Path) -> Result<Option<Vec<(String, ColumnBytes)>>, BenchError> {
    let Some(table) = Table::open(root, Arc::new(RealDisk)).await? else { return Ok(None) };
    let columns = table::inspect(root, &table.segments().await?)?;
    let of_column = |c: table::ColumnReport| (c.name, ColumnBytes { bytes: c.bytes, bloom_bytes: c.bloom_bytes });
    Ok(Some(columns.into_iter().map(of_column).collect()))
}
