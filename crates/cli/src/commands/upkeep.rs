//! `manyworlds table cluster`, `compact`, `rewrite`, `delete`, `trim` and `vacuum`, and `manyworlds rebuild`.

use std::future::Future;
use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use disk::Place;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ingest::{FlushOptions, IngestError};
use run::Usage;
use serde_json::{Map, Value, json};
use sql::Condition;
use table::Progress;
use table::cluster::ClusterOptions;
use table::upkeep::{Deleted, LayoutChange, RewriteOptions, TrimLimit, TrimOptions, VacuumOptions};
use table::{Clustering, Table as DeltaTable};

use super::table::no_table;
use super::{disk, open_store};
use crate::ExitCode;
use crate::args::{
    Format, RebuildArgs, TableArgs, TableClusterArgs, TableDeleteArgs, TableRewriteArgs, TableTrimArgs,
    TableVacuumArgs, VacuumTarget,
};
use crate::output::{Table, bytes, count, note, print, print_json};

/// Time between progress lines without a terminal.
const LINE_EACH: Duration = Duration::from_secs(5);

pub(crate) async fn cluster(args: &TableClusterArgs) -> Result<()> {
    let root = args.table.folder();
    let clustering = clustering(args, &root).await?;
    let options = ClusterOptions { clustering, memory: args.memory << 20, all: args.all, progress: Some(progress()) };
    let timed = timed(table::cluster::cluster(&root, disk(), options)).await?;
    let done = &timed.result;
    for column in &done.left_out {
        note(&format!("column {column:?} holds one value only: it does not affect the order"));
    }
    let summary = json!({
        "rows": done.moved.rows,
        "segments_in": done.moved.segments_in,
        "segments_out": done.moved.segments_out,
        "bytes_before": done.moved.bytes_before,
        "bytes_after": done.moved.bytes_after,
        "depth_before": done.depth_before,
        "depth_after": done.depth_after,
        "spilled_bytes": done.spilled_bytes,
        "left_out": done.left_out,
    });
    timed.print(summary, args.table.format.format)
}

/// The new clustering; `None` if no flag changes it.
async fn clustering(args: &TableClusterArgs, root: &std::path::Path) -> Result<Option<Clustering>> {
    if args.columns.is_empty() && args.curve.is_none() {
        return Ok(None);
    }
    let stored = match DeltaTable::open(root, disk()).await? {
        Some(table) => table.options()?.clustering,
        None => None,
    };
    let stored = stored.unwrap_or(Clustering { columns: Vec::new(), curve: table::Curve::default() });
    let columns = if args.columns.is_empty() { stored.columns } else { args.columns.clone() };
    Ok(Some(Clustering { columns, curve: args.curve.unwrap_or(stored.curve) }))
}

pub(crate) async fn compact(args: &TableArgs) -> Result<()> {
    let root = args.folder();
    let timed = timed(table::upkeep::compact(&root, disk(), Some(progress()))).await?;
    let done = &timed.result;
    let summary = json!({
        "rows": done.rows,
        "segments_in": done.segments_in,
        "segments_out": done.segments_out,
        "bytes_before": done.bytes_before,
        "bytes_after": done.bytes_after,
    });
    timed.print(summary, args.format.format)
}

pub(crate) async fn trim(args: &TableTrimArgs) -> Result<()> {
    let root = args.table.folder();
    let limit = match (&args.before, args.keep_bytes) {
        (Some(time), _) => TrimLimit::Before(time.clone()),
        (None, Some(bytes)) => TrimLimit::KeepBytes(bytes),
        (None, None) => bail!("name a limit: --before TIME or --keep-bytes N"),
    };
    let options = TrimOptions { limit, column: args.column.clone(), apply: args.apply };
    let timed = timed(table::upkeep::trim(&root, disk(), &options)).await?;
    let mut summary = deleted(&timed.result.deleted, args.apply);
    if let Some((from, before)) = timed.result.times {
        summary["from"] = json!(time(from));
        summary["before"] = json!(time(before));
    }
    timed.print(summary, args.table.format.format)
}

