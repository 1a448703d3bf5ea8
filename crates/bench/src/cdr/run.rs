//! The phases of the bench, one after the other.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::Int32Type;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use run::Usage;
use serde::Serialize;
use table::cluster::ClusterOptions;
use table::disk::RealDisk;
use table::upkeep::VacuumOptions;
use table::{ADVICE_ROWS, Advice, DATABASE, Inserter, Layout, StoredTable, TableOptions, advise};
use telecom::Traffic;
use world::{ContentHash, Seed};

use super::facts::Facts;
use super::gates::{Gate, GateStatus, gates};
use super::hash::content_hash;
use super::input;
use super::insert::{Variant, VariantFigures, folder_bytes, insert_all, table_folder};
use super::questions::{Ask, Queried, ask, questions};
use super::spool::Spool;
use crate::error::BenchError;
use crate::machine::Machine;
use crate::statistics::median;

/// What is measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CdrWorkload {
    /// Batches, which span the whole day however many there are.
    pub batches: usize,
    /// Multiplies the rows of every batch.
    pub scale: f64,
    /// How often everything is inserted; medians count.
    pub repeat: usize,
    /// The seed of the records.
    pub seed: u64,
    /// A file of real records in place of generated ones; its rows are cut into as many batches.
    pub input: Option<PathBuf>,
    /// Columns with Bloom filters, in the layouts that have them.
    pub bloom: Vec<String>,
    /// Columns that the clustered layout is clustered by.
    pub cluster: Vec<String>,
}

/// A bench about to be run.
pub struct CdrBench<'a> {
    /// An empty folder; what is left in it at the end are the tables.
    pub data: &'a Path,
    /// What to measure.
    pub workload: &'a CdrWorkload,
    /// Is told what is being measured.
    pub note: &'a dyn Fn(&str),
    /// Asked between batches whether to stop.
    pub stop: &'a dyn Fn() -> bool,
}

/// How long a phase took.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Phase {
    /// Its name.
    pub name: &'static str,
    /// Elapsed.
    pub wall_s: f64,
    /// Processor time of all threads.
    pub cpu_s: f64,
}

/// What clustering the clustered variant took and gave.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Clustering {
    /// Rows by processor time, from reading the first to the commit.
    pub rows_per_cpu_s: f64,
    /// Rows by elapsed time.
    pub rows_per_s: f64,
    /// Bytes of the segments before.
    pub bytes_before: u64,
    /// Bytes of the segments after.
    pub bytes_after: u64,
    /// Row groups that a question for one key read before, on average.
    pub depth_before: f64,
    /// Row groups that it reads now.
    pub depth_after: f64,
    /// Segments before and after.
    pub segments: (usize, usize),
    /// Bytes put aside on disk meanwhile.
    pub spilled_bytes: u64,
}

/// What is on disk of a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    pub(crate) hash: ContentHash,
}

/// Everything that was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cdr {
    /// Where.
    pub machine: Machine,
    /// What.
    pub workload: CdrWorkload,
    /// Rows of the day.
    pub rows: u64,
    /// Bytes of their values, unencoded.
    pub raw_bytes: u64,
    /// Which columns deserve what, from the first million rows.
    #[serde(serialize_with = "advice_as_words")]
    pub advice: Vec<Advice>,
    /// What each variant stored.
    pub variants: BTreeMap<&'static str, VariantFigures>,
    /// What clustering did.
    pub clustering: Clustering,
    /// What must hold.
    pub gates: Vec<Gate>,
    /// What was asked.
    pub queries: Vec<Queried>,
    /// The hash of all rows, in any order.
    pub content_hash: String,
    /// Where the time went.
    pub phases: Vec<Phase>,
    /// The most memory that was resident at once.
    pub peak_rss_bytes: u64,
}

impl Cdr {
    /// Whether no gate failed.
    pub fn passes(&self) -> bool {
        self.gates.iter().all(|g| g.status != GateStatus::Fail)
    }
}

