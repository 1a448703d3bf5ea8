//! `manyworlds table list`, `inspect` and `drop`.

use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use arrow::array::RecordBatch;
use disk::TEMPORARY_SUFFIX;
use model::UnknownName;
use serde_json::{Value, json};
use snapshot::Snapshot;
use table::{FolderLock, Segment, Table as DeltaTable, TableName, lookup_bytes};

use super::disk;
use crate::args::{DataArgs, Format, FormatArgs, TableArgs};
use crate::output::{Table, bytes, cell, count, note, percent, print, print_json, show};

pub(crate) async fn list(data: &DataArgs, format: &FormatArgs) -> Result<()> {
    let mut tables = Vec::new();
    for name in snapshot::tables(&data.data)? {
        let root = name.folder(&data.data);
        // List an unreadable table with the reason, together with the others.
        match with_log(&name, &root).await {
            Ok(told) => tables.extend(told),
            Err(error) => tables.push(json!({"table": name.to_string(), "trouble": format!("{error:#}")})),
        }
    }
    show(format.format, &tables, &listed(&tables, format.format))
}

/// A table and its unflushed rows; `None` if it has neither segments nor rows.
async fn with_log(name: &TableName, root: &Path) -> Result<Option<Value>> {
    let Some(snapshot) = Snapshot::open(root, &[]).await? else { return Ok(None) };
    let mut of = match &snapshot.table {
        Some(table) => of_table(name, table).await?,
        None => json!({"table": name.to_string(), "files": 0, "rows": 0, "bytes": 0}),
    };
    of["log_rows"] = json!(snapshot.unflushed.iter().map(RecordBatch::num_rows).sum::<usize>());
    of["trouble"] = json!(ingest::failing(root));
    Ok(Some(of))
}

/// One row per table; unknown cells stay empty.
fn listed(tables: &[Value], format: Format) -> Table {
    let number = |value: &Value, write: fn(u64) -> String| match value.as_u64() {
        Some(n) if format == Format::Table => write(n),
        _ => cell(value),
    };
    Table::of(
        tables,
        &[
            ("table", &|t| cell(&t["table"])),
            ("layout", &|t| cell(&t["layout"])),
            ("files", &|t| number(&t["files"], count)),
            ("rows", &|t| number(&t["rows"], count)),
            ("bytes", &|t| number(&t["bytes"], bytes)),
            ("unflushed rows", &|t| number(&t["log_rows"], count)),
            ("trouble", &|t| cell(&t["trouble"])),
        ],
    )
}

async fn of_table(name: &TableName, table: &DeltaTable) -> Result<Value> {
    let (segments, options) = (table.segments().await?, table.options()?);
    Ok(json!({
        "table": name.to_string(),
        "layout": options.layout.to_string(),
        "files": segments.len(),
        "rows": segments.iter().map(|s| s.rows).sum::<u64>(),
        "bytes": segments.iter().map(|s| s.bytes).sum::<u64>(),
        "codec": options.codec.to_string(),
        "encodings": options.encodings.to_string(),
        "bloom": options.bloom,
        "lookup": options.lookup,
        "lookup_bytes": lookup_bytes(table.root(), &segments)?,
        "cluster": options.clustering.as_ref().map(|c| c.columns.clone()),
        "curve": options.clustering.as_ref().map(|c| c.curve.to_string()),
    }))
}

pub(crate) async fn inspect(args: &TableArgs) -> Result<()> {
    let root = args.folder();
    let table = DeltaTable::open(&root, disk()).await?.ok_or_else(|| no_table(&args.data.data, &args.name))?;
    let mut whole = of_table(&args.name, &table).await?;
    let columns = of_columns(&root, &table.segments().await?)?;
    let table = cost_of(&columns);
    match args.format.format {
        Format::Json => {
            whole["columns"] = Value::Array(columns);
            print_json(&whole)
        }
        Format::Csv => print(&table.to_csv()),
        Format::Table => {
            let known = whole.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
            let known = known.map(|(key, value)| format!("{key} {}", value.to_string().replace('"', "")));
            print(&format!("{}\n\n{table}", known.collect::<Vec<_>>().join(", ")))
        }
    }
}

fn of_columns(root: &Path, segments: &[Segment]) -> Result<Vec<Value>> {
    let rows = segments.iter().map(|s| s.rows).sum::<u64>().max(1);
    let reports = table::inspect(root, segments)?;
    let all = reports.iter().map(|c| c.bytes + c.bloom_bytes).sum::<u64>().max(1) as f64;
    let of_column = |c: &table::ColumnReport| {
        json!({
            "column": c.name,
            "encodings": c.encodings.iter().cloned().collect::<Vec<_>>().join(" "),
            "codec": c.codecs.iter().cloned().collect::<Vec<_>>().join(" "),
            "bytes": c.bytes,
            "bytes_per_row": c.bytes as f64 / rows as f64,
            "share": (c.bytes + c.bloom_bytes) as f64 / all,
            "uncompressed_bytes": c.uncompressed_bytes,
            "groups": c.groups,
            "groups_with_bounds": c.groups_with_bounds,
            "bloom_bytes": c.bloom_bytes,
            "bloom_false_positives": c.bloom_false_positives,
        })
    };
    Ok(reports.iter().map(of_column).collect())
}

/// One row per column.
fn cost_of(columns: &[Value]) -> Table {
    let number = |value: &Value| value.as_f64().unwrap_or(0.0);
    Table::of(
        columns,
        &[
            ("column", &|c| cell(&c["column"])),
            ("encodings", &|c| cell(&c["encodings"])),
            ("codec", &|c| cell(&c["codec"])),
            ("bytes per row", &|c| format!("{:.3}", number(&c["bytes_per_row"]))),
            ("share", &|c| format!("{:.1}%", 100.0 * number(&c["share"]))),
            ("bounds", &|c| format!("{} of {}", c["groups_with_bounds"], c["groups"])),
            ("filters", &|c| bytes(c["bloom_bytes"].as_u64().unwrap_or(0))),
            ("false answers", &|c| c["bloom_false_positives"].as_f64().map_or_else(|| "-".to_owned(), percent)),
        ],
    )
}

pub(crate) async fn drop(args: &TableArgs) -> Result<()> {
    let root = args.folder();
    if DeltaTable::open(&root, disk()).await?.is_none() && ingest::waiting(&root, u64::MAX)?.is_none() {
        return Err(no_table(&args.data.data, &args.name));
    }
    let _folder_lock = FolderLock::exclusive(&root)?;
    // Rename first, so that an interrupted drop leaves no partial table with a log that contradicts it.
    let folder = root.file_name().unwrap_or_default().to_string_lossy();
    let gone = root.with_file_name(format!(".{folder}.{}{TEMPORARY_SUFFIX}", uuid::Uuid::new_v4().simple()));
    let removed = std::fs::rename(&root, &gone).and_then(|()| std::fs::remove_dir_all(&gone));
    removed.with_context(|| format!("cannot remove {}", root.display()))?;
    note(&format!("removed table {}", args.name));
    Ok(())
}

/// Says that a data folder lacks a table, with similar names.
pub(super) fn no_table(data: &Path, name: &TableName) -> anyhow::Error {
    match snapshot::tables(data) {
        Ok(tables) if tables.is_empty() => {
            anyhow!("no table {name}: {} has no tables; name another folder with --data", data.display())
        }
        Ok(tables) => {
            let names: Vec<String> = tables.iter().map(ToString::to_string).collect();
            let names = names.iter().map(String::as_str);
            UnknownName::new("no table", &name.to_string(), names).into()
        }
        Err(error) => error.into(),
    }
}