/// Formats microseconds since 1970.
fn time(micros: i64) -> Option<String> {
    let time = chrono::DateTime::from_timestamp_micros(micros)?;
    Some(time.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true))
}

pub(crate) async fn delete(args: &TableDeleteArgs) -> Result<()> {
    let root = args.table.folder();
    let table =
        DeltaTable::open(&root, disk()).await?.ok_or_else(|| no_table(&args.table.data.data, &args.table.name))?;
    let schema = table.arrow_schema()?;
    let condition = Condition::parse(&args.condition, &schema)?;
    let timed = timed(table::upkeep::delete_rows(&root, disk(), Arc::new(condition), args.apply)).await?;
    timed.print(deleted(&timed.result, args.apply), args.table.format.format)
}

/// The rows that were or would be removed. A dry run adds the command to apply it.
fn deleted(done: &Deleted, applied: bool) -> Value {
    let mut summary = json!({
        "applied": applied,
        "rows": done.rows,
        "bytes": done.bytes,
        "segments_in": done.segments_in,
        "segments_out": done.segments_out,
        "bytes_before": done.bytes_before,
    });
    if applied {
        summary["bytes_after"] = json!(done.bytes_after);
    }
    hint(applied);
    summary
}

pub(crate) async fn rewrite(args: &TableRewriteArgs) -> Result<()> {
    let root = args.table.folder();
    // An empty list counts as no columns.
    let names = |names: &Option<Vec<String>>| -> Option<Vec<String>> {
        names.as_ref().map(|names| names.iter().filter(|name| !name.is_empty()).cloned().collect())
    };
    let change = LayoutChange {
        layout: args.layout,
        bloom: names(&args.bloom),
        cluster: names(&args.cluster),
        curve: args.curve,
        codec: args.codec,
        encodings: args.encodings,
        widen: Vec::new(),
    };
    let options = RewriteOptions { change, memory: args.memory << 20, progress: Some(progress()) };
    let timed = timed(table::upkeep::rewrite(&root, disk(), &options)).await?;
    let done = &timed.result;
    if done.segments_left > 0 {
        let left = count(done.segments_left as u64);
        note(&format!("{left} segments were inserted meanwhile: run the command again to rewrite them too"));
    }
    let summary = json!({
        "layout_before": done.layout_before.to_string(),
        "layout": done.layout.to_string(),
        "rows": done.moved.rows,
        "segments_in": done.moved.segments_in,
        "segments_out": done.moved.segments_out,
        "segments_left": done.segments_left,
        "bytes_before": done.moved.bytes_before,
        "bytes_after": done.moved.bytes_after,
    });
    timed.print(summary, args.table.format.format)
}

pub(crate) async fn vacuum(args: &TableVacuumArgs) -> Result<()> {
    let options = VacuumOptions { retain: Duration::from_secs(args.retain.saturating_mul(3_600)), apply: args.apply };
    let data = &args.data.data;
    let timed = match &args.name {
        VacuumTarget::Table(name) => timed(table::upkeep::vacuum(&name.folder(data), disk(), options)).await?,
        VacuumTarget::Ensembles => {
            let store = open_store(&Place::Folder(data.clone())).await?;
            timed(store.vacuum(options)).await?
        }
    };
    let done = &timed.result;
    let summary = json!({
        "applied": args.apply,
        "old_files": done.old,
        "orphans": done.orphans,
        "temporary_files": done.temporary,
        "bytes": done.bytes,
        "retained_files": done.retained,
    });
    hint(args.apply);
    timed.print(summary, args.format.format)
}

