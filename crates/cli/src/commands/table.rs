//! `manyworlds table insert`, `list`, `inspect` and `drop`.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, Seek as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, bail};
use arrow::array::{ArrayRef, AsArray as _, RecordBatch};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::csv::ReaderBuilder;
use arrow::csv::reader::Format as CsvFormat;
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::json::ReaderBuilder as JsonBuilder;
use arrow::json::reader::infer_json_schema;
use decode::ColumnNames;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use run::Usage;
use serde_json::{Value, json};
use snapshot::Snapshot;
use table::disk::TEMPORARY_SUFFIX;
use table::{
    Clustering, Curve, FolderLock, Inserter, Layout, Segment, StoredTable, TableName, TableOptions, inspect,
    lookup_bytes, storable,
};

use super::disk;
use crate::args::{DataArgs, Format, FormatArgs, TableArgs, TableInsertArgs};
use crate::output::{Table, bytes, count, note, print, print_json};

/// Rows of a text file from which the types of its columns are told.
const INFER_ROWS: usize = 100_000;

/// Past this size integers change as real numbers.
const EXACT_MAX: u128 = 1 << 53;

type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>;

pub(crate) async fn insert(args: &TableInsertArgs) -> Result<ExitCode> {
    let root = args.table.folder();
    let started = Instant::now();
    let mut inserter = Inserter::open(&root, disk()).await?;
    let (mut rows, mut stored, mut before) = (0, 0, 0);
    for path in &args.files {
        let known = inserter.as_ref().map(|i| i.schema().clone());
        let (schema, batches) = open(path, args.batch_rows as usize, known.as_ref())?;
        let (schema, batches) = stored_names(path, schema, batches, known.as_ref());
        if inserter.is_none() {
            inserter = Some(Inserter::open_or_create(&root, disk(), &schema, &options(args)).await?);
        }
        let inserter = inserter.as_ref().context("opening the table")?;
        check_options(args, inserter)?;
        let name = name_of(path, args)?;
        for (number, batch) in batches.enumerate() {
            let batch = batch.with_context(|| format!("reading {}", path.display()))?;
            let done = inserter.insert_once(&format!("{name}/{number}"), std::slice::from_ref(&batch)).await;
            let done = done.with_context(|| format!("inserting {}, batch {}", path.display(), number + 1))?;
            rows += done.rows;
            stored += done.bytes;
            before += batch.num_rows() as u64 - done.rows;
        }
    }
    if before > 0 {
        note(&format!("{} rows were inserted before and are not inserted again (--again does)", count(before)));
    }
    report(args, rows, stored, before, started)
}

