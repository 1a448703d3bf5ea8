//! `manyworlds ask`: aggregates of rows.

mod show;

use std::fs;

use ::ask::{Answer, Cache, Options, Partial, Reading, Request};
use anyhow::{Context as _, Result};
use arrow::csv::WriterBuilder as CsvBuilder;
use snapshot::Snapshot;
use sql::{JsonRows, check_texts};

use super::table::no_table;
use crate::args::{AskArgs, Format};
use crate::output::{bytes, count, note, print};

pub(crate) async fn ask(args: &AskArgs) -> Result<()> {
    if !args.merge.is_empty() {
        return show(args, &merged(args)?);
    }
    let name = args.table.as_ref().context("a table is missing")?;
    let question = request(args).question(chrono::Utc::now().timestamp_micros())?;
    let data = &args.data.data;
    let Some(source) = Snapshot::open(&name.folder(data), &[]).await? else { return Err(no_table(data, name)) };
    if args.sql {
        let sql = ::ask::sql((name.database(), name.name()), &question, &source.schema)?;
        return print(&format!("{sql}\n"));
    }
    let options = options(args, &source);
    if let Some(path) = &args.partial {
        let partial = ::ask::partial(&source, &question, &options)?;
        if args.explain {
            note(&explain(partial.reading()));
        }
        return fs::write(path, partial.encode()?).with_context(|| format!("cannot write {}", path.display()));
    }
    show(args, &::ask::answer(&source, &question, &options)?)
}

fn options(args: &AskArgs, source: &Snapshot) -> Options {
    Options {
        threads: args.threads.unwrap_or(Options::default().threads),
        memory_bytes: (args.memory as usize) << 20,
        cache: (!args.no_cache).then(|| Cache::of(&source.root)),
    }
}

/// Merges partial answers from files.
fn merged(args: &AskArgs) -> Result<Answer> {
    let mut all: Option<Partial> = None;
    for path in &args.merge {
        let name = path.display().to_string();
        let bytes = fs::read(path).with_context(|| format!("cannot read {name}"))?;
        let partial = Partial::decode(&name, &bytes)?;
        match &mut all {
            Some(all) => all.merge(partial).with_context(|| format!("cannot merge {name}"))?,
            none => *none = Some(partial),
        }
    }
    let mut all = all.context("a file is missing")?;
    all.arrange(request(args).order(), args.limit);
    Ok(all.answer()?)
}

fn request(args: &AskArgs) -> Request {
    Request {
        group: args.group.clone(),
        count: args.count,
        avg: args.avg.clone(),
        sum: args.sum.clone(),
        min: args.min.clone(),
        max: args.max.clone(),
        stddev: args.stddev.clone(),
        distinct: args.distinct.clone(),
        quantiles: args.quantiles.clone(),
        hist: args.hist.clone(),
        loghist: args.loghist.clone(),
        time_bucket: args.time_bucket.clone(),
        time: Some(args.time.clone()),
        since: args.since.clone(),
        until: args.until.clone(),
        conditions: args.conditions.clone(),
        weight: args.weight.clone(),
        replace: args.replace.clone(),
        sort: args.sort.clone(),
        asc: args.asc,
        limit: args.limit,
        samples: args.samples,
        columns: args.columns.clone(),
    }
}

fn show(args: &AskArgs, answer: &Answer) -> Result<()> {
    check_texts(&answer.rows)?;
    match args.format.format {
        Format::Table => print(&show::table(answer)?)?,
        Format::Json => {
            let mut writer = JsonRows::new(std::io::stdout().lock(), answer.rows.schema_ref());
            writer.write(&answer.rows).context("cannot write the result")?;
            std::io::Write::write_all(&mut writer.finish().context("cannot write the result")?, b"\n")?;
        }
        Format::Csv => {
            let mut text = Vec::new();
            let flat = show::flat(&answer.rows)?;
            CsvBuilder::new().with_header(true).build(&mut text).write(&flat).context("cannot write the result")?;
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

/// Reports the data read and skipped, with reasons.
fn explain(read: &Reading) -> String {
    let n = |number: usize| count(number as u64);
    let opened = read.segments - read.segments_by_log - read.segments_counted - read.segments_cached;
    let skipped = &read.skipped;
    let columns: Vec<&str> = read.columns.iter().map(String::as_str).collect();
    let columns = if columns.is_empty() { "none".to_owned() } else { columns.join(", ") };
    [
        format!(
            "segments: {} opened of {} ({} skipped by bounds in the log, {} counted by the log, {} from the cache)",
            n(opened),
            n(read.segments),
            n(read.segments_by_log),
            n(read.segments_counted),
            n(read.segments_cached)
        ),
        format!(
            "row groups: {} read of {} ({} skipped by bounds, {} by secondary indexes, {} by Bloom filters)",
            n(read.groups_read),
            n(read.groups),
            n(skipped.groups_by_statistics),
            n(skipped.groups_by_lookup),
            n(skipped.groups_by_filter)
        ),
        format!("pages skipped by bounds: {}", n(skipped.pages_by_statistics)),
        format!("columns read: {columns}"),
        format!(
            "rows: {} scanned in segments, {} in the log; {} met the conditions",
            count(read.rows),
            count(read.rows_unflushed),
            count(read.rows_matching)
        ),
        format!("bytes read: {}", bytes(read.bytes)),
    ]
    .join("\n")
}
