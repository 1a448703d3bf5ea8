//! `manyworlds ask`: questions about events.

mod show;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use ::ask::{Answer, Cache, Measure, Options, Order, Partial, Question, Reading, Samples, Source, moment};
use anyhow::{Context as _, Result, anyhow, bail};
use arrow::csv::WriterBuilder as CsvBuilder;
use arrow::datatypes::Schema;
use query::JsonRows;
use table::{StoredTable, TableName};

use super::disk;
use crate::args::{AskArgs, Format};
use crate::output::{bytes, count, note, print};

pub(crate) async fn ask(args: &AskArgs) -> Result<ExitCode> {
    if !args.merge.is_empty() {
        show(args, &merged(args)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let name = args.table.as_ref().context("a table is missing")?;
    let question = question(args)?;
    let source = open(&args.data.data, name).await?;
    if args.sql {
        print(&format!("{}\n", ::ask::sql((name.database(), name.name()), &question, &source.schema)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    let options = options(args, &source);
    if let Some(path) = &args.partial {
        let partial = ::ask::partial(&source, &question, &options)?;
        if args.explain {
            note(&explain(partial.reading()));
        }
        fs::write(path, partial.encode()?).with_context(|| format!("writing {}", path.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    show(args, &::ask::answer(&source, &question, &options)?)?;
    Ok(ExitCode::SUCCESS)
}

fn options(args: &AskArgs, source: &Source) -> Options {
    Options {
        threads: args.threads.unwrap_or(Options::default().threads),
        memory_bytes: (args.memory as usize) << 20,
        cache: (!args.no_cache).then(|| Cache::of(&source.root)),
    }
}

/// What files of partial answers say together.
fn merged(args: &AskArgs) -> Result<Answer> {
    let mut all: Option<Partial> = None;
    for path in &args.merge {
        let name = path.display().to_string();
        let bytes = fs::read(path).with_context(|| format!("reading {name}"))?;
        let partial = Partial::decode(&name, &bytes)?;
        match &mut all {
            Some(all) => all.merge(partial).with_context(|| format!("merging {name}"))?,
            none => *none = Some(partial),
        }
    }
    let mut all = all.context("a file is missing")?;
    all.arrange(order(args), args.limit);
    Ok(all.answer()?)
}

fn order(args: &AskArgs) -> Option<Order> {
    args.sort.as_ref().map(|by| Order { by: by.clone(), ascending: args.asc })
}

/// The table at its newest version, with what waits in its log.
async fn open(data: &Path, name: &TableName) -> Result<Source> {
    let root = name.folder(data);
    // The log first: what is in neither of both by then was never acknowledged.
    let waiting = ingest::waiting(&root)?.unwrap_or_default();
    let (columns, position, segments) = match StoredTable::open(&root, disk()).await? {
        Some(StoredTable::Delta(table)) => {
            (table.arrow_schema()?, table.append_position().await?, table.segments().await?)
        }
        Some(StoredTable::Row(_)) => {
            bail!(
                "table {name} is of layout row, which `ask` does not read: ask it with `manyworlds sql`, or rewrite it"
            )
        }
        None if waiting.entries.is_empty() => return Err(no_table(data, name)?),
        None => (Arc::new(Schema::empty()), 0, Vec::new()),
    };
    let fresh = waiting.fit(&columns, position, &[])?;
    let rows = fresh.rows.into_iter().map(|(_, rows)| rows).collect();
    Ok(Source { root, schema: fresh.schema, segments, fresh: rows })
}

fn no_table(data: &Path, name: &TableName) -> Result<anyhow::Error> {
    let tables: Vec<String> = table::tables(data)?.iter().map(ToString::to_string).collect();
    let folder = data.display();
    Ok(match &tables[..] {
        [] => anyhow!("there is no table {name} in {folder}, and no other: name another folder with --data"),
        tables => anyhow!("there is no table {name} in {folder}: there are {}", tables.join(", ")),
    })
}

fn question(args: &AskArgs) -> Result<Question> {
    type Of = fn(String) -> Measure;
    let now = chrono::Utc::now().timestamp_micros();
    let time = |text: &Option<String>| text.as_ref().map(|text| moment(text, now)).transpose();
    let mut measures = Vec::new();
    if args.count {
        measures.push(Measure::Count);
    }
    let each: [(&[String], Of); 8] = [
        (&args.avg, Measure::Average),
        (&args.sum, Measure::Sum),
        (&args.min, Measure::Least),
        (&args.max, Measure::Greatest),
        (&args.stddev, Measure::Deviation),
        (&args.distinct, Measure::Distinct),
        (&args.hist, Measure::Histogram),
        (&args.loghist, Measure::LogHistogram),
    ];
    for (columns, measure) in each {
        measures.extend(columns.iter().cloned().map(measure));
    }
    measures.extend(args.quantiles.iter().map(|(column, list)| Measure::Quantiles(column.clone(), list.clone())));
    Ok(Question {
        groups: args.group.clone(),
        measures,
        conditions: args.conditions.clone(),
        time: (args.time != "time").then(|| args.time.clone()),
        bucket: args.time_bucket,
        weight: args.weight.clone(),
        replacements: args.replace.clone(),
        since: time(&args.since)?,
        until: time(&args.until)?,
        order: order(args),
        limit: args.limit,
        samples: args.samples.map(|rows| Samples { rows, columns: args.columns.clone() }),
    })
}

fn show(args: &AskArgs, answer: &Answer) -> Result<()> {
    match args.format.format {
        Format::Table => print(&show::table(answer)?)?,
        Format::Json => {
            let mut writer = JsonRows::new(std::io::stdout().lock(), answer.rows.schema_ref());
            writer.write(&answer.rows).context("writing the result")?;
            std::io::Write::write_all(&mut writer.finish().context("writing the result")?, b"\n")?;
        }
        Format::Csv => {
            let mut text = Vec::new();
            let flat = show::flat(&answer.rows)?;
            CsvBuilder::new().with_header(true).build(&mut text).write(&flat).context("writing the result")?;
            print(&String::from_utf8(text)?)?;
        }
    }
    for line in &answer.notes {
        note(line);
    }
    if args.explain {
        note(&explain(&answer.reading));
    }
    Ok(())
}

/// What was read and what not, and why.
fn explain(read: &Reading) -> String {
    let n = |number: usize| count(number as u64);
    let opened = read.segments - read.segments_by_log - read.segments_counted - read.segments_cached;
    let skipped = &read.skipped;
    let columns: Vec<&str> = read.columns.iter().map(String::as_str).collect();
    let columns = if columns.is_empty() { "none".to_owned() } else { columns.join(", ") };
    [
        format!(
            "segments: {} opened of {} ({} left out by bounds in the log, {} counted by the log, {} from the cache)",
            n(opened),
            n(read.segments),
            n(read.segments_by_log),
            n(read.segments_counted),
            n(read.segments_cached)
        ),
        format!(
            "row groups: {} read of {} ({} left out by bounds, {} by look-ups, {} by Bloom filters)",
            n(read.groups_read),
            n(read.groups),
            n(skipped.groups_by_statistics),
            n(skipped.groups_by_lookup),
            n(skipped.groups_by_filter)
        ),
        format!("pages left out by bounds: {}", n(skipped.pages_by_statistics)),
        format!("columns read: {columns}"),
        format!(
            "rows: {} looked at in segments, {} in the log of writes; {} met the conditions",
            count(read.rows),
            count(read.rows_fresh),
            count(read.rows_met)
        ),
        format!("bytes read: {}", bytes(read.bytes)),
    ]
    .join("\n")
}