fn report(args: &TableInsertArgs, rows: u64, stored: u64, before: u64, started: Instant) -> Result<ExitCode> {
    let wall = started.elapsed().as_secs_f64();
    let summary = json!({
        "table": args.table.name.to_string(),
        "rows": rows,
        "rows_before": before,
        "bytes": stored,
        "bytes_per_row": stored as f64 / rows.max(1) as f64,
        "wall_s": wall,
        "cpu_s": Usage::now().cpu.as_secs_f64(),
    });
    match args.table.format.format {
        Format::Json => print_json(&summary)?,
        Format::Csv => bail!("table insert writes --format table or json"),
        Format::Table => print(&format!(
            "inserted {} rows into {}: {}, {:.2} bytes a row, {} rows a second\n",
            count(rows),
            args.table.name,
            bytes(stored),
            stored as f64 / rows.max(1) as f64,
            count((rows as f64 / wall.max(1e-9)) as u64),
        ))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What was asked of a table that is made now.
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

/// Whether what was asked fits a table that is there already; what was not asked does.
fn check_options(args: &TableInsertArgs, inserter: &Inserter) -> Result<()> {
    let have = inserter.options();
    let wanted = options(args);
    let differs = args.layout.is_some_and(|layout| layout != have.layout)
        || (!args.bloom.is_empty() && wanted.bloom != have.bloom)
        || (!args.lookup.is_empty() && wanted.lookup != have.lookup)
        || (!args.cluster.is_empty() && wanted.clustering != have.clustering)
        || args.encodings.is_some_and(|encodings| encodings != have.encodings);
    if differs {
        bail!(
            "table {} is there already, of layout {}: leave --layout, --bloom, --lookup, --cluster and --encodings out, or choose another \
             name",
            args.table.name,
            have.layout
        );
    }
    Ok(())
}

/// Rows whose columns have the names under which a table stores them; tells which are others than the file's.
fn stored_names(path: &Path, schema: SchemaRef, batches: Batches, known: Option<&SchemaRef>) -> (SchemaRef, Batches) {
    let mut names = ColumnNames::default();
    known.iter().flat_map(|known| known.fields().iter()).for_each(|field| names.insert(field.name()));
    let fields: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    // A name that is there twice is refused as such.
    if fields.iter().collect::<BTreeSet<_>>().len() < fields.len() {
        return (schema, batches);
    }
    let columns = names.resolve(&fields);
    if columns.iter().zip(&fields).all(|(column, field)| column == field) {
        return (schema, batches);
    }
    for (field, column) in fields.iter().zip(&columns).filter(|(field, column)| **field != column.as_str()) {
        note(&format!("{}: the column {field} is stored as {column}", path.display()));
    }
    let renamed = schema.fields().iter().zip(columns).map(|(field, name)| field.as_ref().clone().with_name(name));
    let renamed = Arc::new(Schema::new(renamed.collect::<Vec<_>>()));
    let schema = renamed.clone();
    let batches = batches.map(move |batch| RecordBatch::try_new(renamed.clone(), batch?.columns().to_vec()));
    (schema, Box::new(batches))
}

/// What a file's batches are called, so that a batch that was inserted is not inserted again after an interruption.
fn name_of(path: &Path, args: &TableInsertArgs) -> Result<String> {
    let about = path.metadata().with_context(|| format!("looking at {}", path.display()))?;
    let changed = about.modified().ok().and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
    let changed = changed.map_or(0, |t| t.as_millis());
    let again = if args.again { format!("/{}", uuid::Uuid::new_v4().simple()) } else { String::new() };
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(format!("{file}/{}/{changed}/{}{again}", about.len(), args.batch_rows))
}

/// Opens a file of rows, `rows` to a batch, by its ending.
fn open(path: &Path, rows: usize, known: Option<&SchemaRef>) -> Result<(SchemaRef, Batches)> {
    let file = File::open(path).with_context(|| format!("opening {}", path.display()))?;
    let failed = || format!("reading {}", path.display());
    match path.extension().and_then(|e| e.to_str()) {
        Some("csv") => csv(path, file, rows, known).with_context(failed),
        Some("jsonl" | "ndjson" | "json") => json_lines(path, file, rows, known).with_context(failed),
        Some("parquet") => {
            let builder = ParquetRecordBatchReaderBuilder::try_new(file).with_context(failed)?;
            let schema = builder.schema().clone();
            Ok((schema, Box::new(builder.with_batch_size(rows).build().with_context(failed)?)))
        }
        Some("arrow" | "ipc" | "feather") => {
            let reader = arrow::ipc::reader::FileReader::try_new(BufReader::new(file), None).with_context(failed)?;
            Ok((reader.schema(), Box::new(reader)))
        }
        _ => bail!("{}: name a .csv, .jsonl, .parquet or .arrow file", path.display()),
    }
}

/// A text file with a header. Its columns have the types of the table, or those that its first rows tell.
fn csv(path: &Path, mut file: File, rows: usize, known: Option<&SchemaRef>) -> Result<(SchemaRef, Batches)> {
    let format = CsvFormat::default().with_header(true);
    let (told, _) = format.infer_schema(BufReader::new(&file), Some(INFER_ROWS))?;
    file.rewind()?;
    let told = match known {
        Some(schema) => with_types_of(&told, schema),
        None => storable(path, &told)?.as_ref().clone(),
    };
    if let Some(set) = told.fields().iter().find(|f| f.data_type().is_nested()) {
        bail!(
            "column {:?} of the table holds sets, which .csv files have none of: insert .jsonl or .parquet",
            set.name()
        );
    }
    let schema = Arc::new(told);
    let reader = ReaderBuilder::new(with_texts(&schema)).with_header(true).with_batch_size(rows);
    let reader = reader.build(BufReader::with_capacity(1 << 20, file))?;
    let typed = schema.clone();
    Ok((schema, Box::new(reader.map(move |batch| with_reals(&batch?, &typed)))))
}

/// Columns of which those of real numbers are read as they are written.
fn with_texts(schema: &Schema) -> SchemaRef {
    let field = |field: &FieldRef| match field.data_type() {
        DataType::Float64 => field.as_ref().clone().with_data_type(DataType::Utf8),
        _ => field.as_ref().clone(),
    };
    Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>()))
}

