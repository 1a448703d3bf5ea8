//! `manyworlds sql`: runs SQL queries.

mod completion;
mod prompt;

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use ::table::TableName;
use anyhow::{Context as _, Result};
use arrow::array::RecordBatch;
use arrow::csv::WriterBuilder as CsvBuilder;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use disk::Place;
use sql::{Engine, JsonRows, Options, Reading, Rows, Session, check_texts, in_cells, quoted};

use super::simulation::played_by;
use super::{make_model, nothing_stored};
use crate::args::{Format, SqlArgs};
use crate::output::{Table, bytes, count, counted, note, print};

/// Maximum rows shown as a table; the other formats write all rows.
const TABLE_ROWS_MAX: usize = 10_000;

pub(crate) async fn sql(args: &SqlArgs) -> Result<()> {
    played_by(&args.played_by)?;
    let session = Session::new(Options::default())?;
    match &args.query {
        Some(query) => ask(args, &session, query).await.map(drop),
        None if std::io::stdin().is_terminal() => prompt::converse(args, session),
        None => of_stdin(args, &session).await,
    }
}

/// The quoted SQL name of a table.
pub(crate) fn table_in_sql(name: &TableName) -> String {
    format!("{}.{}", quoted(name.database()), quoted(name.name()))
}

/// Runs statements from stdin, each as soon as it is complete.
async fn of_stdin(args: &SqlArgs, session: &Session) -> Result<()> {
    let mut text = String::new();
    for line in std::io::stdin().lock().lines() {
        text.push_str(&line.context("cannot read statements")?);
        text.push('\n');
        let (statements, rest) = sql::split(&text);
        for sql in statements {
            ask(args, session, sql).await?;
        }
        text = rest.to_owned();
        text.push('\n');
    }
    if !sql::is_empty(&text) {
        ask(args, session, text.trim()).await?;
    }
    Ok(())
}

/// Runs a statement; returns its number of rows.
async fn ask(args: &SqlArgs, session: &Session, sql: &str) -> Result<usize> {
    let engine = open_engine(&args.data.data, session).await?;
    let mut rows = engine.query(sql).await?;
    let count = match args.format.format {
        Format::Table => as_table(&mut rows).await?,
        Format::Json => as_json(&mut rows).await?,
        Format::Csv => as_csv(&mut rows).await?,
    };
    if args.stats {
        note(&describe(&rows.reading()));
    }
    Ok(count)
}

/// The data that a query read, in one line.
fn describe(read: &Reading) -> String {
    let of = |part, all| format!("{} of {}", count(part), count(all));
    let by_lookup = match read.groups_skipped_by_lookup {
        0 => String::new(),
        groups => format!(" ({} skipped by secondary indexes)", count(groups)),
    };
    format!(
        "read {}: {} segments, {} row groups{by_lookup}, {} filtered pages; {} scanned",
        bytes(read.bytes),
        of(read.segments_read, read.segments_total),
        of(read.groups_read, read.groups_total),
        of(read.pages_read, read.pages_total),
        counted(read.rows, "row")
    )
}

/// Opens the newest data of a place.
pub(in crate::commands) async fn open_engine(place: &Place, session: &Session) -> Result<Engine> {
    let (data, disk) = place.open()?;
    let engine = Engine::open(&data, disk, make_model(), session).await?;
    engine.ok_or_else(|| nothing_stored(place))
}

async fn as_table(rows: &mut Rows) -> Result<usize> {
    let schema = rows.schema();
    let mut table = Table::with_header(schema.fields().iter().map(|f| f.name().clone()).collect());
    let mut total = 0;
    while let Some(batch) = rows.next().await {
        let batch = batch?;
        let shown = batch.num_rows().min(TABLE_ROWS_MAX - total);
        push_rows(&mut table, &batch.slice(0, shown))?;
        total += shown;
        if shown < batch.num_rows() {
            let shown = count(TABLE_ROWS_MAX as u64);
            note(&format!("showing the first {shown} rows: add a LIMIT, or print all with --format csv or json"));
            break;
        }
    }
    print(&table.to_string())?;
    Ok(total)
}

fn push_rows(table: &mut Table, batch: &RecordBatch) -> Result<()> {
    check_texts(batch)?;
    let options = FormatOptions::default().with_null("NULL").with_types_info(false);
    let columns = batch.columns().iter().map(|c| ArrayFormatter::try_new(c, &options));
    let columns = columns.collect::<Result<Vec<_>, _>>().context("cannot write the result")?;
    for row in 0..batch.num_rows() {
        let cells = columns.iter().map(|c| c.value(row).try_to_string());
        table.push_row(cells.collect::<Result<_, _>>().context("cannot write the result")?);
    }
    Ok(())
}

/// Prints an array of objects; no rows give `[]`.
async fn as_json(rows: &mut Rows) -> Result<usize> {
    let (mut writer, mut total) = (JsonRows::new(std::io::stdout(), &rows.schema()), 0);
    while let Some(batch) = rows.next().await {
        let batch = batch?;
        total += batch.num_rows();
        check_texts(&batch)?;
        writer.write(&batch).context("cannot write the result")?;
    }
    writer.finish().context("cannot write the result")?.write_all(b"\n").context("cannot write the result")?;
    Ok(total)
}

async fn as_csv(rows: &mut Rows) -> Result<usize> {
    print(&csv(&RecordBatch::new_empty(rows.schema()), true)?)?;
    let mut total = 0;
    while let Some(batch) = rows.next().await {
        let batch = batch?;
        total += batch.num_rows();
        print(&csv(&batch, false)?)?;
    }
    Ok(total)
}

/// Writes only to memory: the CSV library turns I/O errors into text, which would hide a closed pipe.
pub(in crate::commands) fn csv(batch: &RecordBatch, header: bool) -> Result<String> {
    check_texts(batch)?;
    let mut text = Vec::new();
    let cells = in_cells(batch).context("cannot write the result")?;
    CsvBuilder::new().with_header(header).build(&mut text).write(&cells).context("cannot write the result")?;
    Ok(String::from_utf8(text)?)
}
