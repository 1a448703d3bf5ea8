//! `manyworlds append`: stores rows from stdin or files. Few rows go to a table's log, many to segments.

mod input;
mod refused;
mod sink;

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use decode::{Limits, OnConflict, RowFormat, RowReader, RowRules, TIME_NANOS};
use ingest::Renamed;

use self::input::{Input, More};
use self::refused::Refused;
use self::sink::Sink;
use crate::ExitCode;
use crate::args::{AppendArgs, InputFormat};
use crate::commands::decoders;
use crate::output::{count, counted, note, print};

pub(crate) fn append(args: &AppendArgs) -> Result<ExitCode> {
    let rules = RowRules {
        path: args.path.clone(),
        exclude: args.exclude.clone(),
        ints: args.ints.clone(),
        timestamps: args.timestamps.clone(),
        time: args.time.clone(),
    };
    let mut sink = Sink::new(&args.name, &args.data.data);
    let mut refused = Refused::new(&args.name, &args.data.data);
    // Open all inputs first, to report a missing one before reading any.
    for input in Input::of(args)? {
        let read = take(input, &rules, args.on_conflict.into(), &mut sink, &mut refused);
        // Keep the rows that preceded a failure.
        sink.flush()?;
        if read.is_err() && sink.rows > 0 {
            note(&format!("appended {} to {} before a failure", counted(sink.rows, "row"), args.name));
        }
        read?;
    }
    sink.digest();
    let overflows = sink.overflows.iter().map(|((column, overflow), rows)| match overflow.as_str() {
        TIME_NANOS => format!(
            "times finer than a microsecond: {}, the nanoseconds past it are kept in {TIME_NANOS}",
            count(*rows)
        ),
        _ => format!("values that do not fit the column {column}: {}, kept as text in {overflow}", count(*rows)),
    });
    overflows.for_each(|told| note(&told));
    for Renamed { field, column } in &sink.renamed {
        note(&format!(
            "the field {field} is stored as the column {column}: another column has its name in another case"
        ));
    }
    print(&format!("appended {} to {}\n", counted(sink.rows, "row"), args.name))?;
    Ok(if refused.report()? { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Stores all rows of one input.
fn take(
    mut input: Input,
    rules: &RowRules,
    on_conflict: OnConflict,
    sink: &mut Sink,
    refused: &mut Refused,
) -> Result<()> {
    let name = input.name.clone();
    let reading = || format!("reading {name}");
    let format = match input.format {
        InputFormat::Json => RowFormat::Json,
        InputFormat::Csv => RowFormat::Csv,
        InputFormat::Msgpack => RowFormat::MessagePack,
    };
    let reader = RowReader::new(format, rules, &Limits::default())?;
    let columns = sink.columns(on_conflict)?;
    let mut reader = reader.knowing(&columns).on_conflict(on_conflict);
    refused.begin(&input);
    sink.begin(input.is_piped());
    let mut bytes = Vec::new();
    loop {
        let more = input.more(&mut bytes, sink.due()).with_context(reading)?;
        let last = more == More::End;
        let mut taken = 0;
        for rows in reader.read_all(&bytes, last, now_micros(), decoders(bytes.len())) {
            let rows = rows.with_context(reading)?;
            refused.take(&bytes[taken..], &rows.refused)?;
            sink.count_overflows(&rows.overflows);
            sink.take(rows.batch)?;
            taken += rows.taken;
        }
        bytes.drain(..taken);
        if last {
            return Ok(());
        }
        if more == More::Nothing || sink.is_due() {
            sink.flush()?;
        }
    }
}

fn now_micros() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as i64)
}