/// Rows as [`with_texts`] has them, with real numbers; an integer that would change as one is refused.
fn with_reals(rows: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let column = |(field, column): (&FieldRef, &ArrayRef)| {
        if *field.data_type() != DataType::Float64 {
            return Ok(column.clone());
        }
        let is_large = |text: &&str| text.parse::<i128>().is_ok_and(|value| value.unsigned_abs() > EXACT_MAX);
        if let Some(value) = column.as_string::<i32>().iter().flatten().find(is_large) {
            return Err(large(value, field.name()));
        }
        let exact = CastOptions { safe: false, ..CastOptions::default() };
        cast_with_options(column, &DataType::Float64, &exact)
    };
    let columns = schema.fields().iter().zip(rows.columns()).map(column).collect::<Result<_, _>>()?;
    RecordBatch::try_new(schema.clone(), columns)
}

fn large(value: &str, column: &str) -> ArrowError {
    let reason = format!("{value} in column {column:?} would change among real numbers: write all of them as integers");
    ArrowError::ComputeError(reason)
}

/// Checks a file of JSON lines whose columns of real numbers may hold integers that would change.
fn check_integers(file: &File, schema: &Schema) -> Result<()> {
    let reals: Vec<&str> =
        schema.fields().iter().filter(|f| *f.data_type() == DataType::Float64).map(|f| f.name().as_str()).collect();
    if reals.is_empty() {
        return Ok(());
    }
    for row in serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 20, file)).into_iter::<Value>() {
        let row = row?;
        for name in &reals {
            let is_large = |value: &Value| {
                value.as_i64().map(i64::unsigned_abs).or(value.as_u64()).is_some_and(|v| u128::from(v) > EXACT_MAX)
            };
            if is_large(&row[*name]) {
                return Err(large(&row[*name].to_string(), name).into());
            }
        }
    }
    Ok(())
}

/// A text file of one JSON object a line. Its columns are those of the table, or those that its first rows tell; what is
/// missing from a row is NULL.
fn json_lines(path: &Path, mut file: File, rows: usize, known: Option<&SchemaRef>) -> Result<(SchemaRef, Batches)> {
    let (told, _) = infer_json_schema(BufReader::new(&file), Some(INFER_ROWS))?;
    file.rewind()?;
    let told = match known {
        // Those that the table has not are kept, to be refused.
        Some(schema) => {
            let unknown = told.fields().iter().filter(|f| schema.field_with_name(f.name()).is_err());
            let all = schema.fields().iter().chain(unknown).map(|f| f.as_ref().clone().with_nullable(true));
            Arc::new(Schema::new(all.collect::<Vec<_>>()))
        }
        None => storable(path, &told)?,
    };
    check_integers(&file, &told)?;
    file.rewind()?;
    // Lists with a NULL in them are read, to be refused by the name of their column.
    let lists = told.fields().iter().map(|f| lenient(f)).collect::<Vec<_>>();
    // A column that turns up later is refused, not left out.
    let reader = JsonBuilder::new(Arc::new(Schema::new(lists))).with_batch_size(rows).with_strict_mode(true);
    Ok((told, Box::new(reader.build(BufReader::with_capacity(1 << 20, file))?)))
}