/// Runs the bench. Must be called inside a tokio runtime.
///
/// # Errors
/// Where a phase fails or an answer is wrong; a failing gate is no error but a result.
pub async fn cdr(bench: &CdrBench<'_>, mut sql: Ask<'_>) -> Result<Cdr, BenchError> {
    let machine = Machine::here();
    let workload = bench.workload;
    let mut phases = Phases { done: Vec::new(), note: bench.note };
    let folder = bench.data.join("records");
    let spool = phases.time("make the records", || spool(bench, &folder))?;
    let advice = phases.time("advise on a sample", || {
        let sample = spool.first(ADVICE_ROWS)?;
        advise(&sample).map_err(|source| BenchError::Spool { path: folder.clone(), source })
    })?;
    let facts = phases.time("count distinct values", || Facts::of(&spool))?;
    let towers = telecom::towers(Seed(workload.seed));
    let answers = phases.time("answer from the records", || facts.answers(&spool, |tower| region(&towers, tower)))?;

    let started = phases.begin("insert");
    let inserted = insert_repeatedly(bench, &spool).await?;
    phases.end("insert", started);
    insert_dimensions(bench).await?;
    let started = phases.begin("cluster");
    let clustering = cluster_table(bench).await?;
    phases.end("cluster", started);

    let mut stored = BTreeMap::new();
    let started = phases.begin("count and hash what is stored");
    for variant in variants(workload) {
        stored.insert(variant.name, stored_in(&table_folder(bench.data, variant.name)).await?);
    }
    phases.end("count and hash what is stored", started);

    let queries = phases.time("ask", || {
        let mut queries = Vec::new();
        for question in questions(&facts) {
            for variant in variants(workload) {
                let expected = answers.get(question.name);
                let expected = expected.ok_or_else(|| BenchError::Missing(format!("answer to {}", question.name)))?;
                queries.push(ask(bench.data, &question, variant.name, expected, &mut sql)?);
            }
        }
        Ok(queries)
    })?;

    let expected = Stored { rows: spool.rows(), bytes: 0, hash: spool.hash };
    std::fs::remove_dir_all(&folder).map_err(|source| BenchError::Io { doing: "remove", path: folder, source })?;
    Ok(Cdr {
        machine,
        workload: workload.clone(),
        rows: spool.rows(),
        raw_bytes: spool.raw_bytes,
        advice,
        gates: gates(&expected, &stored, &inserted, &facts.distinct),
        variants: inserted,
        clustering,
        queries,
        content_hash: spool.hash.to_string(),
        phases: phases.done,
        peak_rss_bytes: Usage::now().peak_rss_bytes,
    })
}

/// The records of the day: generated, or those given.
fn spool(bench: &CdrBench<'_>, folder: &Path) -> Result<Spool, BenchError> {
    let workload = bench.workload;
    if let Some(input) = &workload.input {
        let (records, count) = input::open(input)?;
        let rows = count.div_ceil(workload.batches.max(1) as u64) as usize;
        return Spool::copy(folder, records, rows, bench.stop);
    }
    let refuse = |e: telecom::TrafficError| BenchError::Workload { setting: "batches", reason: e.to_string() };
    let traffic = Traffic::new(workload.batches, workload.scale, Seed(workload.seed)).map_err(refuse)?;
    Spool::generate(folder, &traffic, Seed(workload.seed), bench.stop)
}

fn variants(workload: &CdrWorkload) -> Vec<Variant> {
    Variant::all(&workload.bloom, &workload.cluster)
}

/// Inserts as often as asked, into empty tables each time; those of the last time are kept.
async fn insert_repeatedly(
    bench: &CdrBench<'_>,
    spool: &Spool,
) -> Result<BTreeMap<&'static str, VariantFigures>, BenchError> {
    let variants = variants(bench.workload);
    let mut repeats = Vec::new();
    for turn in 0..bench.workload.repeat.max(1) {
        (bench.note)(&format!("insert, repeat {}", turn + 1));
        if turn > 0 {
            let folder = bench.data.join(DATABASE);
            std::fs::remove_dir_all(&folder).map_err(|source| BenchError::Io {
                doing: "remove",
                path: folder,
                source,
            })?;
        }
        let figures = insert_all(bench.data, spool, &variants, turn, bench.stop).await?;
        figures.iter().for_each(|(name, figures)| (bench.note)(&format!("{name}: {}", figures.in_brief())));
        repeats.push(figures);
    }
    Ok(medians(repeats))
}

/// The last repeat, its figures replaced by the medians of all.
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

