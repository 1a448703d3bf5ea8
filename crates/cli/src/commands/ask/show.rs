//! Formats answers for people.

use std::fmt::Write as _;
use std::sync::Arc;

use ::ask::Answer;
use anyhow::{Context as _, Result};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Float64Type, Int64Type, Schema, TimestampMicrosecondType};
use arrow::util::display::{ArrayFormatter, FormatOptions};

use crate::chart::{bar, columns, fit};
use crate::output::{Table, trimmed};

/// Characters of a bar, and of a row of columns.
const BAR: usize = 24;
const PLOT: usize = 100;
/// Height of a plot in lines.
const PLOT_LINES: usize = 8;
/// Rows and series shown, at most.
const ROWS_MAX: usize = 1_000;
const SERIES_MAX: usize = 40;
/// Rows of a time series listed below the plot, at most.
const LISTED_MAX: usize = 48;

/// An aligned table with bars, or a plot of a time series.
pub(crate) fn table(answer: &Answer) -> Result<String> {
    let mut text = String::new();
    if answer.by_time && answer.rows.num_rows() > 1 {
        text += &series(answer)?;
        if answer.rows.num_rows() > LISTED_MAX {
            return Ok(text);
        }
        text.push('\n');
    }
    text += &rows(answer)?;
    let shown = answer.rows.num_rows().min(ROWS_MAX);
    if answer.keys > 0 && shown < answer.groups {
        writeln!(text, "{shown} of {} groups", answer.groups)?;
    }
    Ok(text)
}

fn rows(answer: &Answer) -> Result<String> {
    let batch = answer.rows.slice(0, answer.rows.num_rows().min(ROWS_MAX));
    let cells = cells(&batch)?;
    let bars =
        (answer.keys > 0 && answer.keys < batch.num_columns()).then(|| numbers(batch.column(answer.keys))).flatten();
    let most = bars.iter().flatten().flatten().copied().fold(0.0, f64::max);
    let mut header: Vec<String> = batch.schema().fields().iter().map(|f| f.name().clone()).collect();
    if bars.is_some() {
        header.push(String::new());
    }
    let mut table = Table::with_header(header);
    for row in 0..batch.num_rows() {
        let mut line: Vec<String> = cells.iter().map(|column| column[row].clone()).collect();
        if let Some(bars) = &bars {
            line.push(bars[row].map_or_else(String::new, |v| bar(v / most, BAR)));
        }
        table.push_row(line);
    }
    Ok(table.to_string())
}

/// Plots the first measure over time, once per group.
fn series(answer: &Answer) -> Result<String> {
    let batch = &answer.rows;
    let times = batch.column(0).as_primitive::<TimestampMicrosecondType>();
    let Some(values) = batch.columns().get(answer.keys).and_then(numbers) else { return Ok(String::new()) };
    let names = cells(&batch.project(&(1..answer.keys).collect::<Vec<_>>()).context("cannot name the series")?)?;
    let mut moments: Vec<i64> = times.iter().flatten().collect();
    moments.sort_unstable();
    moments.dedup();
    let (Some(first), Some(last)) = (moments.first(), moments.last()) else { return Ok(String::new()) };
    // Empty time buckets are gaps.
    let step = moments.windows(2).map(|w| w[1] - w[0]).min().unwrap_or(1);
    let places = ((last - first) / step) as usize + 1;
    let places = places.min(1 << 20);
    let mut series: Vec<(String, Vec<Option<f64>>)> = Vec::new();
    for row in (0..batch.num_rows()).filter(|row| times.is_valid(*row)) {
        let name = names.iter().map(|column| column[row].as_str()).collect::<Vec<_>>().join(", ");
        let found = series.iter().position(|(n, _)| *n == name);
        let place = found.unwrap_or_else(|| {
            series.push((name, vec![None; places]));
            series.len() - 1
        });
        let at = ((times.value(row) - first) / step) as usize;
        if let Some(slot) = series[place].1.get_mut(at) {
            *slot = values[row];
        }
    }
    let name = batch.schema().field(answer.keys).name().clone();
    let whole = RecordBatch::try_from_iter([("t", batch.column(0).slice(0, batch.num_rows()))])?;
    let shown = cells(&whole)?;
    let at = |micros: i64| times.iter().position(|t| t == Some(micros)).map_or("", |row| shown[0][row].as_str());
    let mut text = format!("{name} from {} to {}\n", at(*first), at(*last));
    let lines = if series.len() == 1 { PLOT_LINES } else { 1 };
    let widest = series.iter().take(SERIES_MAX).map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, values) in series.iter().take(SERIES_MAX) {
        let values = fit(values, PLOT);
        let most = values.iter().flatten().copied().fold(0.0, f64::max);
        let gap = " ".repeat(widest - name.chars().count());
        for (line, drawn) in columns(&values, most, lines).iter().enumerate() {
            let (label, note) = if line == 0 {
                (format!("{name}{gap}"), format!(" {}", short(most)))
            } else {
                (" ".repeat(widest), String::new())
            };
            writeln!(text, "{}", format!("{label} ▕{drawn}▏{note}").trim_start())?;
        }
    }
    if series.len() > SERIES_MAX {
        writeln!(
            text,
            "{SERIES_MAX} of {} series: narrow them with --where, or take all with --format csv",
            series.len()
        )?;
    }
    Ok(text)
}