pub(crate) async fn rebuild(args: &RebuildArgs) -> Result<ExitCode> {
    let root = args.table.folder();
    if DeltaTable::open(&root, disk()).await?.is_none() && ingest::waiting(&root, u64::MAX)?.is_none() {
        return Err(no_table(&args.table.data.data, &args.table.name));
    }
    let flushed = if args.apply { flush(&root).await? } else { 0 };
    if DeltaTable::open(&root, disk()).await?.is_none() {
        bail!("table {} has rows in its log only: flush them with --apply", args.table.name);
    }
    let timed = timed(table::upkeep::rebuild(&root, disk(), args.apply, Some(progress()))).await?;
    let done = &timed.result;
    for damaged in &done.damaged {
        let kept = damaged.kept.as_ref().map(|kept| format!("; kept as {}", kept.display())).unwrap_or_default();
        note(&format!("cannot read {} rows: {}{kept}", count(damaged.rows), damaged.reason));
    }
    let mut summary = json!({
        "applied": args.apply,
        "segments": done.segments,
        "rows": done.rows,
        "damaged_segments": done.damaged.len(),
        "damaged_rows": done.damaged.iter().map(|d| d.rows).sum::<u64>(),
    });
    if args.apply {
        summary["rows_of_log"] = json!(flushed);
        let merged = table::upkeep::compact(&root, disk(), None).await?;
        summary["merged_segments"] = json!(merged.segments_in);
    } else if !done.damaged.is_empty() {
        note("nothing changed; set the damaged rows aside with --apply");
    }
    timed.print(summary, args.table.format.format)?;
    Ok(if done.damaged.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Flushes a table's log, and returns the number of rows. A running server flushes by itself.
async fn flush(root: &Path) -> Result<u64> {
    match ingest::digest(root, disk(), &FlushOptions::default()).await {
        Err(IngestError::Digesting { .. }) => {
            note("the running server flushes the log by itself");
            Ok(0)
        }
        done => Ok(done?.rows),
    }
}

fn hint(applied: bool) {
    if !applied {
        note("dry run, nothing removed: add --apply to remove");
    }
}

/// A command's result, time and memory.
struct Timed<T> {
    result: T,
    wall: Duration,
    cpu: Duration,
}

async fn timed<T, E: Into<anyhow::Error>>(work: impl Future<Output = Result<T, E>>) -> Result<Timed<T>> {
    let (started, before) = (Instant::now(), Usage::now());
    let result = work.await.map_err(Into::into)?;
    Ok(Timed { result, wall: started.elapsed(), cpu: Usage::now().cpu.saturating_sub(before.cpu) })
}

impl<T> Timed<T> {
    fn print(&self, mut summary: Value, format: Format) -> Result<()> {
        summary["wall_s"] = json!(self.wall.as_secs_f64());
        summary["cpu_s"] = json!(self.cpu.as_secs_f64());
        summary["peak_rss_bytes"] = json!(Usage::now().peak_rss_bytes);
        let fields = summary.as_object().cloned().unwrap_or_default();
        match format {
            Format::Json => print_json(&summary),
            Format::Csv => print(&listed(&fields, plain).to_csv()),
            Format::Table => print(&listed(&fields, for_people).to_string()),
        }
    }
}

fn listed(fields: &Map<String, Value>, text: fn(&str, &Value) -> String) -> Table {
    let mut table = Table::new(["figure", "value"]);
    fields.iter().for_each(|(name, value)| table.push([name.clone(), text(name, value)]));
    table
}

fn plain(_: &str, value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn for_people(name: &str, value: &Value) -> String {
    match (value.as_u64(), value.as_f64(), value.as_array()) {
        (Some(n), ..) if name.contains("bytes") => bytes(n),
        (Some(n), ..) => count(n),
        (None, Some(x), _) => format!("{x:.2}"),
        (None, None, Some(list)) => list.iter().map(|v| plain(name, v)).collect::<Vec<_>>().join(", "),
        _ => plain(name, value),
    }
}

/// A bar on a terminal, otherwise plain lines.
fn progress() -> Progress {
    if std::io::stderr().is_terminal() {
        let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} rows  {per_sec}  {eta} left") {
            bar.set_style(style);
        }
        return Arc::new(move |done, total| {
            bar.set_length(total);
            bar.set_position(done);
            if done >= total {
                bar.finish_and_clear();
            }
        });
    }
    let last = Mutex::new(Instant::now());
    Arc::new(move |done, total| {
        let Ok(mut last) = last.lock() else { return };
        if last.elapsed() >= LINE_EACH {
            *last = Instant::now();
            note(&format!("{} of {} rows", count(done), count(total)));
        }
    })
}
