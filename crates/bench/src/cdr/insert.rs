//! Streaming inserts, batch by batch, into every variant.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use disk::RealDisk;
use run::Usage;
use serde::Serialize;
use table::{Clustering, Curve, DATABASE, Inserter, Layout, TableOptions};

use super::avro::AvroTable;
use super::dataset::Dataset;
use crate::error::BenchError;
use crate::harness::disk_space::folder_bytes;
use crate::harness::statistics::percentile;

/// The name of the variant of Avro files.
pub(crate) const BASELINE: &str = "row";

/// One way to store the records.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// The name of its layout; `row` is the baseline.
    pub name: &'static str,
    /// The options of its table; `None` for the baseline.
    pub options: Option<TableOptions>,
}

impl Variant {
    /// The baseline and every layout. Those with filters get Bloom filters on the columns `bloom`; the clustered one is
    /// clustered by `cluster`.
    pub fn all(bloom: &[String], cluster: &[String]) -> Vec<Self> {
        let with_filters = |name, layout, clustering| Self {
            name,
            options: Some(TableOptions { bloom: bloom.to_vec(), clustering, ..TableOptions::new(layout) }),
        };
        let clustering = Clustering { columns: cluster.to_vec(), curve: Curve::Hilbert };
        vec![
            Self { name: BASELINE, options: None },
            Self { name: "column", options: Some(TableOptions::new(Layout::Column)) },
            with_filters("pruned", Layout::Pruned, None),
            with_filters("clustered", Layout::Clustered, Some(clustering)),
        ]
    }

    /// Adds secondary indexes on `columns`, except to the baseline.
    pub(crate) fn with_lookups(mut self, columns: &[String]) -> Self {
        if let Some(options) = &mut self.options {
            options.lookup = columns.to_vec();
        }
        self
    }
}

/// Size and cost of a variant over one pass of inserts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VariantFigures {
    pub rows: u64,
    /// Bytes on disk after the last batch.
    pub bytes: u64,
    /// Of these, bytes of secondary indexes.
    pub lookup_bytes: u64,
    /// Rows per second of elapsed time.
    pub rows_per_s: f64,
    /// Rows per second of processor time.
    pub rows_per_cpu_s: f64,
    pub p50_batch_ms: f64,
    /// 99th percentile of the time of a batch.
    pub p99_batch_ms: f64,
    pub worst_batch_ms: f64,
    /// Rows per second of the batch with the lowest rate.
    pub worst_rows_per_s: f64,
    /// Sizes after some batches.
    pub checkpoints: Vec<Checkpoint>,
    /// Rows per second by batch size in rows.
    pub rows_per_s_by_batch: BTreeMap<u64, f64>,
}

impl VariantFigures {
    pub(crate) fn in_brief(&self) -> String {
        let each = self.bytes as f64 / self.rows.max(1) as f64;
        let [wall, cpu] = [self.rows_per_s, self.rows_per_cpu_s].map(|r| r / 1e6);
        format!("{wall:.2} M rows/s, {cpu:.2} M by processor time, {each:.2} bytes a row")
    }
}

/// The size of a variant after some batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Checkpoint {
    pub batches: usize,
    pub rows: u64,
    /// Bytes of all its files.
    pub bytes: u64,
}

/// A variant and its measurements.
pub(crate) struct Clock {
    name: &'static str,
    root: PathBuf,
    table: Insertable,
    times: Vec<(u64, Duration)>,
    cpu: Duration,
    checkpoints: Vec<Checkpoint>,
}

enum Insertable {
    Avro(AvroTable),
    Table(Inserter),
}

pub(crate) async fn create(data: &Path, variants: &[Variant]) -> Result<Vec<Clock>, BenchError> {
    let mut clocks = Vec::with_capacity(variants.len());
    for Variant { name, options } in variants {
        let (root, schema) = (table_folder(data, name), telecom::schema());
        let table = match options {
            None => Insertable::Avro(AvroTable::create(&root, &schema)?),
            Some(options) => {
                Insertable::Table(Inserter::open_or_create(&root, Arc::new(RealDisk), &schema, options).await?)
            }
        };
        let (times, checkpoints) = (Vec::new(), Vec::new());
        clocks.push(Clock { name, root, table, times, cpu: Duration::ZERO, checkpoints });
    }
    Ok(clocks)
}

