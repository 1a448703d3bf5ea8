//! `manyworlds export`: writes a table's rows, or an ensemble's outcomes, to a file in another format.

use std::fs::Permissions;
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::ipc::writer::FileWriter;
use arrow::json::LineDelimitedWriter;
use import::Wide;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use sql::{Rows, check_texts, quoted};
use table::TableName;

use super::named::{Named, find};
use super::sql::{csv, table_in_sql};
use crate::args::{ExportArgs, FileFormat};
use crate::output::{count, note};

pub(crate) async fn export(args: &ExportArgs) -> Result<()> {
    let format = format(args)?;
    let mut rows = match find(&args.named).await? {
        Named::Table(_, _) if args.kind.is_some() => bail!("--kind is for ensembles: {} is a table", args.named.name),
        Named::Table(name, engine) => Content::Rows(engine.query(&question(&name, args)).await?),
        Named::Ensemble(_) if args.condition.is_some() => {
            bail!("--where is for tables: export a query over worlds() with `manyworlds sql --format csv`")
        }
        Named::Ensemble(stored) => Content::Outcomes(Wide::open(stored, args.kind.as_deref(), &args.columns)?.into()),
    };
    let Some(path) = &args.to else {
        if matches!(format, FileFormat::Parquet | FileFormat::Arrow) {
            bail!("Parquet and Arrow are binary: name a file with --to");
        }
        write(&mut rows, format, BufWriter::new(std::io::stdout())).await?;
        return Ok(());
    };
    // Readers find the old file until the new one is complete.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let written = tempfile::Builder::new()
        .prefix(".export-")
        // Temporary files are private; give this one the usual permissions.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)
        .with_context(|| format!("cannot create a file in {}", folder.display()))?;
    let (total, file) = write(&mut rows, format, BufWriter::new(written)).await?;
    let file = file.into_inner().context("cannot write the file")?;
    file.as_file().sync_all().context("cannot sync the file")?;
    let size = file.as_file().metadata().context("cannot read the size of the file")?.len();
    file.persist(path).with_context(|| format!("cannot rename the file to {}", path.display()))?;
    note(&format!(
        "wrote {} rows of {} into {}, {}",
        count(total),
        args.named.name,
        path.display(),
        crate::output::bytes(size)
    ));
    Ok(())
}

fn format(args: &ExportArgs) -> Result<FileFormat> {
    let ending = args.to.as_ref().and_then(|path| path.extension()).and_then(|ending| ending.to_str());
    Ok(match (args.format, ending) {
        (Some(format), _) => format,
        (None, Some("parquet")) => FileFormat::Parquet,
        (None, Some("json" | "jsonl" | "ndjson")) => FileFormat::Json,
        (None, Some("arrow")) => FileFormat::Arrow,
        (None, None | Some("csv")) => FileFormat::Csv,
        (None, Some(other)) => bail!("unknown file extension .{other}: name a format with --format"),
    })
}

fn question(name: &TableName, args: &ExportArgs) -> String {
    let columns: Vec<String> = args.columns.iter().map(|name| quoted(name)).collect();
    let columns = if columns.is_empty() { "*".to_owned() } else { columns.join(", ") };
    let table = table_in_sql(name);
    let condition = args.condition.as_ref().map(|c| format!(" WHERE {c}")).unwrap_or_default();
    format!("SELECT {columns} FROM {table}{condition}")
}

/// What to write: read batch by batch.
enum Content {
    Rows(Rows),
    Outcomes(Box<Wide>),
}

/// Writes all rows and returns their number.
async fn write<W: Write + Send>(content: &mut Content, format: FileFormat, out: W) -> Result<(u64, W)> {
    let schema = match content {
        Content::Rows(rows) => rows.schema(),
        Content::Outcomes(outcomes) => outcomes.schema(),
    };
    let mut writer = Writer::new(format, &schema, out)?;
    let mut total = 0;
    let mut take = |batch: RecordBatch| {
        total += batch.num_rows() as u64;
        writer.write(&batch).context("cannot write the rows")
    };
    match content {
        Content::Rows(rows) => {
            while let Some(batch) = rows.next().await {
                take(batch?)?;
            }
        }
        Content::Outcomes(outcomes) => outcomes.batches().try_for_each(|batch| take(batch?))?,
    }
    Ok((total, writer.finish().context("cannot write the rows")?))
}

/// Bytes in memory at which a row group is complete.
const ROW_GROUP_BYTES: usize = 128 << 20;

enum Writer<W: Write + Send> {
    Parquet(Box<ArrowWriter<W>>),
    Csv(W),
    Json(LineDelimitedWriter<W>),
    Arrow(Box<FileWriter<W>>),
}

impl<W: Write + Send> Writer<W> {
    fn new(format: FileFormat, schema: &SchemaRef, mut out: W) -> Result<Self> {
        Ok(match format {
            FileFormat::Parquet => {
                let codec = Compression::ZSTD(ZstdLevel::default());
                let properties = WriterProperties::builder().set_compression(codec).build();
                Self::Parquet(Box::new(ArrowWriter::try_new(out, schema.clone(), Some(properties))?))
            }
            FileFormat::Csv => {
                out.write_all(csv(&RecordBatch::new_empty(schema.clone()), true)?.as_bytes())?;
                Self::Csv(out)
            }
            FileFormat::Json => Self::Json(LineDelimitedWriter::new(out)),
            FileFormat::Arrow => Self::Arrow(Box::new(FileWriter::try_new(out, schema)?)),
        })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Self::Parquet(writer) => {
                writer.write(batch)?;
                // Wide rows fill memory long before a row group has its usual number of rows.
                if writer.memory_size() > ROW_GROUP_BYTES {
                    writer.flush()?;
                }
            }
            Self::Csv(out) => out.write_all(csv(batch, false)?.as_bytes())?,
            Self::Json(writer) => {
                check_texts(batch)?;
                writer.write(batch)?;
            }
            Self::Arrow(writer) => writer.write(batch)?,
        }
        Ok(())
    }

    fn finish(self) -> Result<W> {
        let mut out = match self {
            Self::Parquet(writer) => writer.into_inner()?,
            Self::Csv(out) => out,
            Self::Json(mut writer) => {
                writer.finish()?;
                writer.into_inner()
            }
            Self::Arrow(writer) => writer.into_inner()?,
        };
        out.flush()?;
        Ok(out)
    }
}