async fn insert_dimensions(bench: &CdrBench<'_>) -> Result<(), BenchError> {
    let tables = [
        ("towers", telecom::towers(Seed(bench.workload.seed))),
        ("rate_plans", telecom::rate_plans()),
        ("termination_codes", telecom::termination_codes()),
    ];
    for (name, rows) in tables {
        let root = table_folder(bench.data, name);
        let options = TableOptions::new(Layout::Column);
        let inserter = Inserter::open_or_create(&root, Arc::new(RealDisk), &rows.schema(), &options).await?;
        inserter.insert(&[rows]).await?;
    }
    Ok(())
}

async fn cluster_table(bench: &CdrBench<'_>) -> Result<Clustering, BenchError> {
    let root = table_folder(bench.data, "clustered");
    let (started, cpu) = (Instant::now(), Usage::now().cpu);
    let done = table::cluster::cluster(&root, Arc::new(RealDisk), ClusterOptions::default()).await?;
    let rate = |time: Duration| done.rows as f64 / time.as_secs_f64().max(1e-9);
    let clustering = Clustering {
        rows_per_cpu_s: rate(Usage::now().cpu.saturating_sub(cpu)),
        rows_per_s: rate(started.elapsed()),
        bytes_before: done.bytes_before,
        bytes_after: done.bytes_after,
        depth_before: done.depth_before,
        depth_after: done.depth_after,
        segments: (done.segments_in, done.segments_out),
        spilled_bytes: done.spilled_bytes,
    };
    // Sizes are those of what the table consists of now.
    let options = VacuumOptions { retain: Duration::ZERO, apply: true };
    table::upkeep::vacuum(&root, Arc::new(RealDisk), options).await?;
    Ok(clustering)
}

fn region(towers: &RecordBatch, tower: i32) -> Option<String> {
    let ids = towers.column_by_name("tower_id")?.as_primitive::<Int32Type>();
    let place = ids.values().binary_search(&tower).ok()?;
    Some(towers.column_by_name("region")?.as_string::<i32>().value(place).to_owned())
}

/// Reads every row of a table.
pub(crate) async fn stored_in(root: &Path) -> Result<Stored, BenchError> {
    let mut stored = Stored { rows: 0, bytes: folder_bytes(root)?, hash: ContentHash::default() };
    let mut add = |batch: RecordBatch| {
        stored.rows += batch.num_rows() as u64;
        stored.hash += content_hash(&batch);
    };
    let table = match StoredTable::open(root, Arc::new(RealDisk)).await? {
        Some(StoredTable::Delta(table)) => table,
        Some(StoredTable::Row(table)) => {
            for (file, _) in table.files()? {
                table.read(&file)?.try_for_each(|batch| batch.map(&mut add))?;
            }
            return Ok(stored);
        }
        None => return Err(BenchError::Missing(format!("table {}", root.display()))),
    };
    for segment in table.segments().await? {
        let path = root.join(&segment.path);
        let io = |source| BenchError::Io { doing: "open", path: path.clone(), source };
        let parquet = |source| BenchError::Segment { path: path.clone(), source };
        let file = File::open(&path).map_err(io)?;
        for batch in ParquetRecordBatchReaderBuilder::try_new(file).map_err(parquet)?.build().map_err(parquet)? {
            add(batch.map_err(|source| BenchError::Spool { path: path.clone(), source })?);
        }
    }
    Ok(stored)
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

struct Phases<'a> {
    done: Vec<Phase>,
    note: &'a dyn Fn(&str),
}

impl Phases<'_> {
    fn begin(&self, name: &'static str) -> (Instant, Duration) {
        (self.note)(name);
        (Instant::now(), Usage::now().cpu)
    }

    fn end(&mut self, name: &'static str, (started, cpu): (Instant, Duration)) {
        let cpu_s = Usage::now().cpu.saturating_sub(cpu).as_secs_f64();
        self.done.push(Phase { name, wall_s: started.elapsed().as_secs_f64(), cpu_s });
    }

    fn time<T>(&mut self, name: &'static str, phase: impl FnOnce() -> Result<T, BenchError>) -> Result<T, BenchError> {
        let started = self.begin(name);
        let value = phase()?;
        self.end(name, started);
        Ok(value)
    }
}