/// A column whose lists may have NULL in them.
fn lenient(field: &Field) -> Field {
    match field.data_type() {
        DataType::List(item) => {
            let item = item.as_ref().clone().with_nullable(true);
            field.clone().with_data_type(DataType::List(Arc::new(item)))
        }
        _ => field.clone(),
    }
}

/// The columns of a file with the types that a table has for them; columns unknown to it keep theirs, to be refused.
fn with_types_of(told: &Schema, known: &Schema) -> Schema {
    let typed = |field: &arrow::datatypes::FieldRef| {
        known.field_with_name(field.name()).map_or_else(|_| field.as_ref().clone(), std::clone::Clone::clone)
    };
    Schema::new(told.fields().iter().map(typed).collect::<Vec<_>>())
}

pub(crate) async fn list(data: &DataArgs, format: &FormatArgs) -> Result<ExitCode> {
    let mut tables = Vec::new();
    for name in snapshot::tables(&data.data)? {
        let root = name.folder(&data.data);
        // A table that cannot be read is listed with the reason, and keeps no other from the list.
        match with_log(&name, &root).await {
            Ok(told) => tables.extend(told),
            Err(error) => tables.push(json!({"table": name.to_string(), "trouble": format!("{error:#}")})),
        }
    }
    match format.format {
        Format::Json => print_json(&tables)?,
        Format::Table => print(&listed(&tables, count, bytes).to_string())?,
        Format::Csv => print(&listed(&tables, |n| n.to_string(), |n| n.to_string()).to_csv())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A table and how many rows wait in its log; `None` where it has neither segments nor rows.
async fn with_log(name: &TableName, root: &Path) -> Result<Option<Value>> {
    let (mut of, waiting) = match StoredTable::open(root, disk()).await? {
        Some(stored @ StoredTable::Row(_)) => (of_table(name, &stored).await?, Vec::new()),
        _ => match Snapshot::open(root, &[]).await? {
            Some(Snapshot { table: Some(table), unflushed, .. }) => {
                (of_table(name, &StoredTable::Delta(table)).await?, unflushed)
            }
            Some(snapshot) => {
                (json!({"table": name.to_string(), "files": 0, "rows": 0, "bytes": 0}), snapshot.unflushed)
            }
            None => return Ok(None),
        },
    };
    of["log_rows"] = json!(waiting.iter().map(RecordBatch::num_rows).sum::<usize>());
    of["trouble"] = json!(ingest::failing(root));
    Ok(Some(of))
}

/// One row a table; what is not told is left empty.
fn listed(tables: &[Value], count: fn(u64) -> String, bytes: fn(u64) -> String) -> Table {
    let mut shown = Table::new(["table", "layout", "files", "rows", "bytes", "unflushed rows", "trouble"]);
    for of in tables {
        let text = |key: &str| of[key].as_str().unwrap_or_default().to_owned();
        let number = |key: &str, write: fn(u64) -> String| of[key].as_u64().map(write).unwrap_or_default();
        shown.push([
            text("table"),
            text("layout"),
            number("files", count),
            number("rows", count),
            number("bytes", bytes),
            number("log_rows", count),
            text("trouble"),
        ]);
    }
    shown
}

/// What is told of a table as a whole. The rows of layout `row` are in no log, and so are not told.
async fn of_table(name: &TableName, stored: &StoredTable) -> Result<Value> {
    Ok(match stored {
        StoredTable::Row(avro) => {
            let files = avro.files()?;
            let size: u64 = files.iter().map(|f| f.1).sum();
            json!({"table": name.to_string(), "layout": "row", "files": files.len(), "rows": Value::Null, "bytes": size})
        }
        StoredTable::Delta(delta) => {
            let segments = delta.segments().await?;
            let options = delta.options()?;
            json!({
                "table": name.to_string(),
                "layout": options.layout.to_string(),
                "files": segments.len(),
                "rows": segments.iter().map(|s| s.rows).sum::<u64>(),
                "bytes": segments.iter().map(|s| s.bytes).sum::<u64>(),
                "codec": options.codec.to_string(),
                "encodings": options.encodings.to_string(),
                "bloom": options.bloom,
                "lookup": options.lookup,
                "lookup_bytes": lookup_bytes(delta.root(), &segments)?,
                "cluster": options.clustering.as_ref().map(|c| c.columns.clone()),
                "curve": options.clustering.as_ref().map(|c| c.curve.to_string()),
            })
        }
    })
}

pub(crate) async fn show(args: &TableArgs) -> Result<ExitCode> {
    let root = args.folder();
    let stored = StoredTable::open(&root, disk()).await?;
    let stored = stored.ok_or_else(|| no_table(&args.name, &root))?;
    let mut whole = of_table(&args.name, &stored).await?;
    let columns = match &stored {
        StoredTable::Row(_) => Vec::new(),
        StoredTable::Delta(delta) => of_columns(&root, &delta.segments().await?)?,
    };
    match args.format.format {
        Format::Json => {
            whole["columns"] = Value::Array(columns);
            print_json(&whole)?;
        }
        Format::Table | Format::Csv => print_columns(&whole, &columns, args.format.format)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn of_columns(root: &Path, segments: &[Segment]) -> Result<Vec<Value>> {
    let rows = segments.iter().map(|s| s.rows).sum::<u64>().max(1);
    let reports = inspect(root, segments)?;
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

fn print_columns(whole: &Value, columns: &[Value], format: Format) -> Result<()> {
    let header = ["column", "encodings", "codec", "bytes per row", "share", "bounds", "filters", "false answers"];
    let mut shown = Table::new(header);
    for c in columns {
        let number = |key: &str| c[key].as_f64().unwrap_or(0.0);
        let text = |key: &str| c[key].as_str().unwrap_or_default().to_owned();
        shown.push([
            text("column"),
            text("encodings"),
            text("codec"),
            format!("{:.3}", number("bytes_per_row")),
            format!("{:.1}%", 100.0 * number("share")),
            format!("{} of {}", c["groups_with_bounds"], c["groups"]),
            bytes(c["bloom_bytes"].as_u64().unwrap_or(0)),
            c["bloom_false_positives"].as_f64().map_or_else(|| "-".to_owned(), |p| format!("{:.2}%", 100.0 * p)),
        ]);
    }
    if format == Format::Csv {
        return print(&shown.to_csv());
    }
    let told = whole.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let told: Vec<String> = told.map(|(key, value)| format!("{key} {}", value.to_string().replace('"', ""))).collect();
    print(&format!("{}\n\n{shown}", told.join(", ")))
}

pub(crate) async fn drop(args: &TableArgs) -> Result<ExitCode> {
    let root = args.folder();
    if StoredTable::open(&root, disk()).await?.is_none() && ingest::waiting(&root)?.is_none() {
        return Err(no_table(&args.name, &root));
    }
    let _folder_lock = FolderLock::exclusive(&root)?;
    // Under another name first, so that it goes as a whole: half a table would have a log that does not fit it.
    let folder = root.file_name().unwrap_or_default().to_string_lossy();
    let gone = root.with_file_name(format!(".{folder}.{}{TEMPORARY_SUFFIX}", uuid::Uuid::new_v4().simple()));
    let removed = std::fs::rename(&root, &gone).and_then(|()| std::fs::remove_dir_all(&gone));
    removed.with_context(|| format!("cannot remove {}", root.display()))?;
    note(&format!("removed table {}", args.name));
    Ok(ExitCode::SUCCESS)
}

pub(super) fn no_table(name: &TableName, root: &Path) -> anyhow::Error {
    anyhow!("unknown table {name} in {}: `manyworlds table list` lists the tables", root.display())
}
