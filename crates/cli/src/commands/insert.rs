//! `manyworlds table insert`: inserts the rows of files, one commit per batch.

mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use decode::TIME_NANOS;
use ingest::{Load, LoadedBatch, Renamed};
use run::Usage;
use serde_json::json;
use table::{Clustering, Curve, Inserted, Layout, TableOptions};

use self::rows::Rows;
use super::disk;
use crate::args::{Format, TableInsertArgs};
use crate::output::{bytes, count, note, print, print_json};

/// Counts of rows.
#[derive(Default)]
struct Totals {
    rows: u64,
    bytes: u64,
    /// Rows inserted by an earlier run.
    before: u64,
    /// Values in overflow columns, by column and overflow column.
    overflow: BTreeMap<(String, String), usize>,
    renamed: BTreeSet<Renamed>,
}

impl Totals {
    fn add(&mut self, rows: usize, done: LoadedBatch) {
        let Inserted { rows: inserted, bytes } = done.inserted;
        self.rows += inserted;
        self.bytes += bytes;
        self.before += rows as u64 - inserted;
        self.renamed.extend(done.renamed);
        for overflow in done.overflows {
            *self.overflow.entry((overflow.field, overflow.overflow)).or_default() += overflow.rows;
        }
    }
}

pub(crate) async fn insert(args: &TableInsertArgs) -> Result<()> {
    let started = Instant::now();
    let mut load = Load::open(&args.table.folder(), disk(), args.on_conflict.into()).await?;
    let options = options(args);
    let mut totals = Totals::default();
    for path in &args.files {
        check_options(args, &load, &options)?;
        let mut file = Rows::open(path, args, load.schema())?;
        let name = name_of(path, args)?;
        let mut number = 0;
        while let Some(batch) = file.next_batch().with_context(|| format!("reading {}", path.display()))? {
            let rows = batch.iter().map(arrow::array::RecordBatch::num_rows).sum();
            let done = load.insert_once(&format!("{name}/{number}"), batch, &options, file.declared()).await;
            totals.add(rows, done.with_context(|| format!("inserting {}, batch {}", path.display(), number + 1))?);
            number += 1;
        }
        for overflow in file.overflow() {
            *totals.overflow.entry((overflow.name, overflow.overflow)).or_default() += overflow.rows;
        }
    }
    report(args, &totals, started)
}

fn report(args: &TableInsertArgs, totals: &Totals, started: Instant) -> Result<()> {
    let Totals { rows, bytes: stored, before, overflow, renamed } = totals;
    if *before > 0 {
        note(&format!("{} rows were inserted before and are not inserted again (--again does)", count(*before)));
    }
    for ((column, overflow), values) in overflow.iter().filter(|((_, overflow), _)| overflow != TIME_NANOS) {
        note(&format!(
            "values that do not fit the column {column}: {}, kept as text in {overflow}",
            count(*values as u64)
        ));
    }
    for Renamed { field, column } in renamed {
        note(&format!("the column {field} is stored as {column}"));
    }
    let wall = started.elapsed().as_secs_f64();
    let summary = json!({
        "table": args.table.name.to_string(),
        "rows": rows,
        "rows_before": before,
        "bytes": stored,
        "bytes_per_row": *stored as f64 / (*rows).max(1) as f64,
        "wall_s": wall,
        "cpu_s": Usage::now().cpu.as_secs_f64(),
    });
    match args.table.format.format {
        Format::Json => print_json(&summary),
        Format::Csv => bail!("table insert writes --format table or json"),
        Format::Table => print(&format!(
            "inserted {} rows into {}: {}, {:.2} bytes a row, {} rows a second\n",
            count(*rows),
            args.table.name,
            bytes(*stored),
            *stored as f64 / (*rows).max(1) as f64,
            count((*rows as f64 / wall.max(1e-9)) as u64),
        )),
    }
}

/// Options for a new table.
fn options(args: &TableInsertArgs) -> TableOptions {
    let layout = args.layout.unwrap_or(if args.cluster.is_empty() { Layout::Pruned } else { Layout::Clustered });
    let clustering = (!args.cluster.is_empty())
        .then(|| Clustering { columns: args.cluster.clone(), curve: args.curve.unwrap_or(Curve::Hilbert) });
    TableOptions {
        bloom: args.bloom.clone(),
        lookup: args.lookup.clone(),
        clustering,
        codec: args.codec.unwrap_or_default(),
        encodings: args.encodings.unwrap_or_default(),
        ..TableOptions::new(layout)
    }
}

/// Checks that the given options match an existing table.
fn check_options(args: &TableInsertArgs, load: &Load, wanted: &TableOptions) -> Result<()> {
    let Some(have) = load.options() else { return Ok(()) };
    let differs = args.layout.is_some_and(|layout| layout != have.layout)
        || (!args.bloom.is_empty() && wanted.bloom != have.bloom)
        || (!args.lookup.is_empty() && wanted.lookup != have.lookup)
        || (!args.cluster.is_empty() && wanted.clustering != have.clustering)
        || args.encodings.is_some_and(|encodings| encodings != have.encodings);
    if differs {
        bail!(
            "table {} exists already in layout {}: omit --layout, --bloom, --lookup, --cluster and --encodings, or choose another \
             name",
            args.table.name,
            have.layout
        );
    }
    Ok(())
}

/// Names a file's batches, so that a repeat after an interruption skips inserted batches.
fn name_of(path: &Path, args: &TableInsertArgs) -> Result<String> {
    let about = path.metadata().with_context(|| format!("looking at {}", path.display()))?;
    let changed = about.modified().ok().and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
    let changed = changed.map_or(0, |t| t.as_millis());
    let again = if args.again { format!("/{}", uuid::Uuid::new_v4().simple()) } else { String::new() };
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(format!("{file}/{}/{changed}/{}{again}", about.len(), args.batch_rows))
}