/// A numeric column as floats; `None` for other columns.
fn numbers(column: &ArrayRef) -> Option<Vec<Option<f64>>> {
    match column.data_type() {
        DataType::Int64 => Some(column.as_primitive::<Int64Type>().iter().map(|v| v.map(|v| v as f64)).collect()),
        DataType::Float64 => Some(column.as_primitive::<Float64Type>().iter().collect()),
        DataType::Decimal128(..) => {
            let reals = cast(column, &DataType::Float64).ok()?;
            Some(reals.as_primitive::<Float64Type>().iter().collect())
        }
        _ => None,
    }
}

/// All cells as text, column by column.
fn cells(batch: &RecordBatch) -> Result<Vec<Vec<String>>> {
    let options = FormatOptions::default().with_null("NULL").with_types_info(false);
    let column = |array: &ArrayRef| -> Result<Vec<String>> {
        match array.data_type() {
            DataType::Float64 => {
                let reals = array.as_primitive::<Float64Type>();
                Ok(reals.iter().map(|v| v.map_or_else(|| "NULL".to_owned(), short)).collect())
            }
            DataType::List(item) if matches!(item.data_type(), DataType::Struct(_)) => buckets(array),
            _ => {
                let formatter = ArrayFormatter::try_new(array, &options).context("cannot write the result")?;
                (0..array.len()).map(|row| Ok(formatter.value(row).try_to_string()?)).collect()
            }
        }
    };
    batch.columns().iter().map(column).collect()
}

/// Formats a number with few digits.
fn short(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e15 {
        return format!("{value}");
    }
    let digits = 6 - value.abs().log10().floor().clamp(-6.0, 6.0) as i32;
    if value.is_finite() && (1e-6..1e15).contains(&value.abs()) {
        return trimmed(value, digits.clamp(0, 12) as usize);
    }
    format!("{value:e}")
}

/// The buckets of a histogram, each with its start and count, after a drawing of all buckets.
fn buckets(array: &ArrayRef) -> Result<Vec<String>> {
    let lists = array.as_list::<i32>();
    let one = |row: usize| -> Result<String> {
        let parts = lists.value(row);
        let parts = parts.as_struct();
        let edges = cast(parts.column(0), &DataType::Float64).context("cannot write a histogram")?;
        let edges = edges.as_primitive::<Float64Type>();
        let ends = cast(parts.column(1), &DataType::Float64).context("cannot write a histogram")?;
        let ends = ends.as_primitive::<Float64Type>();
        let counts: Vec<Option<f64>> =
            parts.column(2).as_primitive::<Int64Type>().iter().map(|v| v.map(|v| v as f64)).collect();
        let most = counts.iter().flatten().copied().fold(0.0, f64::max);
        let drawn = columns(&counts, most, 1).concat();
        let Some(last) = ends.len().checked_sub(1) else { return Ok(String::new()) };
        Ok(format!("{} ▕{drawn}▏ {}", short(edges.value(0)), short(ends.value(last))))
    };
    (0..lists.len()).map(one).collect()
}

/// Turns histograms into text, because CSV has no lists.
pub(crate) fn flat(batch: &RecordBatch) -> Result<RecordBatch> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for (field, array) in batch.schema().fields().iter().zip(batch.columns()) {
        let (field, array): (Field, ArrayRef) = match array.data_type() {
            DataType::List(_) | DataType::LargeList(_) => {
                let formatter = ArrayFormatter::try_new(array, &FormatOptions::default())?;
                let texts = (0..array.len()).map(|row| formatter.value(row).try_to_string());
                let texts: StringArray = texts.collect::<Result<Vec<_>, _>>()?.into_iter().map(Some).collect();
                (Field::new(field.name(), DataType::Utf8, true), Arc::new(texts))
            }
            _ => (field.as_ref().clone(), array.clone()),
        };
        fields.push(field);
        arrays.push(array);
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
}