/// Inserts every batch into every variant. The order rotates, so that no variant gains from warm caches every
/// time. The clock does not include reading a batch; it includes making the insert durable.
pub(crate) async fn insert_all(
    mut clocks: Vec<Clock>,
    dataset: &Dataset,
    turn: usize,
    stop: &dyn Fn() -> bool,
) -> Result<BTreeMap<&'static str, VariantFigures>, BenchError> {
    let checkpoint_each = dataset.batches.len().div_ceil(5).max(1);
    for (number, batch) in dataset.batches.iter().enumerate() {
        if stop() {
            return Err(BenchError::Stopped);
        }
        let records = batch.read()?;
        let count = clocks.len();
        for place in 0..count {
            clocks[(place + number + turn) % count].insert(&records, batch.rows).await?;
        }
        if (number + 1).is_multiple_of(checkpoint_each) {
            clocks.iter_mut().try_for_each(|clock| clock.measure_size(number + 1))?;
        }
    }
    clocks.iter_mut().try_for_each(|clock| clock.measure_size(dataset.batches.len()))?;
    clocks.into_iter().map(|clock| Ok((clock.name, clock.figures()?))).collect()
}

pub(crate) fn table_folder(data: &Path, variant: &str) -> PathBuf {
    data.join(DATABASE).join(variant)
}

impl Clock {
    async fn insert(&mut self, records: &[arrow::array::RecordBatch], rows: u64) -> Result<(), BenchError> {
        let (cpu, started) = (Usage::now().cpu, Instant::now());
        let inserted = match &self.table {
            Insertable::Avro(table) => table.insert(records).map(|()| rows)?,
            Insertable::Table(inserter) => inserter.insert(records).await?.rows,
        };
        let elapsed = started.elapsed();
        self.cpu += Usage::now().cpu.saturating_sub(cpu);
        self.times.push((rows, elapsed));
        if inserted != rows {
            return Err(BenchError::Wrong(format!("a batch of {rows} rows was inserted as {inserted}")));
        }
        Ok(())
    }

    fn measure_size(&mut self, batches: usize) -> Result<(), BenchError> {
        if self.checkpoints.last().is_some_and(|c| c.batches == batches) {
            return Ok(());
        }
        let rows = self.times.iter().map(|t| t.0).sum();
        self.checkpoints.push(Checkpoint { batches, rows, bytes: folder_bytes(&self.root)? });
        Ok(())
    }

    fn figures(self) -> Result<VariantFigures, BenchError> {
        let rows: u64 = self.times.iter().map(|t| t.0).sum();
        let elapsed: Duration = self.times.iter().map(|t| t.1).sum();
        let ms: Vec<f64> = self.times.iter().map(|t| t.1.as_secs_f64() * 1e3).collect();
        let rate = |rows: u64, time: Duration| rows as f64 / time.as_secs_f64().max(1e-9);
        let mut by_batch: BTreeMap<u64, (u64, Duration)> = BTreeMap::new();
        for &(rows, time) in &self.times {
            let sum = by_batch.entry(rows).or_default();
            *sum = (sum.0 + rows, sum.1 + time);
        }
        Ok(VariantFigures {
            rows,
            bytes: self.checkpoints.last().map_or(0, |c| c.bytes),
            lookup_bytes: lookup_folder_bytes(&self.root)?,
            rows_per_s: rate(rows, elapsed),
            rows_per_cpu_s: rate(rows, self.cpu),
            p50_batch_ms: percentile(&ms, 0.5),
            p99_batch_ms: percentile(&ms, 0.99),
            worst_batch_ms: percentile(&ms, 1.0),
            worst_rows_per_s: self.times.iter().map(|t| rate(t.0, t.1)).fold(f64::INFINITY, f64::min),
            checkpoints: self.checkpoints,
            rows_per_s_by_batch: by_batch.into_iter().map(|(n, (rows, time))| (n, rate(rows, time))).collect(),
        })
    }
}

pub(crate) fn lookup_folder_bytes(root: &Path) -> Result<u64, BenchError> {
    let folder = root.join("_lookup");
    if folder.is_dir() { folder_bytes(&folder) } else { Ok(0) }
}
