//! `manyworlds export`: writes a table's rows to a file in another format.

use std::fs::Permissions;
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::json::LineDelimitedWriter;
use disk::Place;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use sql::{Rows, check_texts, quoted};

use super::sql::{csv, open_engine, table_in_sql};
use crate::args::{ExportArgs, FileFormat};
use crate::output::{count, note};

pub(crate) async fn export(args: &ExportArgs) -> Result<()> {
    let format = format(args)?;
    let engine = open_engine(&Place::Folder(args.data.data.clone())).await?;
    let mut rows = engine.query(&question(args)).await?;
    let Some(path) = &args.to else {
        if format == FileFormat::Parquet {
            bail!("Parquet is binary: name a file with --to");
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
        args.name,
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
        (None, None | Some("csv")) => FileFormat::Csv,
        (None, Some(other)) => bail!("unknown file extension .{other}: name a format with --format"),
    })
}

fn question(args: &ExportArgs) -> String {
    let columns: Vec<String> = args.columns.iter().map(|name| quoted(name)).collect();
    let columns = if columns.is_empty() { "*".to_owned() } else { columns.join(", ") };
    let table = table_in_sql(&args.name);
    let condition = args.condition.as_ref().map(|c| format!(" WHERE {c}")).unwrap_or_default();
    format!("SELECT {columns} FROM {table}{condition}")
}

/// Writes all rows and returns their number.
async fn write<W: Write + Send>(rows: &mut Rows, format: FileFormat, out: W) -> Result<(u64, W)> {
    let mut writer = Writer::new(format, &rows.schema(), out)?;
    let mut total = 0;
    while let Some(batch) = rows.next().await {
        let batch = batch?;
        total += batch.num_rows() as u64;
        writer.write(&batch).context("cannot write the rows")?;
    }
    Ok((total, writer.finish().context("cannot write the rows")?))
}

enum Writer<W: Write + Send> {
    Parquet(Box<ArrowWriter<W>>),
    Csv(W),
    Json(LineDelimitedWriter<W>),
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
        })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Self::Parquet(writer) => writer.write(batch)?,
            Self::Csv(out) => out.write_all(csv(batch, false)?.as_bytes())?,
            Self::Json(writer) => {
                check_texts(batch)?;
                writer.write(batch)?;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<W> {
        Ok(match self {
            Self::Parquet(writer) => writer.into_inner()?,
            Self::Csv(mut out) => {
                out.flush()?;
                out
            }
            Self::Json(mut writer) => {
                writer.finish()?;
                writer.into_inner()
            }
        })
    }
}
